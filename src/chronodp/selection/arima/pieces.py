"""Pieces of data that are fitted each by itself: people's series, or blocks of one series.

The table of "The order of a model" in ``docs/explanation/proofs/selection.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import Unit, as_numbers, check_whole, settle
from chronodp.privacy.units import check_record_unit
from chronodp.selection.utilities import MonotoneUtilities, Utilities

__all__ = ["Blocks", "Panel", "Pieces"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One series a person, in order of time, of any length. The data is never printed.

    >>> len(Panel([[1.0, 2.0, 3.0], [4.0]]).series)
    2
    """

    series: tuple[Floats, ...] = field(repr=False)

    def __init__(self, series: Iterable[ArrayLike]) -> None:
        if not isinstance(series, Iterable) or getattr(series, "ndim", 1) == 0:
            raise InvalidArgument("series", series, "one series a person", private=True)
        settle(self, series=tuple(_numbers("series", one) for one in series))

    def bound(self, votes: Floats, unit: Unit) -> Utilities | MonotoneUtilities:
        """Return the votes as utilities, as far as one unit changes them."""
        if check_record_unit("unit", unit).whole_person and unit.relation == "add_remove":
            return MonotoneUtilities(votes, change=1.0)  # a person's votes are added or removed
        return Utilities(votes, change=1.0)  # one person's votes become others

    def __str__(self) -> str:
        return "a panel"


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """One long series on a public grid of periods, cut into disjoint blocks of ``length``; a shorter rest is left out.

    A value that is missing is NaN: it keeps its place, so that no other value changes its block.

    >>> len(Blocks(range(100), length=30).series)
    3
    """

    series: tuple[Floats, ...] = field(repr=False)
    length: int

    def __init__(self, values: ArrayLike, *, length: int) -> None:
        check_whole("length", length, least=2)
        numbers = _numbers("values", values)
        starts = range(0, len(numbers) - length + 1, length)
        settle(self, series=tuple(numbers[start : start + length] for start in starts), length=length)

    def bound(self, votes: Floats, unit: Unit) -> Utilities | MonotoneUtilities:
        """Return the votes as utilities, as far as one unit changes them."""
        own = check_record_unit("unit", unit)
        if own.limited:
            allowed = "Event() or Window(periods): in blocks of one series a person may be everywhere"
            raise InvalidArgument("unit", str(unit), allowed)
        # w periods in a row: ⌈(w - 1) / L⌉ + 1 blocks, one when w = 1, two as soon as they can lie across a border.
        touched = -(-(own.periods_touched(None, horizon=None) - 1) // self.length) + 1
        if own.of_rows and own.relation == "replace":
            touched *= 2  # a replaced event may move to another block
        return Utilities(votes, change=float(touched))

    def __str__(self) -> str:
        return f"blocks of {self.length} periods"


Pieces = Panel | Blocks


def _numbers(name: str, values: ArrayLike) -> Floats:
    allowed = "numbers in order of time"
    numbers = as_numbers(name, values, allowed)
    if numbers.ndim != 1:
        raise InvalidArgument(name, values, allowed, private=True)
    found: Floats = numbers.astype(np.float64)
    found.setflags(write=False)
    return found
