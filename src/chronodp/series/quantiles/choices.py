"""Quantiles by the exponential mechanism: of all edges one is drawn, those of nearby rank likelier.

    u_j = -|(1 - q) B_j - q A_j|,  B_j below edge j, A_j from it on

"One quantile" of ``docs/explanation/proofs/quantiles.md``: no count of all is needed, and one more person moves u by at
most max(q, 1 - q).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.privacy import BoundedRangeCost, Cost, PureCost, RepeatedCost, User, check_flag, check_whole, document
from chronodp.randomness import Entropy
from chronodp.selection import ChoiceDesign, ExponentialMechanism, PermuteAndFlip, design_choice, pick_runs
from chronodp.series.quantiles.order import Step, levels_of, steps_of

__all__ = ["ByChoice", "choice_of", "draw_places", "edge_utilities"]

Wholes = NDArray[np.int64]

_ANYONE = User()  # who is protected is the table's to say: here only how far utilities move matters
_TOGETHER = 2**20  # candidates drawn among at once, about
_SAFE = 2**62  # whole numbers below it are multiplied in 64 bits


@document("quantiles_by_choice")
@dataclass(frozen=True)
class ByChoice:
    """Every quantile is an edge that was drawn.

    Attributes:
        mechanism: permute-and-flip in a pure budget, the exponential mechanism in one with a delta.
        epsilon: of all choices of one level that a unit can move within one period, together.
        periods: in how many periods a unit can move any.
        weight: how much of the counts of one period a unit moves, in people or rows; twice that if it is replaced.
        choices: how many choices of one level in one period a unit moves at most.
        in_place: whether a unit that is replaced moves one choice only, and so no utility by more than its weight.
    """

    mechanism: ExponentialMechanism | PermuteAndFlip
    epsilon: float
    periods: int
    weight: int
    choices: int = 1
    in_place: bool = False

    def __post_init__(self) -> None:
        check_whole("periods", self.periods)
        check_whole("weight", self.weight)
        check_whole("choices", self.choices)
        check_flag("in_place", self.in_place)
        _ = self.part

    @property
    def part(self) -> PureCost | BoundedRangeCost:
        """What the choices of one level in one period cost together."""
        if isinstance(self.mechanism, ExponentialMechanism):
            return BoundedRangeCost(self.epsilon)
        return PureCost(self.epsilon)

    def cost(self, quantiles: int) -> Cost:
        """Return what all choices of so many quantiles cost."""
        return RepeatedCost(self.part, self.periods * levels_of(quantiles))

    def change(self, step: Step) -> Fraction:
        """Return how far a unit moves utilities, all choices of a level within a period taken together."""
        return Fraction(self.weight) if self.in_place else self.weight * step.slope

    def spread(self, step: Step) -> float:
        """Return the scale of a chosen edge's rank error where edges lie evenly: 2Δ / ε."""
        return 2 * float(self.change(step)) / self.epsilon

    def shortfall(self, step: Step, edges: int, level: float) -> float:
        """Return how many ranks, at most, a chosen edge is worse than the best, at a level. Reads no data."""
        return choice_of(self, step, edges, 1).shortfall(level) / step.target.denominator

    def __str__(self) -> str:
        return f"edges drawn by {'the ' if isinstance(self.mechanism, ExponentialMechanism) else ''}{self.mechanism}"


@lru_cache(maxsize=4)
def _names(edges: int) -> tuple[str, ...]:
    return tuple(map(str, range(edges)))


@lru_cache(maxsize=2048)
def choice_of(way: ByChoice, step: Step, edges: int, per_one: int) -> ChoiceDesign:
    """Return the choice of a step's edge; utilities are whole, ``per_one`` × the target's denominator for one person.

    A part has fewer candidates than there are edges, which changes nothing of how far a unit moves them.
    """
    change = way.change(step) * per_one * step.target.denominator
    found = design_choice(
        way.mechanism,
        _names(edges),
        unit=_ANYONE,
        change=float(change),
        monotone=False,
        epsilon=way.epsilon,
        purpose="edges of a quantile",
    )
    if way.choices == 1 or found.step <= 1:
        return found
    # Each choice that is moved rounds to steps by itself, and the ceiling of one sum holds one of these roundings.
    return replace(found, change=found.change + (way.choices - 1) * found.step)


def draw_places(way: ByChoice, quantiles: tuple[float, ...], counts: Wholes, per_one: int, entropy: Entropy) -> Wholes:
    """Return the number of the edge drawn for each quantile, by exact counts of bins (cells, bins).

    ``per_one`` is what one person, or a whole row, counts for in ``counts``.
    """
    cells, bins = counts.shape
    below = np.zeros((cells, bins + 1), np.int64)
    np.cumsum(counts, axis=1, out=below[:, 1:])
    places = np.zeros((cells, len(quantiles)), np.int64)
    together = max(1, _TOGETHER // (bins + 1))
    for begin in range(0, cells, together):
        some, drawn = below[begin : begin + together], places[begin : begin + together]
        for step in steps_of(quantiles):
            first = np.zeros(len(some), np.int64) if step.low is None else drawn[:, step.low]
            last = np.full(len(some), bins) if step.high is None else drawn[:, step.high]
            design = choice_of(way, step, bins + 1, per_one)
            utilities = _utilities_of_cells(some, first, last, step.target)
            drawn[:, step.index] = first + pick_runs(design, utilities, last - first + 1, entropy)
    return places


def edge_utilities(below: Wholes, target: Fraction) -> NDArray[Any]:
    """Return -|(1 - q) B - q A| of a part's edges times the denominator of q, from running counts up to each."""
    return _utilities_of_cells(below[None], np.array([0]), np.array([len(below) - 1]), target)


def _utilities_of_cells(below: Wholes, first: Wholes, last: Wholes, target: Fraction) -> NDArray[Any]:
    """Return the same of the edges from first to last of many cells, one cell after the other."""
    sizes, rows = last - first + 1, np.arange(len(below))
    cells = np.repeat(rows, sizes)
    edges = np.arange(len(cells)) - np.repeat(np.cumsum(sizes) - sizes - first, sizes)
    counts = below[cells, edges]
    least, most = (np.repeat(below[rows, end], sizes) for end in (first, last))
    if int((most - least).max()) * target.denominator >= _SAFE:
        counts, least, most = (numbers.astype(object) for numbers in (counts, least, most))
    part = target.numerator
    return np.asarray(-abs((counts - least) * (target.denominator - part) - (most - counts) * part))
