"""From a table's rows to (person, period, place, steps), as SQL that every engine can run.

Nothing here refuses a row: what has no person, no time, no number, or lies outside the grid, is left out. A table comes
in parts, each with columns of one type; the public keys of the i-th grouping are in ``keys_i (key, code)``.

Steps 1 and 2 of "What is computed" in ``docs/explanation/proofs/bounding.md``. What a cell is read as:
``docs/explanation/proofs/reading.md``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from sqlglot import exp

from chronodp.engines.expressions import with_expressions
from chronodp.engines.question import ROW_LIMIT, Question
from chronodp.engines.reading import TEXT, Columns, Part, Term, Wanted

__all__ = [
    "KEPT",
    "UNREAD",
    "WIDEST",
    "Term",
    "between",
    "cells_of",
    "columns_for",
    "complete",
    "counted_rows",
    "lacking",
    "lookup",
    "names_text",
    "period_number",
    "placed_select",
    "rows_select",
    "rows_text",
    "union",
    "whole",
]

UNREAD = {"user": "unread_user", "time": "unread_time", "value": "unread_value"}
"""The sequences of a `Session` that count, in passing, rows that lack what an argument names."""

WIDEST = dt.datetime(1, 1, 5), dt.datetime(9999, 12, 25)
"""Between which times are read: a row of another year is read, and lies outside the periods."""

KEPT = 8
"""Texts of a kind that are kept for who asks the same again: to write one can take longer than to answer it."""


def rows_select(
    question: Question, parts: Sequence[Part], dialect: str = "duckdb", *, written: bool = False
) -> exp.Select:
    """Return the rows that count: person (unless every row stands for itself), period, place and steps.

    With ``written``, persons are names as they stand or null, for a join with `names_text`.
    """
    # Nothing that is built here is used twice: whatever would be copied on the way up is not.
    computed = {"period": period_number(question), "place": _place(question), "steps": _steps(question)}
    query = exp.select(*(_named(term, name) for name, term in computed.items()), copy=False)
    if question.user is not None:
        query = query.select(exp.column("person"), copy=False)
    unread = ("person",) if written else ()
    placed = placed_select(question, parts, columns_for(question, dialect), unread=unread)
    return counted_rows(query, placed, question, person=not written, noted=dialect == "duckdb")


@lru_cache(maxsize=KEPT)
def rows_text(question: Question, parts: tuple[Part, ...]) -> str:
    """Return the rows that count, their persons as written, as a text to select from."""
    return rows_select(question, parts, written=True).subquery("rows_", copy=False).sql("duckdb", copy=False)


def counted_rows(query: exp.Select, placed: exp.Select, question: Question, *, person: bool, noted: bool) -> exp.Select:
    """Return what is selected of the rows that count, from all of them; ``person``: whether each must have a person.

    Where it is ``noted``, the sequences `UNREAD` count rows that are left out because they cannot be read. Whether a
    row counts does not hang on it.
    """
    calendar = question.calendar
    query = query.from_(placed.subquery("placed", copy=False), copy=False)
    for index in range(len(question.groupings)):
        on = exp.column(f"group_{index}").eq(exp.column("key", table=f"keys_{index}"))
        query = query.join(exp.to_table(f"keys_{index}"), on=on, copy=False)  # else each would copy all before it
    instant = exp.column("instant")
    # The end is not in the grid: the last period is [edge, edge) like all others.
    within = [instant >= int(calendar.edges[0]), instant < int(calendar.edges[-1])]
    if question.edges:
        number = exp.column("number")
        within += [number >= _real(question.edges[0]), number <= _real(question.edges[-1])]
    # NULL is not TRUE: the row is left out.
    kept = [] if question.where is None else [exp.column("kept")]
    if not noted:
        return query.where(*within, *complete(question, person=person), *kept, copy=False)
    # A sequence is all that a filter can write; counting elsewhere would read the table twice. One CASE, so that each
    # row meets one counter, and meets it once.
    left_out = [exp.If(this=exp.Not(this=exp.func("COALESCE", one, exp.false())), true=exp.false()) for one in kept]
    if question.user is not None and not person:  # names as they stand: `PeopleIndex` counts who has none
        nobody = exp.or_(exp.column("person").is_(exp.null()), exp.column("person").eq(exp.Literal.string("")))
        left_out.append(exp.If(this=nobody, true=exp.false()))
    for argument, condition in lacking(question, person=person).items():
        counted = exp.Anonymous(this="NEXTVAL", expressions=[exp.Literal.string(UNREAD[argument])])
        left_out.append(exp.If(this=condition, true=counted < 0))
    return query.where(exp.Case(ifs=left_out, default=exp.and_(*within, copy=False)), copy=False)


def lacking(question: Question, *, person: bool = True) -> dict[str, Term]:
    """Return when a row cannot be read, by the argument that it lacks; the first that holds counts."""
    needed = {"user": ("person", question.user if person else None), "time": ("instant", question.time)}
    needed["value"] = "number", question.value
    return {
        argument: exp.column(name).is_(exp.null()) for argument, (name, column) in needed.items() if column is not None
    }


@lru_cache(maxsize=KEPT)
def names_text(question: Question, parts: tuple[Part, ...], wanted: Wanted) -> str:
    """Return every name in a column as it stands, as it is read, and its rows, usable or not: a look at one column."""
    columns, cells = columns_for(question, "duckdb"), {"written": wanted}
    found = union([_from(cells_of(part, columns, cells, unread=("written",)), part) for part in parts])
    visits, written = _named(exp.Count(this=exp.Star()), "visits"), exp.column("written")
    names = exp.select(written.copy(), visits, copy=False).from_(found.subquery("found", copy=False), copy=False)
    names = names.group_by(written.copy(), copy=False)
    told = (written.copy(), _named(columns.name(TEXT, written), "name"), exp.column("visits"))
    select = exp.select(*told, copy=False).from_(names.subquery("names", copy=False), copy=False)
    return select.sql("duckdb", copy=False)


def _from(cells: Sequence[Term], part: Part) -> exp.Select:
    return exp.select(*cells, copy=False).from_(part.table, copy=False)


def _named(term: Term, name: str) -> Term:
    return exp.Alias(this=term, alias=exp.to_identifier(name))


def placed_select(
    question: Question, parts: Sequence[Part], columns: Columns, *, unread: Collection[str] = ()
) -> exp.Select:
    """Return each row's person, number and group keys, its instant in UTC, and whether the cell said that itself.

    A wall clock's time loses the zone's offset, which that time alone decides. Names in columns called ``unread`` stay
    as they stand.
    """
    moment, read = exp.column("moment"), union([_read(question, part, columns, unread) for part in parts])
    expressions = question.expressions.named
    if expressions:
        read = with_expressions(read, expressions, question.expression_cells, columns)
    names = [name for name in read.named_selects if name != "moment"]
    if columns.dialect == "duckdb" and (expressions or _has_texts(question, parts)):
        # DuckDB would move conditions below, and read each text again for every place where they name it; of terms
        # upon terms that would be twice as many with each.
        read = read.offset(0, copy=False)
    changes = question.calendar.wall_clock_changes()
    offset = lookup(moment, [start for start, _ in changes[1:]], [whole(offset) for _, offset in changes])
    absolute = exp.If(this=exp.column("absolute"), true=moment.copy())
    instant = exp.Case(ifs=[absolute], default=exp.paren(moment - offset, copy=False))
    terms = {name: exp.column(name) for name in names} | {"instant": instant}
    if columns.dialect == "spark":
        return _computed_once(read, terms)
    named = (_named(term, name) for name, term in terms.items())
    return exp.select(*named, copy=False).from_(read.subquery("read", copy=False), copy=False)


def _computed_once(read: exp.Query, terms: Mapping[str, Term]) -> exp.Select:
    """Return terms over rows, for Spark: as the one row that a list of one row gives for each.

    Spark would move conditions below, and read each cell again for every place where they name it: a name twice, a time
    three times. What comes out of a list it takes as it is.
    """
    fields = [part for name, term in terms.items() for part in (exp.Literal.string(name), term)]
    row = exp.Anonymous(this="NAMED_STRUCT", expressions=fields)
    listed = exp.Anonymous(this="INLINE", expressions=[exp.Anonymous(this="ARRAY", expressions=[row])])
    names = exp.TableAlias(this=exp.to_identifier("once"), columns=[exp.to_identifier(name) for name in terms])
    query = exp.select(*(exp.column(name, table="once") for name in terms), copy=False)
    query = query.from_(read.subquery("read", copy=False), copy=False)
    query.append("laterals", exp.Lateral(this=listed, view=True, alias=names))
    return query


def _has_texts(question: Question, parts: Sequence[Part]) -> bool:
    """Whether times or numbers are stored as texts, which take long to read."""
    wanted = [one for one in question.wanted if one.role != "name"]
    return any(part.find(role, column)[1].kind == "text" for part in parts for _, role, column in wanted)


def complete(question: Question, *, person: bool = True) -> list[Term]:
    """Return the conditions that a row has a person (unless that is looked at elsewhere) and a number, if needed."""
    needed = {"person": question.user if person else None, "number": question.value}
    return [exp.column(name).is_(exp.null()).not_() for name, column in needed.items() if column is not None]


def columns_for(question: Question, dialect: str) -> Columns:
    """Return how the cells of a question are read in a dialect."""
    moved = any(offset for _, offset in question.calendar.wall_clock_changes())
    return Columns(dialect, question.reading, *WIDEST, moved=moved)


def union(selects: Sequence[exp.Select]) -> exp.Query:
    """Return the rows of all parts."""
    return selects[0] if len(selects) == 1 else exp.union(*selects, distinct=False)


def _read(question: Question, part: Part, columns: Columns, unread: Collection[str]) -> exp.Select:
    """Each row's moment and whether that is an instant, its person, number and group keys, cells of expressions."""
    return _from(cells_of(part, columns, question.read_as, unread=unread), part)


