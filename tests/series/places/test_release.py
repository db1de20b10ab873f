"""Places through a plan and a ledger: levels that add up, intervals that hold, what is read from them."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.conftest import Trials
from tests.series.releases import Silent, made

import chronodp as cdp
from chronodp.accounting import gaussian
from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.postprocess.hierarchy import PlaceTree, TreeCovariance
from chronodp.privacy import load
from chronodp.randomness import seeded
from chronodp.series import Design
from chronodp.series.place_noise import draw_places, sums_of_places
from chronodp.series.place_reading import place_deviations, place_halves
from chronodp.series.readings.axes import columns_of
from chronodp.series.readings.places import TreePlaces
from chronodp.series.readings.weights import Weights
from chronodp.series.shapes.toeplitz import White

GEO = [("land", f"s{state}", f"c{state}{county}") for state, size in enumerate((1, 4, 2)) for county in range(size)]
TREE = cdp.Places(GEO, "country", "state", "county")
STATE = {county: state for _, state, county in GEO}
DAYS = 14


def rows() -> pd.DataFrame:
    """Rows of forty people in all places over two weeks, some in a county that nobody declared."""
    dice = np.random.default_rng(3)
    table = pd.DataFrame({"who": [f"p{who}" for who in dice.integers(0, 40, 3000)]})
    table["at"] = pd.Timestamp("2026-03-02") + pd.to_timedelta(dice.integers(0, DAYS * 24, 3000), unit="h")
    table["county"] = dice.choice([*STATE, "c99"], 3000)
    table["trade"] = dice.choice(["food", "work"], 3000)
    table["kwh"] = dice.uniform(-1.0, 3.0, 3000)
    return table


def series(unit: Any = None, **changes: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {"time": "at", "user": "who", "every": "1D", "start": "2026-03-02", "end": "2026-03-16"}
    unit = cdp.User() if unit is None else unit
    if isinstance(unit, cdp.User):
        options["max_periods"] = DAYS
    return cdp.TimeSeries(rows(), unit=unit, **(options | changes))


def adds_up(frame: pd.DataFrame, *others: str) -> bool:
    """Whether every level adds up to the one above, to the last digit."""
    keys = ["time", *others]
    county = frame[frame["level"] == "county"]
    county = county.assign(place=county["place"].map(STATE))
    states = county.groupby([*keys, "place"])["value"].sum()
    shown = frame[frame["level"] == "state"].set_index([*keys, "place"])["value"]
    land = frame[frame["level"] == "country"].set_index(keys)["value"]
    same = bool((states.sort_index() == shown.sort_index()).all())
    return same and bool((shown.groupby(keys).sum().sort_index() == land.sort_index()).all())


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("tuned_for", [cdp.EachPeriod(), cdp.RunningTotal()], ids=str)
def test_levels_are_sums_of_the_table_and_add_up(ledger: cdp.Ledger, delta: float, tuned_for: Any) -> None:
    query = series().count().by(TREE, max_groups=7)
    plan = query.plan(epsilon=1.0, delta=delta, tuned_for=tuned_for)
    silent = made(plan, ledger, "silent", entropy=Silent()).to_pandas()
    table = rows()
    table = table[table["county"] != "c99"]
    people = table.groupby([table["at"].dt.floor("D"), "county"])["who"].nunique()
    assert silent.groupby("level")["value"].sum().to_dict() == dict.fromkeys(
        ("country", "state", "county"), people.sum()
    )
    shown = silent[silent["level"] == "county"].set_index(["time", "place"])["value"]
    assert shown[shown > 0].sort_index().tolist() == people.sort_index().tolist()
    loud = made(plan, ledger, "loud").to_pandas()
    assert list(loud.columns) == ["time", "level", "place", "value", "lower", "upper"]
    assert adds_up(silent)
    assert adds_up(loud)
    assert len(loud) == DAYS * (1 + 3 + 7)


@pytest.mark.slow
def test_other_keys_and_bins_stand_beside_places(ledger: cdp.Ledger) -> None:
    query = series(cdp.UserPeriod("1D")).count()
    for index, split in enumerate(
        (query.by(TREE, trade=["food", "work"], max_groups=3), query.by(trade=["food", "work"]).by(TREE, max_groups=3))
    ):
        frame = made(split.plan(epsilon=1.0, delta=1e-6), ledger, str(index), dataset="days").to_pandas()
        assert set(frame.columns) == {"time", "level", "place", "trade", "value", "lower", "upper"}
        assert adds_up(frame, "trade")
    bins = series(cdp.UserPeriod("1D")).histogram("kwh", edges=(0.0, 1.0, 3.0), at_most=2).by(TREE, max_groups=2)
    release = made(bins.plan(epsilon=1.0), ledger, "bins", dataset="days")
    assert adds_up(release.to_pandas(), "bin_low")
    with pytest.raises(InvalidArgument, match="without Places"):
        release.quantile(0.5)


@pytest.fixture
def ledger(ledger: cdp.Ledger) -> cdp.Ledger:
    ledger.open("days", unit=cdp.UserPeriod("1D"), epsilon=1000.0, delta=1e-3)
    return ledger


def test_a_sum_of_both_signs_and_what_is_read_from_it(ledger: cdp.Ledger, tmp_path: Path) -> None:
    plan = series().sum("kwh", clip=(-1.0, 3.0)).by(TREE, max_groups=2).plan(epsilon=1.0, delta=1e-6)
    release = made(plan, ledger, "sum")
    again = cdp.Release.load(release.save(tmp_path / "sum.json"))
    assert again.to_pandas().equals(release.to_pandas())
    weeks, days = release.resample("7D"), release.each_period()
    assert adds_up(weeks.to_pandas())
    assert np.array_equal(weeks.estimates.value[0], days.estimates.value[:7].sum(axis=0))
    wide = (weeks.estimates.upper - weeks.estimates.lower) / (days.estimates.upper - days.estimates.lower)[:2]
    assert wide == pytest.approx(np.full(wide.shape, math.sqrt(7)), rel=1e-5)
    assert release.running_total().estimates.value[-1] == pytest.approx(days.estimates.value.sum(axis=0))
    assert release.rolling(7).estimates.value[0] == pytest.approx(days.estimates.value[:7].mean(axis=0))
    assert release.ewm(0.5).estimates.value.shape == days.estimates.value.shape
    band = release.each_period(simultaneous=True).estimates
    assert (band.upper - band.lower > days.estimates.upper - days.estimates.lower).all()
    page = release.report(tmp_path / "sum.html").read_text()
    assert "1 of country, 3 of state, 7 of county" in page
    assert "docs/explanation/proofs/places.md" in str(release.certificate)
    assert "made to add up by least squares" in release.certificate.mechanism


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_price_is_what_levels_cost_together(delta: float) -> None:
    query = series().count().by(TREE, max_groups=3)
    plan = query.plan(epsilon=1.0, delta=delta)
    for design in (plan.design, *plan.others):
        assert design.measured is not None
        changes = design.table.level_changes
        assert changes == (9, 9, 3)
        if design.law == "laplace":
            assert math.fsum(noise.sensitivity / noise.scale for noise in design.noises) <= 1.0
            assert all(noise.sensitivity == 3 * DAYS for noise in design.noises)
            continue
        for level, noise in zip(design.measured, design.noises, strict=True):
            assert noise.sensitivity == pytest.approx(math.sqrt(changes[level] * DAYS))
        mu = math.sqrt(math.fsum((noise.sensitivity / noise.scale) ** 2 for noise in design.noises))
        assert mu == pytest.approx(gaussian.mu_for(1.0, delta), rel=1e-9)
        assert mu <= gaussian.mu_for(1.0, delta)
        assert gaussian.epsilon(design.cost, delta) <= 1.0


def test_every_unit_has_its_change(subtests: pytest.Subtests) -> None:
    for unit, changes, factor in [
        (cdp.User(), (9, 9, 3), DAYS),
        (cdp.User("replace"), (9, 9, 3), 2 * DAYS),
        (cdp.UserPeriod("1D"), (9, 9, 3), 1),
        (cdp.UserPeriod("1D", "replace"), (9, 9, 3), 2),
        (cdp.Window(2), (9, 9, 3), 2),
        (cdp.Event(), (1, 1, 1), 1),
        (cdp.Event("replace"), (1, 1, 1), 2),
    ]:
        with subtests.test(unit=unit, changes=changes, factor=factor):
            plan = series(unit).count().by(TREE, max_groups=3).plan(epsilon=1.0, delta=1e-6)
            table = plan.design.table
            assert table.level_changes == changes
            for change, size in zip(changes, table.level_sensitivities(White()), strict=True):
                assert size.l2**2 == pytest.approx(change * factor)
                assert size.l1 == table.sensitivities()[0].l1


@pytest.mark.slow
def test_focus_moves_error_between_levels() -> None:
    query = series(cdp.UserPeriod("1D")).count()

    def deviations(**focus: Any) -> list[float]:
        plan = query.by(TREE, **focus).plan(epsilon=1.0, delta=1e-6)
        design = next(one for one in (plan.design, *plan.others) if one.law == "gaussian")
        covariance = design.place_covariance
        assert covariance is not None
        return [math.sqrt(float(of.mean())) for of in covariance.variances]

    plain, county = deviations(), deviations(focus={"county": 5.0})
    assert county[2] < plain[2]
    assert county[0] > plain[0]
    assert deviations(focus="nodes")[2] < plain[2]
    assert max(deviations(focus="largest")) <= max(plain)


def draws(design: Design, count: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Noise of all nodes in so many releases of zeros, and the half-widths of 95 %."""
    table = design.table
    assert design.measured is not None
    zeros, found = np.zeros((table.horizon, table.places), np.int64), []
    entropy = seeded("draws")
    for _ in range(count):
        leaves = draw_places(zeros, table, design.shape, design.noises, design.measured, entropy)
        found.append(sums_of_places(table, leaves) * design.noises[0].step)
    one = np.ones(1)
    return np.array(found), place_halves(design, one, np.ones(1, np.int64), 0.95)[0]


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_intervals_cover_at_their_level(trials: Trials, delta: float) -> None:
    """Every node's interval, and the stated deviation; noise scaled by 0.9 is told apart."""
    plan = series().count().by(TREE, max_groups=2, trade=["food", "work"]).plan(epsilon=1.0, delta=delta)
    design = plan.design
    assert design.law == ("gaussian" if delta else "laplace")
    noise, half = draws(design, trials(4000, least=400))
    several = noise.reshape(-1, noise.shape[-1])
    covered = (np.abs(several) <= half).mean(axis=0)
    count = len(several)
    far = stats.norm.isf(1e-9 / 100) * math.sqrt(0.95 * 0.05 / count)
    assert (covered > 0.95 - far).all()
    if delta:
        assert (covered < 0.95 + far).all()
        # The sum of squares by the variance is chi-square: exact for Gaussian noise, but for a step of rounding.
        squares = (several / place_deviations(design)) ** 2
        ends = [float(stats.chi2.ppf(end, count)) for end in (1e-11, 1 - 1e-11)]
        assert (squares.sum(axis=0) > ends[0]).all()
        assert (squares.sum(axis=0) < ends[1]).all()
        assert not ((0.81 * squares).sum(axis=0) > ends[0]).all()


