"""Quantiles by the exponential mechanism: of all bins one is drawn, those of nearby rank likelier, or "too few".

    u_j = -max(0, w_j, -w_{j+1}),  w_j = (people below edge j) - q n,      u_few = C - min(q, 1 - q) n / 2

"One quantile" of ``docs/explanation/proofs/quantiles.md``: no count of all is needed, and one more person moves each u
by at most max(q, 1 - q).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    BoundedRangeCost,
    Cost,
    PureCost,
    RepeatedCost,
    User,
    check_flag,
    check_whole,
    decimal_value,
    document,
)
from chronodp.randomness import Entropy
from chronodp.selection import ChoiceDesign, ExponentialMechanism, PermuteAndFlip, design_choice, pick_runs

__all__ = ["ByChoice", "bin_utilities", "choice_of", "draw_bins", "few_allowance"]

Wholes = NDArray[np.int64]

_WRONG = 0.05  # the most that a bin beyond half of the quantile's shorter side is shown with
_ANYONE = User()  # who is protected is the table's to say: here only how far utilities move matters
_TOGETHER = 2**20  # candidates drawn among at once, about
_LEAST = 2.0**-25  # of epsilon: then 12.2 scales of a choice, ln(10,000 bins / 0.05), are below 2^30 steps
_SAFE = 2**62  # whole numbers below it are multiplied in 64 bits


@document("quantiles_by_choice")
@dataclass(frozen=True)
class ByChoice:
    """Every quantile is a bin that was drawn, or that there are too few people to tell.

    Attributes:
        mechanism: permute-and-flip in a pure budget, the exponential mechanism in one with a delta.
        epsilon: of all choices of one quantile that a unit can move within one period, together.
        periods: in how many periods a unit can move any.
        weight: how much of the counts of one period a unit moves, in people or rows; twice that if it is replaced.
        choices: how many choices of one quantile in one period a unit moves at most.
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
        if self.epsilon < (self.choices + 2) * _LEAST:
            # A choice's grid holds 2^31 steps, and "too few" must be as far above a wrong bin as the argument says.
            raise InvalidArgument(
                "epsilon", self.epsilon, "larger: no table has so many people that a bin would be shown"
            )

    @property
    def part(self) -> PureCost | BoundedRangeCost:
        """What the choices of one quantile in one period cost together."""
        if isinstance(self.mechanism, ExponentialMechanism):
            return BoundedRangeCost(self.epsilon)
        return PureCost(self.epsilon)

    def cost(self, quantiles: int) -> Cost:
        """Return what all choices of so many quantiles cost."""
        return RepeatedCost(self.part, self.periods * quantiles)

    def change(self, q: Fraction) -> Fraction:
        """Return how far a unit moves utilities, all choices of one quantile within a period taken together."""
        return Fraction(self.weight) if self.in_place else self.weight * max(q, 1 - q)

    def spread(self, q: float) -> float:
        """Return the scale of a drawn bin's rank error where bins are narrow and lie evenly: 2Δ / ε."""
        return 2 * float(self.change(decimal_value(q))) / self.epsilon

    def shortfall(self, q: float, bins: int, level: float) -> float:
        """Return how many ranks, at most, a bin that is shown is off, at a level. Reads no data.

        The bin that holds the quantile is off by 0, so this is how far a choice falls short of the best.
        """
        exact = decimal_value(q)
        return choice_of(self, exact, bins, 1).shortfall(level) / exact.denominator

    def needed(self, q: float, bins: int) -> int:
        """Return from how many people, or rows, on a bin is shown in more than half of the draws."""
        exact = decimal_value(q)
        side = float(min(exact, 1 - exact)) * exact.denominator
        return math.ceil(2 * few_allowance(choice_of(self, exact, bins, 1)) / side)

    def __str__(self) -> str:
        return f"bins drawn by {'the ' if isinstance(self.mechanism, ExponentialMechanism) else ''}{self.mechanism}"


@lru_cache(maxsize=4)
def _names(bins: int) -> tuple[str, ...]:
    return (*map(str, range(bins)), "too few")


@lru_cache(maxsize=2048)
def choice_of(way: ByChoice, q: Fraction, bins: int, per_one: int) -> ChoiceDesign:
    """Return the choice of a quantile's bin; utilities are whole, ``per_one`` × q's denominator for one person."""
    found = design_choice(
        way.mechanism,
        _names(bins),
        unit=_ANYONE,
        change=float(way.change(q) * per_one * q.denominator),
        monotone=False,
        epsilon=way.epsilon,
        purpose="bins of a quantile",
    )
    if way.choices == 1 or found.step <= 1:
        return found
    # Each choice that is moved rounds to steps by itself, and the ceiling of one sum holds one of these roundings.
    return replace(found, change=found.change + (way.choices - 1) * found.step)


def few_allowance(design: ChoiceDesign) -> int:
    """Return C, the utility of "too few" where nobody is: (2Δ / ε) ln(bins / 0.05), rounded up."""
    bins = len(design.candidates) - 1
    steps = Fraction(math.log(bins / _WRONG) * (1 + 1e-12)) / design.slope
    # A step more, since utilities are rounded down to the grid: a larger C says "too few" more often, never less.
    return math.ceil(Fraction(design.step) * (steps + 1))


def draw_bins(way: ByChoice, quantiles: tuple[float, ...], counts: Wholes, per_one: int, entropy: Entropy) -> Wholes:
    """Return the number of the bin drawn for each quantile, by exact counts of bins (cells, bins); ``bins``: too few.

    ``per_one`` is what one person, or a whole row, counts for in ``counts``.
    """
    cells, bins = counts.shape
    drawn = np.empty((cells, len(quantiles)), np.int64)
    together = max(1, _TOGETHER // (bins + 1))
    for begin in range(0, cells, together):
        some = counts[begin : begin + together]
        for index, q in enumerate(map(decimal_value, quantiles)):
            design = choice_of(way, q, bins, per_one)
            utilities = bin_utilities(some, q, few_allowance(design))
            sizes = np.full(len(some), bins + 1, np.int64)
            drawn[begin : begin + together, index] = pick_runs(design, utilities.ravel(), sizes, entropy)
    return _in_order(drawn, bins)


def bin_utilities(counts: Wholes, q: Fraction, allowance: int) -> NDArray[Any]:
    """Return -r of every bin and that of "too few" last, times the denominator of q, by counts (cells, bins)."""
    part, rest = q.numerator, q.denominator - q.numerator
    below = np.zeros((len(counts), counts.shape[1] + 1), np.int64)
    np.cumsum(counts, axis=1, out=below[:, 1:])
    if max(int(below[:, -1].max(initial=0)) * q.denominator, allowance) >= _SAFE:
        below = below.astype(object)
    everybody = below[:, -1:]
    past = below * rest - (everybody - below) * part  # w_j, from -q n at the first edge to (1 - q) n at the last
    found = np.empty_like(below)
    found[:, :-1] = -np.maximum(0, np.maximum(past[:, :-1], -past[:, 1:]))
    found[:, -1:] = allowance - min(part, rest) * everybody // 2
    return found


def _in_order(drawn: Wholes, bins: int) -> Wholes:
    """Return bins that rise with their quantiles; "too few" stays where it was drawn."""
    shown = drawn < bins
    place = np.maximum(np.cumsum(shown, axis=1) - 1, 0)
    return np.where(shown, np.take_along_axis(np.sort(drawn, axis=1), place, axis=1), bins)
