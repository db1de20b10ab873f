"""Keys that enough people hold, found by weighted sums with Gaussian noise: one round or two.

"One theorem", "Weights" and "Two rounds" of ``docs/explanation/proofs/keys.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    FailureCost,
    GaussianCost,
    SequenceCost,
    at_least,
    check_flag,
    check_fraction,
    check_positive,
    check_whole,
    decimal_value,
    document,
    settle,
)
from chronodp.randomness import LARGEST_SCALE, Entropy
from chronodp.selection.keys.threshold import Held, lone_probability, threshold_for
from chronodp.selection.keys.weights import FINEST, MOST_KEYS, weights_of

__all__ = ["Decided", "Round", "Rounds", "Weigh", "decide", "root_above"]

Weigh = Callable[[NDArray[np.bool_] | None], NDArray[np.int64]]
"""Called with the keys that are dropped, or None: the sum of people's weights on each candidate key, in steps."""

_SHARES = (Fraction(1, 5), Fraction(4, 5))  # of mu² and of delta; the first round only clears the way
_HOPELESS = Fraction(3, 2)  # noise of the first round below the second threshold: people's weight is better used
_WIDEST = 2.0**21  # steps of noise beyond which the grid gets coarser: wider draws need the slow path more often
_COARSEST = 8


@dataclass(frozen=True, slots=True)
class Round:
    """One look at all candidates: the noise, and where it must end. Both in steps."""

    scale: float
    threshold: int


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """What was decided of each candidate key.

    Attributes:
        found: whether it is published.
        noisy: its noisy weight in steps, of the round that found it, else of the last. No count of people.
        early: whether the first round found it.
    """

    found: NDArray[np.bool_]
    noisy: NDArray[np.int64]
    early: NDArray[np.bool_]

    def largest(self, k: int) -> NDArray[np.bool_]:
        """Return the k found keys of the largest noisy weight, ties by the keys' order. Free: it reads what M* tells.

        In the second round people's weight goes to fewer keys, so its weights are larger than the first one's: what the
        first round found comes first.

        >>> noisy, early = np.array([5, 9, 7, 7, 6]), np.array([True, False, False, False, True])
        >>> Decided(np.array([True, False, True, True, True]), noisy, early).largest(3).tolist()
        [True, False, True, False, True]
        """
        places = np.flatnonzero(self.found)
        order = np.lexsort((places, -self.noisy[places], ~self.early[places]))
        kept = np.zeros(len(self.found), np.bool_)
        kept[places[order[: check_whole("k", k)]]] = True
        return kept