def test_covariances_are_those_of_released_numbers(trials: Trials) -> None:
    design = series().count().by(TREE).plan(epsilon=1.0, delta=1e-6).design
    covariance = design.place_covariance
    assert covariance is not None
    noise, _ = draws(design, trials(4000, least=400))
    several = noise.reshape(-1, noise.shape[-1])
    one, other = np.zeros(11), np.zeros(11)
    one[5], other[[2, 6]] = 1.0, (1.0, -0.5)
    apart = several @ one * (several @ other)
    stated = covariance.between(one, other)
    spread = math.sqrt((covariance.between(one, one) * covariance.between(other, other) + stated**2) / len(several))
    assert abs(apart.mean() - stated) < 6.5 * spread


def test_damaged_numbers_are_refused(ledger: cdp.Ledger) -> None:
    release = made(series().count().by(TREE).plan(epsilon=1.0), ledger, "whole")
    content = dict(release._content)
    content["noisy"] = [content["noisy"][0][1:]]
    release.__dict__["_content"] = content
    with pytest.raises(UnknownDocument):
        release.to_pandas()
    assert load(release._content["design"], Design).table.levels == release.design.table.levels


@pytest.mark.parametrize("tuned_for", [cdp.Rolling(7), cdp.RunningTotal()], ids=str)
def test_shaped_noise_on_places(ledger: cdp.Ledger, tuned_for: Any) -> None:
    plan = (
        series(cdp.UserPeriod("1D")).count().by(TREE, max_groups=2).plan(epsilon=1.0, delta=1e-6, tuned_for=tuned_for)
    )
    frame = made(plan, ledger, "shaped", dataset="days").running_total().to_pandas()
    assert set(frame["level"]) == {"country", "state", "county"}
    for design in plan.others:
        assert design.place_covariance is not None
        assert design.errors.rmse_mean >= plan.design.errors.rmse_mean


