"""The whole bounding as one SQL text, for any engine that can run it.

It gives the same integers as the packed sort of the embedded engine, to the last digit, and contains nothing that could
differ when a part of it is computed twice. The table is read once, and people are told apart by their names.

Steps 3 to 6 of "What is computed" in ``docs/explanation/proofs/bounding.md``, and "Tasks that run again" there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from chronodp.engines.choice import priority_text, seed_texts
from chronodp.engines.lengths import scaled_tables, wide
from chronodp.engines.question import ROW_LIMIT, TALLIED, Grouping, Question
from chronodp.engines.reading import Part
from chronodp.engines.rows import Term, between, rows_select, whole
from chronodp.engines.stays_statement import STAY, stays_answer, stays_tables

__all__ = [
    "SEEDS",
    "MissingQuestion",
    "added_select",
    "chosen_tables",
    "exact_sum",
    "held_size",
    "held_tables",
    "hexadecimal",
    "keys_tables",
    "missing_statement",
    "person_digest",
    "seed_terms",
    "seeds_of_digest",
    "statement",
    "tally_statement",
    "text_of",
    "within_limits",
]

SEEDS = ("multiplier", "shift_", "offset_")
"""Columns with a person's seeds."""

_EXACT = "DECIMAL(38, 0)"  # for sums that bounds say nothing about


def statement(question: Question, parts: Sequence[Part], *, key: str, dialect: str = "duckdb") -> str:
    """Return the text that answers a question about a table in parts: cell, sums, people, and squares if asked for.

    A cell is numbered by its period, times the number of places, plus its place. Cells in which nobody counts are not
    in the answer. In Spark a sum that 64 bits cannot hold is null.
    """
    if question.window is not None:
        return text_of(chosen_tables(question, parts, key, dialect), stays_answer(within_limits(question)), dialect)
    bounded = exp.select("cell", "total").from_("chosen").where(*within_limits(question))
    if question.rows is not None:
        bounded = bounded.select("weight")
    tables = [*chosen_tables(question, parts, key, dialect), ("bounded", bounded)]
    return text_of(tables, added_select(question, dialect).from_("bounded").group_by("cell"), dialect)


def added_select(question: Question, dialect: str) -> exp.Select:
    """Return the sums over totals of a cell, and over weights where rows are weighed."""
    sums = exp.cast(_sum(exp.column("total"), dialect), "BIGINT")
    people: Term = exp.Count(this=exp.Star())
    if question.rows is not None:
        people = exp.cast(_sum(exp.column("weight"), dialect), "BIGINT")
    answer = exp.select("cell", sums.as_("sums"), people.as_("people"))
    if question.squares is not None:
        squares = exp.cast(_sum(_square(question, exp.column("total")), dialect), "BIGINT")
        answer = answer.select(squares.as_("squares"))
    return answer


def tally_statement(question: Question, parts: Sequence[Part], *, key: str, dialect: str = "duckdb") -> str:
    """Return the text for what bounds take away: people, people over, cells, cells kept, and three sums.

    The sums are of totals as they were, of totals clipped, and of those kept.
    """
    names = ("cells", "cells_kept", "before", "clipped", "kept")
    one, (before, total) = exp.Literal.number(1), _tallied(question)
    clipped: Term = total if question.norm is None else _clipped(question, exp.column("raw"))
    kept = exp.and_(exp.true(), *within_limits(question))
    if question.user is None:
        each: list[Term] = [one, one, before, total, total]
    else:
        held = exp.case().when(kept, total).else_(exp.Literal.number(0))
        count = exp.Count(this=exp.case().when(kept.copy(), one))
        raw = exact_sum(before)
        each = [exp.Count(this=exp.Star()), count, raw, exact_sum(clipped), exact_sum(held)]
    people = exp.select(*(term.copy().as_(name) for term, name in zip(each, names, strict=True))).from_("chosen")
    people = people.group_by("person") if question.user is not None else people
    over = exp.case().when(exp.column("cells_kept") < exp.column("cells"), one.copy())
    if question.norm is not None:
        # A series that is too long leaves out no cell, and loses in some.
        scaled = exp.case().when(clipped.copy().neq(total), one.copy())
        people = people.select(exp.Count(this=scaled).as_("scaled"))
        over = exp.case().when(exp.column("scaled") > 0, one.copy())
    sums = (exp.func("COALESCE", exact_sum(exp.column(name)), exp.Literal.number(0)).as_(name) for name in names)
    answer = exp.select(exp.Count(this=exp.Star()).as_("people"), exp.func("COUNT", over).as_("people_over"), *sums)
    tables = [*chosen_tables(question, parts, key, dialect), ("persons", people)]
    return text_of(tables, answer.from_("persons"), dialect)


