"""The piecewise mechanism: a number near the true one more often than any other of a wider range.

Row `Piecewise` of "One report" in ``docs/explanation/proofs/local.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.local.number import Number
from chronodp.local.probabilities import split_odds
from chronodp.local.values import Range
from chronodp.privacy import document
from chronodp.randomness import Entropy

__all__ = ["Piecewise"]


@document("local_piecewise")
@dataclass(frozen=True)
class Piecewise(Number):
    """One of N outputs in a row, of which the L around the true value are e^ε times as likely as the others.

    L / N = 1 / (e^(ε/2) + 1), as near as whole numbers up to ``grid`` come; a window for each of the N - L + 1 steps of
    the range. The outputs' mean is the value times a constant. With a fine grid the variance for values t from -1 to 1
    is t² / (e^(ε/2) - 1) + (e^(ε/2) + 3) / (3 (e^(ε/2) - 1)²): the better the larger ε is.

    Guarantee: one report is ε-differentially private for `Report`, exactly. The argument stands in
    ``docs/explanation/proofs/local.md``.

    References:
        Wang, Xiao, Yang, Zhao, Hui, Shin, Shin, Yu (2019), Collecting and analyzing multidimensional data with local
        differential privacy.

    >>> round(Piecewise(epsilon=1.0).variance(0.0), 6), round(Piecewise(epsilon=1.0).variance(1.0), 6)
    (3.682103, 5.223597)
    """

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Outputs N, and how many L of them form the window."""
        if self.grid < 2:
            return 2, 1
        share = Fraction(1 / (math.exp(self.epsilon / 2) + 1)).limit_denominator(self.grid)
        times = self.grid // share.denominator
        return share.denominator * times, max(1, share.numerator * times)

    @cached_property
    def range(self) -> Range:
        """The range, with a step for each place of the window."""
        outputs, window = self.shape
        return Range(*self.clip, outputs - window)

    @cached_property
    def weights(self) -> tuple[int, int]:
        """Weights of an output inside the window and of one outside."""
        outputs, window = self.shape
        return split_odds(self.epsilon, likely=window, others=outputs - window)

    @property
    def whole(self) -> int:
        """What all weights add up to."""
        (outputs, window), (a, b) = self.shape, self.weights
        return a * window + b * (outputs - window)

    @property
    def table(self) -> dict[str, Any]:
        """What a device draws from."""
        outputs, window = self.shape
        lower, upper = self.clip
        sizes = {"outputs": outputs, "window": window, "inside": self.weights[0] * window, "whole": self.whole}
        return {"kind": "piecewise", "lower": lower, "upper": upper, **sizes}

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest answer."""
        return 0, self.shape[0] - 1

    def variance(self, value: float) -> float:
        """Return the variance of one amount when the true value is ``value``."""
        (outputs, window), (a, b) = self.shape, self.weights
        centre = 2 * self.range.step_of(value) - (outputs - window)
        # Outputs are 2 i - (N - 1): sums of squares of numbers in a row, two apart.
        near = window * centre**2 + Fraction(window * (window**2 - 1), 3)
        square = (b * Fraction(outputs * (outputs**2 - 1), 3) + (a - b) * near) / self.whole
        mean = Fraction((a - b) * window * centre, self.whole)
        gain = Fraction((a - b) * window, self.whole) * (outputs - window)
        return float((square - mean**2) / gain**2) / 4 * self.range.width**2

    def _draw(self, values: NDArray[np.float64], entropy: Entropy) -> NDArray[np.int64]:
        steps = self.range.to_quanta(values)
        outputs, window = self.shape
        inside = entropy.coins(self.weights[0] * window, self.whole, len(steps))
        answers = np.empty(len(steps), dtype=np.int64)
        near, far = np.flatnonzero(inside), np.flatnonzero(~inside)
        answers[near] = steps[near] + entropy.integers(window, len(near))
        other = entropy.integers(outputs - window, len(far))
        # Outputs outside the window, counted on past it: those before its first stay, the others move up by L.
        answers[far] = other + np.where(other >= steps[far], window, 0)
        return answers

    @property
    def _gain(self) -> float:
        """What the mean of the centred output is, as a part of the centred step."""
        a, b = self.weights
        return (a - b) * self.shape[1] / self.whole

    def _fractions(self, answers: NDArray[Any]) -> NDArray[np.float64]:
        outputs, window = self.shape
        centred = (2 * answers - (outputs - 1)) / (outputs - window)
        made: NDArray[np.float64] = (centred / self._gain + 1) / 2
        return made