@pytest.fixture
def release(ledger: cdp.Ledger) -> cdp.Release:
    plan = series().count().by(TREE, trade=["food", "work"], max_groups=2).plan(epsilon=1.0, delta=1e-6)
    return made(plan, ledger, "places")


@pytest.mark.parametrize("points", [1, 3, 9])
def test_covariances_of_rows_are_those_of_a_matrix(points: int) -> None:
    """Few points a row are paired one by one, many are laid against all nodes: both as dense."""
    tree = PlaceTree([[2], [3, 1]])
    covariance = TreeCovariance(tree, [0.3, 0.0, 2.0])
    dice = np.random.default_rng(points)
    before, after, rows = 2, 3, 6
    columns = before * tree.nodes * after
    one, other = (
        Weights(dice.integers(0, columns, (rows, points)), dice.normal(size=(rows, points)), np.arange(rows))
        for _ in range(2)
    )
    single = np.array([[covariance.covariance(a, b) for b in range(tree.nodes)] for a in range(tree.nodes)])
    dense = np.einsum("bB,nN,aA->bnaBNA", np.eye(before), single, np.eye(after)).reshape(columns, columns)
    spread = [np.zeros((rows, columns)) for _ in range(2)]
    for weights, laid in zip((one, other), spread, strict=True):
        for row, point in itertools.product(range(rows), range(points)):
            laid[row, weights.points[row, point]] += weights.weights[row, point]
    expected = np.einsum("ri,ij,rj->r", spread[0], dense, spread[1])
    assert TreePlaces(covariance, after, 4.0).of(one, other) == pytest.approx(expected / 4.0)


