"""Attacks on readers: random tables in every form, and what one unit, one row or one cell can make of them.

Of each table there are three: without one unit, with its usual rows, and with odd ones. What a release would be made of
may change between them by what the plan states, and whatever else anybody can see must not change at all. What the
plain rule says of a table's cells is what all readers must find there.
"""

from __future__ import annotations

import bisect
import contextlib
import io
import itertools
import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from chronodp.dataset import GridSeries
from chronodp.engines import DuckDB, Engine, Progress, Question, Reading, Record, Reference, Source, Totals, statement
from chronodp.engines.attach import attached
from chronodp.engines.reading import Moment, read_name, read_number, read_time
from chronodp.engines.reading.cells import epoch_time
from chronodp.errors import UnreadRows
from chronodp.privacy import Calendar, Unit, User
from chronodp.privacy.units import Event, RecordUnit
from chronodp.series import Measure, Plan
from tests.engines.forms import FORMS, Form, Kinds, Piece, Row
from tests.engines.kinds import FOUL
from tests.engines.neighbours import stretch
from tests.engines.test_neighbours import HOURS, MEASURES, OF_PEOPLE, REGION, SPRING, UNITS
from tests.neighbours import Numbers, largest_change, totals

OWNERS_WARNINGS: tuple[type[Warning], ...] = (UnreadRows,)
OWNERS_LINES: tuple[str, ...] = ("unread:",)
"""All that may differ beside the numbers, since the owner alone sees it: warnings of these classes, and lines on
standard error that begin like this."""

TOKYO = Calendar("1D", "2026-01-05", "2026-01-10", "Asia/Tokyo")
BERLIN = Calendar("12h", "2026-01-05", "2026-01-08", "Europe/Berlin")
CALENDARS = (TOKYO, BERLIN, HOURS, SPRING)
_PEOPLE = range(1, 9)
_AROUND = ("warned", "printed", "progress")
_EPOCHS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_CENTURIES = Moment(-62_135_596_800_000_000, False), Moment(253_402_300_800_000_000, False)  # the years 1 and 10000
_LINES = (
    b'"', b'7,"2026', b'"a","b,c', b"7,2026-01-06,1,north,x,y", b"a\rb", b"\r", b"\0,\0", b"x" * 5000, b",,,,", b"",
)  # fmt: skip
_FOUL_LINES = {
    "utf-8": (b"\xff\xfe", b"7,2026-01-06,\xff,north,x,y", b"\xef\xbb\xbf"),
    "latin-1": (b"\x80", b"7,2026-01-06,\x9f,north,x,y"),
    "utf-16": (b"\x3d\xd8", b"\x00\xde\x3d\xd8", b"\x3d\xd8\x00\xde", b"\xff\xfe", b"\x00\x00"),
}


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, of any data."""

    measure: Measure
    unit: RecordUnit
    calendar: Calendar
    max_groups: int
    reading: Reading

    def plan(self, data: object, engine: Engine) -> Plan:
        whole = isinstance(self.unit, User) and self.measure.norm is None
        series = GridSeries(
            self.calendar, data, time="at", user="who", unit=self.unit, max_periods=2 if whole else None,
            reading=self.reading, engine=engine,
        )  # fmt: skip
        most = self.max_groups if self.measure.norm is None else None
        return series.ask(self.measure).by(max_groups=most, region=REGION.keys).plan(epsilon=1.0, delta=1e-6)


@dataclass(frozen=True, slots=True)
class Table:
    """A table as its owner hands it over, what it is made of, and whether the rule says what that is."""

    form: str
    pieces: tuple[Piece, ...]
    data: Any
    ruled: bool

    @property
    def rows(self) -> list[Row]:
        return [row for piece in self.pieces for row in piece.rows]


@dataclass(frozen=True, slots=True)
class Attack:
    """Tables that differ in one unit, and what is asked of them.

    Attributes:
        query: what is asked.
        tables: without the unit, with its usual rows, with odd ones.
        words: how they are stored, for whoever looks for the cause.
    """

    query: Query
    tables: tuple[Table, ...]
    words: str

    @property
    def kinds(self) -> list[Kinds]:
        """How its parts are stored."""
        return list(dict.fromkeys(piece.kinds for piece in self.tables[0].pieces))

    @property
    def neighbours(self) -> list[tuple[int, int]]:
        """Which of the tables differ by no more than the unit's relation says."""
        pairs = itertools.combinations(range(len(self.tables)), 2)
        return list(pairs) if self.query.unit.relation == "replace" else [(0, 1), (0, 2)]


