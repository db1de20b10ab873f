"""The k largest keys by peeling, where a unit holds more keys than thresholds can pay for; else see `Decided.largest`.

"The k largest" of ``docs/explanation/proofs/keys.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    ApproximateCost,
    check_epsilon,
    check_flag,
    check_fraction,
    check_whole,
    decimal_value,
    document,
    settle,
)
from chronodp.randomness import Entropy
from chronodp.selection.design import FARTHEST, MOST_CANDIDATES, short_slope
from chronodp.selection.exponential import draw_exponential
from chronodp.selection.keys.counts import people_counts

__all__ = ["Peel"]

_FINE = 20  # noise spans about 2^20 steps of a count, so that far behind is e^-2048


@document("key_peel")
@dataclass(frozen=True)
class Peel:
    """The k largest keys one after another, until a stop: for units that may hold any number of keys.

    Of the ``candidates`` largest counts h, and a stop of score h' + 1 + ln(candidates / delta) / epsilon, where h' is
    the next count after them (0 if there is none), one is drawn with probability proportional to e^(epsilon · score)
    and taken away; again until the stop is drawn or k keys are.

    Attributes:
        epsilon: of one draw.
        delta: of all draws together.
        k: the most keys.
        candidates: how many of the largest counts take part.
        replace: whether units are replaced: then the stop is one higher, and a draw costs twice epsilon.

    Guarantee: `cost`, if one unit moves any number of counts, each by at most 1. The argument needs k · delta to be at
    most epsilon: else it is refused. A list that ends early says nothing of why: whether the stop was drawn among
    keys, or no key was left, looks the same.

    References:
        Durfee, Rogers (2019), Practical differentially private top-k selection with pay-what-you-get composition.

    >>> from chronodp.randomness import seeded
    >>> Peel(epsilon=1.0, delta=1e-6, k=2, candidates=10).decide([3, 400, 90], seeded(1))
    (1, 2)
    """

    epsilon: float
    delta: float
    k: int
    candidates: int
    replace: bool = False

    def __post_init__(self) -> None:
        settle(
            self,
            epsilon=check_epsilon(self.epsilon),
            delta=check_fraction("delta", self.delta),
            k=check_whole("k", self.k),
            candidates=check_whole("candidates", self.candidates, least=self.k, most=MOST_CANDIDATES),
            replace=check_flag("replace", self.replace),
        )
        # Both are what the proof asks for; the second, that k · candidates · e^-gap stays below delta² / 4 at FARTHEST.
        if self.k * decimal_value(self.delta) > Fraction(self.slope) * 2**self.bits:
            raise InvalidArgument("delta", self.delta, "at most epsilon / k")
        if self.slope * FARTHEST < math.log(4 * self.k * self.candidates) - 2 * math.log(self.delta) + 1:
            raise InvalidArgument("epsilon", self.epsilon, f"larger: a key would have to lead by {self.lead:,.0f}")

    @cached_property
    def bits(self) -> int:
        """Scores are whole numbers of steps of 2^-bits of a count."""
        return min(max(_FINE + math.frexp(self.epsilon)[1] - 1, 0), _FINE)

    @cached_property
    def slope(self) -> float:
        """What one step takes off a log-probability: epsilon · 2^-bits, down to a float of few digits."""
        return float(short_slope(min(Fraction(self.epsilon), decimal_value(self.epsilon)) / 2**self.bits))

    @cached_property
    def stop(self) -> int:
        """How far the stop is above the largest count that takes no part, in steps, rounded up."""
        import mpmath

        with mpmath.workprec(200):
            odds = decimal_value(self.delta) / self.candidates
            # By the slope that is drawn with, not by epsilon: the flatter one needs the longer way.
            steps = -mpmath.log(mpmath.mpf(odds.numerator) / odds.denominator) / mpmath.mpf(self.slope)
            needed = int(mpmath.floor(steps)) + 1
        counts = 2 if self.replace else 1
        return (counts << self.bits) + needed

    @property
    def lead(self) -> float:
        """How many people a key must have more than the first that takes no part, to be drawn as soon as the stop."""
        return math.ldexp(float(self.stop), -self.bits)

    @property
    def cost(self) -> ApproximateCost:
        """What all draws cost together, however many keys come out."""
        whole = self.k * (2 if self.replace else 1) * decimal_value(self.epsilon)
        epsilon = float(whole)
        if decimal_value(epsilon) < whole:
            epsilon = math.nextafter(epsilon, math.inf)
        return ApproximateCost(epsilon, self.delta)

    def decide(self, counts: ArrayLike, entropy: Entropy) -> tuple[int, ...]:
        """Return the places of the keys drawn, in the order of drawing. Counts are of people, in the keys' order."""
        drawn: list[int] = []
        places, steps = self._scores(people_counts(counts))
        left = np.ones(len(steps), np.bool_)
        while len(drawn) < self.k:
            open_ = np.flatnonzero(left)
            gaps = np.minimum(steps[open_].max() - steps[open_], FARTHEST)
            # A slope of 22 digits times a gap of 31 bits: a float without rounding.
            one = int(open_[draw_exponential(gaps * self.slope, entropy)])
            if one == len(places):
                break
            drawn.append(int(places[one]))
            left[one] = False
        return tuple(drawn)

    def _scores(self, people: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Return the candidates' places and everyone's score in steps, the stop's at the end."""
        order = np.argsort(-people, kind="stable")
        held = order[people[order] > 0]
        places = held[: self.candidates]
        beyond = int(people[held[self.candidates]]) if len(held) > self.candidates else 0
        # In steps above the first that takes no part: counts themselves, times 2^20, might not fit 64 bits.
        above = np.minimum(people[places] - beyond, 2**62 >> self.bits) << self.bits
        return places, np.append(above, self.stop)
