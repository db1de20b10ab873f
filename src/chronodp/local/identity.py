"""Which reports were seen before, by their ids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["SeenIds"]

Words = NDArray[np.uint64]


class SeenIds:
    """Remembers 128-bit ids in sorted runs; runs are joined as they grow, so that n ids cost about n log n."""

    def __init__(self) -> None:
        self._runs: list[tuple[Words, Words]] = []

    def __len__(self) -> int:
        return sum(len(first) for first, _ in self._runs)

    def take(self, ids: Words) -> NDArray[np.bool_]:
        """Return which of the ids come for the first time, and remember them."""
        order = _sorting(ids[:, 0], ids[:, 1])
        first, second = ids[order, 0], ids[order, 1]
        new = np.ones(len(ids), dtype=np.bool_)
        new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
        for run in self._runs:
            new &= ~_held(run, first, second)
        self._keep(first[new], second[new])
        fresh = np.empty(len(ids), dtype=np.bool_)
        fresh[order] = new
        return fresh

    def _keep(self, first: Words, second: Words) -> None:
        self._runs.append((first, second))
        while len(self._runs) > 1 and 2 * len(self._runs[-1][0]) >= len(self._runs[-2][0]):
            parts = self._runs.pop(), self._runs.pop()
            one, two = (np.concatenate(columns) for columns in zip(*parts, strict=True))
            order = _sorting(one, two)
            self._runs.append((one[order], two[order]))


def _sorting(first: Words, second: Words) -> NDArray[np.int64]:
    """Return the order of ids; second halves are only looked at if first halves are ever equal."""
    order = np.argsort(first)
    ordered = first[order]
    return np.lexsort((second, first)) if np.any(ordered[1:] == ordered[:-1]) else order


def _held(run: tuple[Words, Words], first: Words, second: Words) -> NDArray[np.bool_]:
    """Return which ids a sorted run holds."""
    held = np.zeros(len(first), dtype=np.bool_)
    if not len(run[0]):
        return held
    left = np.minimum(np.searchsorted(run[0], first), len(run[0]) - 1)
    alike = run[0][left] == first
    held[alike] = run[1][left[alike]] == second[alike]
    for place in np.flatnonzero(alike & ~held):  # another id with the same first half: someone made them up
        last = np.searchsorted(run[0], first[place], side="right")
        held[place] = bool(np.any(run[1][left[place] : last] == second[place]))
    return held
