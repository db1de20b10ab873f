"""The public grid of numbers on which everything is released."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy.parameters import check_number, check_positive

__all__ = ["Grid"]

_EXACT = 2**53  # integers up to here are floats without loss


@dataclass(frozen=True, slots=True)
class Grid:
    """Multiples of a public power of two, so that sums and noise are integers and no low bit can leak.

    >>> Grid(0.25).to_steps([1.0, 1.1, -0.6]).tolist()
    [4, 4, -2]
    """

    step: float

    def __post_init__(self) -> None:
        allowed = "a power of two such as 0.125, 1.0 or 2.0**-20"
        step = check_number("step", self.step, allowed)
        if math.frexp(step)[0] != 0.5:
            raise InvalidArgument("step", self.step, allowed)
        object.__setattr__(self, "step", step)

    @classmethod
    def for_scale(cls, scale: float, *, bits: int = 20) -> Self:
        """Return the grid that is about 2**bits times finer than noise of ``scale``."""
        exponent = math.frexp(check_positive("scale", scale))[1] - 1 - bits
        return cls(math.ldexp(1.0, exponent))

    def to_steps(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return the nearest grid points as integers; ties go up."""
        numbers = np.asarray(values)
        if numbers.dtype.kind not in "iuf":
            raise InvalidArgument("values", values, "an array of numbers", private=True)
        steps = np.floor(numbers.astype(np.float64) / self.step + 0.5)
        if not np.all(np.abs(steps) < _EXACT):  # also false for NaN
            allowed = f"finite and below 2^53 steps of the grid ({self.step:g})"
            raise InvalidArgument("values", values, allowed, private=True)
        return steps.astype(np.int64)

    def to_values(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return grid points as floats, without loss below 2^53 steps."""
        return np.multiply(steps, self.step, dtype=np.float64)
