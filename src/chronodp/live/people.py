"""Names of people, and the keyed hashes and numbers that take their place.

A number holds for the life of a process, as long as its person is in an open window; hashes are what is stored.
*Hashes* of "Why one unit changes no more than is stated" in ``docs/explanation/proofs/live.md``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from chronodp.live.hash_table import HASH, Hashes, HashTable, Numbers, as_hashes

__all__ = ["REMEMBERED", "NumberedPeople", "PersonHashes", "Remembered"]

REMEMBERED = 2**20
"""Names that are kept to save time; whoever is beyond is hashed anew, which changes nothing but the time."""

_SHORT = 200  # signs of a text that is worth keeping: long ones, which anyone can send, would fill the memory
Kept = TypeVar("Kept")


class Remembered(dict[str, Kept], Generic[Kept]):
    """What a function returns for texts; when it holds too much, it forgets every other one.

    Half of those who come again are then still known: forgetting all, or the oldest, would find nobody where more
    people than fit come in turn.

    Args:
        make: the function.
        most: texts that are kept.
    """

    def __init__(self, make: Callable[[str], Kept], *, most: int = REMEMBERED) -> None:
        super().__init__()
        self._make, self._most = make, most

    def __missing__(self, text: str) -> Kept:
        made = self._make(text)
        if len(text) <= _SHORT:
            if len(self) >= self._most:
                kept = list(islice(self.items(), 0, None, 2))
                self.clear()
                self.update(kept)
            self[text] = made
        return made


class PersonHashes:
    """Keyed hashes that take the place of names; those of people are kept for a while.

    Args:
        key: of the hash.
    """

    def __init__(self, key: bytes) -> None:
        self._begun = {purpose: _begin(key, purpose) for purpose in ("person", "id")}
        self._known = Remembered(lambda name: self.make("person", name))

    def __getitem__(self, name: str) -> bytes:
        """Return the hash of a person."""
        return self._known[name]

    def make(self, purpose: str, name: str, within: bytes = b"") -> bytes:
        """Return the hash of a name for a purpose."""
        hashed = self._begun[purpose].copy()  # half the time of beginning anew
        hashed.update(within + name.encode("utf-8", "surrogatepass"))
        return hashed.digest()


def _begin(key: bytes, purpose: str) -> hashlib.blake2b:
    return hashlib.blake2b(key=key, digest_size=HASH, person=purpose.encode().ljust(16))


class _Known(dict[str, int]):
    """Numbers of names; -1 for those that have none."""

    def __missing__(self, name: str) -> int:
        return -1


class NumberedPeople:
    """People by number.

    Args:
        hashes: of their names.
    """

    def __init__(self, hashes: PersonHashes) -> None:
        self._hashes = hashes
        self._table = HashTable()
        self._known = _Known()

    def __len__(self) -> int:
        return len(self._table)

    def name(self, names: Sequence[str]) -> Numbers:
        """Return the numbers of people by their names; those who are new get one."""
        numbers = np.fromiter(map(self._known.__getitem__, names), np.int64, len(names))
        new = np.flatnonzero(numbers < 0)
        if len(new):
            fresh = [names[at] for at in new.tolist()]
            numbers[new] = self.number(as_hashes(b"".join(self._hashes.make("person", name) for name in fresh)))
            met = zip(fresh, numbers[new].tolist(), strict=True)
            self._known.update((name, number) for name, number in met if len(name) <= _SHORT)
        return numbers

    def number(self, hashes: Hashes) -> Numbers:
        """Return the numbers of people by their hashes; those who are new get one."""
        return self._table.add(hashes)

    def hashes(self, numbers: Numbers) -> Hashes:
        """Return the hashes of people by their numbers."""
        return self._table.hashes(numbers)

    def forget(self, kept: NDArray[np.bool_]) -> Numbers:
        """Drop all others; return everyone's new number by the old one, in the same order, -1 where there is none."""
        numbers: Numbers = np.where(kept, np.cumsum(kept) - 1, -1)
        table = HashTable()
        table.add(self._table.hashes(np.flatnonzero(kept)))
        self._table = table
        turned = numbers.tolist()
        self._known = _Known({name: turned[number] for name, number in self._known.items() if kept[number]})
        return numbers
