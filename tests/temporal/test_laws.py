"""What happens to long series, against what is expected of each mechanism."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from chronodp.randomness import secure, seeded
from chronodp.temporal import Backward, BlockShuffle, Forward, NoisySort, Threshold, UnitCosts
from chronodp.temporal.published.juggling import juggle, juggle_many, steady_slots
from tests.conftest import Trials

POINTS = list(itertools.product((10, 20, 50), (2.0, 5.0, 8.0)))


def displacement(source: NDArray[np.int64], block: int) -> tuple[float, float]:
    """The mean over blocks, and its standard error."""
    moved = np.abs(source - np.arange(len(source))).reshape(-1, block).mean(axis=1)
    return float(moved.mean()), float(moved.std() / math.sqrt(len(moved)))


def test_block_shuffle_moves_as_little_as_it_may(trials: Trials) -> None:
    length = trials(10**7, least=400_000)
    blurred = BlockShuffle(20, 5.0).perturb(np.arange(length), entropy=secure())
    mean, error = displacement(blurred.source, 20)
    assert abs(mean - 0.7944) < 6.5 * error
    assert abs(mean - 0.79) < 0.01 + 6.5 * error
    kept = float(np.mean(blurred.source == np.arange(length)))
    assert abs(kept - 0.8865) < 0.001 + 6.5 * math.sqrt(0.1 / (length / 20))
    assert blurred.damage.delay == blurred.damage.displacement / 2
    assert BlockShuffle(20, 5.0).expected.displacement == pytest.approx(0.7944, abs=1e-4)
    assert BlockShuffle(20, 5.0).expected_by_clock.delay == 9.5
    assert (blurred.damage.missing, blurred.damage.repeated, blurred.damage.empty) == (0.0, 0.0, 0.0)
    assert np.array_equal(np.sort(blurred.values.data), np.arange(length))
    wrong, _ = displacement(BlockShuffle(20, 4.9).perturb(np.arange(length)).source, 20)
    assert abs(wrong - 0.7944) > 6.5 * error  # a budget two per cent off is seen


@pytest.mark.parametrize("kind", [Backward, Forward, Threshold])
def test_costs_are_what_theory_says(kind: type[Backward] | type[Forward] | type[Threshold], trials: Trials) -> None:
    length = trials(10**6, least=50_000)
    tolerance = 0.01 * math.sqrt(10**6 / length)
    for window, epsilon in POINTS:
        mechanism, costs = kind(window, epsilon), UnitCosts.relative(window)
        seen = mechanism.perturb(np.zeros(length), entropy=seeded(window)).damage
        wanted = mechanism.expected
        # At the ends a window is cut off.
        assert seen.cost(costs) == pytest.approx(wanted.cost(costs), rel=tolerance, abs=2 * window * window / length)
        for name in ("missing", "repeated", "empty", "delay", "displacement"):
            part = getattr(wanted, name)
            spread = 6.5 * math.sqrt(window * part / length)  # none is above the window
            assert abs(getattr(seen, name) - part) <= spread + 2 * window / length, (window, epsilon, name)
        other = kind(window, epsilon + 1).expected.cost(costs)  # another budget is told apart
        assert other == wanted.cost(costs) or abs(seen.cost(costs) / other - 1) > 0.01


@pytest.mark.parametrize(("window", "threshold"), [(20, 3), (20, 10), (50, 12), (3, 2)])
def test_a_series_starts_in_the_steady_state(window: int, threshold: int, trials: Trials) -> None:
    rows = trials(400_000, least=40_000)
    empty = steady_slots(rows, window, threshold, seeded(1))
    assert np.all(empty.sum(axis=1) == threshold)
    assert np.all(empty[:, -1])
    first = juggle_many(1, empty, seeded(2))[:, 0]
    later = juggle_many(40, empty, seeded(3))[:, 39]
    for delay in range(window):
        one, two = (np.mean(part == delay) for part in (first, later))
        assert abs(one - two) < 7 * math.sqrt(2 * 0.25 / rows)
    cold = np.ones((2, window), dtype=bool)
    cold[:, : window - threshold] = False  # a start that is not steady is told apart
    assert np.all(juggle_many(1, cold, seeded(4)) >= window - threshold)


def test_one_series_and_many_have_the_same_law(trials: Trials) -> None:
    length = trials(400_000, least=60_000)
    one = juggle(length, steady_slots(1, 12, 5, seeded(1))[0], seeded(2))
    many = juggle_many(length // 50, steady_slots(50, 12, 5, seeded(3)), seeded(4))
    for delay in range(12):
        assert abs(np.mean(one == delay) - np.mean(many == delay)) < 7 * 2 * math.sqrt(0.25 / length)


def test_values_go_where_no_other_went() -> None:
    for rows in (3, 40):
        source = Threshold(7, 3.0).perturb_panel(np.zeros((rows, 500)), entropy=seeded(1)).source
        for row in source:
            released = row[row >= 0]
            assert len(np.unique(released)) == len(released)
            times = np.flatnonzero(row >= 0)
            assert np.all((times - released >= 0) & (times - released < 7))


def test_noisy_sort_moves_as_expected_and_stays_a_permutation(trials: Trials) -> None:
    length = trials(10**6, least=100_000)
    blurred = NoisySort(20, 5.0).perturb(np.arange(length), entropy=seeded(1))
    assert np.array_equal(np.sort(blurred.source), np.arange(length))
    assert blurred.damage.displacement == pytest.approx(8.1, abs=0.1)


@pytest.mark.slow
def test_ties_of_a_stable_sort_tell_more_than_epsilon() -> None:
    assert round(worst_sort(2, 1, 2.0, stable=True), 2) == 1.40
    assert round(worst_sort(2, 1, 2.0, stable=False), 2) == 0.90
    assert worst_sort(4, 3, 6.0, stable=True) > 6.1
    assert worst_sort(4, 3, 6.0, stable=False) < 6.0


def worst_sort(length: int, window: int, epsilon: float, *, stable: bool) -> float:
    """The largest log ratio of orders under a swap, for noise on a grid of whole periods, cut far out in its tail."""
    scale, reach = 2 * window / epsilon, 12 if length == 4 else 60
    noise = np.arange(-reach, reach + 1)
    edges = np.append(noise - 0.5, reach + 0.5)
    above = np.where(edges >= 0, np.exp(-np.abs(edges) / scale) / 2, 1 - np.exp(-np.abs(edges) / scale) / 2)
    chance = above[:-1] - above[1:]
    keys = np.stack([part.ravel() for part in np.meshgrid(*(noise + time for time in range(length)), indexing="ij")], 1)
    weight = np.array([1.0])
    for _ in range(length):
        weight = np.multiply.outer(weight, chance).ravel()
    starts = [tuple(range(length))] if stable else list(itertools.permutations(range(length)))
    law: dict[tuple[int, ...], float] = {}
    for start in starts:
        order = np.array(start)[np.argsort(keys[:, start], axis=1, kind="stable")]
        codes = order @ length ** np.arange(length)
        for code, mass in enumerate(np.bincount(codes, weight, minlength=length**length)):
            key = tuple(code // length**place % length for place in range(length))
            law[key] = law.get(key, 0.0) + mass / len(starts)
    worst = 0.0
    for one, two in itertools.combinations(range(length), 2):
        if two - one <= window:
            exchange = {one: two, two: one}
            for order_seen, mass in law.items():
                other = law[tuple(exchange.get(value, value) for value in order_seen)]
                if mass > 1e-13 and other > 1e-13:
                    worst = max(worst, math.log(mass / other))
    return worst
