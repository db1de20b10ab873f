"""The whole bounding as one SQL text, for any engine that can run it.

It gives the same integers as the packed sort of the embedded engine, to the last digit, and contains nothing that could
differ when a part of it is computed twice.
"""

from __future__ import annotations

from sqlglot import exp

from chronodp.engines.choice import priority_text, seed_texts
from chronodp.engines.question import Question
from chronodp.engines.rows import Term, between, rows_select
from chronodp.engines.schema import Schema

__all__ = ["SEEDS", "seeds_select", "statement"]

SEEDS = ("multiplier", "shift_", "offset_")
"""Columns of the table ``people``."""


def statement(question: Question, schema: Schema, *, key: str, dialect: str = "duckdb") -> str:
    """Return the text that answers a question about the table ``records``: period, place, sums, people.

    Cells in which nobody counts are not in its answer.
    """
    query = exp.select("period", "place", _bigint(exp.Sum(this=exp.column("total"))).as_("sums")).select(
        exp.Count(this=exp.Star()).as_("people")
    )
    if question.user is None:
        rows = exp.select("period", "place", _clipped(question, exp.column("steps")).as_("total")).from_("rows_")
        query = query.from_("single").group_by("period", "place")
        query = query.with_("rows_", as_=rows_select(question, schema)).with_("single", as_=rows)
        return _with_keys(query, question).sql(dialect)
    cells = (
        exp.select("person", "period", "place")
        .select(_clipped(question, exp.Sum(this=exp.column("steps"))).as_("total"))
        .from_("rows_")
        .group_by("person", "period", "place")
    )
    query = query.from_("chosen").group_by("period", "place")
    if question.max_places is not None:
        query = query.where(exp.column("place_rank") <= question.max_places)
    if question.max_periods is not None:
        query = query.where(exp.column("period_rank") <= question.max_periods)
    query = query.with_("rows_", as_=rows_select(question, schema)).with_("cells", as_=cells)
    query = query.with_("everyone", as_=exp.select("person").distinct().from_("cells"))
    query = query.with_("people", as_=seeds_select(key, dialect).select("person")).with_(
        "chosen", as_=_chosen(question)
    )
    return _with_keys(query, question).sql(dialect)


def seeds_select(key: str, dialect: str = "duckdb") -> exp.Select:
    """Return the SQL for the seeds of everyone in the table ``everyone``."""

    def hexadecimal(digits: Term) -> Term:
        if dialect == "duckdb":
            return exp.cast(exp.func("CONCAT", exp.Literal.string("0x"), digits), "BIGINT")
        return exp.cast(exp.func("CONV", digits, exp.Literal.number(16), exp.Literal.number(10)), "BIGINT")

    seeds = seed_texts(key, exp.column("person"), hexadecimal)
    named = (seed.as_(name) for seed, name in zip(seeds, SEEDS, strict=True))
    return exp.select(*named).from_("everyone")


def _chosen(question: Question) -> exp.Select:
    query = exp.select("cells.period", "cells.place", "cells.total").from_("cells").join("people", using="person")
    period, place = exp.column("period", table="cells"), exp.column("place", table="cells")
    person = exp.column("person", table="cells")
    if question.max_periods is not None:
        order = priority_text(period, *SEEDS)
        query = query.select(_rank("DENSE_RANK", [person], order).as_("period_rank"))
    if question.max_places is not None:
        number = exp.paren(period * question.places + place + len(question.calendar))
        order = priority_text(number, *SEEDS)
        query = query.select(_rank("ROW_NUMBER", [person.copy(), period.copy()], order).as_("place_rank"))
    return query


def _rank(function: str, partition: list[Term], order: Term) -> Term:
    return exp.Window(
        this=exp.Anonymous(this=function),
        partition_by=partition,
        order=exp.Order(expressions=[exp.Ordered(this=order)]),
    )


def _clipped(question: Question, steps: Term) -> Term:
    low, high = (exp.Literal.number(end) for end in question.clip)
    return _bigint(between(low, steps, high))


def _bigint(term: Term) -> Term:
    return exp.cast(term, "BIGINT")


def _with_keys(query: exp.Select, question: Question) -> exp.Select:
    for index, grouping in enumerate(question.groupings):
        rows = [(key, code) for code, key in enumerate(grouping.keys)]
        values = exp.values(rows, alias="listed", columns=["key", "code"])
        query = query.with_(f"keys_{index}", as_=exp.select("key", "code").from_(values), append=True)
    ctes = query.args["with_"] if "with_" in query.args else query.args["with"]
    ctes.set("expressions", sorted(ctes.expressions, key=lambda cte: not cte.alias.startswith("keys_")))
    return query