@dataclass(frozen=True, slots=True)
class MissingQuestion:
    """What bounds take away of what each voter has, capped.

    Attributes:
        question: with its bounds.
        top: up to which size a cell is seen, in steps.
        cap: the most that one voter counts, in steps.
        whole_person: whether a person is a voter, and not each of their periods.
        beyond: whether to count who reaches beyond ``top`` or ``cap``; where each counts once, nobody does.
    """

    question: Question
    top: int
    cap: int
    whole_person: bool
    beyond: bool


def missing_statement(asked: MissingQuestion, parts: Sequence[Part], *, key: str, dialect: str = "duckdb") -> str:
    """Return the text for what is missing, in one row: the sum of capped losses, and how many reach beyond."""
    question, one, none = asked.question, exp.Literal.number(1), exp.Literal.number(0)
    top, cap = asked.top, asked.cap
    held = exp.cast(between(whole(-top), exp.column("raw"), whole(top)), "BIGINT")
    kept = exp.case().when(exp.and_(exp.true(), *within_limits(question)), exp.column("total")).else_(none)
    far = exp.Abs(this=exp.column("raw")) > whole(top)
    # A sum that no engine holds is null, and far.
    flag = exp.case().when(exp.func("COALESCE", far, exp.true()), one).else_(none)
    lost: Term = exp.paren(held - kept)
    tables = chosen_tables(question, parts, key, dialect)
    if question.user is None:
        voters = exp.select(lost.as_("lost"), flag.as_("far")).from_("chosen")
    else:
        period = exp.IntDiv(this=exp.column("cell"), expression=whole(question.places))
        by = [exp.column("person")] if asked.whole_person else [exp.column("person"), period]
        sums = exp.cast(exp.Sum(this=lost), "BIGINT").as_("lost")
        voters = exp.select(sums, exp.Max(this=flag).as_("far")).from_("chosen").group_by(*by)
    capped = between(whole(-cap), exp.column("lost"), whole(cap))
    reaches = exp.or_(exp.column("far").eq(1), exp.Abs(this=exp.column("lost")) > whole(cap))
    counted = exp.case().when(reaches, one.copy()).else_(none.copy()) if asked.beyond else none.copy()
    sums_ = [exp.func("COALESCE", exact_sum(term), none.copy()) for term in (capped, counted)]
    answer = exp.select(sums_[0].as_("lost"), sums_[1].as_("beyond")).from_("voters")
    return text_of([*tables, ("voters", voters)], answer, dialect)


def seed_terms(key: str, dialect: str) -> dict[str, Term]:
    """Return the seeds of the person of a row."""
    return seeds_of_digest(person_digest(key), dialect)


def hexadecimal(digits: Term, dialect: str) -> Term:
    """Return eight hexadecimal digits as a number."""
    if dialect == "duckdb":
        return exp.cast(exp.func("CONCAT", exp.Literal.string("0x"), digits), "BIGINT")
    return exp.cast(exp.func("CONV", digits, exp.Literal.number(16), exp.Literal.number(10)), "BIGINT")


