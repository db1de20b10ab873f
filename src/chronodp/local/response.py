"""Randomised response: the true answer more often than each other one.

Row `RandomizedResponse` of "One report" in ``docs/explanation/proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.local.law import Law
from chronodp.local.probabilities import check_local_epsilon, split_odds
from chronodp.local.values import check_choices, choices_of
from chronodp.privacy import Claim, RandomizedResponseCost, Report, document, settle
from chronodp.randomness import Entropy, check_entropy

__all__ = ["RandomizedResponse", "respond"]

_CHUNK = 2**13  # draws that stay in the processor's cache
_FEW = 4096


@document("local_response")
@dataclass(frozen=True)
class RandomizedResponse:
    """One answer out of ``choices``: the truth with probability p, otherwise any other answer alike.

    p = e^ε / (e^ε + k - 1), where k is ``choices``; two choices are the classical randomised response, more are also
    called generalised or k-ary. The variance of a rare value's frequency is (k - 2 + e^ε) / (n (e^ε - 1)²) over n
    reports: best for small alphabets, k < 3 e^ε + 2.

    Guarantee: one report is ε-differentially private for `Report`, exactly: its odds are whole numbers of ratio at most
    e^ε. The argument stands in ``docs/explanation/proofs/local.md``.

    References:
        Warner (1965), Randomized response. Kairouz, Oh, Viswanath (2014), Extremal mechanisms for local privacy.

    >>> from chronodp.randomness import seeded
    >>> ask = RandomizedResponse(epsilon=1.0, choices=4)
    >>> answers = ask.perturb(np.full(10_000, 2), entropy=seeded(1))
    >>> np.abs(ask.law.frequencies(ask.support(answers), 10_000)).round(1).tolist()
    [0.0, 0.0, 1.0, 0.0]
    """

    epsilon: float
    choices: int = 2

    def __post_init__(self) -> None:
        settle(self, epsilon=check_local_epsilon(self.epsilon), choices=check_choices(self.choices))

    @cached_property
    def weights(self) -> tuple[int, int]:
        """Weights of the truth and of each other answer."""
        return split_odds(self.epsilon, likely=1, others=self.choices - 1)

    @property
    def law(self) -> Law:
        """How often values are named."""
        a, b = self.weights
        whole = a + b * (self.choices - 1)
        return Law(Fraction(a, whole), Fraction(b, whole))

    @property
    def table(self) -> dict[str, Any]:
        """What a device draws from."""
        a, b = self.weights
        return {"kind": "choice", "choices": self.choices, "keep": a, "whole": a + b * (self.choices - 1)}

    @property
    def claim(self) -> Claim:
        """What is promised of one report."""
        return Claim(Report(), RandomizedResponseCost(self.epsilon, self.choices), "docs/explanation/proofs/local.md")

    def perturb(self, values: ArrayLike, *, entropy: Entropy | None = None) -> NDArray[np.uint32]:
        """Return one answer for each value."""
        bits = check_entropy(entropy)
        a, b = self.weights
        return respond(choices_of(values, self.choices), self.choices, a, a + b * (self.choices - 1), bits)

    def valid(self, answers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which answers this mechanism could have given."""
        made: NDArray[np.bool_] = answers < self.choices
        return made

    def support(self, answers: NDArray[Any]) -> NDArray[np.int64]:
        """Return how many answers name each value."""
        counts = np.zeros(self.choices, dtype=np.int64)
        step = max(_CHUNK, self.choices)
        for first in range(0, len(answers), step):
            counts += np.bincount(answers[first : first + step], minlength=self.choices)
        return counts


def respond(values: NDArray[np.int64], choices: int, keep: int, whole: int, entropy: Entropy) -> NDArray[np.uint32]:
    """Keep each value with probability keep/whole; otherwise take one of the others, all alike.

    A few are drawn coin by coin, which an auditor can follow. Many take one number below ``whole`` each, if what is not
    kept divides evenly among the others: it tells both whether the value is kept and what replaces it. The same law.
    """
    share, uneven = divmod(whole - keep, choices - 1)
    if len(values) <= _FEW or uneven or not share:
        return _toss(values, choices, keep, whole, entropy)
    answers = np.empty(len(values), dtype=np.uint32)
    for first in range(0, len(values), _CHUNK):
        part = values[first : first + _CHUNK]
        # Of the numbers below ``whole`` the first ``keep`` keep the value; then ``share`` stand for each other one.
        beyond = entropy.integers(whole, len(part)) - keep
        other = beyond // share
        other += other >= part
        np.copyto(other, part, where=beyond < 0)
        answers[first : first + _CHUNK] = other
    return answers


def _toss(values: NDArray[np.int64], choices: int, keep: int, whole: int, entropy: Entropy) -> NDArray[np.uint32]:
    answers = np.empty(len(values), dtype=np.uint32)
    for first in range(0, len(values), _CHUNK):
        part = values[first : first + _CHUNK]
        made = part.copy()
        lies = np.flatnonzero(~entropy.coins(keep, whole, len(part)))
        other = entropy.integers(choices - 1, len(lies))
        made[lies] = other + (other >= part[lies])
        answers[first : first + _CHUNK] = made
    return answers
