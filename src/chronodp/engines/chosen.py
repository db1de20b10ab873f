"""From rows to the cells of people that count, as tables of one SQL text, each made of those before it.

Steps 3 to 5 of "What is computed" in ``docs/explanation/proofs/bounding.md``: what people have (``held``), their
clipped totals, and which cells are kept (``chosen``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from chronodp.engines.choice import priority_text
from chronodp.engines.lengths import scaled_tables, wide
from chronodp.engines.question import ROW_LIMIT, Grouping, Question
from chronodp.engines.reading import Part
from chronodp.engines.rows import Term, between, rows_select, whole
from chronodp.engines.seeds import SEEDS, person_digest, seeds_of_digest
from chronodp.engines.stays_statement import STAY, stays_tables

__all__ = [
    "LISTED",
    "chosen_tables",
    "clipped_total",
    "counted_tables",
    "exact_sum",
    "held_size",
    "held_tables",
    "keys_tables",
    "sum_of",
    "text_of",
    "within_limits",
]

LISTED = 1000
"""Keys of a grouping that a text lists; where there are more, they stand in a table of the session, ``keys_0 (key,
code)`` and so on: an engine needs minutes for a text with a million of them."""

_GATHER = "REPARTITION(person)"
_EXACT = "DECIMAL(38, 0)"  # for sums that bounds say nothing about


def held_tables(
    question: Question, parts: Sequence[Part], dialect: str, *, counted: bool = False, gathered: bool = False
) -> list[tuple[str, exp.Select]]:
    """Return what leads to ``held``: what each person has in each cell, unbounded; of rows that stand alone, each.

    How many rows that is stands beside it if they are ``counted``. If they are ``gathered``, all rows of a person are
    brought to one place before they are added up.
    """
    tables = _located_tables(question, parts, dialect, gathered=gathered)
    if question.user is None:
        cell, steps = _cell(question), exp.column("steps")
        return [*tables, ("held", exp.select(cell.as_("cell"), steps.as_("raw")).from_("rows_"))]
    return [*tables, ("held", _held(question, "located", dialect, counted=counted))]


def _located_tables(
    question: Question, parts: Sequence[Part], dialect: str, *, gathered: bool
) -> list[tuple[str, exp.Select]]:
    """What leads to ``rows_``, and where there are people to ``located``: person, cell and steps of each row."""
    tables = keys_tables(question, rows_select(question, parts, dialect), dialect)
    if question.user is None:
        return tables
    located = exp.select("person", _cell(question).as_("cell", copy=False), "steps", copy=False)
    located = located.from_("rows_", copy=False)
    return [*tables, ("located", located.hint(_GATHER, dialect=dialect) if gathered else located)]


def _held(question: Question, source: str, dialect: str, *, counted: bool = False) -> exp.Select:
    """What people have in cells, of their rows there."""
    steps = exp.column("steps")
    # What a row may hold beyond 32 bits can exceed 64 when added up.
    added = sum_of(steps, dialect) if question.row_limit <= ROW_LIMIT else exact_sum(steps)
    held = exp.select("person", "cell", added.as_("raw", copy=False), copy=False).from_(source, copy=False)
    if counted or question.rows is not None:
        held = held.select(exp.Count(this=exp.Star()).as_("counted"), copy=False)
    return held.group_by("person", "cell", copy=False)


def _cell(question: Question) -> Term:
    return exp.column("period") * question.places + exp.column("place")


def held_size(question: Question, top: int, dialect: str, *, means: bool) -> Term:
    """Return the size of what a person has in a cell of ``held``, up to the top; of the mean of its rows if asked."""
    raw: Term = exp.Abs(this=exp.column("raw"))
    if means and question.user is not None:
        # A mean of rows is within 64 bits, as each row is; their sum need not be.
        raw = exp.IntDiv(this=wide(raw, dialect), expression=wide(exp.column("counted"), dialect))
    return between(whole(0), raw, whole(top))


def keys_tables(question: Question, rows: exp.Select, dialect: str) -> list[tuple[str, exp.Select]]:
    """Return the public keys of groupings as tables, and ``rows_``, which are joined with them."""
    if dialect == "spark" and question.groupings:
        # Otherwise a session that broadcasts nothing would send all rows of a group to one place.
        rows = rows.hint(f"BROADCAST({', '.join(f'keys_{index}' for index in range(len(question.groupings)))})")
    tables = [
        (f"keys_{index}", _keys(grouping))
        for index, grouping in enumerate(question.groupings)
        if len(grouping.keys) <= LISTED
    ]
    return [*tables, ("rows_", rows)]


def chosen_tables(
    question: Question, parts: Sequence[Part], key: str, dialect: str, *, sparse: bool = False
) -> list[tuple[str, exp.Select]]:
    """Return what leads to ``chosen``: cells with raw and clipped totals, people and their ranks if there are any.

    In Spark a person's cells meet once, to be ranked. Where rows are ``sparse``, they travel as they are and are added
    up where they meet; otherwise they are added up first, and what is left travels once more.
    """
    meets = dialect == "spark" and question.user is not None
    meets = meets and (bool(_limits(question)) or question.norm is not None or question.window is not None)
    tables = held_tables(question, parts, dialect, gathered=meets and sparse)
    return [*tables, *_chosen_of_held(question, key, dialect, gather=meets and not sparse)]


def counted_tables(
    question: Question, parts: Sequence[Part], key: str, dialect: str, *, sparse: bool = False
) -> tuple[list[tuple[str, exp.Select]], list[Term]]:
    """Return what leads to ``chosen``, and the conditions that its cells count: all that a release has to know.

    Ranks hang on which cells a person has, not on what these hold. So where rows are ``sparse``, those that do not
    count are left out before they are added up, and ``chosen`` holds nothing of them.
    """
    limits = _limits(question)
    if not (sparse and question.user is not None and limits):
        return chosen_tables(question, parts, key, dialect, sparse=sparse), within_limits(question)
    names = ["person", "cell", "steps"]
    tables = _located_tables(question, parts, dialect, gathered=dialect == "spark")
    tables += _ranked_tables(question, "located", names, key, dialect)
    within = [exp.column(rank) <= limit for rank, limit in limits.items()]
    tables.append(("kept_rows", exp.select(*names).from_("ranked").where(*within)))
    tables.append(("held", _held(question, "kept_rows", dialect)))
    unlimited = replace(question, max_periods=None, max_places=None)
    return [*tables, *_chosen_of_held(unlimited, key, dialect, gather=False)], within_limits(unlimited)


def _chosen_of_held(question: Question, key: str, dialect: str, *, gather: bool) -> list[tuple[str, exp.Select]]:
    """What leads from ``held`` to ``chosen``; if asked, a person's cells are brought to one place on the way."""
    raw, ranks = exp.column("raw"), _limits(question)
    if question.user is None:
        total = clipped_total(question, raw) if question.rows is None else _weighed(question, raw, _one())
        chosen = exp.select("cell", "raw", total.as_("total"))
        if question.rows is not None:
            chosen = chosen.select(_one().as_("counted"), _one().as_("weight"))
        return [("chosen", chosen.from_("held"))]
    names = ["person", "cell", "raw", "total"]
    if question.rows is None:
        cells = exp.select("person", "cell", "raw", clipped_total(question, raw).as_("total"))
    else:
        counted = exp.column("counted")
        weight = exp.Least(this=counted, expressions=[exp.Literal.number(question.rows)], ignore_nulls=True)
        total = _weighed(question, raw, _beside(question, counted.copy()))
        cells = exp.select("person", "cell", "raw", total.as_("total"), "counted", weight.as_("weight"))
        names += ["counted", "weight"]
    cells = cells.from_("held")
    if not ranks and question.norm is None and question.window is None:
        return [("chosen", cells)]
    if gather:  # without it Spark would sort cells on both sides of the way
        cells = cells.hint(_GATHER, dialect=dialect)
    if question.norm is not None:
        return [("cells", cells), *scaled_tables(question.norm, dialect)]
    if not ranks:
        return [("cells", cells), *stays_tables(question, "cells", names, [])]
    *seeded, (_, ranked) = _ranked_tables(question, "cells", names, key, dialect)
    if question.window is None:
        return [("cells", cells), *seeded, ("chosen", ranked)]
    within = [exp.column(rank) <= limit for rank, limit in ranks.items()]
    stays = stays_tables(question, "ranked", [*names, *ranks], within)
    return [("cells", cells), *seeded, ("ranked", ranked), *stays]


