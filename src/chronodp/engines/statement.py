"""The whole bounding as one SQL text, for any engine that can run it.

It gives the same integers as the packed sort of the embedded engine, to the last digit, and contains nothing that could
differ when a part of it is computed twice. The table is read once, and people are told apart by their names.

Steps 3 to 6 of "What is computed" in ``docs/explanation/proofs/bounding.md``, and "Tasks that run again" there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from chronodp.engines.choice import priority_text, seed_texts
from chronodp.engines.question import Grouping, Question
from chronodp.engines.reading import Part
from chronodp.engines.rows import Term, between, rows_select

__all__ = ["SEEDS", "seeds_select", "statement", "tally_statement"]

SEEDS = ("multiplier", "shift_", "offset_")
"""Columns with a person's seeds."""

_EXACT = "DECIMAL(38, 0)"  # for sums that bounds say nothing about


def statement(question: Question, parts: Sequence[Part], *, key: str, dialect: str = "duckdb") -> str:
    """Return the text that answers a question about a table in parts: cell, sums, people, and squares if asked for.

    A cell is numbered by its period, times the number of places, plus its place. Cells in which nobody counts are not
    in the answer. In Spark a sum that 64 bits cannot hold is null.
    """
    bounded = exp.select("cell", "total").from_("chosen").where(*_within_limits(question))
    sums = exp.cast(_sum(exp.column("total"), dialect), "BIGINT")
    answer = exp.select("cell", sums.as_("sums"), exp.Count(this=exp.Star()).as_("people"))
    if question.squares is not None:
        squares = exp.cast(_sum(_square(question, exp.column("total")), dialect), "BIGINT")
        answer = answer.select(squares.as_("squares"))
    tables = [*_tables(question, parts, key, dialect), ("bounded", bounded)]
    return _text(tables, answer.from_("bounded").group_by("cell"), dialect)


def tally_statement(question: Question, parts: Sequence[Part], *, key: str, dialect: str = "duckdb") -> str:
    """Return the text for what bounds take away: people, people over, cells, cells kept, and three sums.

    The sums are of totals as they were, of totals clipped, and of those kept.
    """
    names = ("cells", "cells_kept", "before", "clipped", "kept")
    one, total = exp.Literal.number(1), exp.column("total")
    kept = exp.and_(exp.true(), *_within_limits(question))
    if question.user is None:
        each: list[Term] = [one, one, exp.column("raw"), total, total]
    else:
        held = exp.case().when(kept, total).else_(exp.Literal.number(0))
        count = exp.Count(this=exp.case().when(kept.copy(), one))
        raw = _exact(exp.column("raw"))
        each = [exp.Count(this=exp.Star()), count, raw, _exact(total), _exact(held)]
    people = exp.select(*(term.copy().as_(name) for term, name in zip(each, names, strict=True))).from_("chosen")
    people = people.group_by("person") if question.user is not None else people
    over = exp.case().when(exp.column("cells_kept") < exp.column("cells"), one.copy())
    sums = (exp.func("COALESCE", _exact(exp.column(name)), exp.Literal.number(0)).as_(name) for name in names)
    answer = exp.select(exp.Count(this=exp.Star()).as_("people"), exp.func("COUNT", over).as_("people_over"), *sums)
    tables = [*_tables(question, parts, key, dialect), ("persons", people)]
    return _text(tables, answer.from_("persons"), dialect)


def seeds_select(key: str, dialect: str = "duckdb") -> exp.Select:
    """Return the SQL for the seeds of everyone in the table ``everyone``."""
    return exp.select(*_named(_seeds(_digest(key), dialect))).from_("everyone")


def _text(tables: list[tuple[str, exp.Select]], answer: exp.Select, dialect: str) -> str:
    for name, table in tables:
        answer = answer.with_(name, as_=table, copy=False)  # else each would copy all before it
    return answer.sql(dialect, copy=False)  # nobody else holds it


