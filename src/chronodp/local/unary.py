"""Unary encoding: one bit for each value of the alphabet, each of them flipped on its own.

Rows `OptimizedUnary` and `SymmetricUnary` of "One report" in ``docs/explanation/proofs/local.md``. Two bits differ
between two values, so each may tell ε/2, or one of them all of the odds where the other is a fair coin.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.local.lanes import packed_coins
from chronodp.local.law import Law
from chronodp.local.probabilities import WHOLE, check_local_epsilon, exponential_below
from chronodp.local.values import check_choices, choices_of
from chronodp.privacy import Claim, PureCost, Report, document, settle
from chronodp.randomness import Entropy, check_entropy

__all__ = ["WIDEST", "OptimizedUnary", "SymmetricUnary", "Unary"]

WIDEST = 2**16
"""Bits of a report at most: beyond, hashing tells as much in a few bytes."""
_ROWS = 2**15


@dataclass(frozen=True)
class Unary(ABC):
    """What both encodings share: a bit a value, 1 with one probability for the true value and another for the rest."""

    epsilon: float
    choices: int

    def __post_init__(self) -> None:
        settle(self, epsilon=check_local_epsilon(self.epsilon), choices=check_choices(self.choices))
        if self.choices > WIDEST:
            raise InvalidArgument("choices", self.choices, f"at most {WIDEST}; LocalHashing takes larger alphabets")

    @property
    @abstractmethod
    def numerators(self) -> tuple[int, int]:
        """Numerators, over 2^62, of the chance of a 1 for the value that is held and for each other."""

    @property
    def law(self) -> Law:
        """How often values are named."""
        held, other = self.numerators
        return Law(Fraction(held, WHOLE), Fraction(other, WHOLE))

    @property
    def table(self) -> dict[str, Any]:
        """What a device draws from."""
        held, other = self.numerators
        return {"kind": "unary", "choices": self.choices, "held": held, "other": other, "whole": WHOLE}

    @property
    def claim(self) -> Claim:
        """What is promised of one report."""
        return Claim(Report(), PureCost(self.epsilon), "docs/explanation/proofs/local.md")

    def perturb(self, values: ArrayLike, *, entropy: Entropy | None = None) -> NDArray[np.uint8]:
        """Return one row of packed bits for each value: bit v is bit v mod 8 of byte v // 8."""
        bits = check_entropy(entropy)
        numbers = choices_of(values, self.choices)
        held, other = self.numerators
        answers = np.empty((len(numbers), -(-self.choices // 8)), dtype=np.uint8)
        for first in range(0, len(numbers), _ROWS):
            part = numbers[first : first + _ROWS]
            rows = packed_coins(bits, other, len(part), self.choices)
            flat, shifts = rows.reshape(-1), (part & 7).astype(np.uint8)
            places = np.arange(0, len(flat), rows.shape[1]) + (part >> 3)
            own = bits.coins(held, WHOLE, len(part)).astype(np.uint8)
            flat[places] = flat[places] & ~(np.uint8(1) << shifts) | own << shifts
            answers[first : first + _ROWS] = rows
        return answers

    def valid(self, answers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which answers this mechanism could have given: those with no bit beyond the alphabet."""
        spare = -self.choices % 8
        made: NDArray[np.bool_] = answers[:, -1] >> np.uint8(8 - spare) == 0 if spare else np.ones(len(answers), bool)
        return made

    def support(self, answers: NDArray[Any]) -> NDArray[np.int64]:
        """Return how many answers name each value."""
        # How often each pattern of a byte occurs is counted first, and then which bits the patterns have.
        patterns = np.zeros((answers.shape[1], 256), dtype=np.int64)
        for first in range(0, len(answers), _ROWS):
            part = answers[first : first + _ROWS]
            for byte in range(part.shape[1]):
                patterns[byte] += np.bincount(part[:, byte], minlength=256)
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little").astype(np.int64)
        return (patterns @ bits).reshape(-1)[: self.choices]


@document("local_optimized_unary")
@dataclass(frozen=True)
class OptimizedUnary(Unary):
    """A bit for each value: 1 with probability 1/2 for the true one, q = 1 / (e^ε + 1) for each other.

    The variance of a rare value's frequency is 4 e^ε / (n (e^ε - 1)²) over n reports, whatever the alphabet.

    Guarantee: one report is ε-differentially private for `Report`, exactly; q is rounded up, in whole numbers. The
    argument stands in ``docs/explanation/proofs/local.md``.

    References:
        Wang, Blocki, Li, Jha (2017), Locally differentially private protocols for frequency estimation (OUE).

    >>> from chronodp.randomness import seeded
    >>> ask = OptimizedUnary(epsilon=1.0, choices=12)
    >>> ask.perturb([3, 11], entropy=seeded(1)).shape
    (2, 2)
    """

    @property
    def numerators(self) -> tuple[int, int]:
        """Numerators, over 2^62."""
        return WHOLE // 2, _rounded_up(self.epsilon)


@document("local_symmetric_unary")
@dataclass(frozen=True)
class SymmetricUnary(Unary):
    """A bit for each value, each flipped with probability 1 / (e^(ε/2) + 1), as in the first RAPPOR.

    Two bits differ between two values, each of which may tell ε/2.

    Guarantee: one report is ε-differentially private for `Report`, exactly. The argument stands in
    ``docs/explanation/proofs/local.md``.

    References:
        Erlingsson, Pihur, Korolova (2014), RAPPOR.

    >>> ask = SymmetricUnary(epsilon=2.0, choices=3)
    >>> round(float(ask.law.truth), 6)
    0.731059
    """

    @property
    def numerators(self) -> tuple[int, int]:
        """Numerators, over 2^62."""
        flipped = _rounded_up(self.epsilon / 2)
        return WHOLE - flipped, flipped


def _rounded_up(epsilon: float) -> int:
    """Return ⌈2^62 / (e^ε + 1)⌉: more noise than asked, never less."""
    return int(-(-WHOLE // (exponential_below(epsilon) + 1)))