def text_of(tables: list[tuple[str, exp.Select]], answer: exp.Select, dialect: str) -> str:
    """Return the text of an answer about tables, each made of those before it. Uses them up."""
    for name, table in tables:
        answer = answer.with_(name, as_=table, copy=False)  # else each would copy all before it
    return answer.sql(dialect, copy=False)  # nobody else holds it


def held_tables(
    question: Question, parts: Sequence[Part], dialect: str, *, counted: bool = False
) -> list[tuple[str, exp.Select]]:
    """Return what leads to ``held``: what each person has in each cell, unbounded; of rows that stand alone, each.

    How many rows that is stands beside it if they are ``counted``.
    """
    steps, cell = exp.column("steps"), exp.column("period") * question.places + exp.column("place")
    tables = keys_tables(question, rows_select(question, parts, dialect), dialect)
    if question.user is None:
        return [*tables, ("held", exp.select(cell.as_("cell"), steps.as_("raw")).from_("rows_"))]
    tables.append(("located", exp.select("person", cell.as_("cell"), "steps").from_("rows_")))
    # What a row may hold beyond 32 bits can exceed 64 when added up.
    added = _sum(steps, dialect) if question.row_limit <= ROW_LIMIT else exact_sum(steps)
    held = exp.select("person", "cell", added.as_("raw")).from_("located")
    if counted or question.rows is not None:
        held = held.select(exp.Count(this=exp.Star()).as_("counted"))
    return [*tables, ("held", held.group_by("person", "cell"))]


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
    tables = [(f"keys_{index}", _keys(grouping)) for index, grouping in enumerate(question.groupings)]
    return [*tables, ("rows_", rows)]


def chosen_tables(question: Question, parts: Sequence[Part], key: str, dialect: str) -> list[tuple[str, exp.Select]]:
    """Return what leads to ``chosen``: cells with raw and clipped totals, people and their ranks if there are any."""
    tables = held_tables(question, parts, dialect)
    raw = exp.column("raw")
    if question.user is None:
        total = _clipped(question, raw) if question.rows is None else _weighed(question, raw, _one())
        chosen = exp.select("cell", "raw", total.as_("total"))
        if question.rows is not None:
            chosen = chosen.select(_one().as_("counted"), _one().as_("weight"))
        return [*tables, ("chosen", chosen.from_("held"))]
    names = ["person", "cell", "raw", "total"]
    if question.rows is None:
        cells = exp.select("person", "cell", "raw", _clipped(question, raw).as_("total"))
    else:
        counted = exp.column("counted")
        weight = exp.Least(this=counted, expressions=[exp.Literal.number(question.rows)], ignore_nulls=True)
        total = _weighed(question, raw, _beside(question, counted.copy()))
        cells = exp.select("person", "cell", "raw", total.as_("total"), "counted", weight.as_("weight"))
        names += ["counted", "weight"]
    cells = cells.from_("held")
    ranks = _ranks(question)
    if not ranks and question.norm is None and question.window is None:
        return [*tables, ("chosen", cells)]
    if dialect == "spark":
        # A person's cells meet here, once, to be ranked: without it Spark would sort them on both sides of the way.
        cells = cells.hint("REPARTITION(person)", dialect=dialect)
    if question.norm is not None:
        return [*tables, ("cells", cells), *scaled_tables(question.norm, dialect)]
    tables.append(("cells", cells))
    if not ranks:
        return [*tables, *stays_tables(question, "cells", names, [])]
    tables.append(("digested", exp.select(*names, person_digest(key).as_("digest")).from_("cells")))
    tables.append(
        ("seeded", exp.select(*names, *_named(seeds_of_digest(exp.column("digest"), dialect))).from_("digested"))
    )
    ranked = exp.select(*names, *_named(ranks)).from_("seeded")
    if question.window is None:
        return [*tables, ("chosen", ranked)]
    within = [exp.column(rank) <= limit for rank, limit in _limits(question).items()]
    return [*tables, ("ranked", ranked), *stays_tables(question, "ranked", [*names, *ranks], within)]