def _ranked_tables(
    question: Question, source: str, names: Sequence[str], key: str, dialect: str
) -> list[tuple[str, exp.Select]]:
    """What leads to ``ranked``: columns of people's cells, or of rows in them, beside the ranks of these cells."""
    digested = exp.select(*names, person_digest(key).as_("digest", copy=False), copy=False).from_(source, copy=False)
    seeds = seeds_of_digest(exp.column("digest"), dialect)
    return [
        ("digested", digested),
        ("seeded", exp.select(*names, *_named(seeds), copy=False).from_("digested", copy=False)),
        ("ranked", exp.select(*names, *_named(_ranks(question)), copy=False).from_("seeded", copy=False)),
    ]


def within_limits(question: Question) -> list[Term]:
    """Return the conditions that cells of ``chosen`` count."""
    if question.user is None:
        return []
    within = [exp.column(rank) <= limit for rank, limit in _limits(question).items()]
    stays = [] if question.max_stays is None else [exp.column(STAY) <= question.max_stays]
    return [*within, *stays]


def text_of(tables: list[tuple[str, exp.Select]], answer: exp.Select, dialect: str) -> str:
    """Return the text of an answer about tables, each made of those before it. Uses them up."""
    for name, table in tables:
        answer = answer.with_(name, as_=table, copy=False)  # else each would copy all before it
    return answer.sql(dialect, copy=False)  # nobody else holds it


