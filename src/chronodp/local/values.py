"""True values as they come in: numbers of an alphabet, or numbers of a range moved to a grid.

The grid of "One report" in ``docs/explanation/proofs/local.md``: a function of the value alone, before anything is
drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import as_numbers, check_number, check_whole

__all__ = ["FINEST", "MOST_CHOICES", "Range", "check_choices", "check_range", "choices_of"]

FINEST = 2**20
"""Steps that a range is divided into."""
MOST_CHOICES = 2**31 - 1
_WIDEST = 1e100


def check_choices(value: object) -> int:
    """Return the size of an alphabet: with a single value there is nothing to tell."""
    return check_whole("choices", value, least=2, most=MOST_CHOICES)


def choices_of(values: ArrayLike, choices: int) -> NDArray[np.int64]:
    """Return values as numbers of the alphabet, 0 to ``choices`` - 1; the message of a refusal shows none of them."""
    allowed = f"whole numbers from 0 to {choices - 1}, one a device"
    given = as_numbers("values", values, allowed)
    if (given.size and given.dtype.kind not in "iu") or given.ndim != 1:
        raise InvalidArgument("values", values, allowed, private=True)
    if given.size and (given.min() < 0 or given.max() >= choices):
        raise InvalidArgument("values", values, allowed, private=True)
    return given.astype(np.int64, copy=False)


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from ``lower`` to ``upper`` on a grid of ``steps`` steps."""

    lower: float
    upper: float
    steps: int

    def check(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return values that lie in the range; the message of a refusal shows none of them."""
        allowed = f"finite numbers from {self.lower:g} to {self.upper:g}, one a device"
        given = as_numbers("values", values, allowed)
        if given.ndim != 1:
            raise InvalidArgument("values", values, allowed, private=True)
        numbers = given.astype(np.float64)
        if numbers.size and not (numbers.min() >= self.lower and numbers.max() <= self.upper):
            raise InvalidArgument("values", values, allowed, private=True)
        return numbers

    def to_quanta(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return the nearest step of each value."""
        scaled = (self.check(values) - self.lower) / self.width * self.steps
        return np.minimum(np.floor(scaled + 0.5), self.steps).astype(np.int64)

    def step_of(self, value: float) -> int:
        """Return the nearest step of one value."""
        return int(self.to_quanta([value])[0])

    @property
    def width(self) -> float:
        """Upper less lower."""
        return self.upper - self.lower

    def from_fractions(self, fractions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers at the given fractions of the range."""
        return self.lower + self.width * fractions


def check_range(clip: object, grid: int) -> Range:
    """Return the range that a pair of numbers spans."""
    if not isinstance(clip, tuple) or len(clip) != 2:
        raise InvalidArgument("clip", clip, "a pair of numbers, the lower first")
    lower, upper = (check_number("clip", part) for part in clip)
    if not lower < upper:
        raise InvalidArgument("clip", clip, "a pair of numbers, the lower first")
    if upper - lower > _WIDEST:
        raise InvalidArgument("clip", clip, f"at most {_WIDEST:g} apart: variances are squares")
    return Range(lower, upper, check_whole("grid", grid, most=FINEST))