def test_places_are_named_by_their_level_or_key(release: cdp.Release) -> None:
    view = release.each_period()
    state, country = release.at(state="s1"), release.at(country="land")
    assert state.to_pandas().equals(release.at(place="s1").to_pandas())
    frame = view.to_pandas()
    of_state = frame[frame["place"] == "s1"]
    assert np.array_equal(of_state["value"], state.to_pandas()["value"])
    # The rest is one step of rounding, which only intervals of the release itself allow for.
    for end in ("lower", "upper"):
        assert np.allclose(of_state[end], state.to_pandas()[end], atol=2 * release.design.noises[0].step)
    assert release.over("county").to_pandas()["value"].equals(country.to_pandas()["value"])
    assert list(release.over("trade").to_pandas().columns) == ["time", "level", "place", "value", "lower", "upper"]
    everything = release.over().to_pandas()
    assert everything["value"].tolist() == release.at(country="land").over("trade").to_pandas()["value"].tolist()
    refused: Any = ({"state": "c10"}, {"state": "s1", "county": "c10"}, {"town": "s1"}, {"place": "nowhere"})
    for wrong in refused:
        with pytest.raises(InvalidArgument):
            release.at(**wrong)


def test_counties_less_their_state_are_nothing(release: cdp.Release) -> None:
    total = release.at(county="c10")
    for county in ("c11", "c12", "c13"):
        total = total + release.at(county=county)
    left = (total - release.at(state="s1")).estimates
    assert not left.value.any()
    by_place = release.over("trade").share().to_pandas()
    assert (by_place.loc[by_place["level"] == "country", ["lower", "upper"]] == 1).all().all()
    assert np.abs(left.upper).max() < 1e-6 * release.design.noises[0].scale


