"""What is shown of a reading: values with what they may be, and a reason where there is no value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess import Estimates, FiellerSets
from chronodp.series.readings.weights import Floats

__all__ = [
    "CONTRADICTED",
    "KINDS",
    "NEAR_ZERO",
    "NONE",
    "REASONS",
    "TOO_FEW",
    "UNRELIABLE",
    "Cells",
    "Codes",
    "blank_cells",
    "gathered_cells",
]

Codes: TypeAlias = NDArray[np.int8]
Index: TypeAlias = tuple[NDArray[np.int64], ...] | tuple[slice, slice]

KINDS = ("interval", "outside", "line", "empty")
"""Kinds of sets: an interval; all outside an open gap; everything; nothing that the public range allows."""

REASONS = ("denominator near 0", "unreliable", "noise contradicts the public range", "too few")
NEAR_ZERO, UNRELIABLE, CONTRADICTED, TOO_FEW = 0, 1, 2, 3
NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Sets of what each number may be, rows × columns.

    Attributes:
        estimates: values and the ends of their sets.
        kind: which of `KINDS` each set is; -1 where none is shown.
        not_above: the lower end of the gap of those outside one; None where there are none.
        not_below: its upper end.
        why: which of `REASONS` a value is missing for; -1 where it is there.
    """

    estimates: Estimates
    kind: Codes
    not_above: Floats | None
    not_below: Floats | None
    why: Codes

    def rows(self, some: slice) -> Cells:
        """Return those of some rows."""
        told = self.estimates
        gaps = (None if gap is None else gap[some] for gap in (self.not_above, self.not_below))
        above, below = gaps
        return Cells(
            Estimates(told.value[some], told.lower[some], told.upper[some]),
            self.kind[some],
            above,
            below,
            self.why[some],
        )

    def columns(self, some: NDArray[np.int64]) -> Cells:
        """Return those of some columns."""
        told = self.estimates
        above, below = (None if gap is None else gap[:, some] for gap in (self.not_above, self.not_below))
        estimates = Estimates(told.value[:, some], told.lower[:, some], told.upper[:, some])
        return Cells(estimates, self.kind[:, some], above, below, self.why[:, some])

    def moved(self, factor: float, offset: float) -> Cells:
        """Return all numbers times a factor above 0, and then moved."""
        if factor == 1.0 and offset == 0.0:
            return self
        gaps = (None if gap is None else factor * gap + offset for gap in (self.not_above, self.not_below))
        told = self.estimates
        moved = Estimates(*(factor * part + offset for part in (told.value, told.lower, told.upper)))
        above, below = gaps
        return replace(self, estimates=moved, not_above=above, not_below=below)

    def hidden(self, cells: NDArray[np.bool_], why: int) -> Cells:
        """Return the same with some cells shown as missing, interval and all."""
        told = self.estimates
        blank = Estimates(*(np.where(cells, np.nan, part) for part in (told.value, told.lower, told.upper)))
        gaps = [None if gap is None else np.where(cells, np.nan, gap) for gap in (self.not_above, self.not_below)]
        kind, reason = np.where(cells, NONE, self.kind), np.where(cells, why, self.why)
        return Cells(blank, kind.astype(np.int8), gaps[0], gaps[1], reason.astype(np.int8))


def blank_cells(rows: int, columns: int) -> Cells:
    """Return cells that are all still to be filled."""
    parts = [np.full((rows, columns), np.nan) for _ in range(3)]
    codes = [np.full((rows, columns), NONE, np.int8) for _ in range(2)]
    return Cells(Estimates(*parts), codes[0], None, None, codes[1])


def gathered_cells(made: Cells, cells: Index, sets: FiellerSets) -> Cells:
    """Write sets to their rows and columns, and return all cells."""
    for kept, found in zip(
        (made.estimates.value, made.estimates.lower, made.estimates.upper),
        (sets.value, sets.lower, sets.upper),
        strict=True,
    ):
        kept[cells] = found
    kinds = np.zeros(sets.value.shape, np.int8)
    for code, name in enumerate(KINDS[1:], start=1):
        kinds[sets.kind == name] = code
    made.kind[cells] = kinds
    made.why[cells] = np.where(np.isnan(sets.value), NEAR_ZERO, NONE)
    if (contradicted := kinds == KINDS.index("empty")).any():
        # A count below 0 by its noise would make a large ratio a 0: the ends say which end is nearer, no value does.
        made.estimates.value[cells] = np.where(contradicted, np.nan, sets.value)
        made.why[cells] = np.where(contradicted, CONTRADICTED, made.why[cells])
    if (kinds == KINDS.index("outside")).any():
        shape = made.kind.shape
        above = np.full(shape, np.nan) if made.not_above is None else made.not_above
        below = np.full(shape, np.nan) if made.not_below is None else made.not_below
        above[cells], below[cells] = sets.not_above, sets.not_below
        made = replace(made, not_above=above, not_below=below)
    return made
