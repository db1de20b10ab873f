"""Tallies in memory, and questions and tables of people who have lives."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

from chronodp.engines import (
    Booked,
    DuckDB,
    Grouping,
    LifeQuestion,
    Question,
    Record,
    Tally,
    Totals,
    WholePrice,
    entry_of,
    find_source,
    reference_book,
)
from chronodp.engines.attach import attached
from chronodp.engines.entries import words_of
from chronodp.engines.lives import Payers
from chronodp.engines.lives_statement import (
    booked_totals_statement,
    entries_statement,
    kept_statement,
    paid_statement,
)
from chronodp.engines.reference_cells import PersonCell
from chronodp.engines.reference_lives import reference_kept
from chronodp.privacy import Calendar, Grid
from tests.engines.worlds import to_arrow

SALT, SHARE = "5a" * 16, 2**32
CALENDAR = Calendar("1D", "2026-01-01", "2026-01-07")
REGION = Grouping("region", ("north", "south", "east"))
STEPS = 3 * 2**10  # of the clip of `summed`


class MemoryTally:
    """What people have used, in a dictionary."""

    def __init__(self) -> None:
        self.shares: dict[tuple[int, int], int] = {}

    def used(self, high: NDArray[np.uint64], low: NDArray[np.uint64]) -> NDArray[np.int64]:
        found = [self.shares.get(entry, 0) for entry in zip(high.tolist(), low.tolist(), strict=True)]
        return np.array(found, np.int64)

    def add(self, booked: Booked) -> None:
        for *entry, spent in zip(booked.high.tolist(), booked.low.tolist(), booked.spent.tolist(), strict=True):
            assert spent > 0
            self.shares[entry[0], entry[1]] = self.shares.get((entry[0], entry[1]), 0) + spent

    def of(self, person: str) -> int:
        return self.shares.get(entry_of(SALT, person), 0)


def summed(calendar: Calendar = CALENDAR, *, clip: int = STEPS, groups: int | None = None) -> Question:
    """Return a question about sums in [0, 3] in steps of 2^-10, in so many groups of a period where there are any."""
    keys = () if groups is None else (REGION,)
    return Question(calendar, "at", "who", "number", Grid(2.0**-10), (0, clip), keys, max_places=groups)


def priced(question: Question, *, life: int, base: int = STEPS) -> LifeQuestion:
    """Return a question at its price: a share is what a total of ``base`` steps pays."""
    reach = max(map(abs, question.clip))
    groups = question.max_places or 1
    each = -(-groups * SHARE * reach**2 // base**2)
    prices = tuple(each * number for number in range(1, len(question.calendar) + 1))
    return LifeQuestion(question, life * SHARE, WholePrice(prices), SALT)


def asked_lives(life: int = 3) -> Iterator[LifeQuestion]:
    """Yield questions of every kind that a life may be asked of."""
    plain, grouped = summed(), summed(groups=2)
    count = replace(grouped, value=None, grid=Grid(1.0), clip=(0, 1), max_places=1)
    bins = replace(count, value="number", edges=(-4.0, 0.0, 1.0, 4.0), clip=(0, 4))
    weighed = replace(plain, rows=2, clip=(-1000, 1000), groupings=(REGION,), max_places=1)
    for question in (plain, grouped, count, bins, replace(grouped, clip=(-5000, 2000), max_places=None)):
        asked = priced(question, life=life, base=max(map(abs, question.clip)))
        yield replace(asked, life=asked.life + 12345)
    yield priced(replace(plain, squares=8), life=life)
    yield priced(weighed, life=life, base=1000)
    yield priced(replace(weighed, edges=(-4.0, 0.0, 4.0)), life=life, base=1000)
    # Prices that grow faster than periods.
    yield LifeQuestion(grouped, 100, WholePrice((7, 22, 22, 60, 90, 101)), SALT)
    # The dearest that there may be: sums of two leave 64 bits.
    yield LifeQuestion(plain, 2**62 - 1, WholePrice((2**61, *[2**62] * (len(CALENDAR) - 1))), SALT)
    # One period, of which all counts or nothing: nobody needs an order.
    month = Calendar("1mo", "2026-01-01", "2026-02-01")
    yield priced(replace(summed(month, groups=2), max_places=None), life=life)


def random_batch(chance: random.Random, rows: int, people: int, calendar: Calendar = CALENDAR) -> list[Record]:
    """Return rows of some people, many of them at the clip, some of no use."""
    first, last = int(calendar.edges[0]), int(calendar.edges[-1])
    return [
        Record(
            f"p{chance.randrange(people)}" if chance.random() < 0.98 else None,
            chance.randrange(first - 10**9, last),
            chance.choice((3.0, 5.0, 0.0, 1.0, -2.0, 1e300, None, chance.uniform(-4, 4))),
            (chance.choice(("north", "south", "east", "elsewhere")),),
        )
        for _ in range(rows)
    ]


def trimmed(records: Sequence[Record], asked: LifeQuestion) -> list[Record]:
    """Return records with the keys that are asked for: the reference takes no others."""
    return [replace(record, keys=record.keys[: len(asked.question.groupings)]) for record in records]


def book_reference(records: Sequence[Record], asked: LifeQuestion, tally: Tally, *, key: str) -> Booked:
    return reference_book(trimmed(records, asked), asked, tally, key=key)


def kept_by_reference(
    records: Sequence[Record], asked: LifeQuestion, tally: Tally, *, key: str
) -> tuple[dict[PersonCell, int], dict[str, int]]:
    return reference_kept(trimmed(records, asked), asked, tally, key=key)


def book_duckdb(records: Sequence[Record], asked: LifeQuestion, tally: Tally, *, key: str) -> Booked:
    names = [grouping.column for grouping in asked.question.groupings]
    return DuckDB(threads=2).book(find_source(to_arrow(records, names)), asked, tally, key=key)


def book_by_text(records: Sequence[Record], asked: LifeQuestion, tally: Tally, *, key: str) -> Booked:
    """Return what the SQL texts of Spark give in DuckDB."""
    question = asked.question
    names = [grouping.column for grouping in question.groupings]
    source = find_source(to_arrow(records, names))
    with attached(source, question.wanted, question.reading, memory=2**28) as session:
        session.run(f"CREATE TABLE salts_ AS SELECT '{asked.salt}' AS salt")
        (digits,) = pyarrow.Table.from_batches(session.batches(entries_statement(asked, session.parts), 99)).columns
        words = words_of(digits.combine_chunks())
        room = asked.room(tally, words[:, 0], words[:, 1])
        rooms = asked.price.most(room)
        session.run("CREATE TABLE rooms_ (entry VARCHAR, room BIGINT)")
        pairs = ", ".join(
            f"('{entry}', {left})" for entry, left in zip(digits.to_pylist(), rooms.tolist(), strict=True)
        )
        session.run(f"INSERT INTO rooms_ VALUES {pairs}")
        session.run(f"CREATE TABLE kept_ AS {kept_statement(asked, session.parts, key=key)}")
        totals = Totals.of_cells(question, session.columns(booked_totals_statement(asked)))
        types: Any = {"entry": pyarrow.string(), "paid": pyarrow.int64()}
        schema = pyarrow.schema(types)
        paid = pyarrow.Table.from_batches(session.batches(paid_statement(), 99), schema)
    words, spent = words_of(paid["entry"].combine_chunks()), asked.price.of(paid["paid"].to_numpy())
    payers = Payers()
    payers.add(words[:, 0], words[:, 1], spent)
    return payers.booked(totals)


def equal(one: Booked, other: Booked) -> bool:
    """Whether two bookings are the same to the last digit."""
    pairs = zip(_parts(one), _parts(other), strict=True)
    return all(part.dtype == same.dtype and np.array_equal(part, same) for part, same in pairs)


def booked_digest(booked: Booked) -> str:
    """Return a text that is the same for equal bookings."""
    return hashlib.sha256(b"|".join(part.tobytes() for part in _parts(booked))).hexdigest()


def _parts(booked: Booked) -> list[NDArray[Any]]:
    totals = booked.totals
    return [totals.sums, totals.people, totals.squares, booked.high, booked.low, booked.spent]