def test_keys_of_several_levels_are_told_apart() -> None:
    twice = cdp.Places([("Georgia", "Georgia", "a"), ("Georgia", "Texas", "b")], "country", "state", "county")
    columns = columns_of(series().count().by(twice).table)
    assert columns.groupings[0].keys == ("country Georgia", "state Georgia", "Texas", "a", "b")
    assert columns.labels()["place"][:2] == ["Georgia", "Georgia"]
    assert columns.chosen({"state": "Georgia"})[1].tolist() == [1]


@pytest.mark.slow
def test_shares_of_a_state_hold_at_their_level(ledger: cdp.Ledger, trials: Trials) -> None:
    """Fieller's set with the tree's covariance covers as stated; without it, it would be another width."""
    plan = series().count().by(TREE, max_groups=2).plan(epsilon=1.0, delta=1e-6)
    runs = trials(300, least=20)
    truth = made(plan, ledger, "truth", entropy=Silent())
    top, bottom = truth.at(county="c10").estimates.value, truth.at(state="s1").estimates.value
    rho = top / bottom
    hits = count = 0
    ledger.open("many", unit=cdp.User(), epsilon=1e6, delta=0.5)
    for run in range(runs):
        release = made(plan, ledger, f"run {run}", dataset="many")
        sets = release.at(county="c10").ratio(release.at(state="s1")).to_pandas()
        lower, upper = sets["lower"].to_numpy(), sets["upper"].to_numpy()
        gap = (sets["not_above"].to_numpy(), sets["not_below"].to_numpy())
        inside = (rho.ravel() >= lower) & (rho.ravel() <= upper)
        outside = np.isfinite(gap[0]) & (rho.ravel() > np.fmin(*gap)) & (rho.ravel() < np.fmax(*gap))
        hits, count = hits + int((inside & ~outside).sum()), count + len(sets)
    far = stats.norm.isf(1e-9) * math.sqrt(0.95 * 0.05 / count)
    assert abs(hits / count - 0.95) < far


def test_places_are_planned_together_and_divided(ledger: cdp.Ledger) -> None:
    days = series()
    food = days.count().where("trade = 'food'")
    queries = {"food": food.by(TREE, max_groups=2), "all": days.count().by(TREE, max_groups=2)}
    plan = cdp.plan_together(queries, epsilon=4.0, delta=1e-6)
    release = plan.release(ledger, dataset="meters", request="both", entropy=seeded("both"), progress=lambda _: None)
    part, whole = release["food"], release["all"]
    assert isinstance(part, cdp.Release)
    assert isinstance(whole, cdp.Release)
    assert adds_up(part.to_pandas())
    assert adds_up(whole.to_pandas())
    shares = part.resample("7D").ratio(whole.resample("7D"), within=(0, 1)).to_pandas()
    assert list(shares.columns[:3]) == ["time", "level", "place"]
    assert np.isfinite(shares["lower"]).all()