def _limits(question: Question) -> dict[str, int]:
    """How many periods and places of a person count, where that is fewer than there are."""
    most = {
        "period_rank": (question.max_periods, len(question.calendar)),
        "place_rank": (question.max_places, question.places // question.weighed_bins),
    }
    return {rank: limit for rank, (limit, all_) in most.items() if limit is not None and limit < all_}


def within_limits(question: Question) -> list[Term]:
    """Return the conditions that cells of ``chosen`` count."""
    if question.user is None:
        return []
    within = [exp.column(rank) <= limit for rank, limit in _limits(question).items()]
    stays = [] if question.max_stays is None else [exp.column(STAY) <= question.max_stays]
    return [*within, *stays]


def _ranks(question: Question) -> dict[str, Term]:
    cell: Term = exp.column("cell")
    person: Term = exp.column("person")
    period: Term = exp.IntDiv(this=cell.copy(), expression=exp.Literal.number(question.places))
    ranks: dict[str, Term] = {}
    for rank in _limits(question):
        # Dense: all cells of a period have one rank, since they have one priority. Places are ranked row by row.
        function, number, within = "DENSE_RANK", period, [person]
        if rank == "place_rank" and question.weighed_bins == 1:
            function, number, within = "ROW_NUMBER", exp.paren(cell + len(question.calendar)), [person, period]
        elif rank == "place_rank":  # all bins of a group have one rank
            group = exp.IntDiv(this=cell.copy(), expression=exp.Literal.number(question.weighed_bins))
            number, within = exp.paren(group + len(question.calendar)), [person, period]
        ranks[rank] = exp.Window(
            this=exp.Anonymous(this=function),
            partition_by=[term.copy() for term in within],
            order=exp.Order(expressions=[exp.Ordered(this=priority_text(number.copy(), *SEEDS))]),
        )
    return ranks


def _named(terms: Mapping[str, Term]) -> list[exp.Alias]:
    return [exp.Alias(this=term, alias=exp.to_identifier(name)) for name, term in terms.items()]


def person_digest(key: str) -> Term:
    """Return the digest from which a person's seeds are made."""
    return exp.MD5(this=exp.func("CONCAT", exp.Literal.string(f"{key}|"), exp.column("person")))


def seeds_of_digest(digest: Term, dialect: str) -> dict[str, Term]:
    """Return the seeds of a digest."""
    return dict(zip(SEEDS, seed_texts(digest, lambda digits: hexadecimal(digits, dialect)), strict=True))


def _clipped(question: Question, steps: Term) -> Term:
    low, high = (exp.Literal.number(end) for end in question.clip)
    return exp.cast(between(low, steps, high), "BIGINT")


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


def _tallied(question: Question) -> tuple[Term, Term]:
    """What stands for a person's total in a place before it is bounded and after: itself, or its rows' weight."""
    if question.rows is None:
        return exp.column("raw"), exp.column("total")
    parts = exp.Literal.number(TALLIED)
    weight: Term = exp.column("weight") * parts
    if question.edges:  # the formula of `Question.tallied`
        share = exp.paren(exp.column("total") * parts.copy())
        weight = exp.IntDiv(this=share, expression=exp.Literal.number(question.row_reach))
    return exp.column("counted") * parts.copy(), weight


def _one() -> Term:
    return exp.Literal.number(1)


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


def exact_sum(term: Term) -> Term:
    """Return a sum that bounds say nothing about: of 38 digits."""
    return exp.Sum(this=exp.cast(term.copy(), _EXACT))


def _keys(grouping: Grouping) -> exp.Select:
    rows = [(key, code) for code, key in enumerate(grouping.keys)]
    listed = exp.values(rows, alias="listed", columns=["key", "code"])
    return exp.select("key", "code").from_(listed, copy=False)
