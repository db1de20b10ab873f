"""One bit for a number: which side of a random threshold it lies on, answered by randomised response.

Row `OneBit` of "One report" in ``docs/explanation/proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.local.law import Law
from chronodp.local.number import Number
from chronodp.local.probabilities import split_odds
from chronodp.local.response import respond
from chronodp.privacy import document
from chronodp.randomness import Entropy

__all__ = ["OneBit"]


@document("local_one_bit")
@dataclass(frozen=True)
class OneBit(Number):
    """One bit, the more likely 1 the larger the value.

    It is 1 with probability q + u (p - q), where

    * u is the value's place in its range, from 0 to 1,
    * p = e^ε / (e^ε + 1) and q = 1 - p.

    It is drawn by rounding the value to an end of the range at random and answering for that end. Kept thresholds and
    kept answers (`Memoised`) make it the 1-bit rounding of counters. The least variance at the ends for small ε.

    Guarantee: one report is ε-differentially private for `Report`, exactly. The argument stands in
    ``docs/explanation/proofs/local.md``.

    References:
        Duchi, Jordan, Wainwright (2013), Local privacy and statistical minimax rates.
        Ding, Kulkarni, Yekhanin (2017), Collecting telemetry data privately.

    >>> round(OneBit(epsilon=1.0).variance(0.0), 6), round(OneBit(epsilon=1.0).variance(1.0), 6)
    (4.682694, 3.682694)
    """

    @cached_property
    def weights(self) -> tuple[int, int]:
        """Weights of the truth and of its opposite."""
        return split_odds(self.epsilon, likely=1, others=1)

    @property
    def law(self) -> Law:
        """How often each end is named."""
        a, b = self.weights
        return Law(Fraction(a, a + b), Fraction(b, a + b))

    @property
    def table(self) -> dict[str, Any]:
        """What a device draws from."""
        a, b = self.weights
        lower, upper = self.clip
        return {"kind": "bit", "lower": lower, "upper": upper, "steps": self.grid, "keep": a, "whole": a + b}

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest answer."""
        return 0, 1

    def variance(self, value: float) -> float:
        """Return the variance of one amount when the true value is ``value``."""
        place = self.range.step_of(value) / self.grid
        return float(self.law.sampled_variance(place, 1)) * self.range.width**2

    def _draw(self, values: NDArray[np.float64], entropy: Entropy) -> NDArray[np.int64]:
        steps = self.range.to_quanta(values)
        a, b = self.weights
        sides = (steps > entropy.integers(self.grid, len(steps))).astype(np.int64)
        return respond(sides, 2, a, a + b, entropy).astype(np.int64)

    def _fractions(self, answers: NDArray[Any]) -> NDArray[np.float64]:
        return self.law.frequencies(answers, 1)
