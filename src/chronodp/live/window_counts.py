"""In how many windows people have counted: in memory by number, on disk as what each closing changed.

A person's number is their place in the order in which they first counted. What a closing changes is stored as one
**delta**, all numbers with their least byte first:

    0 … 3      how many people count for the first time; they get the next numbers
    4 … 7      how many others count
    8 … 11     how these are named: 0 by their numbers, 1 by a bit for each number
    12 …       hashes of the first, 16 bytes each; then 4 bytes for each of the others, or all bits, the least first

Everything at one moment is a list of **blocks**: in each the hashes of up to 65,536 people and then, 4 bytes each, in
how many windows they have counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from chronodp.live.hash_table import HASH, Hashes, HashTable, Numbers, as_hashes

__all__ = ["MOST_IN_DELTA", "WindowCounts"]

MOST_IN_DELTA = 2**20
"""People of one delta; a closing with more has several, since a row of SQLite holds less than a gigabyte."""

_BLOCK = 2**16
_HEAD = 12
_ENTRY = HASH + 4  # bytes of a person in a block


class WindowCounts:
    """In how many windows people have counted."""

    def __init__(self) -> None:
        self._table = HashTable()
        self._counts = np.zeros(_BLOCK, np.uint32)

    def __len__(self) -> int:
        return len(self._table)

    @property
    def size(self) -> int:
        """Bytes of all blocks together."""
        return len(self) * _ENTRY

    def of(self, people: Hashes) -> Numbers:
        """Return in how many windows people have counted; none for those who are not known."""
        numbers = self._table.find(people)
        counts: Numbers = np.where(numbers < 0, 0, self._counts[numbers]).astype(np.int64)
        return counts

    def add(self, people: Hashes) -> None:
        """Let people, each named once, count in one window more."""
        self._count(self._table.add(people), 1)

    def delta(self, people: Hashes) -> bytes:
        """Return what changes if people, each named once, count in one window more."""
        numbers = self._table.find(people)
        fresh, known = people[numbers < 0], numbers[numbers >= 0]
        bits = (len(self) + 7) // 8
        named = 4 * len(known) > bits
        if named:
            marked = np.zeros(len(self), np.bool_)
            marked[known] = True
            others = np.packbits(marked, bitorder="little").tobytes()
        else:
            others = known.astype("<u4").tobytes()
        head = np.array([len(fresh), len(known), named], dtype="<u4").tobytes()
        return head + fresh.tobytes() + others

    def apply(self, delta: bytes) -> None:
        """Change what a delta says."""
        fresh, known, named = np.frombuffer(delta[:_HEAD], dtype="<u4").tolist()
        end = _HEAD + HASH * fresh
        numbers: NDArray[np.integer]
        if named:
            bits = np.unpackbits(np.frombuffer(delta[end:], np.uint8), bitorder="little", count=len(self))
            numbers = np.flatnonzero(bits)
        else:
            numbers = np.frombuffer(delta[end:], dtype="<u4")
        if len(numbers) != known:
            raise ValueError
        self._count(numbers, 1)
        self.add(as_hashes(delta[_HEAD:end]))

    def blocks(self) -> Iterator[bytes]:
        """Yield everything, block by block."""
        for begin in range(0, len(self), _BLOCK):
            end = min(begin + _BLOCK, len(self))
            hashes = self._table.hashes(slice(begin, end))
            yield hashes.tobytes() + self._counts[begin:end].astype("<u4").tobytes()

    def load(self, block: bytes) -> None:
        """Add a block to those that were loaded before it."""
        people = len(block) // _ENTRY
        numbers = self._table.add(as_hashes(block[: HASH * people]))
        self._count(numbers, np.frombuffer(block[HASH * people :], dtype="<u4"))

    def _count(self, numbers: NDArray[np.integer], more: NDArray[np.uint32] | int) -> None:
        if len(self) > len(self._counts):
            grown = np.zeros(max(len(self), 2 * len(self._counts)), np.uint32)
            grown[: len(self._counts)] = self._counts
            self._counts = grown
        self._counts[numbers] += np.uint32(more) if isinstance(more, int) else more
