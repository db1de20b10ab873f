"""What a model reads of a person: a stretch of fixed public length, scaled by public bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import as_numbers, check_number, check_whole, document

__all__ = ["Column", "Inputs"]


@document("model_column")
@dataclass(frozen=True, slots=True)
class Column:
    """A measured quantity with public bounds: values outside count as the nearest bound."""

    name: str
    lower: float
    upper: float

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidArgument("name", self.name, "a text that is not empty")
        lower, upper = check_number("lower", self.lower), check_number("upper", self.upper)
        if not lower < upper:
            raise InvalidArgument("upper", self.upper, f"above lower, {lower:g}")

    def scaled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values with the bounds at -1 and 1; what is not a number stays so."""
        half = (self.upper - self.lower) / 2
        moved: NDArray[np.float64] = (np.clip(values, self.lower, self.upper) - self.lower) / half - 1
        return moved

    def unscaled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what `scaled` made, in the column's own unit."""
        back: NDArray[np.float64] = (values + 1) * ((self.upper - self.lower) / 2) + self.lower
        return back


@document("model_inputs")
@dataclass(frozen=True, slots=True)
class Inputs:
    """The columns that a model reads, over the last ``length`` periods of a person.

    >>> heart = Inputs((Column("rate", 40.0, 160.0),), length=3)
    >>> heart.prepare([[[100.0], [float("nan")], [900.0], [40.0]]])[0].tolist()     # value, and whether there is one
    [[0.0, 0.0], [1.0, 1.0], [-1.0, 1.0]]
    """

    columns: tuple[Column, ...]
    length: int

    def __post_init__(self) -> None:
        if not isinstance(self.columns, tuple) or not self.columns:
            raise InvalidArgument("columns", self.columns, "a tuple of at least one Column")
        if not all(isinstance(column, Column) for column in self.columns):
            raise InvalidArgument("columns", self.columns, "a tuple of Column")
        check_whole("length", self.length)

    @property
    def channels(self) -> int:
        """How many numbers a model sees in one period: each column's value, and whether there is one."""
        return 2 * len(self.columns)

    def prepare(self, values: ArrayLike) -> NDArray[np.float32]:
        """Return (people, length, channels): the last periods, earlier ones that are lacking as missing.

        A missing value is 0 with its second channel 0. No value is refused: that would tell of it.
        """
        allowed = f"numbers of the shape (people, periods, {len(self.columns)})"
        numbers = as_numbers("values", values, allowed)
        if numbers.ndim != 3 or numbers.shape[2] != len(self.columns):
            raise InvalidArgument("values", values, allowed, private=True)
        kept = numbers[:, -self.length :].astype(np.float64)
        made = np.zeros((len(kept), self.length, self.channels), dtype=np.float32)
        if not kept.shape[1]:
            return made
        place = slice(self.length - kept.shape[1], None)
        for index, column in enumerate(self.columns):
            known = ~np.isnan(kept[:, :, index])
            made[:, place, 2 * index] = np.where(known, column.scaled(kept[:, :, index]), 0.0)
            made[:, place, 2 * index + 1] = known
        return made
