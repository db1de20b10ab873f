"""Rows of people sorted into stretches of people, in memory as long as it lasts and on disk beyond.

All rows of a person are in one partition: steps 3 to 5 of "What is computed" in ``docs/explanation/proofs/bounding.md``
treat each person by themselves. The numbers of a row are kept in as many arrays or files, in the same order; where
totals are asked for they are two, where keys are looked for the words alone:

    words    64 bits     the person's code, above cell_bits bits with the cell (with the period and the key)
    steps    32 bits     the value, within ±(2^31 - 1) steps by step 2
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.stays import runs_of

__all__ = ["Partitions", "ahead"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Partitions:
    """Collects rows by the partition that their person is in.

    Args:
        types: of the numbers of a row.
        memory: bytes to hold before rows go to files, which only their owner may read and which vanish at the end.
        folder: where such files go.
    """

    def __init__(self, types: Sequence[type[np.generic]], *, memory: int, folder: str | None = None) -> None:
        self._types = tuple(types)
        self._kept: dict[int, list[list[NDArray[Any]]]] = {}  # of partitions that hold any
        self._held, self._memory = 0, memory
        self._folder = folder
        self._files: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Partitions:
        return self

    def __exit__(self, *_: object) -> None:
        if self._files is not None:
            self._files.cleanup()

    def add(self, where: NDArray[np.uint16] | NDArray[np.uint32], *columns: NDArray[Any]) -> None:
        """Take rows; ``where`` is the partition of each. What it costs depends on these rows alone."""
        order = np.argsort(where, kind="stable")  # a radix sort for 16 bits
        columns = tuple(column[order] for column in columns)
        sorted_ = where[order]
        runs = runs_of(sorted_)
        for index, (begin, end) in zip(sorted_[runs[:-1]].tolist(), pairwise(runs.tolist()), strict=True):
            held = self._kept.setdefault(index, [[] for _ in self._types])
            for kept, column in zip(held, columns, strict=True):
                kept.append(column[begin:end])
        self._held += sum(column.nbytes for column in columns)
        if self._held > self._memory:
            self._spill()

    def take(self, index: int) -> tuple[NDArray[Any], ...]:
        """Return all rows of a partition, by column, and forget them."""
        kept = self._kept.pop(index, [[] for _ in self._types])
        if self._files is not None:
            for pieces, path, type_ in zip(kept, self._stored(index), self._types, strict=True):
                if path.exists():
                    pieces.append(np.fromfile(path, dtype=type_))
                    path.unlink()
        return tuple(
            np.concatenate(pieces) if pieces else np.zeros(0, type_)
            for pieces, type_ in zip(kept, self._types, strict=True)
        )

    def _stored(self, index: int) -> list[Path]:
        if self._files is None:
            self._files = tempfile.TemporaryDirectory(
                prefix="chronodp-", dir=self._folder
            )  # only its owner may read it
        return [Path(self._files.name) / f"{index}.{number}" for number in range(len(self._types))]

    def _spill(self) -> None:
        for index, kept in self._kept.items():
            for path, pieces in zip(self._stored(index), kept, strict=True):
                _append(path, pieces)
        self._kept.clear()
        self._held = 0


def ahead(items: Iterable[Item], work: Callable[[Item], Result], workers: int) -> Iterator[Result]:
    """Yield results in order, never more than a few items ahead: what is not taken yet would fill the memory."""
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _append(path: Path, parts: Sequence[NDArray[np.generic]]) -> None:
    with path.open("ab") as file:
        for part in parts:
            part.tofile(file)
