"""Outputs of many runs as one table of numbers, or as names when they are not numbers."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.exact import freeze
from chronodp.audit.subject import Unfit
from chronodp.errors import InvalidArgument

__all__ = ["Outputs", "collect"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """Outputs of runs on one input.

    Attributes:
        raw: as the mechanism returned them.
        numbers: runs by numbers; shorter outputs are filled up with what is not a number.
        names: one hashable for each run if outputs are no numbers; else None.
    """

    raw: Sequence[object] | NDArray[np.generic]
    numbers: Floats
    names: list[Hashable] | None

    def __len__(self) -> int:
        return len(self.numbers)

    def part(self, start: int, stop: int | None) -> Outputs:
        """Return some of them."""
        names = None if self.names is None else self.names[start:stop]
        return Outputs(self.raw[start:stop], self.numbers[start:stop], names)

    def labels(self) -> list[Hashable]:
        """Return each output as something to count by."""
        if self.names is not None:
            return self.names
        if self.numbers.shape[1] == 1:
            column: list[Hashable] = np.nan_to_num(self.numbers[:, 0], nan=np.inf).tolist()
            return column
        whole = np.ascontiguousarray(np.nan_to_num(self.numbers, nan=np.inf) + 0.0)  # so that -0 is 0
        return [row.tobytes() for row in whole]


def collect(made: Sequence[object] | NDArray[np.generic]) -> Outputs:
    """Return outputs as a table; raise `Unfit` if they cannot be compared from run to run."""
    if isinstance(made, np.ndarray):
        if made.dtype.kind not in "biuf":
            raise Unfit(f"it returns arrays of {made.dtype}, which are no numbers")
        return Outputs(made, made.reshape(len(made), -1).astype(np.float64), None)
    _check_shapes(made)
    try:
        rows = [freeze(output) for output in made]
    except InvalidArgument as error:
        raise Unfit("its outputs cannot be compared: they are no numbers, texts, tuples or arrays") from error
    flat = [_numbers(row) for row in rows]
    if any(part is None for part in flat):
        return Outputs(made, np.empty((len(rows), 0)), list(rows))
    parts = [part for part in flat if part is not None]
    width = max(map(len, parts), default=0)
    table = np.full((len(rows), width), np.nan)
    for place, part in enumerate(parts):
        table[place, : len(part)] = part
    if any(len(part) != width for part in parts):
        table = np.column_stack([table, [float(len(part)) for part in parts]])
    return Outputs(made, table, None)


def _check_shapes(made: Sequence[object]) -> None:
    shapes = {(output.shape, output.dtype.kind) for output in made if isinstance(output, np.ndarray)}
    arrays = sum(isinstance(output, np.ndarray) for output in made)
    if len({shape for shape, _ in shapes}) > 1 or 0 < arrays < len(made):
        found = ", ".join(sorted({str(shape) for shape, _ in shapes}))
        raise Unfit(f"its outputs change their shape from run to run ({found}); what may end early is a tuple")


def _numbers(row: Hashable) -> list[float] | None:
    """Return an output as a flat list of numbers, or None if it is something else."""
    if isinstance(row, bool | int | float):
        return [_finite(row)]
    if isinstance(row, tuple):
        flat: list[float] = []
        for part in row:
            inner = _numbers(part)
            if inner is None:
                return None
            flat += inner
        return flat
    return None


def _finite(value: float) -> float:
    try:
        number = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return number
