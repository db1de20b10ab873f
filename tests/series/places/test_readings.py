"""Readings of places: sums, differences and ratios know what levels share of noise."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.conftest import Trials
from tests.series.places.test_release import TREE, series
from tests.series.releases import Silent, made

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.postprocess.hierarchy import PlaceTree, TreeCovariance
from chronodp.series.readings.axes import columns_of
from chronodp.series.readings.places import TreePlaces
from chronodp.series.readings.weights import Weights


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
    refused: list[dict[str, Any]] = [
        {"state": "c10"},
        {"state": "s1", "county": "c10"},
        {"town": "s1"},
        {"place": "nowhere"},
    ]
    for wrong in refused:
        with pytest.raises(InvalidArgument):
            release.at(**wrong)


def test_counties_less_their_state_are_nothing(release: cdp.Release) -> None:
    total = release.at(county="c10")
    for county in ("c11", "c12", "c13"):
        total = total + release.at(county=county)
    left = (total - release.at(state="s1")).estimates
    assert not left.value.any()
    assert np.abs(left.upper).max() < 1e-6 * release.design.noises[0].scale
    own = release.at(state="s1").ratio(release.at(state="s1")).estimates
    assert np.array_equal(own.lower, np.ones_like(own.lower))
    assert np.array_equal(own.upper, np.ones_like(own.upper))


def test_a_share_of_all_places_is_one_at_the_root(release: cdp.Release) -> None:
    by_place = release.over("trade").share().to_pandas()
    root = by_place[by_place["level"] == "country"]
    assert (root["lower"] == 1).all()
    assert (root["upper"] == 1).all()


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