@dataclass(frozen=True, slots=True)
class Seen:
    """What somebody sees who asks: numbers, which noise will cover, or a refusal; and all that happens on the way."""

    numbers: Numbers | None
    refusal: str
    warned: tuple[str, ...]
    progress: tuple[float, ...]
    printed: str


Reader = Callable[[Table, Query], tuple[object, Engine]]
"""What is handed over of a table, and what reads it."""


def embedded(table: Table, query: Query) -> tuple[object, Engine]:
    del query
    return table.data, DuckDB(threads=1)


class _Statement(DuckDB):
    """Asks DuckDB by the one statement that Spark is asked by, which bounds people in SQL."""

    def totals(self, source: Source, question: Question, *, key: str, progress: Progress = lambda _: None) -> Totals:
        with attached(source, question.wanted, question.reading, memory=2**30, threads=1) as session:
            rows = session.columns(statement(question, session.parts, key=key))
        progress(1.0)
        return Totals.of_cells(question, rows)


def by_statement(table: Table, query: Query) -> tuple[object, Engine]:
    del query
    return table.data, _Statement()


def by_rule(table: Table, query: Query) -> tuple[object, Engine]:
    del query
    return [row.record for row in table.rows], Reference()


def seen(table: Table, query: Query, reader: Reader) -> Seen:
    """Return what is seen where a plan about a table is read."""
    told: list[float] = []
    printed, numbers, refusal = io.StringIO(), None, ""
    with (
        warnings.catch_warnings(record=True) as warned,
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        warnings.simplefilter("always")
        try:
            numbers, _ = totals(query.plan(*reader(table, query)), progress=told.append)
        except Exception as error:
            refusal = f"{type(error).__name__}: {error}"
    heard = tuple(f"{one.category.__name__}: {one.message}" for one in warned if not _owners(one.category))
    return Seen(numbers, refusal, heard, tuple(told), without_owners_lines(printed.getvalue()))


def without_owners_lines(printed: str) -> str:
    """Return what is printed to others than the owner."""
    return "\n".join(line for line in printed.splitlines() if not (OWNERS_LINES and line.startswith(OWNERS_LINES)))


def _owners(category: type[Warning]) -> bool:
    return bool(OWNERS_WARNINGS) and issubclass(category, OWNERS_WARNINGS)


def difference(attack: Attack, reader: Reader) -> str | None:
    """Return what one unit changes that it may not, or what is read otherwise than by the rule; None if nothing is."""
    found = [seen(table, attack.query, reader) for table in attack.tables]
    for wrong in (_differs(found, "refusal"), _moved(attack, found), *(_differs(found, what) for what in _AROUND)):
        if wrong is not None:
            return wrong
    return None


def _differs(found: Sequence[Seen], what: str) -> str | None:
    either = list(dict.fromkeys(getattr(one, what) for one in found))
    return None if len(either) == 1 else f"{what} is {' or '.join(map(repr, either))}"


def _moved(attack: Attack, found: Sequence[Seen]) -> str | None:
    """What is wrong with the numbers, or with there being none."""
    numbers = [one.numbers for one in found if one.numbers is not None]
    if len(numbers) < len(found):
        usable = all(any(kinds.each[at].usable for kinds in attack.kinds) for at in range(4))
        return f"refused: {found[0].refusal}" if usable else None
    stated = totals(attack.query.plan([], Reference()))[1]
    ratio = max(largest_change(numbers[one], numbers[other], stated) for one, other in attack.neighbours)
    if ratio > 1 + 1e-12:
        return f"changed by {ratio:.3g} times what is stated"
    for table, read in zip(attack.tables, numbers, strict=True):
        wanted, _ = totals(attack.query.plan(*by_rule(table, attack.query)))
        if table.ruled and not all(map(np.array_equal, wanted, read)):
            return "read otherwise than by the rule"
    return None


def draw_attack(chance: random.Random, form: str, folder: Path) -> Attack:
    """Return a random attack on a form; what pandas itself cannot hold is drawn again."""
    for number in range(20):
        with contextlib.suppress(_NotHeld):
            return _draw(chance, form, folder / str(number))
    raise AssertionError("pandas holds none of it")


class _NotHeld(Exception):
    """A library refuses the cells: then no reader ever meets them."""


def _draw(chance: random.Random, name: str, folder: Path) -> Attack:
    form, unit, calendar = FORMS[name], chance.choice(UNITS), chance.choice(CALENDARS)
    measures = [*MEASURES.values(), *([] if unit.of_rows else OF_PEOPLE.values())]
    reading = _reading(chance, name)
    query = Query(chance.choice(measures), unit, calendar, chance.choice([1, 2]), reading)
    epoch = reading.epoch is not None
    kinds = _kinds(chance, form, epoch=epoch)
    strange = _kinds(chance, form, epoch=epoch) if form.several and chance.random() < 0.6 else kinds
    rows = _Rows(chance, query, kinds)
    person = chance.choice(_PEOPLE)
    others = [row for one in _PEOPLE if one != person for row in rows.usual(one, chance.randrange(1, 5))]
    kept, usual, odd = _unit(chance, rows, replace(rows, kinds=strange), person, form)
    # Rows of others stand in the strange file too, whatever the person puts there.
    beside = replace(rows, kinds=strange).usual(person % 8 + 1, chance.randrange(3)) if strange != kinds else []
    seed, count = chance.random(), chance.randrange(1, 4) if form.several else 1
    place = chance.randrange(count + 1)
    ruled = form.ruled and all(kind.ruled for one in (kinds, strange) for kind in one.each[:4])
    tables = []
    for side, unit_rows in (("without", []), ("usual", usual), ("odd", odd)):
        own = unit_rows if strange == kinds else []
        pieces = _split(chance, [*others, *kept, *own], kinds, count)
        if strange != kinds:
            mixed = [*beside, *unit_rows]
            pieces.insert(place, Piece(strange, chance.sample(mixed, len(mixed))))
        if name == "csv" and side == "odd":
            pieces = [replace(piece, lines=_lines(chance, piece, reading)) for piece in pieces]
        (folder / side).mkdir(parents=True)
        try:
            data = form.write(pieces, folder / side, random.Random(seed), reading)
        except (ValueError, TypeError, OverflowError, AttributeError):
            if not name.startswith("pandas"):
                raise
            raise _NotHeld from None
        # The rule does not say who a foul name is, nor what is left of a line with a foul field.
        foul = any(cell is FOUL for row in unit_rows for cell in row.cells[: None if name == "csv" else 1])
        tables.append(Table(name, tuple(pieces), data, ruled and not foul))
    return Attack(query, tuple(tables), f"{name}: {kinds}, {strange}, {query}, odd: {[row.cells for row in odd]}")


def _reading(chance: random.Random, form: str) -> Reading:
    time_format = (
        chance.choice(list(_EPOCHS)) if chance.random() < 0.1 and form.startswith(("p", "a", "csv")) else "iso"
    )
    if form != "csv":
        return Reading(time_format=time_format)
    encoding: Any = chance.choice(["utf-8", "utf-8", "latin-1", "utf-16"])
    return Reading(time_format=time_format, encoding=encoding, separator=chance.choice([None, ",", ";"]))


def _split(chance: random.Random, rows: Sequence[Row], kinds: Kinds, count: int) -> list[Piece]:
    rows = chance.sample(rows, len(rows))
    return [Piece(kinds, rows[start::count]) for start in range(count)]


def _kinds(chance: random.Random, form: Form, *, epoch: bool) -> Kinds:
    times = [one for one in ("whole", "real", "decimal", "wide", "text") if one in form.people]
    return Kinds(
        chance.choice(form.people), chance.choice(times if epoch and times else form.times),
        chance.choice(form.amounts), chance.choice(form.regions), chance.choice(form.notes), epoch and bool(times),
    )  # fmt: skip


def _lines(chance: random.Random, piece: Piece, reading: Reading) -> list[tuple[int, bytes]]:
    """What is no record, in the bytes of the encoding: what a person cannot write there, no program lets through."""
    plain = [line.decode().encode("utf-16-le") if reading.encoding == "utf-16" else line for line in _LINES]
    line = chance.choice([*plain, *_FOUL_LINES[reading.encoding]])
    return [(chance.randrange(len(piece.rows) + 1), line)] if chance.random() < 0.7 else []


@dataclass(frozen=True, slots=True)
class _Rows:
    """Draws rows of people."""

    chance: random.Random
    query: Query
    kinds: Kinds

    def usual(self, person: int, count: int) -> list[Row]:
        return [self.row(person) for _ in range(count)]

    def row(self, person: int, *odd: int, foul: int | None = None) -> Row:
        """Return a row of a person, with odd cells in some columns, and one that is foul."""
        chance, calendar = self.chance, self.query.calendar
        first, last = int(calendar.edges[0]) // 10**6, int(calendar.edges[-1]) // 10**6
        seconds = chance.randrange(first - 50_000, last + 50_000)
        if self.kinds.epoch:
            seconds *= _EPOCHS[self.query.reading.time_format]
        numbers = (person, seconds, chance.randrange(-16, 17), chance.randrange(3), chance.randrange(9))
        cells = []
        for place, (kind, number) in enumerate(zip(self.kinds.each, numbers, strict=True)):
            some = kind.odd(chance, number) if place in odd else kind.usual(chance, number)
            cells.append(FOUL if place == foul else chance.choice(some))
        return self.of_cells(tuple(cells))

    def of_cells(self, cells: tuple[Any, ...]) -> Row:
        """Return a row with what the rule makes of its cells."""
        who, at, number, region, _ = cells
        moment = self._moment(at)
        readable = [kind.usable for kind in self.kinds.each]
        record = Record(
            None if who is FOUL or not readable[0] else read_name(who),
            to_instant(moment, self.query.calendar),
            None if number is FOUL or not readable[2] else read_number(number, self.query.reading),
            (None if region is FOUL else read_name(region),),
        )
        return Row(cells, moment, record)

    def _moment(self, cell: Any) -> Moment | None:
        at, reading = self.kinds.at, self.query.reading
        if cell is None or cell is FOUL or not self.kinds.each[1].usable:
            return None
        if at in ("text", "codes", "object"):
            return read_time(cell, reading)
        if self.kinds.epoch:
            return epoch_time(cell, reading.epoch or 1)
        units = {"s": 10**9, "ms": 10**6, "ns": 1, "day": 86_400 * 10**9, "day64": 10**6}
        microseconds = cell * units.get(at.rstrip("+"), 1000) // 1000
        if not _CENTURIES[0].microseconds <= microseconds < _CENTURIES[1].microseconds:
            return None
        return Moment(microseconds, at.endswith("+"))


def _unit(
    chance: random.Random, rows: _Rows, strange: _Rows, person: int, form: Form
) -> tuple[list[Row], list[Row], list[Row]]:
    """Return one person's rows that stay, those of one unit, and odd ones in their place."""
    unit: Unit = rows.query.unit
    inside = stretch(chance, rows.query.calendar, User() if isinstance(unit, Event) else unit)
    drawn = rows.usual(person, chance.randrange(1, 6))
    places = [place for place, kind in enumerate(strange.kinds.each) if kind.foul and form.foul]
    most = 1 if isinstance(unit, Event) else 12
    kept = drawn if isinstance(unit, Event) else [row for row in drawn if not inside(row.record.instant)]
    own = [row for row in strange.usual(person, 12) if inside(row.record.instant)][:most]
    kind = chance.choice(["rows", "cell", "foul"])
    if kind == "foul" and 0 in places and chance.random() < 0.3:
        # What stands in the person column after reading is the person: this one is new, in all of the rows.
        foul = [strange.row(person, foul=0) for _ in range(chance.randrange(1, most + 1))]
        return drawn, [], [row for row in foul if row.record.instant is None or inside(row.record.instant)]
    if kind == "rows" or not own:
        odd = [strange.row(person, *_some(chance)) for _ in range(chance.randrange(1, most + 1))]
    else:
        place = chance.choice([one for one in places if one] or [1, 2, 3, 4]) if kind == "foul" else chance.randrange(5)
        # A foul name is another person's, as above: in one row of a unit it would make two units of it.
        foul_at = place if place and place in places else None
        at, new = chance.randrange(len(own)), strange.row(person, place, foul=foul_at)
        cells = tuple(new.cells[one] if one == place else cell for one, cell in enumerate(own[at].cells))
        odd = [*own[:at], strange.of_cells(cells), *own[at + 1 :]]
    odd = [row for row in odd if row.record.instant is None or inside(row.record.instant)]
    return kept, own, odd


def _some(chance: random.Random) -> tuple[int, ...]:
    return tuple(place for place in range(5) if chance.random() < 0.4)


def to_instant(moment: Moment | None, calendar: Calendar) -> int | None:
    if moment is None:
        return None
    if moment.absolute:
        return moment.microseconds
    changes = calendar.wall_clock_changes()
    at = bisect.bisect_right([start for start, _ in changes[1:]], moment.microseconds)
    return moment.microseconds - changes[at][1]
