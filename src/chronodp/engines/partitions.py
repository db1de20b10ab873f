"""Rows of people sorted into stretches of people, in memory as long as it lasts and on disk beyond.

All rows of a person are in one partition: steps 3 to 5 of "What is computed" in ``docs/explanation/proofs/bounding.md``
treat each person by themselves. A row is two numbers, kept in two arrays or files in the same order:

    words    64 bits     the person's code, above cell_bits bits with the cell
    steps    32 bits     the value, within ±(2^31 - 1) steps by step 2
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["Partitions"]


class Partitions:
    """Collects rows (word, steps) by the partition that their person is in.

    Args:
        memory: bytes to hold before rows go to files, which only their owner may read and which vanish at the end.
        folder: where such files go.
    """

    def __init__(self, count: int, *, memory: int, folder: str | None = None) -> None:
        self._words: list[list[NDArray[np.uint64]]] = [[] for _ in range(count)]
        self._steps: list[list[NDArray[np.int32]]] = [[] for _ in range(count)]
        self._held, self._memory = 0, memory
        self._folder = folder
        self._files: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Partitions:
        return self

    def __exit__(self, *_: object) -> None:
        if self._files is not None:
            self._files.cleanup()

    def add(
        self, where: NDArray[np.uint16] | NDArray[np.uint32], words: NDArray[np.uint64], steps: NDArray[np.int32]
    ) -> None:
        """Take rows; ``where`` is the partition of each."""
        order = np.argsort(where, kind="stable")  # a radix sort for 16 bits
        words, steps = words[order], steps[order]
        ends = np.cumsum(np.bincount(where, minlength=len(self._words)))
        begin = 0
        for index, end in enumerate(ends.tolist()):
            if end > begin:
                self._words[index].append(words[begin:end])
                self._steps[index].append(steps[begin:end])
            begin = end
        self._held += words.nbytes + steps.nbytes
        if self._held > self._memory:
            self._spill()

    def take(self, index: int) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """Return all rows of a partition and forget them."""
        words, steps = self._words[index], self._steps[index]
        self._words[index], self._steps[index] = [], []
        if self._files is not None:
            stored = self._stored(index)
            words.append(np.fromfile(stored[0], dtype=np.uint64))
            steps.append(np.fromfile(stored[1], dtype=np.int32))
            for path in stored:
                path.unlink()
        if not words:
            return np.zeros(0, np.uint64), np.zeros(0, np.int32)
        return np.concatenate(words), np.concatenate(steps)

    def _stored(self, index: int) -> tuple[Path, Path]:
        if self._files is None:
            self._files = tempfile.TemporaryDirectory(
                prefix="chronodp-", dir=self._folder
            )  # only its owner may read it
        folder = Path(self._files.name)
        return folder / f"{index}.words", folder / f"{index}.steps"

    def _spill(self) -> None:
        for index in range(len(self._words)):
            words, steps = self._stored(index)
            _append(words, self._words[index])
            _append(steps, self._steps[index])
            self._words[index], self._steps[index] = [], []
        self._held = 0


def _append(path: Path, parts: Sequence[NDArray[np.generic]]) -> None:
    with path.open("ab") as file:
        for part in parts:
            part.tofile(file)
