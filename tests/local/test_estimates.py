"""Estimates from counts: intervals, changes, trends, projections, and how far lies move them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.local import (
    Estimates,
    Fresh,
    Hybrid,
    LaplaceNumber,
    LocalPlan,
    Memoised,
    OneBit,
    OptimizedUnary,
    Piecewise,
    RandomizedResponse,
    Slots,
    WindowPopulation,
    best_window,
    estimate,
    project_rows,
    simulate,
)
from chronodp.local.numbers import Number
from chronodp.randomness import seeded
from tests.conftest import Trials
from tests.local.plans import PLANS, collected, fleet


def replicate(plan: LocalPlan, histories: NDArray[Any], runs: int) -> list[Estimates]:
    entropy = seeded(5)
    return [estimate(plan, collected(plan, simulate(plan, histories, entropy=entropy))) for _ in range(runs)]


COVERED = [
    (LocalPlan("response", RandomizedResponse(1.0, 4), Fresh(2)), np.repeat([0, 1, 2, 3], [400, 300, 200, 100])),
    (LocalPlan("unary", OptimizedUnary(1.0, 4), Fresh(2)), np.repeat([0, 1, 2, 3], [400, 300, 200, 100])),
    (LocalPlan("kept", RandomizedResponse(1.0, 4), Memoised(2.0, 2)), np.repeat([0, 1, 2, 3], [400, 300, 200, 100])),
    (LocalPlan("pieces", Piecewise(1.0, (0.0, 4.0)), Fresh(2)), np.repeat([0.0, 1.0, 4.0], [500, 300, 200])),
    (LocalPlan("hybrid", Hybrid(1.0, (0.0, 4.0)), Fresh(2)), np.repeat([0.0, 1.0, 4.0], [500, 300, 200])),
    (LocalPlan("noise", LaplaceNumber(1.0, (0.0, 4.0)), Fresh(2)), np.repeat([0.0, 1.0, 4.0], [500, 300, 200])),
    (LocalPlan("bit", OneBit(1.0, (0.0, 4.0)), Fresh(2)), np.full(1000, 3.0)),
]


@pytest.mark.parametrize(("plan", "values"), COVERED, ids=[plan.name for plan, _ in COVERED])
@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say(plan: LocalPlan, values: NDArray[Any], trials: Trials) -> None:
    runs = trials(4_000, least=150)
    made = replicate(plan, np.repeat(values[:, None], 2, axis=1), runs)
    numbers = isinstance(plan.mechanism, Number)
    truth = np.array([values.mean()]) if numbers else np.bincount(values) / len(values)
    for confidence in (0.8, 0.95):
        hits = np.array(
            [[(low <= truth) & (truth <= high)] for low, high in (one.interval(confidence) for one in made)]
        )
        covered = float(hits.mean())
        # Slots and columns of a run go together, so each run counts once.
        margin = 6.2 * math.sqrt(confidence * (1 - confidence) / runs)
        assert abs(covered - confidence) < max(margin, 0.01)
        if runs >= 4_000:
            assert abs(covered - confidence) < 0.01
    # The same check rejects intervals of half the width.
    narrow = np.array([np.abs(one.values - truth) < 0.98 * one.deviations for one in made])
    assert abs(float(narrow.mean()) - 0.95) > 6.2 * math.sqrt(0.0475 / runs)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [Slots(10, 1), WindowPopulation(10)], ids=str)
def test_random_parts_of_the_devices_widen_intervals(protocol: Slots | WindowPopulation, trials: Trials) -> None:
    plan = LocalPlan("part", RandomizedResponse(5.0, 2), protocol)
    runs, truth, hits = trials(4_000, least=300), np.array([0.5, 0.5]), []
    entropy = seeded(6)
    for _ in range(runs):
        tally = collected(
            plan,
            simulate(plan, np.repeat([[0], [1]], 300, axis=0).repeat(10, axis=1), entropy=entropy),
            slots=range(10),
        )
        lower, upper = estimate(plan, tally).interval(0.9)
        hits.append(((lower[0] <= truth) & (truth <= upper[0])).mean())
        assert tally.reports.sum() == 600
    assert float(np.mean(hits)) > 0.9 - 6.2 * math.sqrt(0.09 / runs)


@pytest.mark.slow
def test_changes_and_trends_have_known_deviations(trials: Trials) -> None:
    plan = LocalPlan("trend", RandomizedResponse(1.0, 2), Fresh(9))
    runs = trials(2_000, least=200)
    made = replicate(plan, np.zeros((200, 9), dtype=int), runs)
    reads = [[one.changes() for one in made], [one.changes(3) for one in made], [one.smoothed(3) for one in made]]
    for seen in reads:
        spread = np.array([one.values[:, 0] for one in seen]).var(axis=0)
        stated = np.mean([one.deviations[:, 0] ** 2 for one in seen], axis=0)
        assert np.all(np.abs(spread / stated - 1) < 6.5 * math.sqrt(2 / runs) + 0.02)
    kept = LocalPlan("kept", RandomizedResponse(1.0, 2), Memoised(1.0, 9))
    smooth = [one.smoothed(9) for one in replicate(kept, np.zeros((200, 9), dtype=int), runs)]
    spread = np.array([one.values[4, 0] for one in smooth]).var()
    assert abs(spread / smooth[0].deviations[4, 0] ** 2 - 1) < 6.5 * math.sqrt(2 / runs) + 0.1
    changed = [one.changes().values for one in replicate(kept, np.zeros((200, 9), dtype=int), 5)]
    assert not np.any(changed)  # kept answers of one level repeat
    with pytest.raises(InvalidArgument, match="an odd number"):
        made[0].smoothed(4)
    with pytest.raises(InvalidArgument, match="lag must be"):
        made[0].changes(9)


@pytest.mark.slow
def test_the_window_follows_the_noise() -> None:
    plan = LocalPlan("trend", RandomizedResponse(0.2, 2), Fresh(60))
    (noisy,) = replicate(plan, np.zeros((2_000, 60), dtype=int), 1)
    assert best_window(noisy) >= 15  # nothing moves: the wider the better
    sharp = LocalPlan("trend", RandomizedResponse(6.0, 2), Fresh(60))
    (clear,) = replicate(sharp, np.where(np.arange(60) % 20 < 10, 1, 0)[None, :].repeat(20_000, axis=0), 1)
    assert best_window(clear) == 1


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=6))
def test_projected_rows_are_the_nearest_frequencies(row: list[float]) -> None:
    (made,) = project_rows([row])
    assert made.min() >= 0
    assert made.sum() == pytest.approx(1.0)
    # The nearest point of a convex set: no corner lies in the direction of what was taken off.
    for corner in np.eye(len(row)):
        assert (np.array(row) - made) @ (corner - made) <= 1e-9


def test_projected_estimates_keep_their_shape() -> None:
    (made,) = replicate(COVERED[0][0], np.repeat(COVERED[0][1][:, None], 2, axis=1), 1)
    projected = made.projected()
    assert projected.values.min() >= 0
    assert projected.values.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert np.array_equal(projected.deviations, made.deviations)
    means = replicate(COVERED[3][0], np.repeat(COVERED[3][1][:, None], 2, axis=1), 1)[0]
    with pytest.raises(InvalidArgument, match="frequencies"):
        means.projected()
    with pytest.raises(InvalidArgument, match="a table"):
        project_rows([0.5])


def test_tables_are_long_and_labelled() -> None:
    plan = PLANS[0]
    tally = collected(plan, simulate(plan, fleet(100), entropy=seeded(1)))
    table = estimate(plan, tally, labels=("a", "b", "c", "d", "e")).to_pandas()
    assert list(table.columns) == ["slot", "label", "value", "lower", "upper", "reports"]
    assert len(table) == 15
    with pytest.raises(InvalidArgument, match="labels must be 5 of them"):
        estimate(plan, tally, labels=("a",))