def sum_of(term: Term, dialect: str) -> Term:
    """Return a sum whose numbers are bounded: of 64 bits."""
    # Spark adds in 64 bits. A person's rows exceed them at four thousand million in one cell and not before; the sum
    # is null then, which clipping takes for the upper end. An error would tell of a person.
    return exp.Anonymous(this="TRY_SUM", expressions=[term]) if dialect == "spark" else exp.Sum(this=term)


def exact_sum(term: Term) -> Term:
    """Return a sum that bounds say nothing about: of 38 digits."""
    return exp.Sum(this=exp.cast(term.copy(), _EXACT, copy=False))


def clipped_total(question: Question, steps: Term) -> Term:
    """Return steps between the ends of the clip."""
    low, high = (exp.Literal.number(end) for end in question.clip)
    return exp.cast(between(low, steps, high), "BIGINT")


def _limits(question: Question) -> dict[str, int]:
    """How many periods and places of a person count, where that is fewer than there are."""
    most = {
        "period_rank": (question.max_periods, len(question.calendar)),
        "place_rank": (question.max_places, question.places // question.weighed_bins),
    }
    return {rank: limit for rank, (limit, all_) in most.items() if limit is not None and limit < all_}


def _ranks(question: Question) -> dict[str, Term]:
    cell: Term = exp.column("cell")
    period: Term = exp.IntDiv(this=cell.copy(), expression=exp.Literal.number(question.places))
    group: Term = cell if question.weighed_bins == 1 else exp.IntDiv(this=cell, expression=whole(question.weighed_bins))
    person: Term = exp.column("person")
    ordered: dict[str, tuple[Term, list[Term]]] = {
        "period_rank": (period, [person]),
        "place_rank": (exp.paren(group + len(question.calendar)), [person, period]),
    }
    # Dense: whatever lies in one period, or in one place, has one priority and so one rank; no others do.
    return {
        rank: exp.Window(
            this=exp.Anonymous(this="DENSE_RANK"),
            partition_by=[term.copy() for term in within],
            order=exp.Order(expressions=[exp.Ordered(this=priority_text(number.copy(), *SEEDS))]),
        )
        for rank, (number, within) in ordered.items()
        if rank in _limits(question)
    }


def _named(terms: Mapping[str, Term]) -> list[exp.Alias]:
    return [exp.Alias(this=term, alias=exp.to_identifier(name)) for name, term in terms.items()]


def _weighed(question: Question, total: Term, rows: Term) -> Term:
    """The formula of `Question.weigh`; a sum beyond 64 bits, null in Spark, counts as 0, which is within the bound."""
    most = exp.Literal.number(question.rows or 1)
    over = exp.Greatest(this=rows, expressions=[most], ignore_nulls=True)
    share = exp.cast(exp.IntDiv(this=total, expression=over), "BIGINT")
    return exp.Coalesce(this=share, expressions=[exp.Literal.number(0)])


def _beside(question: Question, counted: Term) -> Term:
    """How many rows a person has in the same group of the same period, in whichever bins."""
    if question.weighed_bins == 1:
        return counted
    group = exp.IntDiv(this=exp.column("cell"), expression=exp.Literal.number(question.weighed_bins))
    return exp.Window(this=exp.Sum(this=counted), partition_by=[exp.column("person"), group])


def _one() -> Term:
    return exp.Literal.number(1)


def _keys(grouping: Grouping) -> exp.Select:
    rows = [(key, code) for code, key in enumerate(grouping.keys)]
    listed = exp.values(rows, alias="listed", columns=["key", "code"])
    return exp.select("key", "code").from_(listed, copy=False)
