"""How good each candidate is, and how far one unit can change that: two kinds, kept apart by type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import as_numbers, check_positive, settle

__all__ = ["MonotoneUtilities", "Utilities"]

_LARGEST_WHOLE = 2**53  # whole numbers beyond it are moved there: as floats they would not be exact


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    values: Any = field(repr=False)
    change: float

    def __post_init__(self) -> None:
        settle(self, values=_check_values(self.values), change=check_positive("change", self.change))

    def __len__(self) -> int:
        return len(self.values)


class Utilities(_Candidates):
    """One number a candidate, the larger the better; one unit changes each of them, up or down, by at most ``change``.

    The numbers are the owner's: they are never printed and never in an error.

    >>> Utilities([3.0, 5.0], change=1.0)
    Utilities(change=1.0)
    """

    __slots__ = ()


class MonotoneUtilities(_Candidates):
    """Like `Utilities`, where one more person changes all candidates in one direction, each by 0 to ``change``.

    Counts are such utilities: votes, or people whom a candidate suits. They need half the noise, and only where a
    person is added or removed: a person who is replaced moves one candidate up and another down, and the units of that
    relation are refused.

    >>> MonotoneUtilities([30, 50], change=1)
    MonotoneUtilities(change=1.0)
    """

    __slots__ = ()


def _check_values(values: Sequence[float] | NDArray[Any]) -> NDArray[np.float64]:
    allowed = "one finite number a candidate"
    numbers = as_numbers("utilities", values, allowed)
    if numbers.ndim != 1 or not len(numbers):
        raise InvalidArgument("utilities", values, allowed, private=True)
    if numbers.dtype.kind in "iu":
        least = 0 if numbers.dtype.kind == "u" else -_LARGEST_WHOLE
        if numbers.dtype.itemsize == 8:
            numbers = np.clip(numbers, least, _LARGEST_WHOLE)
    elif numbers.dtype.itemsize > 8 or not np.all(np.isfinite(numbers)):  # longer floats would be rounded
        raise InvalidArgument("utilities", values, allowed, private=True)
    exact: NDArray[np.float64] = numbers.astype(np.float64)  # a copy: what the caller does later changes nothing
    exact.setflags(write=False)
    return exact
