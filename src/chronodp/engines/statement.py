"""The whole bounding as one SQL text, for any engine that can run it.

It gives the same integers as the packed sort of the embedded engine, to the last digit, and contains nothing that could
differ when a part of it is computed twice. The table is read once, and people are told apart by their names.

Step 6 of "What is computed" in ``docs/explanation/proofs/bounding.md``, after those of `chosen`, and "Tasks that run
again" there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from chronodp.engines.chosen import (
    chosen_tables,
    clipped_total,
    counted_tables,
    exact_sum,
    sum_of,
    text_of,
    within_limits,
)
from chronodp.engines.question import TALLIED, Question
from chronodp.engines.reading import Part
from chronodp.engines.rows import Term, between, whole
from chronodp.engines.stays_statement import stays_answer

__all__ = ["MissingQuestion", "added_select", "missing_statement", "statement", "tally_statement"]


def statement(
    question: Question, parts: Sequence[Part], *, key: str, dialect: str = "duckdb", sparse: bool = False
) -> str:
    """Return the text that answers a question about a table in parts: cell, sums, people, and squares if asked for.

    A cell is numbered by its period, times the number of places, plus its place. Cells in which nobody counts are not
    in the answer. In Spark a sum that 64 bits cannot hold is null; whether the table is ``sparse`` decides what travels
    there, and changes no number.
    """
    chosen, within = counted_tables(question, parts, key, dialect, sparse=sparse)
    if question.window is not None:
        return text_of(chosen, stays_answer(within), dialect)
    bounded = exp.select("cell", "total").from_("chosen").where(*within)
    if question.rows is not None:
        bounded = bounded.select("weight")
    tables = [*chosen, ("bounded", bounded)]
    return text_of(tables, added_select(question, dialect).from_("bounded").group_by("cell"), dialect)


def added_select(question: Question, dialect: str) -> exp.Select:
    """Return the sums over totals of a cell, and over weights where rows are weighed."""
    sums = exp.cast(sum_of(exp.column("total"), dialect), "BIGINT")
    people: Term = exp.Count(this=exp.Star())
    if question.rows is not None:
        people = exp.cast(sum_of(exp.column("weight"), dialect), "BIGINT")
    answer = exp.select("cell", sums.as_("sums"), people.as_("people"))
    if question.squares is not None:
        squares = exp.cast(sum_of(_square(question, exp.column("total")), dialect), "BIGINT")
        answer = answer.select(squares.as_("squares"))
    return answer


def tally_statement(
    question: Question, parts: Sequence[Part], *, key: str, dialect: str = "duckdb", sparse: bool = False
) -> str:
    """Return the text for what bounds take away: people, people over, cells, cells kept, and three sums.

    The sums are of totals as they were, of totals clipped, and of those kept.
    """
    names = ("cells", "cells_kept", "before", "clipped", "kept")
    one, (before, total) = exp.Literal.number(1), _tallied(question)
    clipped: Term = total if question.norm is None else clipped_total(question, exp.column("raw"))
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
    tables = [*chosen_tables(question, parts, key, dialect, sparse=sparse), ("persons", people)]
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


def _square(question: Question, total: Term) -> Term:
    """The formula of `Question.square`; its factors are whole and at most 2^31, so no engine leaves 64 bits."""
    doubled = exp.paren(total * 2 - question.both_ends)
    return exp.IntDiv(
        this=exp.paren(doubled * doubled.copy()), expression=exp.Literal.number(2 ** (question.squares or 0))
    )
