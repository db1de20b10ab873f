"""What candidates for bounds would take away, capped for each voter: from which bounds are chosen privately.

Step 3 of "What is computed" in ``docs/explanation/proofs/finding.md``. All in whole numbers, the same on every engine.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from chronodp.engines.chosen import exact_sum, held_size, held_tables, text_of
from chronodp.engines.lengths import rounded_up_root, sum_of_squares, wide
from chronodp.engines.question import Question
from chronodp.engines.reading import Part
from chronodp.engines.rows import Term, whole

__all__ = ["LossesQuestion", "losses_of_rows", "losses_statement"]


@dataclass(frozen=True, slots=True)
class LossesQuestion:
    """What to add up.

    Attributes:
        question: whose cells, on which grid; its clip and limits do not matter.
        sizes: candidates for the largest size of a cell, in ascending steps.
        periods: candidates for how many periods of a person count.
        groups: candidates for in how many groups of a period a person counts.
        top: the most that a cell counts, in steps: at least the largest size.
        cap: the most that one voter adds to a loss, in steps.
        whole_person: whether a person is a voter, and not each of their periods.
        whole_series: whether sizes are candidates for the length to which a person's whole series is scaled, and not
            for cells; the candidates for periods and groups are then all of them.
        means: whether a cell is the mean of its rows, and not their sum.
    """

    question: Question
    sizes: tuple[int, ...]
    periods: tuple[int, ...]
    groups: tuple[int, ...]
    top: int
    cap: int
    whole_person: bool
    whole_series: bool = False
    means: bool = False

    @property
    def candidates(self) -> list[tuple[int, int, int]]:
        """Every candidate in the order of answers: periods, groups and size, the last changing first."""
        return list(itertools.product(self.periods, self.groups, self.sizes))

    def weighed(self, lost: int) -> int:
        """Return what a voter who loses so much adds: as much while it is small, then four times, up to the cap.

        It makes up for what the cap hides of those who lose most. Engines write the same formula.
        """
        return min(self.cap, lost + 3 * max(0, lost - self.cap // 10))


def losses_statement(asked: LossesQuestion, parts: Sequence[Part], dialect: str = "duckdb") -> str:
    """Return the text for the losses of all candidates: a row for each number of periods and groups.

    A person in m periods keeps min(k, m) / m of their clipped sizes, in expectation over the keyed choice, rounded
    down; and likewise of the groups of a period.
    """
    question = asked.question
    tables = held_tables(question, parts, dialect, counted=asked.means)
    held = exp.cast(held_size(question, asked.top, dialect, means=asked.means), "BIGINT", copy=False).as_(
        "size_", copy=False
    )
    limits = [("periods", asked.periods), ("groups_", asked.groups)]
    tables += [(f"candidates_{name}", _listed(name, numbers)) for name, numbers in limits]
    names = [f"kept_{index}" for index in range(len(asked.sizes))]
    if asked.whole_series:
        cells = exp.select("person", held, copy=False).from_("held", copy=False)
        return _answer(asked, [*tables, ("cells", cells), *_scaled(asked, names, dialect)], names, dialect)
    clipped: list[Term] = [_least(exp.column("size_"), whole(size)) for size in asked.sizes]
    if question.user is None:
        cells = exp.select(held, copy=False).from_("held", copy=False)
        kept = [term.as_(name, copy=False) for term, name in zip(clipped, names, strict=True)]
        voters = exp.select(exp.column("size_").as_("all_"), *kept, copy=False).from_("cells", copy=False)
        voters = voters.select("periods", "groups_", copy=False)
        voters = voters.join("candidates_periods", join_type="cross", copy=False)
        voters = voters.join("candidates_groups_", join_type="cross", copy=False)
        return _answer(asked, [*tables, ("cells", cells), ("voters", voters)], names, dialect)
    period = exp.IntDiv(this=exp.column("cell"), expression=whole(question.places)).as_("period")
    sums = [_sum(term).as_(name, copy=False) for term, name in zip(clipped, names, strict=True)]
    count = exp.cast(exp.Count(this=exp.Star()), "BIGINT")
    everything = _sum(exp.column("size_")).as_("all_", copy=False)
    by_period = exp.select("person", count.as_("held_groups"), everything, *sums, copy=False)
    in_groups = exp.select("person", "all_", "groups_", *_shares(names, "groups_", "held_groups"), copy=False)
    tables += [
        ("cells", exp.select("person", period, held, copy=False).from_("held", copy=False)),
        ("by_period", by_period.from_("cells", copy=False).group_by("person", "period", copy=False)),
        ("in_groups", _crossed(in_groups, "by_period", "candidates_groups_")),
    ]
    if asked.whole_person:
        totals = [_sum(exp.column(name)).as_(name, copy=False) for name in ("all_", *names)]
        by_person = exp.select("groups_", count.copy().as_("held_periods"), *totals, copy=False)
        by_person = by_person.from_("in_groups", copy=False).group_by("person", "groups_", copy=False)
        voters = exp.select("all_", "periods", "groups_", *_shares(names, "periods", "held_periods"), copy=False)
        tables.append(("by_person", by_person))
        tables.append(("voters", _crossed(voters, "by_person", "candidates_periods")))
    else:
        voters = exp.select("all_", "periods", "groups_", *names, copy=False)
        tables.append(("voters", _crossed(voters, "in_groups", "candidates_periods")))
    return _answer(asked, tables, names, dialect)


def losses_of_rows(asked: LossesQuestion, rows: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """Return the losses in the order of candidates from the answer of `losses_statement`."""
    found = {(periods, groups): lost for periods, groups, *lost in rows}
    nothing = [0] * len(asked.sizes)  # nobody has no rows
    pairs = itertools.product(asked.periods, asked.groups)
    return tuple(itertools.chain.from_iterable(found.get(pair, nothing) for pair in pairs))


def _scaled(asked: LossesQuestion, names: Sequence[str], dialect: str) -> list[tuple[str, exp.Select]]:
    """Return what leads to ``voters``: a person with Y in all and length √S keeps ⌊Y r / ⌈√S⌉⌋ of it by each r < √S."""
    size, squares, length, everything = (exp.column(name) for name in ("size_", "squares", "length_", "all_"))
    by_person = exp.select(_sum(size).as_("all_"), sum_of_squares(size, dialect).as_("squares")).from_("cells")
    root = exp.cast(exp.Ceil(this=exp.Sqrt(this=exp.cast(squares, "DOUBLE"))), "BIGINT")
    rooted = exp.select("all_", "squares", root.as_("root")).from_("by_person")
    exact = rounded_up_root(squares.copy(), exp.column("root"), dialect)
    # Nobody of length 0 is divided: they are kept whole.
    measured = exp.Greatest(this=exact, expressions=[whole(1)], ignore_nulls=True)
    kept = []
    for name, norm in zip(names, asked.sizes, strict=True):
        product = exp.paren(wide(everything.copy(), dialect) * wide(whole(norm), dialect))
        part = exp.cast(exp.IntDiv(this=product, expression=wide(length.copy(), dialect)), "BIGINT")
        fits = squares.copy() <= whole(norm**2)
        kept.append(exp.case().when(fits, everything.copy()).else_(part).as_(name))
    ((periods, groups, _), *_) = asked.candidates
    alike = [whole(periods).as_("periods"), whole(groups).as_("groups_")]
    return [
        ("by_person", by_person.group_by("person")),
        ("rooted", rooted),
        ("measured", exp.select("all_", "squares", measured.as_("length_")).from_("rooted")),
        ("voters", exp.select("all_", *alike, *kept).from_("measured")),
    ]


def _answer(asked: LossesQuestion, tables: list[tuple[str, exp.Select]], names: Sequence[str], dialect: str) -> str:
    lost = [exp.paren(exp.column("all_") - exp.column(name), copy=False).as_(name, copy=False) for name in names]
    losers = exp.select("periods", "groups_", *lost, copy=False).from_("voters", copy=False)
    sums = [exact_sum(_weighed(asked, exp.column(name))).as_(name, copy=False) for name in names]
    answer = exp.select("periods", "groups_", *sums, copy=False).from_("losers", copy=False)
    tables.append(("losers", losers))
    answer = answer.group_by("periods", "groups_", copy=False)
    return text_of(tables, answer, dialect)


def _crossed(select: exp.Select, source: str, candidates: str) -> exp.Select:
    """Return what is selected of each row of a source beside each candidate. Uses it up: there are many columns."""
    return select.from_(source, copy=False).join(candidates, join_type="cross", copy=False)


def _weighed(asked: LossesQuestion, lost: Term) -> Term:
    """The formula of `LossesQuestion.weighed`."""
    beyond = exp.Greatest(this=whole(0), expressions=[exp.paren(lost - asked.cap // 10, copy=False)], ignore_nulls=True)
    return _least(lost.copy() + exp.paren(beyond * 3), whole(asked.cap))


def _shares(names: Sequence[str], limit: str, held: str) -> list[Term]:
    """Return what is kept in expectation where at most ``limit`` of those held count, rounded down."""
    share = _least(exp.column(limit), exp.column(held))
    terms: list[Term] = []
    for name in names:
        kept = exp.IntDiv(this=exp.paren(exp.column(name) * share.copy()), expression=exp.column(held))
        terms.append(exp.Alias(this=kept, alias=exp.to_identifier(name)))
    return terms


def _listed(name: str, numbers: Sequence[int]) -> exp.Select:
    listed = exp.values([(number,) for number in numbers], alias="listed", columns=[name])
    return exp.select(exp.cast(exp.column(name), "BIGINT").as_(name)).from_(listed, copy=False)


def _least(one: Term, other: Term) -> Term:
    return exp.Least(this=one, expressions=[other], ignore_nulls=True)


def _sum(term: Term) -> Term:
    # The grid is so coarse that no such sum, times how many periods there are, leaves 64 bits.
    return exp.cast(exp.Sum(this=term.copy()), "BIGINT", copy=False)
