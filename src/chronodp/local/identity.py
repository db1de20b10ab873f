"""Which reports were seen before, by their ids."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

__all__ = ["SeenIds"]

Words = NDArray[np.uint64]


class SeenIds:
    """Remembers 128-bit ids by keyed 64-bit digests, in sorted runs that are joined as they grow.

    The keys are drawn anew and kept secret, so nobody can choose an id that is taken for another's: a new id is
    mistaken for one of n old ones with a chance of about n / 2^64, and one report is then dropped.
    """

    def __init__(self) -> None:
        self._keys = np.frombuffer(os.urandom(16), dtype=np.uint64) | np.uint64(1)
        self._runs: list[Words] = []

    def __len__(self) -> int:
        return sum(len(run) for run in self._runs)

    def take(self, ids: Words) -> NDArray[np.bool_]:
        """Return which of the ids come for the first time, and remember them."""
        digests: Words = ids[:, 0] * self._keys[0] + ids[:, 1] * self._keys[1]  # modulo 2^64
        ordered = np.sort(digests)
        repeated = bool(np.any(ordered[1:] == ordered[:-1])) or any(_held(run, ordered).any() for run in self._runs)
        fresh = np.ones(len(ids), dtype=np.bool_)
        if repeated:
            ordered, places = np.unique(digests, return_index=True)
            new = ~np.logical_or.reduce([_held(run, ordered) for run in self._runs] or [np.zeros(len(ordered), bool)])
            ordered = ordered[new]
            fresh[:] = False
            fresh[places[new]] = True
        self._keep(ordered)
        return fresh

    def _keep(self, ordered: Words) -> None:
        self._runs.append(ordered)
        while len(self._runs) > 1 and 2 * len(self._runs[-1]) >= len(self._runs[-2]):
            self._runs.append(np.sort(np.concatenate((self._runs.pop(), self._runs.pop()))))


def _held(run: Words, ordered: Words) -> NDArray[np.bool_]:
    """Return which digests a sorted run holds."""
    if not len(run):
        return np.zeros(len(ordered), dtype=np.bool_)
    places = np.minimum(np.searchsorted(run, ordered), len(run) - 1)
    held: NDArray[np.bool_] = run[places] == ordered
    return held
