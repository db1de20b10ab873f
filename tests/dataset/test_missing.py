"""What a reader is told of the numbers without limits: nothing that misses, and only what was said to be assumed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from tests.conftest import Trials

import chronodp as cdp
from chronodp.engines import Record, Reference
from chronodp.privacy import Calendar
from chronodp.randomness import seeded
from chronodp.series import Missing
from chronodp.series.estimates import Estimates
from chronodp.series.missing import MissingFigure, if_even

FIRST = "2026-01-05"
EVEN = Missing(assume="even loss")
UNITS: list[Any] = [cdp.User(), cdp.User(relation="replace"), cdp.UserPeriod("1D"), cdp.Window(2)]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as store:
        yield store


def rows(cells: np.ndarray[Any, Any], times: pandas.DatetimeIndex) -> pandas.DataFrame:
    """One row for each person, period and group that are True."""
    who, period, group = np.nonzero(cells)
    keys = np.array([f"g{number}" for number in range(cells.shape[2])])
    return pandas.DataFrame({"who": who.astype(str), "at": times[period], "group": keys[group]})


def counted(cells: np.ndarray[Any, Any], *, every: str = "1D", max_groups: int = 1, **changes: Any) -> Any:
    """Return the question how many people there were in each period and group."""
    times = pandas.date_range(FIRST, periods=cells.shape[1] + 1, freq={"1mo": "MS", "1W": "W-MON"}.get(every, "D"))
    series = cdp.TimeSeries(
        rows(cells, times), time="at", user="who", every=every, start=str(times[0].date()), end=str(times[-1].date()),
        **({"unit": cdp.User()} | changes),
    )  # fmt: skip
    keys = [f"g{number}" for number in range(cells.shape[2])]
    return series.count().by(group=keys, max_groups=max_groups) if len(keys) > 1 else series.count()


def releases(
    ledger: cdp.Ledger, query: Any, count: int, missing: Missing, *, dataset: str = "people", **terms: Any
) -> Iterator[Any]:
    plan = query.plan(**({"epsilon": 1.0, "delta": 1e-6} | terms), missing=missing)
    ledger.open(dataset, unit=plan.design.table.unit, epsilon=1000.0, delta=0.1)
    for number in range(count):
        yield plan.release(ledger, dataset=dataset, request=f"{number}", entropy=seeded(number))


def held(shown: pandas.DataFrame, truth: np.ndarray[Any, Any], suffix: str) -> np.ndarray[Any, Any]:
    """Return which bands hold the truth."""
    inside = (shown[f"lower{suffix}"] <= truth.ravel()) & (truth.ravel() <= shown[f"upper{suffix}"])
    return inside.to_numpy()


# A figure that sees all that limits remove.


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_the_figure_sees_all_that_a_limit_on_groups_removes(ledger: cdp.Ledger, unit: Any) -> None:
    everywhere = np.ones((400, 6, 5), bool)
    (made,) = releases(
        ledger, counted(everywhere, unit=unit, max_periods=6 if unit.whole_person else None), 1, Missing()
    )
    assert made.missing.value == pytest.approx(4 * 400, abs=200)  # four of five groups of everybody, every day
    assert made.missing.lower <= 4 * 400 <= made.missing.upper
    assert made.missing.people_beyond == 0


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_everybody_in_every_group_lies_in_the_band_that_assumes_it(
    ledger: cdp.Ledger, unit: Any, trials: Trials
) -> None:
    everywhere = np.ones((2000, 10, 5), bool)
    query = counted(everywhere, unit=unit, max_periods=10 if unit.whole_person else None)
    truth = everywhere.sum(axis=0)
    inside = [held(one.to_pandas(), truth, "_if_even") for one in releases(ledger, query, trials(200, least=8), EVEN)]
    # Of 400 or more bands whose noise is nearly independent, less than .9 would be seen once in 10^4 times.
    assert np.mean(inside) > 0.9


def test_no_person_loses_more_than_the_cap_and_one_loses_as_much(subtests: pytest.Subtests) -> None:
    """All that one person can have in three days and two groups; a cap of one cell a day would hide some of it."""
    for unit, limit, max_groups in [
        *((unit, limit, groups) for unit in UNITS[:2] for limit in (1, 2, 3) for groups in (1, 2)),
        *((unit, None, groups) for unit in UNITS[2:] for groups in (1, 2)),
        (cdp.Event(), None, 1),
    ]:
        with subtests.test(unit=unit, limit=limit, max_groups=max_groups):
            calendar = Calendar("1D", "2026-01-01", "2026-01-04")
            series = cdp.TimeSeries(
                [], time="at", user="who", every="1D", start="2026-01-01", end="2026-01-04", unit=unit,
                max_periods=limit, engine=Reference(),
            )  # fmt: skip
            plan: Any = (
                series.count()
                .by(group=["a", "b"], max_groups=max_groups)
                .plan(epsilon=1.0, delta=1e-6, missing=Missing())
            )
            if not plan.design.missing.noises:
                assert (limit in (None, 3) and max_groups == 2) or isinstance(unit, cdp.Event)
                assert plan.design.split is None  # and nothing is paid for it
                continue
            (noise,) = plan.design.missing.noises
            places = list(itertools.product(range(3), ["a", "b"]))
            lost, narrow = [], []
            for chosen in itertools.product([False, True], repeat=len(places)):
                world = [
                    Record("ann", int(calendar.edges[day]), None, (key,))
                    for (day, key), there in zip(places, chosen, strict=True)
                    if there
                ]
                origin = replace(plan.origin, data=world)
                numbers = origin.numbers(plan.design, key="k", progress=lambda _: None)
                exact = sum(chosen) - int(numbers[0].sum() * plan.design.noises[0].step)
                (steps,) = origin.missing(plan.design, key="k")
                assert steps * noise.step == pytest.approx(exact, abs=noise.step)
                lost.append(exact)
                days = 3 if unit.whole_person else 1
                capped = replace(plan.design, missing=replace(plan.design.missing, cap=float(days)))
                narrow.append(exact - origin.missing(capped, key="k")[0] * noise.step)
            alone = {"add_remove": 1, "replace": 1}[unit.relation] if unit.whole_person else plan.design.missing.cap
            held_by_one = noise.sensitivity / plan.design.missing.cap
            assert max(lost) <= noise.sensitivity * (3 if not unit.whole_person else 1)
            if unit.whole_person:
                assert max(lost) == noise.sensitivity == plan.design.missing.cap * alone
                assert (max(narrow) > 0.5) == (plan.design.missing.cap > 3)  # the mutant, where it hides anything
            else:
                assert max(lost) == 3 * plan.design.missing.cap  # each of three days is a voter of its own
                assert held_by_one == (2 if isinstance(unit, cdp.Window) else 1)


# Even loss, only by name.


@pytest.mark.slow
@pytest.mark.parametrize(("every", "periods", "limit"), [("1mo", 18, 3), ("1W", 26, 8), ("1D", 60, 20)])
def test_no_column_that_does_not_say_so_misses_by_the_limit(
    ledger: cdp.Ledger, every: str, periods: int, limit: int, trials: Trials
) -> None:
    """Customers who come once and leave: the limit bites where those are who stay."""
    chance = np.random.default_rng(1)
    people = 3000
    begin = chance.integers(0, periods // 4, people)
    stays = np.where(chance.random(people) < 0.5, 1, periods)
    when = np.arange(periods)
    cells = ((when >= begin[:, None]) & (when < (begin + stays)[:, None]))[:, :, None]
    for made in releases(ledger, counted(cells, every=every, max_periods=limit), trials(20, least=2), Missing()):
        shown = made.to_pandas()
        assert list(shown.columns) == ["time", "value", "lower", "upper", "value_all", "lower_all", "upper_all"]
        assert shown[["value_all", "lower_all", "upper_all"]].isna().all().all()
        figure = made.missing_at(1 - 1e-9)
        assert figure.lower <= cells.sum() / periods - _kept(cells, limit) <= figure.upper
        note = made.each_period().note
        many = {"1mo": "months", "1W": "weeks", "1D": "days"}[every]
        assert f"% on average, perhaps unevenly: no band for single {many}" in note
    even = next(releases(ledger, counted(cells, every=every, max_periods=limit), 1, EVEN, dataset="again"))
    assert "value_all" not in even.to_pandas().columns
    assert "only if it was spread" in even.each_period().note


def _kept(cells: np.ndarray[Any, Any], limit: int) -> float:
    return float(np.minimum(cells.sum(axis=(1, 2)), limit).sum() / cells.shape[1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "groups"),
    [({"max_periods": 6}, 1), ({"max_periods": 6}, 3), ({"unit": cdp.UserPeriod("1D")}, 3), ({"unit": cdp.Event()}, 3)],
)
def test_limits_that_remove_nothing_leave_the_band_of_noise(ledger: cdp.Ledger, changes: Any, groups: int) -> None:
    cells = np.random.default_rng(2).random((300, 6, groups)) < 0.5
    query = counted(cells, max_groups=groups, **changes)
    for missing in (Missing(), EVEN):
        plain = query.plan(epsilon=1.0, delta=1e-6).design
        asked = query.plan(epsilon=1.0, delta=1e-6, missing=missing)
        assert asked.design.noises == plain.noises  # nothing is paid for a figure that is known
        assert "nothing" in str(asked)
    (made,) = releases(ledger, query, 1, Missing())
    shown = made.to_pandas()
    for name in ("value", "lower", "upper"):
        assert list(shown[f"{name}_all"]) == list(shown[name])
    assert (made.missing.value, made.missing.lower, made.missing.upper) == (0.0, 0.0, 0.0)
    assert str(made.missing) == "The limits can remove nothing"
    assert "the limits can remove nothing" in made.each_period().note


def test_limits_of_sizes_always_may_remove_something(ledger: cdp.Ledger) -> None:
    cells = np.ones((50, 4, 1), bool)
    data = rows(cells, pandas.date_range(FIRST, periods=4)).assign(kwh=1.0)
    series = cdp.TimeSeries(
        data, time="at", user="who", every="1D", start=FIRST, end="2026-01-09", unit=cdp.User(), max_periods=4
    )
    for query in (series.sum("kwh", clip=(0, 2)), series.count(at_most=3)):
        plan: Any = query.plan(epsilon=1.0, delta=1e-6, missing=Missing())
        assert len(plan.design.missing.noises) == 2
    (made,) = releases(ledger, series.count(at_most=3), 1, Missing())
    assert made.to_pandas()["value_all"].isna().all()


# The band that assumes it, where the mean kept and the figure are hardly known.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "people", "half"), [(200, 2000, True), (5, 1000, False), (50, 2000, False), (800, 4000, False)]
)
def test_bands_that_assume_an_even_loss_hold_the_noise_of_what_was_kept(
    ledger: cdp.Ledger, groups: int, people: int, half: bool, trials: Trials
) -> None:
    """Four periods, one of which counts; with ``half`` one of two people is in the first group."""
    chance = np.random.default_rng(3)
    cells = np.zeros((people, 4, groups), bool)
    for period in range(4):
        at = chance.integers(0, groups, people)
        if half:
            at = np.where(np.arange(people) < people // 2, 0, chance.integers(1, groups, people))
        cells[np.arange(people), period, at] = True
    query = counted(cells, max_periods=1)
    inside, first = [], []
    for made in releases(ledger, query, trials(200, least=10), EVEN):
        found = held(made.to_pandas(), cells.sum(axis=0), "_if_even").reshape(4, groups)
        inside.append(found.mean())
        first.append(found[:, 0].mean())
    assert np.mean(inside) > 0.93
    # Bands of one release share the figure and the mean: in ten releases of .95 at least .75 hold, but for one in 10^4.
    assert np.mean(first) > 0.75


def test_a_band_that_would_rest_on_noise_alone_is_not_shown(ledger: cdp.Ledger) -> None:
    cells = np.zeros((3, 4, 5), bool)
    cells[:, :, 0] = True
    (made,) = releases(ledger, counted(cells, max_periods=2), 1, EVEN, epsilon=0.01)
    shown = made.to_pandas()
    assert shown[["value_if_even", "lower_if_even", "upper_if_even"]].isna().all().all()
    assert "no band, even if the loss was even" in made.each_period().note


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kept", "deviation", "of_missing"),
    [((500.0, *[500 / 199] * 199), 4.3, 10.0), ((1000.0,) * 5, 30.0, 3000.0), ((5.0,) * 800, 6.0, 15_000.0)],
    ids=["half in one of 200", "five alike", "800 alike"],
)
def test_a_product_of_two_noisy_numbers_has_the_noise_of_both(
    kept: tuple[float, ...], deviation: float, of_missing: float, trials: Trials
) -> None:
    """The arithmetic alone, where the noise of the mean kept, of the figure or of both decides."""
    chance, groups, periods = np.random.default_rng(4), len(kept), 4
    y, lost, normal = np.array(kept), 3 * sum(kept), 1.959964
    inside = []
    for _ in range(trials(20_000, least=1000)):
        seen = y + deviation * chance.normal(size=(periods, groups))
        value = lost + of_missing * chance.normal()
        ends = (value - normal * of_missing, value + normal * of_missing)
        figure = MissingFigure(value, *ends, 0.95, 0, "even loss", of_missing)
        noise = Estimates(seen, seen - normal * deviation, seen + normal * deviation)
        mean, spread = float(seen.mean(axis=0).sum()), deviation * math.sqrt(groups / periods)
        found = if_even(noise, figure, mean=mean, spread=spread, law="gaussian", choice=0.0, signed=False)
        inside.append(((found.lower <= 4 * y) & (4 * y <= found.upper))[:, 0].mean())
    # Without the noise of the mean kept the first of 200 groups would be held in about .7 of releases.
    assert np.mean(inside) > 0.935
