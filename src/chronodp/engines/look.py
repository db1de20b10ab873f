"""The owner's look at how a table is read: what is read of each column, what is left out, and why.

Nothing of it is private, and nothing of it changes a release: it counts, with the same expressions that a release uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from chronodp.engines.question import Question
from chronodp.engines.reading import ColumnCheck, Columns, Part, ReadingCheck, Role, Stored, Term, Wanted
from chronodp.engines.reading.grammar import EPOCHS, number_pattern
from chronodp.engines.rows import WIDEST, columns_for, complete, lacking, placed_select, whole

__all__ = ["look", "unread_statement"]

_DAYS = (
    *("%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d"),
    *("%d %b %Y", "%d-%b-%Y", "%b %d, %Y"),
)
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_FORMATS = tuple(day + clock for clock in _CLOCKS for day in _DAYS)
_SAMPLE = 1000  # unread cells on which all formats are tried; those that read most of these are tried on all

Edges: TypeAlias = NDArray[np.int64]
Row = Callable[[str], tuple[int, ...]]
"""Runs a query whose answer is one row of whole numbers."""


def look(
    question: Question, parts: Sequence[Part], row: Row, *, dialect: str = "duckdb", broken: Mapping[str, int]
) -> ReadingCheck:
    """Count what is read and left out; ``row`` runs the queries, and ``broken`` was counted before."""
    columns = Columns(dialect, question.reading, *WIDEST)
    rows, kept, whole, instants, in_time, in_groups, used = row(
        _rows_query(question, parts, columns).sql(dialect, copy=False)
    )
    return ReadingCheck(
        rows=rows,
        columns=tuple(
            _column_check(columns, parts, row, wanted, question.calendar.edges) for wanted in _once(question.wanted)
        ),
        incomplete=kept - whole,
        outside_time=whole - in_time,
        outside_groups=in_time - in_groups,
        outside_bins=in_groups - used,
        used=used,
        instants=instants,
        wall_clocks=whole - instants,
        filtered=rows - kept,
        broken={reason: count for reason, count in broken.items() if count},
    )


def unread_statement(question: Question, parts: Sequence[Part], dialect: str) -> str:
    """Return the text that counts rows, and those that lack what an argument of `lacking` names, each once.

    For engines whose filters cannot count in passing.
    """
    left: Term = exp.true() if question.where is None else exp.column("kept")
    counts = []
    for condition in lacking(question).values():
        counts.append(_count_if(_both(left, condition)))
        left = _both(left, exp.not_(condition.copy()))
    placed = placed_select(question, parts, columns_for(question, dialect))
    select = exp.select(exp.Count(this=exp.Star()), *counts)
    return select.from_(placed.subquery("placed", copy=False), copy=False).sql(dialect, copy=False)


def _once(wanted: Sequence[Wanted]) -> list[Wanted]:
    """Return what is wanted, each column that is read the same way once."""
    first: dict[tuple[Role, str], Wanted] = {}
    for one in wanted:
        first.setdefault((one.role, one.column.lower()), one)
    return list(first.values())


def _rows_query(question: Question, parts: Sequence[Part], columns: Columns) -> exp.Select:
    """Count rows, then those that meet one condition more at a time."""
    instant, number, edges = exp.column("instant"), exp.column("number"), question.calendar.edges
    kept = exp.true() if question.where is None else exp.column("kept")
    whole = exp.and_(kept, instant.is_(exp.null()).not_(), *complete(question))
    in_time = exp.and_(whole.copy(), instant >= int(edges[0]), instant < int(edges[-1]))
    listed = [
        exp.In(this=exp.column(f"group_{index}"), expressions=[exp.Literal.string(key) for key in grouping.keys])
        for index, grouping in enumerate(question.groupings)
    ]
    in_groups = exp.and_(in_time.copy(), *listed)
    used = in_groups.copy()
    if question.edges:
        ends = (exp.Literal.number(f"{edge:.16e}") for edge in (question.edges[0], question.edges[-1]))
        used = exp.and_(used, exp.Between(this=number, low=next(ends), high=next(ends)))
    instants = exp.and_(whole.copy(), exp.column("absolute"))
    counts = [_count_if(exp.paren(condition)) for condition in (kept, whole, instants, in_time, in_groups, used)]
    return exp.select(exp.Count(this=exp.Star()), *counts).from_(
        placed_select(question, parts, columns).subquery("placed", copy=False), copy=False
    )


def _column_check(columns: Columns, parts: Sequence[Part], row: Row, wanted: Wanted, edges: Edges) -> ColumnCheck:
    argument, role, column = wanted
    rows = present = read = 0
    types: dict[str, None] = {}
    hints: dict[str, int] = {}
    for part in parts:
        name, stored = part.find(role, column)
        if not name:
            rows += row(exp.select(exp.Count(this=exp.Star())).from_(part.table).sql(columns.dialect))[0]
            continue
        types[stored.words] = None
        cell = exp.column(name, quoted=True)
        found = columns.read(role, stored, cell)
        unread = _both(_present(stored, cell), found.copy().is_(exp.null()))
        query = exp.select(
            exp.Count(this=exp.Star()), _count_if(_present(stored, cell)), _count_if(found.is_(exp.null()).not_())
        ).from_(part.table)
        counted = row(query.sql(columns.dialect, copy=False))
        rows, present, read = rows + counted[0], present + counted[1], read + counted[2]
        if counted[1] > counted[2]:
            for hint, count in _hints(columns, part, row, stored, role, cell, unread, edges).items():
                hints[hint] = hints.get(hint, 0) + count
    missing = rows - max(present, read)
    return ColumnCheck(argument, column, tuple(types), read, missing, rows - read - missing, hints)


def _present(stored: Stored, cell: Term) -> Term:
    """Whether a cell holds anything."""
    if stored.present:
        return exp.column(stored.present, quoted=True)
    held = cell.copy().is_(exp.null()).not_()
    if stored.kind == "text":
        return _both(held, exp.cast(cell.copy(), "VARCHAR").neq(exp.Literal.string("")))
    if stored.kind == "real":
        return _both(held, exp.IsNan(this=cell.copy()).not_())
    return held


def _hints(
    columns: Columns, part: Part, row: Row, stored: Stored, role: Role, cell: Term, unread: Term, edges: Edges
) -> dict[str, int]:
    """Return how many unread cells would be read by what could be declared, of what was seen to read the most."""
    tried = _declared(columns, stored, role, cell, edges)
    table: exp.Query = exp.select(cell.copy()).from_(part.table).where(unread.copy()).limit(_SAMPLE)
    while tried:
        counts = exp.select(*(_count_if(condition) for condition in tried.values()))
        found = row(counts.from_(table.subquery("unread")).sql(columns.dialect, copy=False))
        best = {name: count for name, count in zip(tried, found, strict=True) if count and count == max(found)}
        if table.args.get("limit") is None:
            return best
        tried = {name: tried[name] for name in best}
        table = exp.select(cell.copy()).from_(part.table).where(unread.copy())
    return {}


def _declared(columns: Columns, stored: Stored, role: Role, cell: Term, edges: Edges) -> dict[str, Term]:
    """Return what could be declared, with whether it reads a cell; a count from 1970 must lie within the periods."""
    if role == "number" and stored.kind == "text":
        other = "," if columns.reading.decimal == "." else "."
        return {f"Reading(decimal={other!r})": columns.matches(cell, number_pattern(other))}
    if role != "time" or stored.kind not in ("text", "whole", "decimal", "real"):
        return {}
    tried: dict[str, Term] = {}
    for written in (*_FORMATS, *EPOCHS):
        declared = replace(columns, reading=replace(columns.reading, time_format=written))
        moment = declared.moment(stored, cell)
        within = exp.Between(this=moment, low=whole(int(edges[0])), high=whole(int(edges[-1])))
        tried[f"Reading(time_format={written!r})"] = within if written in EPOCHS else moment.is_(exp.null()).not_()
    return tried


def _both(first: Term, second: Term) -> Term:
    return exp.paren(exp.and_(first.copy(), second.copy()))


def _count_if(condition: Term) -> Term:
    return exp.Count(this=exp.case().when(condition, exp.Literal.number(1)))
