"""Stays as SQL: the same as `stays` finds, for any engine that can run it.

Each active cell of a person looks at the one before it and the one after it in its place. Cells of one place are as
many numbers apart as there are places between their periods, so a distance of more than ``window`` periods is one of
more than ``window × places``.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from chronodp.engines.question import Question
from chronodp.engines.rows import Term, whole

__all__ = ["STAY", "stays_answer", "stays_tables"]

STAY = "stay_rank"
"""The column that numbers a person's stays in order of time, from 1."""


def stays_tables(
    question: Question, source: str, names: Sequence[str], within: Sequence[Term]
) -> list[tuple[str, exp.Select]]:
    """Return what leads from people's cells to ``chosen``: whether a stay begins or ends there, and its number.

    Cells that are not ``within`` the limits of places and periods are no part of anybody's stays; they are kept, by
    themselves, to be told to the owner.
    """
    cell, far = exp.column("cell"), whole((question.window or 1) * question.places)
    place = exp.Mod(this=cell.copy(), expression=whole(question.places))
    inside = exp.case().when(exp.and_(exp.true(), *within), whole(1)).else_(whole(0))
    placed = exp.select(*names, place.as_("place_"), inside.as_("inside")).from_(source)
    together: list[Term] = [exp.column(name) for name in ("person", "inside", "place_")]
    order = exp.Order(expressions=[exp.Ordered(this=cell.copy())])
    beside = [
        exp.Window(this=function(this=cell.copy()), partition_by=[term.copy() for term in together], order=order.copy())
        for function in (exp.Lag, exp.Lead)
    ]
    before, after = exp.column("before_"), exp.column("after_")
    lagged = exp.select(*names, "place_", "inside", beside[0].as_("before_"), beside[1].as_("after_")).from_("placed")
    begins = _flag(exp.or_(before.is_(exp.null()), cell - before > far))
    ends = _flag(exp.or_(after.is_(exp.null()), after - cell.copy() > far.copy()))
    told = exp.select(*names, "place_", "inside", begins.as_("begins"), ends.as_("ends")).from_("lagged")
    tables = [("placed", placed), ("lagged", lagged)]
    if question.max_stays is None:
        return [*tables, ("chosen", told)]
    # Each cell's own stay begins at the last beginning up to it; no two stays of a person begin in one cell.
    started = exp.Window(
        this=exp.Max(this=exp.case().when(exp.column("begins").eq(1), cell.copy())),
        partition_by=[term.copy() for term in together],
        order=order.copy(),
        spec=exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW"),
    )
    rank = exp.Window(
        this=exp.Anonymous(this="DENSE_RANK"),
        partition_by=[exp.column("person"), exp.column("inside")],
        order=exp.Order(expressions=[exp.Ordered(this=exp.column("started"))]),
    )
    found = [*names, "inside", "begins", "ends"]
    return [
        *tables,
        ("told", told),
        ("stayed", exp.select(*found, started.as_("started")).from_("told")),
        ("chosen", exp.select(*found, rank.as_(STAY)).from_("stayed")),
    ]


def stays_answer(within: Sequence[Term]) -> exp.Select:
    """Return how many kept stays begin in each cell, and how many have their last active period there."""
    sums = [exp.cast(exp.Sum(this=exp.column(name)), "BIGINT") for name in ("begins", "ends")]
    answer = exp.select("cell", sums[0].as_("begun"), sums[1].as_("ended")).from_("chosen")
    return answer.where(*within, exp.or_(exp.column("begins").eq(1), exp.column("ends").eq(1))).group_by("cell")


def _flag(condition: exp.Condition) -> Term:
    return exp.case().when(condition, whole(1)).else_(whole(0))
