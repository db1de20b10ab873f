"""How large what people hold is: votes over a public grid of sizes, from which a scale is chosen privately.

A voter is a person, or a person's period where the unit holds only some of these, or a row that stands alone. Each has
one vote, split evenly over its cells that are not 0. Step 1 of "What is computed" in
``docs/explanation/proofs/finding.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from chronodp.engines.question import Question
from chronodp.engines.reading import Part
from chronodp.engines.rows import Term, lookup, whole
from chronodp.engines.statement import exact_sum, held_tables, text_of

__all__ = ["VOTE", "Sizes", "SizesQuestion", "sizes_statement"]

VOTE = 2**20
"""What one vote is counted as: parts of it are whole numbers, rounded down."""


@dataclass(frozen=True, slots=True)
class SizesQuestion:
    """What to take votes of.

    Attributes:
        question: whose cells, on which grid; its clip and limits do not matter.
        sizes: ascending whole steps of the grid.
        whole_person: whether a person has one vote, and not each of their periods.
    """

    question: Question
    sizes: tuple[int, ...]
    whole_person: bool


@dataclass(frozen=True, slots=True)
class Sizes:
    """Votes, which nobody may see.

    Attributes:
        above: for each size, the votes for what is larger, in parts of `VOTE`.
        voters: how many there are: those with a cell that is not 0.
    """

    above: NDArray[np.int64]
    voters: int

    @classmethod
    def of_answer(cls, asked: SizesQuestion, rows: Mapping[str, NDArray[np.int64]]) -> Sizes:
        """Return the votes from the answer of `sizes_statement`."""
        by_size = np.zeros(len(asked.sizes) + 1, np.int64)
        by_size[rows["size_"]] = rows["votes"]
        # A cell of size_ s is larger than the sizes before the s-th: those get its part of the vote.
        return cls(by_size[::-1].cumsum()[::-1][1:], int(rows["voters"].sum()))


def sizes_statement(asked: SizesQuestion, parts: Sequence[Part], dialect: str = "duckdb") -> str:
    """Return the text that takes votes: size_, the votes that fall there, and the voters whose least size it is."""
    question = asked.question
    tables = held_tables(question, parts, dialect)
    # raw is a whole number: larger than a size is at least the size and 1.
    numbers: list[Term] = [whole(index) for index in range(len(asked.sizes) + 1)]
    size = lookup(exp.Abs(this=exp.column("raw")), [size + 1 for size in asked.sizes], numbers).as_("size_")
    there = exp.column("raw").neq(0)
    if question.user is None:
        sized = exp.select(size).from_("held").where(there)
        count = exp.Count(this=exp.Star())
        answer = exp.select("size_", (count * VOTE).as_("votes"), count.copy().as_("voters")).from_("sized")
        return text_of([*tables, ("sized", sized)], answer.group_by("size_"), dialect)
    period = exp.IntDiv(this=exp.column("cell"), expression=whole(question.places)).as_("period")
    voter = ["person"] if asked.whole_person else ["person", "period"]
    sized = exp.select("person", period, size).from_("held").where(there)
    cells = exp.cast(exp.Count(this=exp.Star()), "BIGINT").as_("cells")
    counted = exp.select(*voter, "size_", cells).from_("sized").group_by(*voter, "size_")
    reached = exp.select("size_", "cells", _over(voter, descending=True).as_("reached"), _over(voter).as_("all_"))
    part = exp.paren(_part(exp.column("reached")) - _part(exp.paren(exp.column("reached") - exp.column("cells"))))
    last = exp.case().when(exp.column("reached").eq(exp.column("all_")), whole(1)).else_(whole(0))
    answer = exp.select("size_", _sum(part).as_("votes"), _sum(last).as_("voters")).from_("reached")
    named = [("sized", sized), ("counted", counted), ("reached", reached.from_("counted"))]
    return text_of([*tables, *named], answer.group_by("size_"), dialect)


def _over(voter: Sequence[str], *, descending: bool = False) -> Term:
    """Return a voter's cells, in all or of a size and larger."""
    order = exp.Order(expressions=[exp.Ordered(this=exp.column("size_"), desc=True, nulls_first=False)])
    rows = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW")
    window = exp.Window(
        this=exp.Sum(this=exp.column("cells")),
        partition_by=[exp.column(name) for name in voter],
        **({"order": order, "spec": rows} if descending else {}),
    )
    return exp.cast(window, "BIGINT")


def _part(cells: Term) -> Term:
    """The part of a vote that so many of a voter's cells are, rounded down."""
    return exp.IntDiv(this=exp.paren(cells * VOTE), expression=exp.column("all_"))


def _sum(term: Term) -> Term:
    return exp.cast(exact_sum(term), "BIGINT")
