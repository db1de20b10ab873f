"""Local hashing: a random hash makes a large alphabet small, and randomised response answers for it.

Row `LocalHashing` of "One report" in ``docs/explanation/proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.local.law import Law
from chronodp.local.probabilities import check_local_epsilon, exponential_below, split_odds
from chronodp.local.response import respond
from chronodp.local.values import check_choices, choices_of
from chronodp.privacy import Claim, PureCost, Report, document, settle
from chronodp.randomness import Entropy, check_entropy

__all__ = ["PRIME", "LocalHashing"]

PRIME = 2**31 - 1
"""Hashes are ((m v + s) mod PRIME) mod g, with a multiplier m and a shift s that the report tells."""
_MOST_BUCKETS = 2**16
_CHUNK = 2**16


@document("local_hashing")
@dataclass(frozen=True)
class LocalHashing:
    """A hash of the value into g = ⌊e^ε + 1.5⌋ buckets, drawn anew for each report, answered by randomised response.

    As precise as `OptimizedUnary` in a report of twelve bytes, for alphabets of up to 2³¹ - 1 values; the collector
    pays instead: it hashes every value of interest with the hash of every report.

    Guarantee: one report is ε-differentially private for `Report`, exactly: the hash does not depend on the value. The
    argument stands in ``docs/explanation/proofs/local.md``.

    References:
        Wang, Blocki, Li, Jha (2017), Locally differentially private protocols for frequency estimation (OLH).

    >>> from chronodp.randomness import seeded
    >>> ask = LocalHashing(epsilon=2.0, choices=1_000_000)
    >>> answers = ask.perturb(np.full(20_000, 777), entropy=seeded(1))
    >>> np.abs(ask.law.frequencies(ask.support(answers, candidates=[777, 5]), 20_000)).round(1).tolist()
    [1.0, 0.0]
    """

    epsilon: float
    choices: int

    def __post_init__(self) -> None:
        settle(self, epsilon=check_local_epsilon(self.epsilon), choices=check_choices(self.choices))

    @cached_property
    def buckets(self) -> int:
        """How many values the hash has: where the variance is least."""
        return min(int(exponential_below(self.epsilon) + Fraction(3, 2)), _MOST_BUCKETS)

    @cached_property
    def weights(self) -> tuple[int, int]:
        """Weights of the true bucket and of each other."""
        return split_odds(self.epsilon, likely=1, others=self.buckets - 1)

    @cached_property
    def law(self) -> Law:
        """How often values are named, over hash and answer.

        The hashes of two values are independent and uniform below the prime, so buckets are hit with probabilities π
        that are known exactly: a value that is not held is named with Σ π (p π + q (1 - π)).
        """
        a, b = self.weights
        whole = a + b * (self.buckets - 1)
        p, q = Fraction(a, whole), Fraction(b, whole)
        small, larger = divmod(PRIME, self.buckets)  # so many buckets hold one hash more
        named = Fraction(0)
        for size, count in ((small, self.buckets - larger), (small + 1, larger)):
            share = Fraction(size, PRIME)
            named += count * share * (p * share + q * (1 - share))
        return Law(p, named)

    @property
    def table(self) -> dict[str, Any]:
        """What a device draws from."""
        a, b = self.weights
        whole = a + b * (self.buckets - 1)
        sizes = {"choices": self.choices, "prime": PRIME, "buckets": self.buckets}
        return {"kind": "hashing", **sizes, "keep": a, "whole": whole}

    @property
    def claim(self) -> Claim:
        """What is promised of one report."""
        return Claim(Report(), PureCost(self.epsilon), "docs/explanation/proofs/local.md")

    def perturb(self, values: ArrayLike, *, entropy: Entropy | None = None) -> NDArray[np.uint32]:
        """Return multiplier, shift and bucket for each value."""
        bits = check_entropy(entropy)
        numbers = choices_of(values, self.choices)
        a, b = self.weights
        answers = np.empty((len(numbers), 3), dtype=np.uint32)
        hashes = bits.integers(PRIME, (len(numbers), 2))
        held = (hashes[:, 0] * numbers + hashes[:, 1]) % PRIME % self.buckets
        answers[:, :2] = hashes
        answers[:, 2] = respond(held, self.buckets, a, a + b * (self.buckets - 1), bits)
        return answers

    def valid(self, answers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which answers this mechanism could have given."""
        made: NDArray[np.bool_] = np.all(answers < np.array([PRIME, PRIME, self.buckets]), axis=1)
        return made

    def support(self, answers: NDArray[Any], *, candidates: ArrayLike | None = None) -> NDArray[np.int64]:
        """Return how many answers name each value, or each candidate: a pass over all answers for every one of them."""
        asked = np.arange(self.choices) if candidates is None else choices_of(candidates, self.choices)
        counts = np.zeros(len(asked), dtype=np.int64)
        for first in range(0, len(answers), _CHUNK):
            multiplier, shift, bucket = (column.astype(np.int64) for column in answers[first : first + _CHUNK].T)
            for place, value in enumerate(asked.tolist()):
                counts[place] += np.count_nonzero((multiplier * value + shift) % PRIME % self.buckets == bucket)
        return counts
