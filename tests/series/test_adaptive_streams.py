"""Values chosen after seeing answers: the worst adversary over a few steps, found by exhausting all of them."""

from __future__ import annotations

import itertools
import math
from typing import TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtr
from tests.conftest import SCALE

from chronodp.accounting import gaussian
from chronodp.series.branching import Branching
from chronodp.series.recursion import Recursion
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.candidates import reach_of
from chronodp.series.shapes.tree import Tree

Floats = NDArray[np.float64]
Part = TypeVar("Part")
Pair = tuple[Part, Part]
Plan = tuple[int, Pair[int]] | None
SHAPE, SIGMA, STEPS = BufferedLinear((0.8,), (0.6,)), 2.0, 3
OUTPUTS = np.arange(-13, 15)
MOVES = ((0, 0), (1, 0), (0, 1))  # what one event may add to a step, on either side


def chance(draws: NDArray[np.int64]) -> Floats:
    """The law of floor(sigma Z + 1/2)."""
    edges = draws - 0.5
    return np.asarray(ndtr((edges + 1) / SIGMA) - ndtr(edges / SIGMA))


def told_back(buffers: Floats, noise: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats]:
    """The draws behind each possible noise of the next step, and the buffers after it."""
    taken = int(np.rint(np.array(SHAPE.omega) @ buffers))
    return noise + taken, np.array(SHAPE.theta)[:, None] * buffers[:, None] + noise


class Adversary:
    """Chooses at every step, from all answers so far, whether the one event goes there, to tell two worlds apart."""

    def __init__(self, epsilon: float, *, adaptive: bool) -> None:
        self.factor, self.adaptive, self.farthest = math.exp(epsilon), adaptive, 0.0

    def best(self) -> float:
        """The largest sum of P - e^epsilon P' over answers, the event going wherever it does most."""
        start = (np.zeros(1), np.zeros(1))
        if self.adaptive:
            return self._follow(0, start, (1.0, 1.0), 0.0, None)
        plans = [(at, move) for at in range(STEPS) for move in MOVES[1:]]
        return max(self._follow(0, start, (1.0, 1.0), 0.0, plan) for plan in plans)

    def _follow(
        self, step: int, buffers: Pair[Floats], likely: Pair[float], apart: float, plan: Plan, *, used: bool = False
    ) -> float:
        moves = (MOVES[:1] if used else MOVES) if plan is None else (plan[1] if plan[0] == step else (0, 0),)
        worst = 0.0
        for move in moves:
            (one, ones), (two, twos) = (told_back(buffers[side], OUTPUTS - move[side]) for side in (0, 1))
            first, second = likely[0] * chance(one), likely[1] * chance(two)
            farther = apart + (one - two) ** 2
            if step == STEPS - 1:
                self.farthest = max(self.farthest, float(farther.max()))
                worst = max(worst, float(np.maximum(first - self.factor * second, 0).sum()))
                continue
            after, odds = used or move != (0, 0), list(zip(first.tolist(), second.tolist(), strict=True))
            parts = (
                self._follow(step + 1, (ones[:, at], twos[:, at]), odds[at], float(farther[at]), plan, used=after)
                for at in range(len(OUTPUTS))
            )
            worst = max(worst, math.fsum(parts))
        return worst


@pytest.mark.parametrize("epsilon", [0.2, 0.7] if SCALE >= 1 else [0.7])
@pytest.mark.slow
def test_the_worst_of_all_adversaries_stays_within_the_guarantee(epsilon: float) -> None:
    adaptive, settled = Adversary(epsilon, adaptive=True), Adversary(epsilon, adaptive=False)
    found = adaptive.best()
    stated = gaussian.delta_of(math.sqrt(adaptive.farthest) / SIGMA, epsilon)
    assert settled.best() <= found <= stated
    bare = gaussian.delta_of(1 / SIGMA, epsilon)
    assert found > bare  # a shape whose memory is not paid for would be caught
    # The draws differ by no more than C d and what rounding adds.
    reach = reach_of(SHAPE, STEPS).l2(1, together=True)
    rounded = 2 * Recursion(SHAPE).rounding_bound(STEPS, SIGMA) * math.sqrt(STEPS)
    assert reach - 1 < math.sqrt(adaptive.farthest) <= reach + rounded


def test_pure_noise_is_private_output_by_output_so_also_against_choices() -> None:
    """In four steps a tree uses four draws, which can be told from the answers: the ratio is that of the draws."""
    tree, scale = Tree(3), 1.7
    width, fresh = 4, itertools.count()

    def draw(size: tuple[int, int]) -> NDArray[np.int64]:
        return np.eye(size[1], dtype=np.int64)[[next(fresh) for _ in range(size[0])]]

    noise = Branching(tree, width).advance(Branching(tree, width).start(6), 0, width, draw)[1]
    back = np.linalg.inv(noise[:, noise.any(axis=0)].astype(np.float64))
    answers = np.array(list(itertools.product(range(-4, 5), repeat=width)))

    def log_chance(values: NDArray[np.int64]) -> Floats:
        draws = np.rint((answers - values) @ back.T)
        edges = np.abs(draws) - 0.5
        inside = np.log1p(-np.exp(-1 / scale)) - edges / scale - math.log(2)
        logs: Floats = np.where(draws == 0, math.log(-math.expm1(-0.5 / scale)), inside).sum(axis=1)
        return logs

    worst = 0.0
    for step in range(width):
        moved = np.zeros(width, dtype=np.int64)
        moved[step] = 1
        worst = max(worst, float(np.abs(log_chance(moved) - log_chance(0 * moved)).max()))
    stated = float(reach_of(tree, width).l1(1)[0]) / scale
    assert 0.99 * stated < worst <= stated * (1 + 1e-12)
