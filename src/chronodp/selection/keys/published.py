"""Which keys are published where their noisy counts, which are published too, decide it themselves.

"The published counts themselves" of ``docs/explanation/proofs/keys.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from chronodp.privacy import (
    FailureCost,
    Sensitivity,
    check_flag,
    check_fraction,
    check_whole,
    decimal_value,
    document,
    settle,
)
from chronodp.randomness import Entropy
from chronodp.selection.keys.counts import people_counts
from chronodp.selection.keys.rounds import Decided, root_above
from chronodp.selection.keys.threshold import Held, Law, lone_probability, threshold_for
from chronodp.selection.keys.weights import MOST_KEYS

__all__ = ["CountNoise", "PublishedCounts"]


@dataclass(frozen=True, slots=True)
class CountNoise:
    """The noise of each count, in steps of its grid.

    Attributes:
        law: Laplace's or Gaussian.
        scale: Laplace's b or the standard deviation.
        person: how many steps one person is.
    """

    law: Law
    scale: float
    person: int


@document("published_key_counts")
@dataclass(frozen=True)
class PublishedCounts:
    """The rule that publishes a key, and its noisy count, if that count reaches a threshold: y = N + noise ≥ τ.

    Attributes:
        delta: the probability that some key which one unit alone holds is published.
        most: the most keys of one block.
        blocks: the most blocks that one unit touches.
        replace: whether units are replaced, or added and removed.

    Guarantee: what noise on counts of `sensitivity` costs, and `cost` beside it. The count is paid for by that noise,
    and finding keys by the failure alone. It holds for the count that decided, and for no second one.

    References:
        Korolova, Kenthapadi, Mishra, Ntoulas (2009), Releasing search queries and clicks privately.

    >>> rule = PublishedCounts(delta=1e-6, most=1)
    >>> rule.threshold(CountNoise("gaussian", 4.0, person=1)), rule.threshold(CountNoise("laplace", 1.0, person=1))
    (21, 15)
    """

    delta: float
    most: int
    blocks: int = 1
    replace: bool = False

    def __post_init__(self) -> None:
        settle(
            self,
            delta=check_fraction("delta", self.delta),
            most=check_whole("most", self.most, most=MOST_KEYS),
            blocks=check_whole("blocks", self.blocks),
            replace=check_flag("replace", self.replace),
        )

    @property
    def cost(self) -> FailureCost:
        """What deciding costs beside the noise of the counts."""
        return FailureCost(self.delta)

    @property
    def sensitivity(self) -> Sensitivity:
        """How much one unit changes all counts together, of every string: each that it moves by one person."""
        # Not by how many keys are found: the noise decides that, so it must be there before.
        moved = self.most * self.blocks * (2 if self.replace else 1)
        return Sensitivity(l1=float(moved), l2=root_above(Fraction(moved)))

    def threshold(self, noise: CountNoise) -> int:
        """Return the least noisy count, in steps, at which a key is published."""
        return _threshold(self, noise)

    def lone(self, noise: CountNoise) -> float:
        """Return the probability that some key which one unit alone holds is published, at most; below ``delta``."""
        return lone_probability(noise.scale, self.threshold(noise), self._held(noise), law=noise.law)

    def people_needed(self, noise: CountNoise) -> int:
        """Return how many people a key needs to be published half of the time, whatever else they hold."""
        return -(-self.threshold(noise) // noise.person)

    def decide(self, counts: ArrayLike, noise: CountNoise, entropy: Entropy) -> Decided:
        """Decide every candidate by its noisy count. Candidates are in the order of their bytes, each held by somebody.

        >>> from chronodp.randomness import seeded
        >>> rule = PublishedCounts(delta=1e-6, most=1)
        >>> rule.decide([1, 3, 60], CountNoise("gaussian", 4.0, person=1), seeded(1)).found.tolist()
        [False, False, True]
        """
        # More people than there are on earth count as that many, so that steps fit 64 bits.
        people = np.minimum(people_counts(counts), 2**62 // noise.person)
        law = entropy.laplace if noise.law == "laplace" else entropy.gaussian
        noisy = people * noise.person + law(noise.scale, len(people))
        found = noisy >= self.threshold(noise)
        return Decided(found, noisy, found)

    def _held(self, noise: CountNoise) -> Held:
        return Held((noise.person,) * self.most, self.blocks, self.replace)


@lru_cache(maxsize=64)
def _threshold(rule: PublishedCounts, noise: CountNoise) -> int:
    return threshold_for(noise.scale, decimal_value(rule.delta), rule._held(noise), law=noise.law)