@document("key_rounds")
@dataclass(frozen=True)
class Rounds:
    """The rule that publishes a key if the weights of the people who hold it, and noise, reach a threshold.

    A person with d keys in a block adds w_d = 1/√d to each. With one key a unit there is one round. Else a first round,
    at a fifth of the price, finds what is popular; people's weight then goes to what is left and not hopeless.

    Attributes:
        mu: of all rounds together, in Gaussian differential privacy.
        delta: the probability that some key which one unit alone holds is published.
        most: the most keys of one block.
        blocks: the most blocks that one unit touches.
        replace: whether units are replaced, or added and removed.

    Guarantee: `cost`, for a unit whose blocks are as declared, if each weight depends on that person's rows alone.

    References:
        Gopi, Gulhane, Kulkarni, Shen, Shokouhi, Yekhanin (2020), Differentially private set union.
        Swanberg, Desfontaines, Haney (2023), DP-SIPS: a simpler, more scalable mechanism for partition selection.

    >>> rule = Rounds(mu=0.23102471120260236, delta=4e-7, most=10)
    >>> rule.rounds[1].threshold, rule.weights[9]
    (1735681, 20724)
    """

    mu: float
    delta: float
    most: int
    blocks: int = 1
    replace: bool = False

    def __post_init__(self) -> None:
        settle(
            self,
            mu=check_positive("mu", self.mu),
            delta=check_fraction("delta", self.delta),
            most=check_whole("most", self.most, most=MOST_KEYS),
            blocks=check_whole("blocks", self.blocks),
            replace=check_flag("replace", self.replace),
        )
        if max(self._scales) > LARGEST_SCALE:
            raise InvalidArgument("mu", self.mu, f"large enough for noise below 2^30 steps of 2^-{self.bits}")

    @cached_property
    def sensitivity(self) -> float:
        """The l2 change of all weighted sums together, in people: √blocks, times √2 if units are replaced."""
        return root_above(Fraction(self.blocks * (2 if self.replace else 1)))

    @cached_property
    def bits(self) -> int:
        """Weights are whole numbers of steps of 2^-bits."""
        wide = max(self._scales_at(FINEST)) / _WIDEST
        return min(max(FINEST - math.ceil(math.log2(max(wide, 1.0))), _COARSEST), FINEST)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """What each of d keys of a block gets, in steps; for d from 1, so at place d - 1."""
        return weights_of(self.most, self.bits)

    @cached_property
    def rounds(self) -> tuple[Round, ...]:
        """Noise and threshold of each round."""
        whole = decimal_value(self.delta)
        return tuple(
            Round(scale, threshold_for(scale, whole * share, self._held))
            for scale, share in zip(self._scales, self._shares, strict=True)
        )

    @property
    def hopeless(self) -> int | None:
        """The noisy weight below which the first round drops a key; None if there is no second round."""
        if len(self.rounds) == 1:
            return None
        first, last = self.rounds
        return math.floor(last.threshold - _HOPELESS * Fraction(first.scale))

    @property
    def cost(self) -> SequenceCost:
        """Gaussian noise for each round, and the failure: known before any data is."""
        # A power of two divides without rounding: sigma is the very scale that noise is drawn with.
        noise = (GaussianCost(self.sensitivity, math.ldexp(scale, -self.bits)) for scale in self._scales)
        return SequenceCost((*noise, FailureCost(self.delta)))

    @cached_property
    def lone(self) -> float:
        """The probability that some key which one unit alone holds is published, at most; below ``delta``."""
        return math.fsum(lone_probability(one.scale, one.threshold, self._held) for one in self.rounds)

    def people_needed(self, keys_each: int = 1) -> int:
        """Return how many people, of so many keys each in a block, a key needs to be published half of the time.

        None of their other keys is found or dropped: that would only give this one more weight.
        """
        weight = self.weights[check_whole("keys_each", keys_each, most=self.most) - 1]
        low, high = 0, math.ceil(2 * self.rounds[-1].threshold / weight) + 1
        while self._chance(high * weight) < 0.5:
            high *= 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._chance(middle * weight) >= 0.5 else (middle, high)
        return high

    def decide(self, weigh: Weigh, entropy: Entropy) -> Decided:
        """Decide every candidate. Candidates are in the order of their bytes, and each is held by somebody.

        >>> from chronodp.randomness import seeded
        >>> rule = Rounds(mu=1.0, delta=1e-6, most=1)
        >>> people = np.array([1, 3, 30])
        >>> rule.decide(lambda dropped: people * rule.weights[0], seeded(1)).found.tolist()
        [False, False, True]
        """
        return decide(self.rounds, self.hopeless, weigh, entropy)

    @property
    def _held(self) -> Held:
        return Held(self.weights, self.blocks, self.replace)

    @property
    def _shares(self) -> tuple[Fraction, ...]:
        return _SHARES if self.most > 1 else (Fraction(1),)

    @property
    def _scales(self) -> tuple[float, ...]:
        return self._scales_at(self.bits)

    def _scales_at(self, bits: int) -> tuple[float, ...]:
        # s = Δ 2^bits / (mu √share), up: (Δ / σ)² over all rounds is at most mu² in exact arithmetic.
        change = Fraction(self.sensitivity) * 2**bits / min(Fraction(self.mu), decimal_value(self.mu))
        return tuple(root_above(change * change / share) for share in self._shares)

    def _chance(self, weight: int) -> float:
        """How likely a key of that weight is published, in floats: for people, not for privacy."""
        first, last = self.rounds[0], self.rounds[-1]
        now = _reaches(weight, first, first.threshold)
        if self.hopeless is None:
            return now
        left = _reaches(weight, first, min(self.hopeless, first.threshold)) - now
        return now + left * _reaches(weight, last, last.threshold)


def decide(rounds: tuple[Round, ...], hopeless: int | None, weigh: Weigh, entropy: Entropy) -> Decided:
    """Decide every candidate by one or two rounds: noise for all of them in one call a round, in their order."""
    first, last = rounds[0], rounds[-1]
    weighed = weigh(None)
    noisy = weighed + entropy.gaussian(first.scale, len(weighed))
    found = noisy >= first.threshold
    if hopeless is None:
        return Decided(found, noisy, found)
    # By noisy weights alone, of keys that are never published too: a true weight here would be published by what the
    # second round no longer finds.
    dropped = found | (noisy < hopeless)
    again = weigh(dropped) + entropy.gaussian(last.scale, len(weighed))
    later = ~dropped & (again >= last.threshold)
    return Decided(found | later, np.where(found, noisy, again), found)


def _reaches(weight: int, one: Round, threshold: int) -> float:
    return float(ndtr((weight + 0.5 - threshold) / one.scale))


def root_above(square: Fraction) -> float:
    """Return a float that is not below the root of a number, by at most two last places."""
    shift = 128 - square.numerator.bit_length() // 2 + square.denominator.bit_length() // 2
    scaled = square * Fraction(4) ** shift
    return at_least(Fraction(math.isqrt(math.ceil(scaled) - 1) + 1) / Fraction(2) ** shift)
