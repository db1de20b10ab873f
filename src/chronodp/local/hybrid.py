"""The hybrid mechanism: one bit or a piece, by a coin that does not look at the value.

Row `Hybrid` of "One report" in ``docs/explanation/proofs/local.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.local.number import Number
from chronodp.local.one_bit import OneBit
from chronodp.local.piecewise import Piecewise
from chronodp.local.probabilities import WHOLE
from chronodp.privacy import document
from chronodp.randomness import Entropy

__all__ = ["Hybrid"]

_FROM = 0.61  # below, one bit alone is better for every value


@document("local_hybrid")
@dataclass(frozen=True)
class Hybrid(Number):
    """`Piecewise` with probability 1 - e^(-ε/2), otherwise `OneBit`; for ε up to 0.61 always the latter.

    An answer from 0 on is the piecewise mechanism's; -1 and -2 are the bits 0 and 1. In the worst case over values it
    is never worse than either.

    Guarantee: one report is ε-differentially private for `Report`, exactly: which of the two answers does not depend on
    the value. The argument stands in ``docs/explanation/proofs/local.md``.

    References:
        Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu (2019), Collecting and analyzing multidimensional data with local
        differential privacy.

    >>> round(Hybrid(epsilon=1.0).worst_variance, 4)
    4.289
    """

    @cached_property
    def parts(self) -> tuple[Piecewise, OneBit]:
        """The two mechanisms."""
        return Piecewise(self.epsilon, self.clip, self.grid), OneBit(self.epsilon, self.clip, self.grid)

    @property
    def share(self) -> int:
        """Numerator, over 2^62, of the chance that the piecewise mechanism answers."""
        return int(-math.expm1(-self.epsilon / 2) * WHOLE) if self.epsilon > _FROM else 0

    @property
    def table(self) -> dict[str, Any]:
        """What a device draws from."""
        tables = [part.table for part in self.parts]
        return {"kind": "hybrid", "share": self.share, "whole": WHOLE, "parts": tables}

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest answer."""
        return -2, self.parts[0].bounds[1] if self.share else -1

    def extremes(self) -> tuple[int, ...]:
        """Return answers among which the least and the largest amount are."""
        return (-1, -2, *((0, self.bounds[1]) if self.share else ()))

    def variance(self, value: float) -> float:
        """Return the variance of one amount when the true value is ``value``."""
        pieces, bits = self.parts
        share = self.share / WHOLE
        return share * pieces.variance(value) + (1 - share) * bits.variance(value)

    def _draw(self, values: NDArray[np.float64], entropy: Entropy) -> NDArray[np.int64]:
        pieces, bits = self.parts
        chosen = entropy.coins(self.share, WHOLE, len(values))
        answers = np.empty(len(values), dtype=np.int64)
        answers[chosen] = pieces.perturb(values[chosen], entropy=entropy)
        answers[~chosen] = -1 - bits.perturb(values[~chosen], entropy=entropy)
        return answers

    def _fractions(self, answers: NDArray[Any]) -> NDArray[np.float64]:
        pieces, bits = self.parts
        return np.where(answers >= 0, pieces._fractions(np.maximum(answers, 0)), bits._fractions(-1 - answers))
