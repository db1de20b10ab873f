"""How much each voter holds in all, counted over a public grid of sizes: from which a scale is chosen privately.

A voter is a person, or a person's period where the unit holds only some of these, or a row that stands alone. Steps 1
and 2 of "What is computed" in ``docs/explanation/proofs/finding.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from chronodp.engines.chosen import exact_sum, held_size, held_tables, keys_tables, text_of
from chronodp.engines.lengths import wide
from chronodp.engines.question import Question
from chronodp.engines.reading import Part
from chronodp.engines.rows import Term, between, lookup, rows_select, whole

__all__ = ["Sizes", "SizesQuestion", "counted_statement", "sizes_statement"]


@dataclass(frozen=True, slots=True)
class SizesQuestion:
    """What to count.

    Attributes:
        question: whose cells, on which grid; its clip and limits do not matter.
        sizes: ascending whole steps of the grid.
        top: the most that a cell counts, in steps.
        whole_person: whether a person is a voter, and not each of their periods.
        means: whether a cell is the mean of its rows, and not their sum.
        rows: whether a voter holds the mean of the sizes of its rows that are not 0, and not the sum of its cells.
    """

    question: Question
    sizes: tuple[int, ...]
    top: int
    whole_person: bool
    means: bool = False
    rows: bool = False


@dataclass(frozen=True, slots=True)
class Sizes:
    """Counts, which nobody may see.

    Attributes:
        above: for each size, how many voters hold more.
        voters: how many hold anything.
    """

    above: tuple[int, ...]
    voters: int

    @classmethod
    def of_rows(cls, asked: SizesQuestion, rows: Iterable[Sequence[int]]) -> Sizes:
        """Return the counts from the answer of `sizes_statement`."""
        counts = [0] * (len(asked.sizes) + 1)
        for size, voters in rows:
            counts[size] = voters
        # Who is counted at s holds more than the sizes before the s-th.
        return cls(tuple(sum(counts[index + 1 :]) for index in range(len(asked.sizes))), sum(counts))


def sizes_statement(asked: SizesQuestion, parts: Sequence[Part], dialect: str = "duckdb") -> str:
    """Return the text that counts voters: of how many sizes one holds more, and how many such voters there are."""
    tables = _by_rows(asked, parts, dialect) if asked.rows else _by_cells(asked, parts, dialect)
    # Totals are whole numbers: more than a size is at least the size and 1.
    numbers: list[Term] = [whole(index) for index in range(len(asked.sizes) + 1)]
    # As in `rows`, nothing that is built here is used twice, and nothing is copied: there are many sizes.
    size = lookup(exp.column("total"), [size + 1 for size in asked.sizes], numbers).as_("size_", copy=False)
    sized = exp.select(size, copy=False).from_("voters", copy=False).where(exp.column("total") > 0, copy=False)
    tables.append(("sized", sized))
    answer = exp.select("size_", exp.Count(this=exp.Star()).as_("voters")).from_("sized").group_by("size_")
    return text_of(tables, answer, dialect)


def counted_statement(question: Question, parts: Sequence[Part], dialect: str) -> str:
    """Return the text that says how many rows count."""
    tables = keys_tables(question, rows_select(question, parts, dialect), dialect)
    return text_of(tables, exp.select(exp.Count(this=exp.Star())).from_("rows_"), dialect)


def _by_cells(asked: SizesQuestion, parts: Sequence[Part], dialect: str) -> list[tuple[str, exp.Select]]:
    """Return what leads to ``voters``: the sum of each voter's cells."""
    question = asked.question
    tables = held_tables(question, parts, dialect, counted=asked.means)
    held = held_size(question, asked.top, dialect, means=asked.means)
    if question.user is None:
        return [*tables, ("voters", _voters(held, "held"))]
    period = exp.IntDiv(this=exp.column("cell"), expression=whole(question.places))
    by: list[Term] = [exp.column("person")] if asked.whole_person else [exp.column("person"), period]
    return [*tables, ("voters", _voters(exact_sum(held), "held").group_by(*by, copy=False))]


def _by_rows(asked: SizesQuestion, parts: Sequence[Part], dialect: str) -> list[tuple[str, exp.Select]]:
    """Return what leads to ``voters``: the mean of the sizes of each voter's rows that are not 0, rounded down."""
    question, steps = asked.question, exp.column("steps")
    tables = keys_tables(question, rows_select(question, parts, dialect), dialect)
    size = between(whole(0), exp.Abs(this=steps), whole(asked.top))
    if question.user is None:
        return [*tables, ("voters", _voters(size, "rows_"))]
    by = ["person"] if asked.whole_person else ["person", "period"]
    # Each row is within 64 bits, so their mean is; their sum need not be.
    rows = exp.select(*by, size.as_("size_")).from_("rows_").where(steps.copy().neq(whole(0)))
    count = wide(exp.Count(this=exp.Star()), dialect)
    mean = exp.IntDiv(this=wide(exact_sum(exp.column("size_")), dialect), expression=count)
    return [*tables, ("sizes", rows), ("voters", _voters(mean, "sizes").group_by(*by, copy=False))]


def _voters(total: Term, source: str) -> exp.Select:
    return exp.select(total.as_("total", copy=False), copy=False).from_(source, copy=False)
