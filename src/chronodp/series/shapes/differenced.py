"""Noise for running totals, put on the differences of a series: what it adds to the series itself stays small.

The differences x of a series a are released as C x + z, and a is their running total. So the noise on a is that of
running totals, S C⁻¹ z with S the matrix of running totals: as a shape of a itself, C S⁻¹. It pays where one unit
changes a series by a few runs of ones, whose differences are few: "Stays" of
``docs/explanation/proofs/active-people.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.privacy import document
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.power_series import Floats
from chronodp.series.shapes.toeplitz import SquareRoot

__all__ = ["Differenced"]


@document("differenced")
@dataclass(frozen=True, slots=True)
class Differenced:
    """A shape for running totals, put on the differences of what is released.

    >>> from chronodp.series.workloads import RunningTotal
    >>> shape = Differenced(SquareRoot(RunningTotal()))
    >>> shape.coefficients(4).tolist(), shape.inverse(4).tolist()
    ([1.0, -0.5, -0.125, -0.0625], [1.0, 0.5, 0.375, 0.3125])
    >>> print(shape)
    the square root of running totals, on differences
    """

    of: SquareRoot | BufferedLinear

    def __post_init__(self) -> None:
        if not isinstance(self.of, SquareRoot | BufferedLinear):
            raise InvalidArgument("of", self.of, "a shape for running totals: SquareRoot or BufferedLinear")

    def coefficients(self, horizon: int) -> Floats:
        """Return the first column of the shape as the series itself has it."""
        return np.diff(self.of.coefficients(horizon), prepend=0.0)

    def inverse(self, horizon: int) -> Floats:
        """Return the first column of its inverse."""
        return np.cumsum(self.of.inverse(horizon))

    def memory(self, horizon: int) -> int:
        """Return how many numbers a stream must keep: its running total beside those of the shape."""
        return self.of.memory(horizon) + 1

    def undo(self, noisy: Floats) -> Floats:
        """Return the running total of C⁻¹ y, time along the first axis."""
        return np.cumsum(self.of.undo(noisy), axis=0)

    def __str__(self) -> str:
        return f"{self.of}, on differences"
