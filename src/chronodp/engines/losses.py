"""What candidates for bounds would take away, capped for each person: from which bounds are chosen privately.

Step 2 of "What is computed" in ``docs/explanation/proofs/finding.md``. All in whole numbers, the same on every engine.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from chronodp.engines.question import Question
from chronodp.engines.reading import Part
from chronodp.engines.rows import Term, between, whole
from chronodp.engines.statement import exact_sum, held_tables, text_of

__all__ = ["LossesQuestion", "losses_statement"]


@dataclass(frozen=True, slots=True)
class LossesQuestion:
    """What to add up.

    Attributes:
        question: whose cells, on which grid; its clip and limits do not matter.
        sizes: candidates for the largest size of a cell, in ascending steps; what is beyond the last never counts.
        periods: candidates for how many periods of a person count.
        groups: candidates for in how many groups of a period a person counts.
        cap: the most that one person, or one period of theirs, adds to a loss, in steps.
        whole_person: whether losses are capped for a person, and not for each period of theirs.
    """

    question: Question
    sizes: tuple[int, ...]
    periods: tuple[int, ...]
    groups: tuple[int, ...]
    cap: int
    whole_person: bool

    @property
    def candidates(self) -> list[tuple[int, int, int]]:
        """Every candidate in the order of answers: size, periods and groups, the last changing first."""
        return list(itertools.product(self.sizes, self.periods, self.groups))


def losses_statement(asked: LossesQuestion, parts: Sequence[Part], dialect: str = "duckdb") -> str:
    """Return the text for the losses of all candidates, in one row: Σ min(cap, what is held less what is kept).

    What is held counts up to the largest size. A person in m periods keeps min(k, m) / m of their clipped sizes, in
    expectation over the keyed choice, rounded down; and likewise of the groups of a period.
    """
    question, sizes = asked.question, range(len(asked.sizes))
    tables = held_tables(question, parts, dialect)
    top = whole(asked.sizes[-1])
    size = exp.cast(between(whole(0), exp.Abs(this=exp.column("raw")), top), "BIGINT").as_("size_")
    if question.user is None:
        tables.append(("sized", exp.select(size).from_("held")))
        alone: list[Term] = [
            exp.column("size_") - exp.Least(this=exp.column("size_"), expressions=[whole(c)]) for c in asked.sizes
        ]
        return _answer(asked, tables, [alone[i] for i in sizes for _ in asked.periods for _ in asked.groups], dialect)
    period = exp.IntDiv(this=exp.column("cell"), expression=whole(question.places)).as_("period")
    tables.append(("sized", exp.select("person", period, size).from_("held")))
    clipped = [exp.Least(this=exp.column("size_"), expressions=[whole(c)]) for c in asked.sizes]
    sums = [_sum(term).as_(f"size_{index}") for index, term in enumerate(clipped)]
    by_period = exp.select("person", exp.Count(this=exp.Star()).as_("held_groups"), *sums).from_("sized")
    tables.append(("by_period", by_period.group_by("person", "period")))
    kept = {
        (index, groups): _share(exp.column(f"size_{index}"), groups, "held_groups", question.places)
        for index in sizes
        for groups in asked.groups
    }
    all_ = exp.column(f"size_{sizes[-1]}")
    if not asked.whole_person:
        in_periods: list[Term] = [
            exp.paren(all_ - kept[i, g]) for i in sizes for _ in asked.periods for g in asked.groups
        ]
        return _answer(asked, tables, in_periods, dialect, "by_period")
    held = [_sum(term).as_(f"kept_{index}_{groups}") for (index, groups), term in kept.items()]
    by_person = exp.select(exp.Count(this=exp.Star()).as_("held_periods"), _sum(all_).as_("all_"), *held)
    tables.append(("by_person", by_person.from_("by_period").group_by("person")))
    horizon = len(question.calendar)
    lost: list[Term] = [
        exp.paren(exp.column("all_") - _share(exp.column(f"kept_{i}_{g}"), k, "held_periods", horizon))
        for i in sizes
        for k in asked.periods
        for g in asked.groups
    ]
    return _answer(asked, tables, lost, dialect, "by_person")


def _share(term: Term, limit: int, held: str, most: int) -> Term:
    """Return what is kept in expectation where at most ``limit`` of those held count, rounded down."""
    if limit >= most:
        return term.copy()
    least = exp.Least(this=exp.column(held), expressions=[whole(limit)])
    return exp.IntDiv(this=exp.paren(term.copy() * least), expression=exp.column(held))


def _answer(
    asked: LossesQuestion,
    tables: list[tuple[str, exp.Select]],
    lost: Sequence[Term],
    dialect: str,
    table: str = "sized",
) -> str:
    capped = (exp.Least(this=term.copy(), expressions=[whole(asked.cap)]) for term in lost)
    sums = (exp.func("COALESCE", exact_sum(term), whole(0)).as_(f"lost_{index}") for index, term in enumerate(capped))
    return text_of(tables, exp.select(*sums).from_(table), dialect)


def _sum(term: Term) -> Term:
    # The grid is so coarse that no such sum, times how many periods there are, leaves 64 bits.
    return exp.cast(exp.Sum(this=term.copy()), "BIGINT")
