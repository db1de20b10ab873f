"""Steps that no table gives: someone who is to be forgotten, and two names that turn out to be one person's.

They are segments like any other, so that the chain holds them too. What they took cannot be computed again from tables:
a sealed copy of it stands in the ledger, beside the state of the series, for whoever must rebuild the tally.
"Lifetimes" of ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isqrt
from typing import TypeAlias

import numpy as np

from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.lifetime.entries import Entries
from chronodp.lifetime.tally import LifeTally

__all__ = ["Entry", "forget", "pack_event", "read_events", "same"]

Entry: TypeAlias = tuple[int, int]
"""The first and the last 64 bits that stand for a person."""

_ROW, _ROWS = 24, 2  # an event takes from one or two people; its copy does not show which


def forget(tally: LifeTally, entry: Entry) -> Entries:
    """Return what is taken from someone who is to be forgotten: all of a life.

    The entry stays, and is used up. Were it removed, the same person could come back with a whole life, and count
    twice as long as the price allows.
    """
    return Entries.of([(*entry, tally.life)])


def same(tally: LifeTally, old: Entry, new: Entry, *, squared: bool) -> Entries:
    """Return what is taken where two entries are one person: the new one has then used what both have together.

    Under Gaussian noise prices are squares of lengths. With a and b used, the person has moved the totals by vectors of
    lengths up to √a and √b, and by √a + √b together where both names counted in the same cells: so the new entry
    stands at ⌈(√a + √b)²⌉ = a + b + ⌈√(4ab)⌉. To add a and b alone would price lengths that are at right angles. Under
    Laplace noise prices are lengths in l1, and add. Both are exact, in whole numbers. The old entry is used up, since
    under two names one person could count twice.

    What both have used may be more than one life. The new entry then stands at a whole life, and the past price is what
    it is: the owner is to be told, since the series' promise does not cover that person.

    Args:
        tally: as verified.
        old: no longer used.
        new: goes on.
        squared: True under Gaussian noise, False under Laplace.
    """
    if old == new:
        raise InvalidArgument("new", "the same person", "another than the old one", private=True)
    high, low = (np.array([one[place] for one in (old, new)], np.uint64) for place in (0, 1))
    before, already = (int(one) for one in tally.used(high, low))
    product = 4 * before * already if squared else 0
    root = isqrt(product)
    both = before + already + root + (root * root < product)
    more = min(tally.life, both) - already
    return Entries.of([(*old, tally.life), *([(*new, more)] if more else [])])


def pack_event(step: int, entries: Entries) -> bytes:
    """Return the copy of an event that the ledger seals."""
    if not 1 <= len(entries) <= _ROWS:
        raise InvalidArgument("entries", "of another event", "of one that was forgotten, or of two that are the same")
    columns = zip(entries.high.tolist(), entries.low.tolist(), entries.spent.tolist(), strict=True)
    rows = b"".join(number.to_bytes(8, "big") for row in columns for number in row)
    return step.to_bytes(8, "big") + rows.ljust(_ROW * _ROWS, b"\0")


def read_events(copies: Iterable[bytes]) -> dict[int, Entries]:
    """Return what events took, by their steps, from the copies in the ledger."""
    found = {}
    for copy in copies:
        if len(copy) != 8 + _ROW * _ROWS:
            raise UnknownDocument("what the ledger keeps of an event is damaged")
        numbers = [int.from_bytes(copy[at : at + 8], "big") for at in range(0, len(copy), 8)]
        rows = [(numbers[at], numbers[at + 1], numbers[at + 2]) for at in range(1, len(numbers), 3)]
        found[numbers[0]] = Entries.of(row for row in rows if row[2])
    return found
