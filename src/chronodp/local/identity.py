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
        order = np.lexsort((np.arange(len(ids)), ids[:, 1], ids[:, 0])) if _tied(ids[:, 0]) else np.argsort(ids[:, 0])
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
            order = np.lexsort((two, one)) if _tied(one) else np.argsort(one, kind="stable")
            self._runs.append((one[order], two[order]))


def _tied(words: Words) -> bool:
    ordered = np.sort(words)
    return bool(np.any(ordered[1:] == ordered[:-1]))


def _held(run: tuple[Words, Words], first: Words, second: Words) -> NDArray[np.bool_]:
    """Return which ids a sorted run holds; more than one id with the same first half is looked at one by one."""
    left = np.searchsorted(run[0], first, side="left")
    right = np.searchsorted(run[0], first, side="right")
    held = np.zeros(len(first), dtype=np.bool_)
    for place in np.flatnonzero(right > left):
        held[place] = bool(np.any(run[1][left[place] : right[place]] == second[place]))
    return held
