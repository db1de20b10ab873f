"""What two levels of answers tell over time, exactly: worst odds between histories of two values.

With two values, what a report sequence tells depends on counts alone. Positions fall into four groups by the values
that two histories hold there; within a group only the number of ones matters. So all pairs of histories and all
outputs of a length are walked in a few thousand steps.

*Kept answers* and "Exactly, for two values and up to 12 slots" under "Over time" in
``docs/explanation/proofs/local.md``.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from chronodp.errors import InvalidArgument
from chronodp.local.probabilities import WHOLE, split_odds

__all__ = ["LONGEST_EXACT", "TwoLevels", "two_levels", "worst_losses"]

LONGEST_EXACT = 12
"""Slots up to which the worst case is computed exactly."""


@dataclass(frozen=True, slots=True)
class TwoLevels:
    """Chances of the truth in the kept answer and in the fresh answer around it, as whole numbers.

    Attributes:
        choices: values of the alphabet.
        keep, whole: the kept answer is true with keep / whole.
        keep_again, whole_again: a fresh answer repeats the kept one with keep_again / whole_again.
    """

    choices: int
    keep: int
    whole: int
    keep_again: int
    whole_again: int

    @property
    def kept(self) -> tuple[Fraction, Fraction]:
        """Chances p1, q1 of a kept answer, true or any one other."""
        truth = Fraction(self.keep, self.whole)
        return truth, (1 - truth) / (self.choices - 1)

    @property
    def repeated(self) -> tuple[Fraction, Fraction]:
        """Chances p2, q2 of a fresh answer, the kept one or any one other."""
        truth = Fraction(self.keep_again, self.whole_again)
        return truth, (1 - truth) / (self.choices - 1)

    @property
    def first(self) -> tuple[Fraction, Fraction]:
        """Chances p, q of a report seen alone."""
        (p1, q1), (p2, q2) = self.kept, self.repeated
        truth = p1 * p2 + (1 - p1) * q2
        return truth, q1 * p2 + p1 * q2 + (self.choices - 2) * q1 * q2

    @property
    def report_bound(self) -> float:
        """The most that one report can tell whatever is known, ln(p2/q2); infinite if kept answers are sent as is."""
        p2, q2 = self.repeated
        return math.inf if not q2 else math.log(p2 / q2)


def two_levels(permanent_epsilon: float, first_epsilon: float, choices: int) -> TwoLevels:
    """Return the levels for which one report has e^first_epsilon, rounded down, and kept answers e^permanent_epsilon.

    >>> levels = two_levels(2.0, 1.0, 10)
    >>> f"{float(levels.kept[0]):.9f} {float(levels.repeated[0]):.9f}"
    '0.450853060 0.438524580'
    """
    if permanent_epsilon < first_epsilon:
        raise InvalidArgument(
            "permanent_epsilon", permanent_epsilon, f"at least the epsilon of one report, {first_epsilon:g}"
        )
    a, b = split_odds(permanent_epsilon, likely=1, others=choices - 1)
    whole = a + b * (choices - 1)
    if permanent_epsilon == first_epsilon:
        return TwoLevels(choices, a, whole, 1, 1)
    p1, q1 = Fraction(a, whole), Fraction(b, whole)
    first, other = split_odds(first_epsilon, likely=1, others=choices - 1)
    again = (Fraction(first, first + other * (choices - 1)) - q1) / (p1 - q1)
    # p2 is rounded down: a fresh answer repeats the kept one less often than it may.
    return TwoLevels(choices, a, whole, math.floor(again * WHOLE), WHOLE)


@lru_cache(maxsize=64)
def worst_losses(levels: TwoLevels, horizon: int) -> tuple[float, float]:
    """Return the worst log-odds over all outputs, between histories with the same pattern and with different ones.

    >>> same, different = worst_losses(two_levels(1.0, 0.5, 2), 4)
    >>> f"{same:.4f} {different:.4f}"
    '1.6116 2.0344'
    """
    if levels.choices != 2 or horizon > LONGEST_EXACT:
        raise InvalidArgument("horizon", horizon, f"at most {LONGEST_EXACT}, with two values")
    same = different = 0.0
    for sizes in itertools.product(range(horizon + 1), repeat=4):
        if sum(sizes) != horizon:
            continue
        both_0, left_0, left_1, both_1 = sizes  # values (0, 0), (0, 1), (1, 0), (1, 1) of the two histories
        loss = _worst(levels, sizes)
        if not (left_0 or left_1) or not (both_0 or both_1):
            same = max(same, loss)
        else:
            different = max(different, loss)
    return same, different


def _worst(levels: TwoLevels, sizes: tuple[int, ...]) -> float:
    worst = 0.0
    first = (sizes[0] + sizes[1], sizes[2] + sizes[3])
    second = (sizes[0] + sizes[2], sizes[1] + sizes[3])
    for ones in itertools.product(*(range(size + 1) for size in sizes)):
        one = _likelihood(levels, 0, first[0], ones[0] + ones[1]) * _likelihood(levels, 1, first[1], ones[2] + ones[3])
        two = _likelihood(levels, 0, second[0], ones[0] + ones[2]) * _likelihood(
            levels, 1, second[1], ones[1] + ones[3]
        )
        if one:
            worst = max(worst, math.log(one / two) if two else math.inf)
    return worst


@lru_cache(maxsize=4096)
def _likelihood(levels: TwoLevels, value: int, size: int, ones: int) -> float:
    """The chance of ``ones`` ones at given places among ``size`` reports on ``value``."""
    if not size:
        return 1.0
    (p1, q1), (p2, q2) = levels.kept, levels.repeated
    zeros = size - ones
    kept_1 = (p1 if value else q1) * p2**ones * q2**zeros
    return float(kept_1 + (q1 if value else p1) * q2**ones * p2**zeros)
