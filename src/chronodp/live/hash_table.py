"""Hashes of sixteen bytes, each with a number: its place in the order in which they came.

Slots are found by the hash itself, and the next free one is taken. Hashes are keyed, so nobody without the key can
choose names that crowd one place. Equal means equal in all 128 bits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["HASH", "HashTable", "Hashes", "Numbers", "as_hashes"]

HASH = 16
"""Bytes of a hash."""

Hashes = NDArray[np.void]
Numbers = NDArray[np.int64]
_Halves = NDArray[np.uint64]

_ROOM = 64
_FREE = -1
_MOST = 2**31 - 1  # as many numbers as slots can hold


def as_hashes(content: bytes) -> Hashes:
    """Return hashes that stand one after another."""
    return np.frombuffer(content, dtype=f"V{HASH}")


class HashTable:
    """Numbers of hashes, looked up and given many at once."""

    def __init__(self) -> None:
        self._halves: _Halves = np.zeros((_ROOM, 2), np.uint64)
        self._slots = np.full(2 * _ROOM, _FREE, np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def hashes(self, numbers: Numbers | slice) -> Hashes:
        """Return the hashes of numbers."""
        halves = np.ascontiguousarray(self._halves[: self._count][numbers])
        return halves.view(f"V{HASH}").reshape(-1)

    def find(self, hashes: Hashes) -> Numbers:
        """Return the number of each hash; -1 where there is none."""
        return self._find(_halves(hashes))

    def add(self, hashes: Hashes) -> Numbers:
        """Return the number of each hash; those that are new get one."""
        asked = _halves(hashes)
        found = self._find(asked)
        new = np.flatnonzero(found < 0)
        if len(new):
            firsts, which = _distinct(asked[new])
            begin = self._count
            self._append(asked[new[firsts]])
            found[new] = begin + which
        return found

    def _find(self, asked: _Halves) -> Numbers:
        mask = np.uint64(len(self._slots) - 1)
        found = np.full(len(asked), _FREE, np.int64)
        left, slots = np.arange(len(asked)), (asked[:, 0] & mask).astype(np.int64)
        while len(left):
            held = self._slots[slots]
            taken = np.flatnonzero(held != _FREE)
            left, slots, held = left[taken], slots[taken], held[taken]
            same = np.all(self._halves[held] == asked[left], axis=1)
            found[left[same]] = held[same]
            left, slots = left[~same], (slots[~same] + 1) & int(mask)
        return found

    def _append(self, fresh: _Halves) -> None:
        count = self._count + len(fresh)
        if count > _MOST:
            raise OverflowError(f"at most {_MOST:,} people are numbered")
        if count > len(self._halves):
            grown = np.zeros((max(count, 2 * len(self._halves)), 2), np.uint64)
            grown[: self._count] = self._halves[: self._count]
            self._halves = grown
        self._halves[self._count : count] = fresh
        begin, self._count = self._count, count
        if 2 * count > len(self._slots):  # at most half of the slots are taken, so a free one is near
            self._slots = np.full(1 << (4 * count - 1).bit_length(), _FREE, np.int32)
            begin = 0
        self._place(np.arange(begin, count))

    def _place(self, numbers: Numbers) -> None:
        mask = len(self._slots) - 1
        slots = (self._halves[numbers, 0] & np.uint64(mask)).astype(np.int64)
        while len(numbers):
            free = self._slots[slots] == _FREE
            self._slots[slots[free]] = numbers[free]
            lost = np.flatnonzero(self._slots[slots] != numbers)  # of several that wanted one slot, one has it
            numbers, slots = numbers[lost], (slots[lost] + 1) & mask


def _halves(hashes: Hashes) -> _Halves:
    return np.ascontiguousarray(hashes).view(np.uint64).reshape(-1, 2)


def _distinct(halves: _Halves) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the place of the first of each hash, in the order of coming, and for each which of these it equals."""
    ordered = np.sort(halves[:, 0])
    if np.all(ordered[1:] != ordered[:-1]):  # all differ, as is usual
        return np.arange(len(halves)), np.arange(len(halves))
    order = np.lexsort((halves[:, 0], halves[:, 1]))  # stable: among equals the first comes first
    new = np.ones(len(order), np.bool_)
    new[1:] = np.any(halves[order[1:]] != halves[order[:-1]], axis=1)
    firsts = order[new]
    rank = np.empty(len(firsts), np.intp)
    rank[np.argsort(firsts)] = np.arange(len(firsts))
    which = np.empty(len(order), np.intp)
    which[order] = rank[np.cumsum(new) - 1]
    return np.sort(firsts), which