def cells_of(part: Part, columns: Columns, wanted: Mapping[str, Wanted], *, unread: Collection[str] = ()) -> list[Term]:
    """Return the wanted cells of each row of a part under other names.

    Beside a time stands ``absolute``, beside what is wanted for its order the number it may be, ``place``. Names called
    ``unread`` stay as they stand.
    """
    cells: list[Term] = []
    for alias, (_, role, column) in wanted.items():
        spelled, stored = part.find(role, column)
        cell = exp.column(spelled, quoted=True)
        read = columns.unread_name(stored, cell) if alias in unread else columns.read(role, stored, cell)
        cells.append(_named(read, alias))
        if role == "time":
            cells.append(_named(columns.absolute(stored, cell), "absolute"))
        elif role == "order":
            cells.append(_named(columns.number(stored, cell), "place"))
    return cells


def period_number(question: Question) -> Term:
    """Return the period that an instant within the grid is in."""
    instant = exp.column("instant")
    runs = question.calendar.runs
    numbers: list[Term] = [
        exp.IntDiv(this=exp.paren(instant - run.start), expression=whole(run.width)) + run.first for run in runs
    ]
    return lookup(instant, [run.start for run in runs[1:]], numbers)


def _place(question: Question) -> Term:
    place: Term = whole(0)
    for index, grouping in enumerate(question.groupings):
        place = exp.paren(place * len(grouping.keys) + exp.column("code", table=f"keys_{index}"))
    if question.edges:
        inner = question.edges[1:-1]
        bins: list[Term] = [whole(number) for number in range(len(question.edges) - 1)]
        place = place * len(bins) + exp.paren(lookup(exp.column("number"), inner, bins))
    return place


