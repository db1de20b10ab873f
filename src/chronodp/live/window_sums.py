"""Whole numbers added up by cell, or by cell the least of each id; the order in which they come changes nothing.

What comes waits in arrays, and is added up when as much waits as is there: each number is moved a few times only. Sums
that could leave 64 bits go on as Python's whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chronodp.live.hash_table import Hashes, Numbers

__all__ = ["LeastOfIds", "Sums", "WindowSums"]

_FEW = 2**15
_SAFE = 2.0**62


class WindowSums(Protocol):
    """Sums of one window by cell."""

    def __len__(self) -> int:
        """How many numbers are kept."""
        ...

    def add(self, cells: Numbers, ids: Hashes, steps: Numbers) -> None:
        """Take further numbers."""
        ...

    def totals(self) -> tuple[Numbers, Numbers]:
        """Return cells in their order, each once, and their sums; beyond 2^62 these stay there."""
        ...

    def renumber(self, turn: Callable[[Numbers], Numbers]) -> None:
        """Give cells other numbers, which stand in the same order."""
        ...


class Sums:
    """Everything that comes is added up."""

    def __init__(self) -> None:
        self._cells: Numbers = np.zeros(0, np.int64)
        self._sums: NDArray[np.int64 | np.object_] = np.zeros(0, np.int64)
        self._waiting: list[tuple[Numbers, Numbers]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._cells) + self._count

    def add(self, cells: Numbers, ids: Hashes, steps: Numbers) -> None:  # noqa: ARG002 (there are none)
        """Take further numbers."""
        self._waiting.append((cells, steps))
        self._count += len(cells)
        if self._count > max(_FEW, len(self._cells)):
            self._add_up()

    def totals(self) -> tuple[Numbers, Numbers]:
        """Return cells in their order, each once, and their sums."""
        self._add_up()
        return self._cells, _bounded(self._sums)

    def renumber(self, turn: Callable[[Numbers], Numbers]) -> None:
        """Give cells other numbers, which stand in the same order."""
        self._add_up()
        self._cells = turn(self._cells)

    def _add_up(self) -> None:
        if not self._waiting:
            return
        cells = np.concatenate([self._cells, *(cells for cells, _ in self._waiting)])
        steps = np.concatenate([self._sums, *(steps for _, steps in self._waiting)])
        self._waiting, self._count = [], 0
        order = np.argsort(cells, kind="stable")
        self._cells, self._sums = _sum_of_each(cells[order], steps[order])


class LeastOfIds:
    """Of numbers with one id the least counts, whichever came first. An id belongs to one cell."""

    def __init__(self) -> None:
        self._cells: Numbers = np.zeros(0, np.int64)
        self._ids: NDArray[np.uint64] = np.zeros((0, 2), np.uint64)
        self._steps: Numbers = np.zeros(0, np.int64)
        self._waiting: list[tuple[Numbers, NDArray[np.uint64], Numbers]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._cells) + self._count

    def add(self, cells: Numbers, ids: Hashes, steps: Numbers) -> None:
        """Take further numbers."""
        self._waiting.append((cells, np.ascontiguousarray(ids).view(np.uint64).reshape(-1, 2), steps))
        self._count += len(cells)
        if self._count > max(_FEW, len(self._cells)):
            self._choose()

    def totals(self) -> tuple[Numbers, Numbers]:
        """Return cells in their order, each once, and the sums of what counts."""
        self._choose()
        cells, sums = _sum_of_each(self._cells, self._steps)
        return cells, _bounded(sums)

    def renumber(self, turn: Callable[[Numbers], Numbers]) -> None:
        """Give cells other numbers, which stand in the same order."""
        self._choose()
        self._cells = turn(self._cells)

    def _choose(self) -> None:
        if not self._waiting:
            return
        cells = np.concatenate([self._cells, *(one[0] for one in self._waiting)])
        ids = np.concatenate([self._ids, *(one[1] for one in self._waiting)])
        steps = np.concatenate([self._steps, *(one[2] for one in self._waiting)])
        self._waiting, self._count = [], 0
        order = np.lexsort((steps, ids[:, 0], ids[:, 1], cells))
        ids, cells = ids[order], cells[order]
        first = _begin(cells)
        first[1:] |= np.any(ids[1:] != ids[:-1], axis=1)
        self._cells, self._ids, self._steps = cells[first], ids[first], steps[order][first]


def _begin(cells: Numbers) -> NDArray[np.bool_]:
    """Return where cells that stand in order begin."""
    begin = np.ones(len(cells), np.bool_)
    begin[1:] = cells[1:] != cells[:-1]
    return begin


def _sum_of_each(
    cells: Numbers, steps: NDArray[np.int64 | np.object_]
) -> tuple[Numbers, NDArray[np.int64 | np.object_]]:
    """Return cells that stand in order once each, and their sums, exact."""
    if not len(cells):
        return cells, steps
    begins = np.flatnonzero(_begin(cells))
    if steps.dtype != np.object_:
        sizes = np.add.reduceat(np.abs(steps).astype(np.float64), begins)
        if sizes.max() >= _SAFE:
            steps = steps.astype(np.object_)
    return cells[begins], np.add.reduceat(steps, begins)


def _bounded(sums: NDArray[np.int64 | np.object_]) -> Numbers:
    """Return sums in 64 bits: what lies beyond 2^62 lies beyond every clip as well."""
    return np.clip(sums, -(2**62), 2**62).astype(np.int64)