def _tables(question: Question, parts: Sequence[Part], key: str, dialect: str) -> list[tuple[str, exp.Select]]:
    """Return what leads to ``chosen``: cells with raw and clipped totals, people and their ranks if there are any."""
    steps, cell = exp.column("steps"), exp.column("period") * question.places + exp.column("place")
    rows = rows_select(question, parts, dialect)
    if dialect == "spark" and question.groupings:
        # Otherwise a session that broadcasts nothing would send all rows of a group to one place.
        rows = rows.hint(f"BROADCAST({', '.join(f'keys_{index}' for index in range(len(question.groupings)))})")
    tables = [(f"keys_{index}", _keys(grouping)) for index, grouping in enumerate(question.groupings)]
    tables.append(("rows_", rows))
    if question.user is None:
        chosen = exp.select(cell.as_("cell"), steps.as_("raw"), _clipped(question, steps.copy()).as_("total"))
        return [*tables, ("chosen", chosen.from_("rows_"))]
    tables.append(("located", exp.select("person", cell.as_("cell"), "steps").from_("rows_")))
    added = exp.select("person", "cell", _sum(steps, dialect).as_("raw")).from_("located")
    tables.append(("added", added.group_by("person", "cell")))
    total = _clipped(question, exp.column("raw")).as_("total")
    cells = exp.select("person", "cell", "raw", total).from_("added")
    ranks = _ranks(question)
    if not ranks:
        return [*tables, ("chosen", cells)]
    if dialect == "spark":
        # A person's cells meet here, once, to be ranked: without it Spark would sort them on both sides of the way.
        cells = cells.hint("REPARTITION(person)", dialect=dialect)
    names = ("person", "cell", "raw", "total")
    tables.append(("cells", cells))
    tables.append(("digested", exp.select(*names, _digest(key).as_("digest")).from_("cells")))
    tables.append(("seeded", exp.select(*names, *_named(_seeds(exp.column("digest"), dialect))).from_("digested")))
    return [*tables, ("chosen", exp.select(*names, *_named(ranks)).from_("seeded"))]


def _limits(question: Question) -> dict[str, int]:
    """How many periods and places of a person count, where that is fewer than there are."""
    most = {
        "period_rank": (question.max_periods, len(question.calendar)),
        "place_rank": (question.max_places, question.places),
    }
    return {rank: limit for rank, (limit, all_) in most.items() if limit is not None and limit < all_}


def _within_limits(question: Question) -> list[Term]:
    if question.user is None:
        return []
    return [exp.column(rank) <= limit for rank, limit in _limits(question).items()]


def _ranks(question: Question) -> dict[str, Term]:
    cell: Term = exp.column("cell")
    person: Term = exp.column("person")
    period: Term = exp.IntDiv(this=cell.copy(), expression=exp.Literal.number(question.places))
    ranks: dict[str, Term] = {}
    for rank in _limits(question):
        # Dense: all cells of a period have one rank, since they have one priority. Places are ranked row by row.
        function, number, within = "DENSE_RANK", period, [person]
        if rank == "place_rank":
            function, number, within = "ROW_NUMBER", exp.paren(cell + len(question.calendar)), [person, period]
        ranks[rank] = exp.Window(
            this=exp.Anonymous(this=function),
            partition_by=[term.copy() for term in within],
            order=exp.Order(expressions=[exp.Ordered(this=priority_text(number.copy(), *SEEDS))]),
        )
    return ranks


def _named(terms: Mapping[str, Term]) -> list[exp.Alias]:
    return [exp.Alias(this=term, alias=exp.to_identifier(name)) for name, term in terms.items()]


def _digest(key: str) -> Term:
    return exp.MD5(this=exp.func("CONCAT", exp.Literal.string(f"{key}|"), exp.column("person")))


def _seeds(digest: Term, dialect: str) -> dict[str, Term]:
    def hexadecimal(digits: Term) -> Term:
        if dialect == "duckdb":
            return exp.cast(exp.func("CONCAT", exp.Literal.string("0x"), digits), "BIGINT")
        return exp.cast(exp.func("CONV", digits, exp.Literal.number(16), exp.Literal.number(10)), "BIGINT")

    return dict(zip(SEEDS, seed_texts(digest, hexadecimal), strict=True))


def _clipped(question: Question, steps: Term) -> Term:
    low, high = (exp.Literal.number(end) for end in question.clip)
    return exp.cast(between(low, steps, high), "BIGINT")


def _square(question: Question, total: Term) -> Term:
    """The formula of `Question.square`; its factors are whole and at most 2^31, so no engine leaves 64 bits."""
    doubled = exp.paren(total * 2 - question.both_ends)
    return exp.IntDiv(
        this=exp.paren(doubled * doubled.copy()), expression=exp.Literal.number(2 ** (question.squares or 0))
    )


def _sum(term: Term, dialect: str) -> Term:
    # Spark adds in 64 bits. A person's rows exceed them at four thousand million in one cell and not before; the sum
    # is null then, which clipping takes for the upper end. An error would tell of a person.
    return exp.Anonymous(this="TRY_SUM", expressions=[term]) if dialect == "spark" else exp.Sum(this=term)


def _exact(term: Term) -> Term:
    return exp.Sum(this=exp.cast(term.copy(), _EXACT))


def _keys(grouping: Grouping) -> exp.Select:
    rows = [(key, code) for code, key in enumerate(grouping.keys)]
    listed = exp.values(rows, alias="listed", columns=["key", "code"])
    return exp.select("key", "code").from_(listed, copy=False)
