"""Shapes for streams whose end is not known: how far changes reach, and how the error grows.

*Without an end* of ``docs/explanation/proofs/shapes.md``, and the last paragraph of "How r is computed, and E" in
``docs/explanation/proofs/streams.md``: n = 2^28 is in the bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from chronodp.series.recursion import Floats
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.reach import above

__all__ = ["LONGEST_STREAM", "EndlessReach", "running_variances"]

LONGEST_STREAM = 2**28
"""Steps after which an endless stream stops: beyond, what rounding adds to the sensitivity was not paid for."""

_COMPUTED = 2**20  # periods whose moving sums are computed one by one; from there on they are bounded


@dataclass(frozen=True, slots=True)
class EndlessReach:
    """The reach of decaying buffers without end: their coefficients are positive and fall."""

    shape: BufferedLinear
    horizon: int = LONGEST_STREAM
    aligned: bool = True

    def l2(self, periods: int, *, together: bool) -> float:
        """Return a bound on the length of C η for so many changed periods; the first ones reach farthest.

        Moving sums of ``periods`` coefficients are at most so many times their first; of those after the computed ones
        the squares add up in closed form.
        """
        del together
        if periods > _COMPUTED:  # ‖1_m * c‖ ≤ ‖1_m‖ Σ c
            return above(math.sqrt(periods) * float(self.l1(1)[0]), 2)
        column = self.shape.coefficients(_COMPUTED + periods)
        running = np.cumsum(column)
        moving = running[:_COMPUTED].copy()
        moving[periods:] -= running[: _COMPUTED - periods]
        # A sum that ends at t >= 2^20 begins at t - m + 1: its first coefficient is among those from 2^20 - m on.
        rest = self.shape.endless_square() - float(column[: _COMPUTED - periods] @ column[: _COMPUTED - periods])
        square = float(moving @ moving) + periods**2 * max(rest, 0.0)
        # Differences of running sums lose some digits: far fewer than these.
        return above(math.sqrt(square) * (1 + 2.0**-30), _COMPUTED)

    def l1(self, periods: int) -> Floats:
        """Return the whole column sum, for each period."""
        whole = 1.0 + math.fsum(
            weight / (1 - decay) for decay, weight in zip(self.shape.theta, self.shape.omega, strict=True)
        )
        return np.full(periods, above(whole, len(self.shape.theta)))


def running_variances(shape: BufferedLinear, steps: Floats) -> Floats:
    """Return the variance of running totals after so many steps, for draws of variance 1, in closed form.

    A draw enters the total j steps later with weight A + sum of b_k r_k^j, where r are the decays of the inverse;
    squares of such weights are geometric series.
    """
    rates = np.array(shape.inverse_parameters()[0])
    parts = -np.array(shape.inverse_parameters()[1]) / (1 - rates)
    constant = 1.0 - float(parts.sum())
    with np.errstate(under="ignore"):
        single = [
            part * -np.expm1(steps * math.log(rate)) / (1 - rate) for part, rate in zip(parts, rates, strict=True)
        ]
        double = [
            one * two * -np.expm1(steps * math.log(first * second)) / (1 - first * second)
            for one, first in zip(parts, rates, strict=True)
            for two, second in zip(parts, rates, strict=True)
        ]
    variances: Floats = constant**2 * steps + 2 * constant * np.sum(single, axis=0) + np.sum(double, axis=0)
    return variances
