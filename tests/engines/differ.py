"""Attacks on readers: random tables in every form, and what one unit, one row or one file can make of them.

Many small worlds stand in one table, as in `worlds`; in each of them one unit changes at the same time. What a reader
makes of a table must be what the plain rule makes of its cells, one by one, and must not change anywhere by more than
is stated. A change that one file or one cell works on the others shows in all worlds.
"""

from __future__ import annotations

import bisect
import datetime as dt
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from chronodp.engines import DuckDB, Question, Reading, Record, Totals, find_source, reference_totals, statement
from chronodp.engines.attach import attached
from chronodp.engines.reading import Moment, read_name, read_number, read_time
from chronodp.privacy import Calendar, Unit, User
from chronodp.privacy.units import Event
from chronodp.series import Design
from tests.engines.forms import Kinds, Piece, Row, write
from tests.engines.neighbours import stretch
from tests.engines.test_neighbours import HOURS, MEASURES, SPRING, UNITS, Case
from tests.engines.worlds import numbers, widened

__all__ = [
    "TOKYO",
    "Attack",
    "Reader",
    "Table",
    "difference",
    "draw_attack",
    "expected",
    "read_duckdb",
    "read_statement",
    "to_instant",
]

TOKYO = Calendar("1D", "2026-01-05", "2026-01-10", "Asia/Tokyo")
BERLIN = Calendar("12h", "2026-01-05", "2026-01-08", "Europe/Berlin")
CALENDARS = (TOKYO, BERLIN, HOURS, SPRING)
_TICKS = {"s": 10**6, "ms": 10**3, "us": 1}
_EPOCH = dt.datetime(1970, 1, 1)
_INDIA = dt.timezone(dt.timedelta(hours=5, minutes=30))
_TYPED = ("s", "ms", "us", "ns", "s+", "ms+", "us+", "ns+")
_LINES = (
    b'"',
    b'7,"2026',
    b'"a","b,c',
    b"\xff\xfe",
    b"7,2026-01-06,\xff,w0,north",
    b"a\rb",
    b"\r",
    b"\0,\0",
    b"x" * 5000,
    b",,",
)
_ODD_TEXTS = (
    "",
    " ",
    "nan",
    "NULL",
    "7.5e",
    "\u00a07",
    "inf",
    "-",
    "2026-13-45",
    "1e999",
    "\0",
    "x" * 3000,
    "tomorrow",
    "7;5",
    "'",
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table as its owner hands it over, and what it is made of."""

    form: str
    pieces: tuple[Piece, ...]
    data: Any


@dataclass(frozen=True, slots=True)
class Attack:
    """Two tables that differ in one unit of each world; what is asked about one world, and about all."""

    design: Design
    narrow: Question
    question: Question
    one: Table
    other: Table


Reader = Callable[[Table, Question], Totals]


def read_duckdb(table: Table, question: Question) -> Totals:
    return DuckDB(threads=1).totals(find_source(table.data), question, key="k")


def read_statement(table: Table, question: Question) -> Totals:
    with attached(find_source(table.data), question.wanted, question.reading, memory=2**30, threads=1) as session:
        rows = session.columns(statement(question, session.parts, key="k"))
    return Totals.of_cells(question, rows)


def expected(table: Table, question: Question) -> Totals:
    records = [row.record for piece in table.pieces for row in piece.rows]
    return reference_totals(records, question, key="k")


def difference(attack: Attack, reader: Reader) -> str | None:
    """Return what a reader gets wrong; None if nothing is."""
    found = []
    for table in (attack.one, attack.other):
        try:
            totals = reader(table, attack.question)
        except Exception as error:
            return f"refused: {type(error).__name__}: {error}"
        found.append(totals)
    before, after = (numbers(attack.design, attack.narrow, totals) for totals in found)
    for one, other, stated in zip(before, after, attack.design.table.sensitivities(), strict=True):
        change = np.abs(one - other)
        ratio = max(change.sum(axis=1).max() / stated.l1, math.sqrt((change**2).sum(axis=1).max()) / stated.l2)
        if ratio > 1 + 1e-12:
            return f"changed by {ratio:.3g} times what is stated"
    for table, totals in zip((attack.one, attack.other), found, strict=True):
        wanted = expected(table, attack.question)
        if not all(map(np.array_equal, astuple(wanted), astuple(totals))):
            return "read otherwise than by the rule"
    return None


def draw_attack(chance: random.Random, form: str, worlds: int, folder: Path) -> Attack:
    """Return a random attack on a form; what pandas itself cannot hold is drawn again."""
    for number in range(20):
        try:
            return _draw(chance, form, worlds, folder / str(number))
        except ValueError:
            if not form.startswith("pandas"):
                raise
    raise AssertionError("pandas holds none of it")


def _draw(chance: random.Random, form: str, worlds: int, folder: Path) -> Attack:
    calendar, unit = chance.choice(CALENDARS), chance.choice(UNITS)
    case = Case(chance.choice(list(MEASURES.values())), unit, calendar, max_groups=chance.choice([1, 2]))
    design, narrow = case.ask()
    question = widened(narrow, worlds)
    kinds = _kinds(chance, form)
    ones = [
        [_row(chance, kinds, calendar, world, chance.randrange(3)) for _ in range(chance.randrange(20))]
        for world in range(worlds)
    ]
    several = form in ("csv", "parquet") or form.startswith("pandas")
    strange = _kinds(chance, form) if several and chance.random() < 0.7 else kinds
    kept, drawn = [], []
    for world, rows in enumerate(ones):
        some, new = _neighbour(chance, rows, strange, calendar, unit, world)
        kept.append(some)
        drawn += new
    (folder / "one").mkdir(parents=True)
    (folder / "other").mkdir()
    one = _table(chance, form, _split(chance, [row for rows in ones for row in rows], kinds, several), folder / "one")
    rest = [row for rows in kept for row in rows]
    if strange == kinds:
        pieces = _split(chance, rest + drawn, kinds, several)
    else:
        pieces = [*_split(chance, rest, kinds, several), Piece(strange, drawn)]
        chance.shuffle(pieces)
    if form == "csv":
        pieces = [
            replace(piece, lines=[(chance.randrange(len(piece.rows) + 1), chance.choice(_LINES))]) for piece in pieces
        ]
    return Attack(design, narrow, question, one, _table(chance, form, pieces, folder / "other"))


def _table(chance: random.Random, form: str, pieces: Sequence[Piece], folder: Path) -> Table:
    return Table(form, tuple(pieces), write(form, pieces, folder, chance))


def _split(chance: random.Random, rows: Sequence[Row], kinds: Kinds, several: bool) -> list[Piece]:
    rows = chance.sample(rows, len(rows))
    count = chance.randrange(1, 4) if several else 1
    return [Piece(kinds, rows[start::count]) for start in range(count)]


def _kinds(chance: random.Random, form: str) -> Kinds:
    if form == "csv":
        return Kinds(chance.choice(["text", "zeros"]), "text", "text")
    if form == "pandas object" and chance.random() < 0.7:
        return Kinds("object", "object", "object")
    lacking = {"polars": ("s", "s+"), "spark": ("s", "s+", "ms", "ms+", "ns", "ns+")}.get(form, ())
    units = [unit for unit in _TYPED if unit not in lacking]
    at = chance.choice(["text", *units])
    return Kinds(
        chance.choice(["text", "zeros", "whole", "real", "decimal"]), at, chance.choice(["text", "real", "decimal"])
    )


def _neighbour(
    chance: random.Random, rows: list[Row], kinds: Kinds, calendar: Calendar, unit: Unit, world: int
) -> tuple[list[Row], list[Row]]:
    """Return the rows that stay and those that come, of one unit; some of these with odd cells."""
    person = chance.randrange(3)
    inside = stretch(chance, calendar, User() if isinstance(unit, Event) else unit)
    if isinstance(unit, Event):
        at = chance.randrange(len(rows)) if rows else 0
        kept, most = rows[:at] + rows[at + 1 :], 1
        person = int(rows[at].record.person or 1) % 10 - 1 if rows else person
        if unit.relation == "add_remove" and chance.random() < 0.5:
            kept = rows
        elif unit.relation == "add_remove" or not rows:
            most = 0
    else:
        name = str(world * 10 + person + 1)
        kept = [row for row in rows if row.record.person != name or not inside(row.record.instant)]
        most = chance.randrange(12)
        if unit.relation == "add_remove" and kept != rows:
            most = 0
    drawn = [_row(chance, kinds, calendar, world, person, odd=0.4) for _ in range(most)]
    return kept, [row for row in drawn if inside(row.record.instant) or row.record.instant is None]


def _row(chance: random.Random, kinds: Kinds, calendar: Calendar, world: int, person: int, *, odd: float = 0.0) -> Row:
    number = world * 10 + person + 1
    who = _who(chance, kinds.who, number, odd)
    at, moment = _at(chance, kinds.at, calendar, odd)
    amount = _amount(chance, kinds.number, odd)
    region = chance.choice(["north", "south", "elsewhere"])
    record = Record(read_name(who), to_instant(moment, calendar), read_number(amount, Reading()), (str(world), region))
    return Row((who, at, amount, str(world), region), moment, record)


def _who(chance: random.Random, kind: str, number: int, odd: float) -> Any:
    """A cell that names this person, or nobody."""
    cells: dict[str, list[Any]] = {
        "text": [str(number)],
        "zeros": [f"{number}.0"],
        "whole": [number],
        "real": [float(number)],
        "decimal": [Decimal(number)],
        "object": [
            number,
            str(number),
            float(number),
            Decimal(number),
            f"{number}.00",
            np.int64(number),
            np.float32(number),
        ],
    }
    if chance.random() >= odd:
        return chance.choice(cells[kind])
    others: dict[str, list[Any]] = {
        "text": [None, "", f"{number}.00", f"{number}.0"],
        "zeros": [None, "", str(number)],
        "whole": [None],
        "real": [None, math.nan, number + 0.5, math.inf],
        "decimal": [None, number + Decimal("0.5")],
        "object": [None, math.nan, pd.NaT, pd.NA, "", b"7", [7], 7.5, Decimal("NaN"), dt.date(2026, 1, 6), "\ud800"],
    }
    return chance.choice(others[kind])


def _at(chance: random.Random, kind: str, calendar: Calendar, odd: float) -> tuple[Any, Moment | None]:
    first, last = int(calendar.edges[0]), int(calendar.edges[-1])
    seconds = chance.randrange(first // 10**6 - 50_000, last // 10**6 + 50_000)
    strange = chance.random() < odd
    if kind in ("text", "object"):
        cell = _clock(chance, seconds, kind == "object", strange)
        return cell, read_time(cell, Reading())
    absolute, unit = kind.endswith("+"), kind.rstrip("+")
    per_second = 10**9 if unit == "ns" else 10**6 // _TICKS[unit]
    if strange:
        far = 9 * 10**12 if unit == "s" else 9 * 10**15  # years that calendars do not have; Parquet has no seconds
        return chance.choice(
            [None, -(10**11) * min(per_second, 10**6), far, 8 * 10**18 if unit in ("us", "ns") else far]
        ), None
    return seconds * per_second, Moment(seconds * 10**6, absolute)


def _clock(chance: random.Random, seconds: int, free: bool, strange: bool) -> Any:
    """A time as a text, or as any object that can hold one."""
    wall = _EPOCH + dt.timedelta(seconds=seconds)
    aware = wall.replace(tzinfo=dt.UTC)
    if strange:
        more: list[Any] = (
            [math.nan, pd.NaT, pd.NA, 7, dt.date(1, 1, 1), dt.datetime(9999, 12, 31), [wall], b"2026"] if free else []
        )
        return chance.choice([None, *_ODD_TEXTS, "0001-01-01", "9999-12-31T23:59:59Z", "2026-02-30", *more])
    texts = [wall.isoformat(), wall.isoformat(" "), aware.isoformat(), f"{wall:%Y-%m-%dT%H:%M:%S}Z", f"{wall:%Y-%m-%d}"]
    texts += [aware.astimezone(_INDIA).isoformat(), f"{wall:%Y-%m-%dT%H:%M}", f" {wall:%Y-%m-%d %H:%M:%S}.250Z "]
    if not free:
        return chance.choice(texts)
    objects = [
        wall,
        aware,
        aware.astimezone(_INDIA),
        pd.Timestamp(wall),
        pd.Timestamp(aware),
        np.datetime64(wall),
        wall.date(),
    ]
    return chance.choice([*objects, *texts])


def _amount(chance: random.Random, kind: str, odd: float) -> Any:
    value = chance.randrange(-16, 17) / 4
    cells: dict[str, Any] = {"text": f"{value:g}", "real": value, "decimal": Decimal(value), "object": value}
    if kind == "real" and chance.random() < 0.1:
        return math.nan  # statistics in files know nothing of these
    if chance.random() >= odd:
        return cells[kind]
    others: dict[str, list[Any]] = {
        "text": [None, *_ODD_TEXTS, "1e300", "True", " 2 ", "-1e-400"],
        "real": [None, math.nan, *chance.choice([[math.inf], [-math.inf, -1e308], [1e300], []])],
        "decimal": [None, Decimal("-999999999999.99")],
        "object": [
            None,
            math.nan,
            pd.NA,
            pd.NaT,
            "",
            "2.5",
            True,
            Decimal("1.25"),
            10**400,
            b"1",
            [1.0],
            "x",
            Decimal("sNaN"),
        ],
    }
    return chance.choice(others[kind])


def to_instant(moment: Moment | None, calendar: Calendar) -> int | None:
    if moment is None:
        return None
    if moment.absolute:
        return moment.microseconds
    changes = calendar.wall_clock_changes()
    at = bisect.bisect_right([start for start, _ in changes[1:]], moment.microseconds)
    return moment.microseconds - changes[at][1]
