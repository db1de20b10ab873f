"""The rule that publishes keys most often of all that are (ε, δ)-private, for budgets without Gaussian noise.

"The optimal rule" of ``docs/explanation/proofs/keys.md``. Probabilities are whole numbers over 2^128 and satisfy both
inequalities as they are, so nothing is left to rounding.
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
    RepeatedCost,
    check_epsilon,
    check_fraction,
    check_whole,
    decimal_value,
    document,
    settle,
)
from chronodp.randomness import Entropy
from chronodp.selection.keys.counts import people_counts
from chronodp.selection.keys.weights import MOST_KEYS

__all__ = ["OptimalRule"]

_WHOLE = 2**128
_LIMBS = 4  # words of 32 bits: entropy gives whole numbers below 2^63
_FACTOR_BITS = 160
_LONGEST = 2**20


@document("optimal_key_rule")
@dataclass(frozen=True)
class OptimalRule:
    """A key that n people hold is published with the largest probability that (ε, δ) allows.

    Attributes:
        epsilon: of all keys of one unit together.
        delta: of all keys of one unit together.
        most: the keys that one unit can move, each by one person: 2 · max_keys where units are replaced.

    π(0) = 0 and π(n) = min(e^ε₀ π(n−1) + δ₀, 1 − e^−ε₀ (1 − π(n−1) − δ₀), 1), where ε₀ = epsilon / most and
    δ₀ = delta / most, both rounded down.

    Guarantee: `cost`, if one unit moves at most ``most`` counts, each by at most 1. In a Gaussian budget `Rounds` needs
    about a third of the people at the same price.

    References:
        Desfontaines, Voss, Gipson, Mandayam (2022), Differentially private partition selection.

    >>> rule = OptimalRule(epsilon=1.0, delta=1e-6, most=1)
    >>> rule.people_needed(), len(rule.table)
    (14, 29)
    """

    epsilon: float
    delta: float
    most: int

    def __post_init__(self) -> None:
        settle(
            self,
            epsilon=check_epsilon(self.epsilon),
            delta=check_fraction("delta", self.delta),
            most=check_whole("most", self.most, most=MOST_KEYS),
        )
        each = self.each
        if not self._failure:
            raise InvalidArgument("delta", self.delta, f"at least 2^-128 for each of {self.most} keys")
        # The table ends after 2 ln(1 + ε₀ / 2δ₀) / ε₀ people, or after 1 / δ₀ if that is fewer.
        if min(1 / each.delta, 2 * math.log1p(each.epsilon / each.delta) / each.epsilon) > _LONGEST:
            raise InvalidArgument("epsilon", self.epsilon, f"larger: a key would need more than {_LONGEST:,} people")

    @cached_property
    def each(self) -> ApproximateCost:
        """What one key costs: both numbers rounded down, so that all of a unit's keys cost no more than asked."""
        # In the numbers as they are written: a budget adds up these. δ/m is less than 1 - (1-δ)^(1/m) by a part of δ.
        epsilon, delta = (_part(whole, self.most) for whole in (self.epsilon, self.delta))
        return ApproximateCost(epsilon, delta)

    @property
    def cost(self) -> RepeatedCost:
        """What the keys of one unit cost together, composed."""
        return RepeatedCost(self.each, self.most)

    @cached_property
    def table(self) -> tuple[int, ...]:
        """P[n], where n people are published with probability P[n] / 2^128; the last entry is 2^128, for more as well.

        Every entry follows from the rounded one before it, so the table itself is (ln E, D / 2^128)-private: with
        E ≤ e^ε₀ and D ≤ δ₀ 2^128, P[n] ≤ E P[n−1] + D and 2^128 − P[n−1] ≤ E (2^128 − P[n]) + D.
        """
        factor, failure = _factor(self.each.epsilon), self._failure
        found = [0]
        while found[-1] < _WHOLE:
            last = found[-1]
            rest = max(_WHOLE - last - failure, 0)
            grown = last * factor.numerator // factor.denominator + failure
            kept = _WHOLE + (-rest * factor.denominator) // factor.numerator  # minus the ceiling of rest / E
            found.append(min(grown, kept, _WHOLE))
        return tuple(found)

    def people_needed(self, keys_each: int = 1) -> int:
        """Return from how many people on a key is published at least half of the time, whatever else they hold."""
        check_whole("keys_each", keys_each, most=self.most)
        return next(people for people, chance in enumerate(self.table) if 2 * chance >= _WHOLE)

    @property
    def lone(self) -> float:
        """The probability that some key which one unit alone holds is published, at most."""
        return self.delta

    def decide(self, counts: ArrayLike, entropy: Entropy) -> NDArray[np.bool_]:
        """Return which keys are published, each by its own word of 128 bits. Counts are of people, in the keys' order.

        >>> from chronodp.randomness import seeded
        >>> OptimalRule(1.0, 1e-6, 1).decide([0, 1, 20, 28], seeded(2)).tolist()
        [False, False, True, True]
        """
        places = np.clip(people_counts(counts), 0, len(self.table) - 1)
        words = entropy.integers(2**32, (len(places), _LIMBS)).astype(np.uint64)
        return self._below(words, places)

    @property
    def _failure(self) -> int:
        return math.floor(decimal_value(self.each.delta) * _WHOLE)

    def _below(self, words: NDArray[np.uint64], places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each word, in limbs from the highest, lies below its entry."""
        high, low = (words[:, pair] << np.uint64(32) | words[:, pair + 1] for pair in (0, 2))
        highs, lows = self._halves
        wanted = highs[places]
        # The last entry is 2^128, which 128 bits do not hold: whatever the word is, it lies below.
        below: NDArray[np.bool_] = (high < wanted) | ((high == wanted) & (low < lows[places]))
        below |= places == len(self.table) - 1
        return below

    @cached_property
    def _halves(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        entries = [chance % _WHOLE for chance in self.table]
        high = np.array([chance >> 64 for chance in entries], np.uint64)
        return high, np.array([chance % 2**64 for chance in entries], np.uint64)


def _part(whole: float, count: int) -> float:
    """Return the largest float of which so many, as written, are no more than the whole."""
    part = whole / count
    while decimal_value(part) * count > decimal_value(whole):
        part = math.nextafter(part, 0.0)
    return part


def _factor(epsilon: float) -> Fraction:
    """Return E ≤ e^epsilon, a whole number over 2^160."""
    import mpmath

    exact = decimal_value(epsilon)
    # 64 bits beside those of the whole part and the 160: what is computed errs by less than the 2^-32 taken off it.
    with mpmath.workprec(_FACTOR_BITS + 64 + math.ceil(max(epsilon, 1.0) * 1.5)):
        power = mpmath.ldexp(mpmath.exp(mpmath.mpf(exact.numerator) / exact.denominator), _FACTOR_BITS)
        found = mpmath.floor(power - mpmath.mpf(2) ** -32)
    return Fraction(int(found), 2**_FACTOR_BITS)
