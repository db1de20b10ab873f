"""Outputs of many runs as one table of numbers, and each as something to count by.

Whatever a score reads of an output must depend on that output alone, never on others that came with it: otherwise an
event would not be an event.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.case import Unfit
from chronodp.audit.frozen import freeze
from chronodp.errors import InvalidArgument

__all__ = ["Outputs", "collect"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """Outputs of runs on one input.

    Attributes:
        raw: as the mechanism returned them.
        numbers: runs by numbers; shorter outputs are filled up with what is not a number.
        lengths: how many numbers each output has; -1 if it is something else.
        names: one hashable for each run; None if outputs are rows of one array.
    """

    raw: Sequence[object] | NDArray[np.generic]
    numbers: Floats
    lengths: NDArray[np.int64]
    names: list[Hashable] | None

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def width(self) -> int:
        """The most numbers that an output has."""
        return int(self.numbers.shape[1])

    def table(self, width: int) -> Floats:
        """Return the first ``width`` numbers of each output, and how many it has."""
        filled = np.full((len(self), width + 1), np.nan)
        shared = min(width, self.width)
        filled[:, :shared] = self.numbers[:, :shared]
        filled[:, width] = self.lengths
        return filled

    def part(self, start: int, stop: int | None, step: int = 1) -> Outputs:
        """Return some of them."""
        some = slice(start, stop, step)
        names = None if self.names is None else self.names[some]
        return Outputs(self.raw[some], self.numbers[some], self.lengths[some], names)

    def labels(self) -> list[Hashable]:
        """Return each output as something to count by."""
        if self.names is not None:
            return self.names
        if self.width == 1:
            column: list[Hashable] = np.nan_to_num(self.numbers[:, 0], nan=np.inf).tolist()
            return column
        whole = np.ascontiguousarray(np.nan_to_num(self.numbers, nan=np.inf) + 0.0)  # so that -0 is 0
        return [row.tobytes() for row in whole]


def collect(made: Sequence[object] | NDArray[np.generic]) -> Outputs:
    """Return outputs as a table; raise `Unfit` if they cannot be compared from run to run."""
    if isinstance(made, np.ndarray):
        if made.dtype.kind not in "biuf":
            raise Unfit(f"it returns arrays of {made.dtype}, which are no numbers")
        rows = made.reshape(len(made), -1).astype(np.float64)
        return Outputs(made, rows, np.full(len(rows), rows.shape[1]), None)
    _check_shapes(made)
    try:
        names = [freeze(output) for output in made]
    except InvalidArgument as error:
        raise Unfit("its outputs cannot be compared: they are no numbers, texts, tuples or arrays") from error
    parts = [_numbers(name) for name in names]
    lengths = np.array([-1 if part is None else len(part) for part in parts], dtype=np.int64)
    numbers = np.full((len(names), max(0, int(lengths.max(initial=0)))), np.nan)
    for place, part in enumerate(parts):
        if part:
            numbers[place, : len(part)] = part
    return Outputs(made, numbers, lengths, names)


def _check_shapes(made: Sequence[object]) -> None:
    shapes = {output.shape for output in made if isinstance(output, np.ndarray)}
    arrays = sum(isinstance(output, np.ndarray) for output in made)
    if len(shapes) > 1 or 0 < arrays < len(made):
        found = ", ".join(sorted(map(str, shapes)))
        raise Unfit(f"its outputs change their shape from run to run ({found}); what may end early is a tuple")


def _numbers(row: Hashable) -> list[float] | None:
    """Return an output as a flat list of numbers, or None if it is something else."""
    if isinstance(row, bool | int | float):
        return [_as_float(row)]
    if isinstance(row, tuple):
        flat: list[float] = []
        for part in row:
            inner = _numbers(part)
            if inner is None:
                return None
            flat += inner
        return flat
    return None


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
