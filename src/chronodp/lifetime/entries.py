"""Entries of a tally: who has paid how much, in whole shares, sorted by the 128 bits that stand for a person.

Amounts add up to a whole life at most and stay there: a sum that wrapped round, or went past its life, would let
someone count anew. *Saturation* of "Lifetimes" in ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument

__all__ = ["Entries", "merge", "nobody", "used_by"]

Words = NDArray[np.int64]
Digests = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Who paid what, which nobody may see: its text shows nothing.

    Attributes:
        high: the first 64 bits of each entry, ascending.
        low: the last 64 bits, ascending where the first are equal. No entry stands twice.
        spent: in shares, above 0.
    """

    high: Digests = field(repr=False)
    low: Digests = field(repr=False)
    spent: Words = field(repr=False)

    def __post_init__(self) -> None:
        if [column.dtype.str[1:] for column in (self.high, self.low, self.spent)] != ["u8", "u8", "i8"]:
            raise InvalidArgument("entries", "of other types", "two columns of uint64 and one of int64")
        if not self.high.shape == self.low.shape == self.spent.shape == (len(self.high),):
            raise InvalidArgument("entries", "of other lengths", "three columns of one length")
        above, below = self.high[1:], self.high[:-1]
        if not ((above > below) | ((above == below) & (self.low[1:] > self.low[:-1]))).all():
            raise InvalidArgument("entries", "in another order", "ascending, and no entry twice")
        if len(self.spent) and self.spent.min() < 1:
            raise InvalidArgument("entries", "with other amounts", "with amounts above 0")

    @classmethod
    def of(cls, paid: Iterable[tuple[int, int, int]]) -> Entries:
        """Return a few entries, each as its first and last 64 bits and what it paid."""
        rows = sorted(paid)
        return cls(
            np.array([row[0] for row in rows], np.uint64),
            np.array([row[1] for row in rows], np.uint64),
            np.array([row[2] for row in rows], np.int64),
        )

    def __len__(self) -> int:
        return len(self.high)


def nobody() -> Entries:
    """Return no entries."""
    return Entries(np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.int64))


def used_by(held: Entries, high: Digests, low: Digests) -> Words:
    """Return what each of some entries has paid, in whatever order they come; 0 where it never did.

    >>> used_by(Entries.of([(1, 5, 7), (1, 6, 8)]), np.array([1, 1, 2], np.uint64), np.array([6, 4, 6], np.uint64))
    array([8, 0, 0])
    """
    order = np.argsort(high)  # so that neighbours are looked up near each other in memory: many times faster
    place, known = _places(held, high[order], low[order])
    found = np.zeros(len(high), np.int64)
    found[order[known]] = held.spent[place[known]]
    return found


def merge(held: Entries, added: Entries, life: int) -> Entries:
    """Return both together: what an entry paid in either adds up, to a life at most.

    >>> merge(Entries.of([(1, 5, 7)]), Entries.of([(1, 5, 4), (0, 9, 20)]), 10).spent
    array([10, 10])
    """
    paid = np.minimum(added.spent, life)
    if not len(held):
        return Entries(added.high, added.low, paid)
    place, known = _places(held, added.high, added.low)
    spent = held.spent.copy()
    before = spent[place[known]]
    # What still fits is added, and not the sum cut: two amounts near 2^62 would wrap round.
    spent[place[known]] = before + np.minimum(paid[known], life - before)
    new = ~known
    if not new.any():
        return Entries(held.high, held.low, spent)
    at = place[new]
    return Entries(
        np.insert(held.high, at, added.high[new]),
        np.insert(held.low, at, added.low[new]),
        np.insert(spent, at, paid[new]),
    )


def _places(held: Entries, high: Digests, low: Digests) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return where each entry stands, or would have to be put in, and whether it stands there."""
    place = np.searchsorted(held.high, high)
    if not len(held):
        return place, np.zeros(len(high), np.bool_)
    last = len(held) - 1
    while True:
        at = np.minimum(place, last)
        beside = (place <= last) & (held.high[at] == high)
        # Among entries with the same first word, on to the last word: as many rounds as such entries, so one or two.
        behind = beside & (held.low[at] < low)
        if not behind.any():
            return place, beside & (held.low[at] == low)
        place = place + behind
