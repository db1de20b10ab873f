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

    def digests(self, ids: Words) -> Words:
        """Return the digests of ids, each a pair of 64-bit halves."""
        digests: Words = ids[:, 0] * self._keys[0] + ids[:, 1] * self._keys[1]  # modulo 2^64
        return digests

    def take(self, digests: Words) -> NDArray[np.bool_]:
        """Return which of the digests come for the first time, and remember them."""
        ordered = np.sort(digests)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        before = [ordered[_held(run, ordered)] for run in self._runs]
        fresh = np.ones(len(digests), dtype=np.bool_)
        if len(twice) or any(map(len, before)):
            known = np.unique(np.concatenate((twice[:0], *before)))
            suspect = np.flatnonzero(_held(np.unique(np.concatenate((twice, known))), digests))
            found, firsts = np.unique(digests[suspect], return_index=True)
            fresh[suspect] = False
            fresh[suspect[firsts[~_held(known, found)]]] = True
            ordered = np.sort(digests[fresh])
        self._keep(ordered)
        return fresh

    def _keep(self, ordered: Words) -> None:
        self._runs.append(ordered)
        while len(self._runs) > 1 and 2 * len(self._runs[-1]) >= len(self._runs[-2]):
            both = np.concatenate((self._runs.pop(), self._runs.pop()))
            self._runs.append(np.sort(both, kind="stable"))  # which merges what is in order already


def _held(run: Words, ordered: Words) -> NDArray[np.bool_]:
    """Return which digests a sorted run holds."""
    if not len(run):
        return np.zeros(len(ordered), dtype=np.bool_)
    places = np.minimum(np.searchsorted(run, ordered), len(run) - 1)
    held: NDArray[np.bool_] = run[places] == ordered
    return held