def _steps(question: Question) -> Term:
    if question.value is None or question.edges:
        return whole(round(1 / question.grid.step) * (question.rows or 1))
    # Limited before it is rounded, so that the cast cannot fail. Without scales the factor is a power of two: the
    # product is exact, or infinite and then limited. ⌊x + 1/2⌋ is the one rounding, the same on every engine.
    limit = float(question.row_limit)
    steps = exp.column("number") * _per_unit(question)
    held = between(_real(-limit), steps, _real(limit))
    width = "INTEGER" if question.row_limit <= ROW_LIMIT else "BIGINT"
    rounded = exp.cast(exp.Floor(this=held + _real(0.5)), width)
    if question.rows is None:
        return rounded
    # Each row by itself, before any are added up: how far it lies above the clip's lower end, times L.
    low, high = question.clip
    above = exp.paren(between(whole(low), rounded, whole(high)) - whole(low))
    return exp.cast(above * question.rows, "INTEGER")


def _per_unit(question: Question) -> Term:
    """How many steps a value of 1 has, for the key of the row."""
    factors = [_real(factor) for factor in question.per_unit]
    if question.scaling is None:
        return factors[0]
    return lookup(exp.column("code", table=f"keys_{question.scaling.grouping}"), range(1, len(factors)), factors)


def between(low: Term, value: Term, high: Term) -> Term:
    """Return a value that is not null, moved into a range."""
    least = exp.Least(this=high, expressions=[value], ignore_nulls=True)
    return exp.Greatest(this=low, expressions=[least], ignore_nulls=True)


def lookup(value: Term, thresholds: Sequence[float], results: Sequence[Term]) -> Term:
    """Return results[i] for the i such that thresholds[i-1] <= value < thresholds[i], by halving."""
    if not thresholds:
        return results[0].copy()
    middle = len(thresholds) // 2
    bound = thresholds[middle]
    edge = whole(bound) if isinstance(bound, int) else _real(bound)
    below = lookup(value, thresholds[:middle], results[: middle + 1])
    above = lookup(value, thresholds[middle + 1 :], results[middle + 1 :])
    return exp.Case(ifs=[exp.If(this=exp.LT(this=value.copy(), expression=edge), true=below)], default=above)


def whole(number: int) -> Term:
    """Return a whole number as SQL."""
    return exp.Literal.number(number) if number >= 0 else exp.paren(exp.Neg(this=exp.Literal.number(-number)))


def _real(number: float) -> Term:
    """A number that every dialect reads as a double, without loss: only those with an exponent are."""
    text = exp.Literal.number(f"{abs(number):.16e}")
    return text if number >= 0 else exp.paren(exp.Neg(this=text))
