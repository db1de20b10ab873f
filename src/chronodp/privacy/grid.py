"""The public grid of numbers on which everything is released.

`Grid.to_quanta` and `Grid.reach` are the first sentence of "Finite precision" in
``docs/explanation/proofs/w-event.md``, ``alerts.md`` and ``state-estimation.md``: rounding is monotone and commutes
with whole steps, so a change of ``change`` becomes at most ⌈change / step⌉ steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.privacy.exact import decimal_value
from chronodp.privacy.fields import settle
from chronodp.privacy.parameters import check_number, check_positive

__all__ = ["FARTHEST", "Grid", "as_numbers", "stored_quanta"]

FARTHEST = 2**52
"""Values beyond so many steps are moved to there, which brings no two of them farther apart.

Below it floats are at most half a step apart, so that rounding a whole number to a float on the way adds nothing.
"""


@dataclass(frozen=True, slots=True)
class Grid:
    """Multiples of a public power of two, so that sums and noise are integers and no low bit can leak.

    >>> Grid(0.25).to_quanta([1.0, 1.1, -0.6]).tolist()
    [4, 4, -2]
    """

    step: float

    def __post_init__(self) -> None:
        allowed = "a power of two such as 0.125, 1.0 or 2.0**-20"
        step = check_number("step", self.step, allowed)
        if math.frexp(step)[0] != 0.5:
            raise InvalidArgument("step", self.step, allowed)
        settle(self, step=step)

    @classmethod
    def for_scale(cls, scale: float, *, bits: int = 20) -> Self:
        """Return the grid that is about 2**bits times finer than noise of ``scale``."""
        exponent = math.frexp(check_positive("scale", scale))[1] - 1 - bits
        return cls(math.ldexp(1.0, exponent))

    def to_quanta(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return ⌊value / step + 1/2⌋ exactly, so that a change of k steps stays one of at most k.

        No value is refused for its size, which would tell of it: what lies beyond `FARTHEST` steps is moved there.
        """
        numbers = as_numbers("values", values, "finite numbers")
        if not np.isfinite(numbers).all():
            raise InvalidArgument("values", values, "finite numbers", private=True)
        limit = FARTHEST * self.step
        with np.errstate(over="ignore", under="ignore"):  # a warning would tell of a value
            # Clipped before it is divided: a division by a small step could overflow. Both are exact, step is 2^e.
            scaled = np.minimum(np.maximum(numbers.astype(np.float64), -limit), limit) / self.step
        below = np.floor(scaled)
        # The difference is exact but for numbers between -1/2 and 0, where it is rounded and stays at least 1/2.
        steps: NDArray[np.int64] = (below + (scaled - below >= 0.5)).astype(np.int64)
        return steps

    def reach(self, change: float) -> int:
        """Return the most steps that a change makes: ⌈change / step⌉.

        >>> Grid(0.25).reach(1.1)
        5
        """
        # The float and the number as people write it may differ in the last bit: the larger of the two counts.
        return math.ceil(max(Fraction(change), decimal_value(change)) / Fraction(self.step))

    def to_values(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return grid points as floats, without loss below 2^53 steps."""
        return np.multiply(steps, self.step, dtype=np.float64)


def stored_quanta(numbers: object, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return released whole numbers that were read back, if they are as many as the design says and fit 64 bits."""
    try:
        steps = np.array(numbers)
    except (ValueError, OverflowError):  # lists of different lengths
        steps = np.array([0.5])
    if not steps.size:  # of no numbers numpy knows no type
        steps = steps.astype(np.int64)
    if steps.dtype != np.int64 or steps.size != math.prod(shape):
        raise UnknownDocument("the released numbers are not as many whole numbers as the design says")
    return steps.reshape(shape)


def as_numbers(name: str, values: object, allowed: str) -> NDArray[Any]:
    """Return private values as an array of numbers, or refuse other kinds of things without showing them.

    No number is refused for its size: whole numbers that 64 bits do not hold are moved to the nearest that they do.

    >>> as_numbers("values", [2**70, -1], "numbers").tolist()
    [9223372036854775807, -1]
    """
    try:
        numbers = np.asarray(values)
    except (ValueError, TypeError, OverflowError):  # such as rows of unequal length
        raise InvalidArgument(name, values, allowed, private=True) from None
    if numbers.dtype.kind == "O" and all(type(number) is int for number in numbers.flat):
        least, most = -(2**63), 2**63 - 1
        numbers = np.array([min(max(number, least), most) for number in numbers.flat]).reshape(numbers.shape)
    if numbers.dtype.kind not in "iuf":
        raise InvalidArgument(name, values, allowed, private=True)
    return numbers
