"""What is asked where a person has a life of shares, spent over many tables: who still counts, and what each pays.

A tally, kept by whoever asks, says what each person has paid in earlier tables. People are known to it by entries:
keyed digests of their names, never the names. The engine reads one table, lets everybody count as far as their own room
goes, and returns the totals *and* what each one paid, both from the same kept cells. The argument stands in
``docs/explanation/proofs/lifetime.md``; here it matters that what is kept of a person follows from their own rows,
their own entry, the key and public terms, and from nothing else.

Prices are whole numbers throughout, so that every engine keeps and books the same to the last digit.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.question import Question
from chronodp.engines.totals import Totals
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole

__all__ = ["LONGEST_LIFE", "Booked", "Digests", "LifeQuestion", "Payers", "Tally", "WholePrice", "entry_of"]

LONGEST_LIFE = 2**62
"""Most shares of a life, and of what one person pays in a period: sums of two fit 64 bits."""

Words = NDArray[np.int64]
Digests = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class WholePrice:
    """Whoever counts pays for as many periods as count, whatever they add.

    Attributes:
        prices: of 1, 2, … counted periods together, as many as a table has; they never fall.
    """

    prices: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.prices or any(before > after for before, after in pairwise((1, *self.prices))):
            raise InvalidArgument("prices", "numbers", "whole numbers above 0 that never fall")
        if self.prices[-1] > LONGEST_LIFE:
            raise InvalidArgument("prices", self.prices[-1], f"at most {LONGEST_LIFE:,}")

    def most(self, room: Words) -> Words:
        """Return how many periods each room pays for.

        >>> WholePrice((4, 8, 12)).most(np.array([3, 4, 11, 100])).tolist()
        [0, 1, 2, 3]
        """
        return np.searchsorted(np.array(self.prices, np.int64), room, side="right").astype(np.int64)

    def of(self, periods: Words) -> Words:
        """Return what so many counted periods take, which are at least 1."""
        return np.array(self.prices, np.int64)[periods - 1]


@dataclass(frozen=True, slots=True)
class LifeQuestion:
    """A table of a series in which everyone has a life.

    Attributes:
        question: which rows count, and how far one person reaches in a period; without ``max_periods``.
        life: the shares of a whole life.
        price: what a person pays for what counts of them.
        salt: hexadecimal digits that key people's entries. A secret.
    """

    question: Question
    life: int
    price: WholePrice
    salt: str = field(repr=False)

    def __post_init__(self) -> None:
        asked = self.question
        check_whole("life", self.life, most=LONGEST_LIFE)
        if asked.user is None:
            raise InvalidArgument("user", None, "the column with the person: a life is a person's")
        if (asked.max_periods, asked.norm, asked.window) != (None, None, None):
            raise InvalidArgument(
                "question", "with other limits", "without max_periods, norm and window: a life limits"
            )
        if len(self.price.prices) != len(asked.calendar):
            raise InvalidArgument("prices", len(self.price.prices), f"one for each of {len(asked.calendar):,} periods")

    @property
    def chooses(self) -> bool:
        """Whether some of a person's periods or places may have to be chosen: of one period all counts or nothing."""
        return len(self.question.calendar) > 1 or self.question.chooses

    def room(self, tally: Tally, high: Digests, low: Digests) -> Words:
        """Return how many shares of a life each entry has left: none where more than a life is used."""
        left: Words = self.life - np.clip(tally.used(high, low), 0, self.life)
        return left


class Tally(Protocol):
    """What people have paid so far. Engines may ask from several threads at once."""

    def used(self, high: Digests, low: Digests) -> Words:
        """Return the shares that each entry has used, by the first and the last 64 bits of it; 0 if it is unknown."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Booked:
    """The totals of a table and who paid what for them, which nobody may see.

    Attributes:
        totals: of what counts.
        high: the first 64 bits of the entry of each one who paid, ascending.
        low: the last 64 bits, ascending where the first are equal.
        spent: what each of them paid in this table, above 0.
    """

    totals: Totals
    high: Digests = field(repr=False)
    low: Digests = field(repr=False)
    spent: Words = field(repr=False)


class Payers:
    """Collects who paid what, stretch by stretch."""

    def __init__(self) -> None:
        self._pieces: list[tuple[Digests, Digests, Words]] = [
            (np.zeros(0, np.uint64), np.zeros(0, np.uint64), np.zeros(0, np.int64))
        ]

    def add(self, high: Digests, low: Digests, spent: Words) -> None:
        """Take entries and what each paid, which may be nothing."""
        paid = spent > 0
        self._pieces.append((high[paid], low[paid], spent[paid]))

    def booked(self, totals: Totals) -> Booked:
        """Return all who paid beside the totals that they paid for."""
        high, low = (np.concatenate([piece[word] for piece in self._pieces]) for word in (0, 1))
        spent = np.concatenate([piece[2] for piece in self._pieces])
        order = np.argsort(high)
        if (np.diff(high[order]) == 0).any():  # hardly ever: one sort by both takes six times as long
            order = np.lexsort((low, high))
        return Booked(totals, high[order], low[order], spent[order])


def entry_of(salt: str, person: str) -> tuple[int, int]:
    """Return a person's entry; the plain form of what engines compute in SQL.

    The first 16 bytes of a SHA-256: of 10⁷ people two share one with a probability of 1.5 · 10⁻²⁵. A shorter one would
    let one person use up another's life.

    >>> entry_of("00" * 16, "meter 7")
    (16492882085100032054, 8645454663910591746)
    """
    digest = hashlib.sha256(f"{salt}{person}".encode()).digest()
    return int.from_bytes(digest[:8], "big"), int.from_bytes(digest[8:16], "big")
