"""Where everyone has a life: engines keep and book the same, each person by themselves, and nobody more than a life."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings, strategies as st
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
    reference_totals,
)
from chronodp.engines.attach import attached
from chronodp.engines.choice import priority, seeds_of
from chronodp.engines.entries import words_of
from chronodp.engines.lives import Payers
from chronodp.engines.lives_kernel import keep
from chronodp.engines.lives_statement import booked_totals_statement, entries_statement, kept_statement, paid_statement
from chronodp.engines.reference_cells import PersonCell
from chronodp.engines.reference_lives import reference_kept
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Grid
from tests.conftest import Trials
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


GOLDEN = Path(__file__).parents[1] / "golden" / "lifetime"
Book = Callable[..., Booked]
BOOKS: dict[str, Book] = {"reference": book_reference, "duckdb": book_duckdb}


def visits(who: str, *days: int, number: float = 3.0, region: str = "north") -> list[Record]:
    return [Record(who, int(CALENDAR.edges[day]) + 5, number, (region,)) for day in days]


@pytest.mark.slow
def test_every_engine_keeps_and_books_the_same(trials: Trials) -> None:
    chance = random.Random(3)
    for asked in asked_lives():
        tally, spent = MemoryTally(), 0
        for batch in range(trials(30, least=2)):
            records = random_batch(chance, 200, 12)
            expected = book_reference(records, asked, tally, key=f"k{batch}")
            assert equal(book_duckdb(records, asked, tally, key=f"k{batch}"), expected)
            tally.add(expected)
            spent += len(expected.spent)
        assert spent
        assert max(tally.shares.values()) <= asked.life


@pytest.mark.slow
def test_the_text_keeps_and_books_the_same() -> None:
    chance = random.Random(13)
    for asked in asked_lives():
        records = random_batch(chance, 150, 10)
        tally = MemoryTally()
        tally.add(book_reference(random_batch(chance, 60, 10), asked, tally, key="j"))
        assert equal(book_by_text(records, asked, tally, key="k"), book_reference(records, asked, tally, key="k"))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_the_packed_sort_is_the_reference(data: st.DataObject) -> None:
    question = replace(summed(groups=2), clip=data.draw(st.sampled_from([(0, 3), (-5, 2), (1, 7)])))
    top = data.draw(st.sampled_from([2, 1000, 2**62]))
    drawn = st.lists(st.integers(1, top), min_size=len(CALENDAR), max_size=len(CALENDAR))
    price = WholePrice(tuple(sorted(data.draw(drawn))))
    asked = LifeQuestion(question, data.draw(st.integers(1, top)), price, SALT)
    people, places = 3, question.places
    rows = data.draw(
        st.lists(st.tuples(st.integers(0, people - 1), st.integers(0, question.cells - 1), st.integers(-4, 4)))
    )
    used = data.draw(st.lists(st.integers(0, 2 * top - 1), min_size=people, max_size=people))
    tally = MemoryTally()
    tally.shares = {entry_of(SALT, f"p{person}"): shares for person, shares in enumerate(used)}
    cell_bits = (question.cells - 1).bit_length()
    words = np.array([person << cell_bits | cell for person, cell, _ in rows], np.uint64)
    seeds = np.array([seeds_of("k", f"p{person}") for person in range(people)], np.int64)
    entries = [
        np.array(part, np.uint64) for part in zip(*(entry_of(SALT, f"p{p}") for p in range(people)), strict=True)
    ]
    found = keep(
        words, np.array([steps for *_, steps in rows], np.int32), cell_bits, asked,
        (seeds[:, 0], seeds[:, 1], seeds[:, 2]), asked.room(tally, entries[0], entries[1]),
    )  # fmt: skip
    regions = question.groupings[0].keys
    records = [
        Record(f"p{person}", int(CALENDAR.edges[cell // places]), steps / 2**10, (regions[cell % places],))
        for person, cell, steps in rows
    ]
    kept, spent = kept_by_reference(records, asked, tally, key="k")
    cells = [period * places + place for _, period, place in kept]
    assert sorted(zip(found.cells.tolist(), found.totals.tolist(), strict=True)) == sorted(
        zip(cells, kept.values(), strict=True)
    )
    assert found.spent.tolist() == [spent.get(f"p{person}", 0) for person in range(people)]


@pytest.mark.slow
def test_with_room_for_all_totals_are_those_without_lives() -> None:
    records = random_batch(random.Random(5), 400, 30)
    asked_of = [asked for asked in asked_lives(life=10**6) if 10**6 < asked.life < 2**60]
    assert len(asked_of) > 8
    for asked in asked_of:
        booked, totals = (
            book_reference(records, asked, MemoryTally(), key="k").totals,
            reference_totals(trimmed(records, asked), asked.question, key="k"),
        )
        assert np.array_equal(booked.sums, totals.sums)
        assert np.array_equal(booked.people, totals.people)
        assert np.array_equal(booked.squares, totals.squares)


@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
@pytest.mark.slow
def test_a_life_fits_exactly_as_many_periods_at_the_clip(book: Book) -> None:
    for life, steps in ((1, 7), (3, STEPS), (5, 3 * 2**16 - 1)):
        question = replace(summed(), clip=(0, steps))
        asked = priced(question, life=life, base=steps)
        tally = MemoryTally()
        booked = book(visits("ann", *range(6), number=1e9), asked, tally, key="k")
        assert booked.totals.sums.sum() == life * steps
        assert booked.spent.tolist() == [life * SHARE]  # nothing is lost by rounding
        tally.add(booked)
        again = book(visits("ann", *range(6), number=1e9), asked, tally, key="other")
        assert again.totals.sums.sum() == 0
        assert len(again.spent) == len(again.high) == len(again.low) == 0


@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
def test_the_keyed_order_decides_which_periods_count(book: Book) -> None:
    asked = priced(summed(), life=2)
    found = set()
    for key in ("k", "l", "m", "n"):
        seeds = seeds_of(key, "ann")
        first = sorted(sorted(range(6), key=lambda period, seeds=seeds: priority(period, seeds))[:2])  # type: ignore[misc]
        booked = book(visits("ann", *range(6)), asked, MemoryTally(), key=key)
        assert np.flatnonzero(booked.totals.sums).tolist() == first
        found.add(tuple(first))
    assert len(found) > 1


@pytest.mark.slow
@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
def test_taking_a_person_out_of_all_batches_moves_nobody_elses_cells(book: Book, trials: Trials) -> None:
    chance, people = random.Random(11), [f"p{number}" for number in range(6)]
    moved = 0
    for trial in range(trials(200 if book is book_reference else 40, least=1)):
        batches = [random_batch(chance, 60, len(people)) for _ in range(5)]
        gone = chance.choice(people)
        worlds = []
        for without in (None, gone):
            tally, cells, paid = MemoryTally(), [], []
            for number, batch in enumerate(batches):
                # Groups of one person each show what is kept of everyone.
                clip = STEPS if number < 2 else STEPS * 5 // 3  # raised midway
                question = summed(clip=clip, groups=2)
                question = replace(question, groupings=(Grouping("name", tuple(people)), *question.groupings))
                asked = priced(question, life=3)
                rows = [replace(row, keys=(row.person, *row.keys)) for row in batch if row.person != without]
                booked = book(rows, asked, tally, key=f"k{trial}{number}")
                tally.add(booked)
                cells.append(booked.totals.sums.reshape(len(CALENDAR), len(people), -1))
                paid.append(set(zip(booked.high.tolist(), booked.low.tolist(), booked.spent.tolist(), strict=True)))
            worlds.append((cells, paid, dict(tally.shares)))
        (with_, paid_with, used), (without_, paid_without, used_without) = worlds
        others = [number for number, person in enumerate(people) if person != gone]
        entry = entry_of(SALT, gone)
        for one, two in zip(with_, without_, strict=True):
            assert np.array_equal(one[:, others], two[:, others])
            moved += int((one != two).any())
        for one_paid, two_paid in zip(paid_with, paid_without, strict=True):
            assert {row for row in one_paid if row[:2] != entry} == two_paid
        assert used.pop(entry, 0) <= 3 * SHARE
        assert used == used_without
    assert moved


def adversarial(chance: random.Random, number: int) -> list[Record]:
    """Rows at the clip, just below it, and of a few steps, in one period or in all of them."""
    rows = []
    for person in range(5):
        days = range(6) if chance.random() < 0.3 else [chance.randrange(6)]
        value = [3.0, 3.0 - 2**-10, 2**-10, -3.0, chance.uniform(0, 3)][(person + number) % 5]
        rows += [record for day in days for record in visits(f"p{person}", day, number=value)]
    return rows


def test_nobody_ever_pays_more_than_a_life_and_somebody_all_of_it() -> None:
    chance, tally, squares, kept_ever = random.Random(4), MemoryTally(), dict[str, int](), 0
    life = 6
    for number in range(100):
        clip = (STEPS, STEPS, STEPS * 2)[number % 3]  # terms change from issue to issue
        asked = priced(replace(summed(), clip=(-clip, clip)), life=life)
        records = adversarial(chance, number)
        kept, spent = kept_by_reference(records, asked, tally, key=str(number))
        tally.add(book_reference(records, asked, tally, key=str(number)))
        for (person, *_), total in kept.items():
            squares[str(person)] = squares.get(str(person), 0) + total**2
        kept_ever += len(kept)
        assert all(shares <= asked.life for shares in spent.values())
    assert max(tally.shares.values()) == life * SHARE
    assert max(squares.values()) <= life * STEPS**2  # the promise: the squared length of a whole life
    assert kept_ever <= 5 * life


@pytest.mark.slow
def test_duckdb_keeps_to_lives_over_many_batches(trials: Trials) -> None:
    chance, tally, ours = random.Random(4), MemoryTally(), MemoryTally()
    asked = priced(replace(summed(), clip=(-STEPS, STEPS)), life=6)
    for number in range(trials(100, least=12)):
        records = adversarial(chance, number)
        tally.add(book_duckdb(records, asked, tally, key=str(number)))
        ours.add(book_reference(records, asked, ours, key=str(number)))
    assert tally.shares == ours.shares
    assert max(tally.shares.values()) <= asked.life


@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
@pytest.mark.slow
def test_six_issues_of_two_shares_give_the_golden_sums(book: Book) -> None:
    golden = json.loads((GOLDEN / "durability.json").read_text(encoding="utf-8"))
    tally, groups = MemoryTally(), ("a", "b")
    for number, (month, sums) in enumerate(zip(golden["months"], golden["sums"], strict=True), start=1):
        calendar = Calendar("1mo", f"2026-{number:02}-01", f"2026-{number + 1:02}-01")
        question = summed(calendar, clip=1)
        question = replace(question, value=None, grid=Grid(1.0), groupings=(Grouping("group", groups),), max_places=1)
        asked = priced(question, life=golden["K"], base=1)
        records = [Record(who, int(calendar.edges[0]), None, (group,)) for who, group in month]
        booked = book(records, asked, tally, key="k")
        tally.add(booked)
        assert booked.totals.sums.tolist() == [sums[group] for group in groups]
    assert {who: tally.of(who) // SHARE for who in golden["used"]} == golden["used"]


def test_a_tally_beyond_a_life_leaves_nothing() -> None:
    asked = priced(summed(), life=1)
    tally = MemoryTally()
    tally.shares[entry_of(SALT, "ann")] = 2**63 - 1
    for book in BOOKS.values():
        assert book(visits("ann", 1), asked, tally, key="k").totals.people.sum() == 0
        assert book([], asked, tally, key="k").totals.people.sum() == 0


def test_names_are_people_however_they_are_written() -> None:
    import pyarrow

    days = pyarrow.array([int(CALENDAR.edges[day]) for day in range(4)]).cast(pyarrow.timestamp("us", tz="UTC"))
    asked = priced(summed(), life=2)
    columns: dict[str, Any] = {"at": days, "number": pyarrow.array([3.0] * 4)}
    for names in (pyarrow.array(["7", "7", "é", "7"]), pyarrow.array([7, 7, 8, 7])):
        booked = DuckDB().book(find_source(pyarrow.table(columns | {"who": names})), asked, MemoryTally(), key="k")
        entries = [entry_of(SALT, str(name)) for name in {str(name) for name in names.to_pylist()}]
        assert list(zip(booked.high.tolist(), booked.low.tolist(), strict=True)) == sorted(entries)
        assert sorted(booked.spent.tolist()) == [SHARE, 2 * SHARE]


@pytest.mark.slow
def test_stretches_and_files_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import chronodp.engines.people_index as index

    records = random_batch(random.Random(8), 3000, 300)
    asked = priced(summed(groups=2), life=2)
    expected = book_reference(records, asked, MemoryTally(), key="k")
    monkeypatch.setattr(index, "_TARGET", 100)
    monkeypatch.setattr(index, "_ASKED", 70)
    source = find_source(to_arrow(records, ["region"]))
    assert equal(DuckDB(threads=3, memory=2**26).book(source, asked, MemoryTally(), key="k"), expected)
    seen: list[float] = []
    DuckDB().book(source, asked, MemoryTally(), key="k", progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_payers_stand_in_order_also_where_first_words_agree() -> None:
    payers = Payers()
    high, low = np.array([7, 2**64 - 1, 7, 3], np.uint64), np.array([9, 1, 2**63, 5], np.uint64)
    payers.add(high, low, np.array([1, 2, 3, 0]))
    payers.add(high[:1], np.array([8], np.uint64), np.array([4]))
    booked = payers.booked(reference_totals([], summed(), key=""))
    assert booked.high.tolist() == [7, 7, 7, 2**64 - 1]
    assert booked.low.tolist() == [8, 9, 2**63, 1]
    assert booked.spent.tolist() == [4, 1, 3, 2]


def test_a_secret_is_not_shown() -> None:
    asked = priced(summed(), life=1)
    assert SALT not in repr(asked)
    booked = book_reference(visits("ann", 1), asked, MemoryTally(), key="k")
    assert str(booked.high[0]) not in repr(booked)
    with pytest.raises(InvalidArgument, match="life"):
        replace(asked, life=2**62 + 1)
