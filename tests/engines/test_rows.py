"""Rows that are weighed: every pair of small neighbours, for every unit, and what a wrong weight would do."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from chronodp.dataset import Records
from chronodp.dataset.records import numbers_of
from chronodp.engines import DuckDB, Grouping, Question, Record, find_source, reference_totals
from chronodp.engines.question import TALLIED, WIDEST_WEIGHED
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Grid, RecordUnit, User, UserPeriod, Window
from chronodp.privacy.units import Event
from chronodp.series import Design, EachPeriod, Measure, RowHistogram, RowMean, Table
from chronodp.series.planner import design_release
from tests.conftest import SCALE
from tests.engines.worlds import to_arrow

DAYS = Calendar("1D", "2026-01-01", "2026-01-03")
SHIFTED = Calendar("1D", "2026-01-01T06:00", "2026-01-03T06:00")  # a civil day cuts each of its periods
HOUR = 3_600_000_000
SIDES = Grouping("side", ("left", "right"))
LOW, HIGH = -1.0, 3.0
Numbers = NDArray[np.int64]
Rows = tuple[Record, ...]


def mean(at_most: int) -> RowMean:
    return RowMean("number", (LOW, HIGH), at_most)


def histogram(at_most: int) -> RowHistogram:
    return RowHistogram("number", (LOW, 0.0, 1.0, HIGH), at_most)


class World(NamedTuple):
    """A table with one person in it, whose rows are any of a few, and what is asked of it."""

    measure: Measure
    unit: RecordUnit
    calendar: Calendar = DAYS
    max_periods: int | None = None
    groups: int = 1
    max_groups: int = 1
    alone: bool = False

    def asked(self) -> tuple[Design, Question]:
        table = Table(
            self.measure, self.unit, len(self.calendar), self.calendar, (SIDES,) if self.groups == 2 else (),
            max_periods=self.max_periods, max_groups=self.max_groups, single_rows=self.alone,
        )  # fmt: skip
        design = design_release(table, epsilon=1.0, delta=0.0, tuned_for=EachPeriod())[0]
        return design, Records("", "at", None if self.alone else "who").question(design)

    def rows(self, most: int) -> list[Rows]:
        """Return every table of at most so many rows, at either end of what counts and beyond."""
        starts = [int(edge) for edge in self.calendar.edges[:-1]]
        moments = [start + part * HOUR for start in starts for part in ((1, 20) if self.calendar is SHIFTED else (1,))]
        values = (LOW, HIGH) if self.groups == 2 or self.calendar is SHIFTED else (LOW, 0.2, 1e300)
        keys = [(key,) for key in SIDES.keys] if self.groups == 2 else [()]
        kinds = [Record("ann", at, value, key) for at, value, key in itertools.product(moments, values, keys)]
        return [rows for count in range(most + 1) for rows in itertools.combinations_with_replacement(kinds, count)]


def honest(rows: Sequence[Record], design: Design, question: Question) -> Numbers:
    """Return what is released of one person's rows before noise, as a release makes it."""
    (numbers,) = numbers_of(reference_totals(rows, question, key="k"), question, design)
    return numbers


def neighbours(world: World, tables: Sequence[Rows]) -> Iterator[list[int]]:
    """Yield sets of tables any two of which are neighbours; under add and remove the first is of every other."""
    replaces = world.unit.relation == "replace"
    where = {rows: index for index, rows in enumerate(tables)}

    def sets(kept: Callable[[Record], bool]) -> Iterator[list[int]]:
        alike: dict[Rows, list[int]] = {}
        for rows, index in where.items():
            alike.setdefault(tuple(row for row in rows if kept(row)), []).append(index)
        for rest, among in alike.items():
            yield [where[rest], *among]

    if isinstance(world.unit, Event):
        for rest in tables:
            # Every table that has one row more than this one.
            grown = [index for rows, index in where.items() if len(rows) == len(rest) + 1 and _without(rows, rest)]
            yield grown if replaces else [where[rest], *grown]
    elif isinstance(world.unit, User):
        yield from sets(lambda _: False)
    else:
        edges = [int(edge) for edge in world.calendar.edges]
        if isinstance(world.unit, UserPeriod):
            edges = [int(edge) for edge in world.calendar.civil_edges(world.unit.every)]
        for low, high in itertools.pairwise(edges):
            yield from sets(lambda row, low=low, high=high: not low <= (row.instant or 0) < high)  # type: ignore[misc]


def _without(rows: Rows, rest: Rows) -> bool:
    return any(rows[:index] + rows[index + 1 :] == rest for index in range(len(rows)))


Make = Callable[[Sequence[Record], Design, Question], Numbers]


def worst(world: World, most: int, make: Make = honest) -> tuple[float, float]:
    """Return the largest change of all neighbours over the stated one, in l1 and in l2, in exact numbers."""
    design, question = world.asked()
    tables = world.rows(most)
    numbers = np.array([make(rows, design, question) for rows in tables])
    l1 = l2 = 0
    for among in neighbours(world, tables):
        some = numbers[among[:1] if world.unit.relation == "add_remove" else among]
        for one in some:
            change = np.abs(numbers[among] - one)
            l1, l2 = max(l1, int(change.sum(axis=1).max())), max(l2, _squares(change))
    (stated,) = design.table.sensitivities()
    step = design.noises[0].step
    return l1 * step / stated.l1, float(Fraction(l2) ** Fraction(1, 2)) * step / stated.l2


def _squares(change: Numbers) -> int:
    return int((change.astype(float) ** 2).sum(axis=1).max())


RELATIONS = ("add_remove", "replace")
WORLDS = [
    World(make(weight), unit, *more)
    for relation in RELATIONS
    for make in (mean, histogram)
    for weight, unit, *more in (
        (1, User(relation), DAYS, 1),  # type: ignore[arg-type]
        (2, User(relation), DAYS, 2),  # type: ignore[arg-type]
        (1, User(relation), DAYS, 2, 2, 1),  # type: ignore[arg-type]
        (1, User(relation), DAYS, 1, 2, 2),  # type: ignore[arg-type]
        (2, UserPeriod("1D", relation), DAYS),  # type: ignore[arg-type]
        (2, Window(1, relation), DAYS, None, 2, 2),  # type: ignore[arg-type]
        (2, UserPeriod("1D", relation), SHIFTED),  # type: ignore[arg-type]
        (1, Event(relation), DAYS),  # type: ignore[arg-type]
        (1, Event(relation), DAYS, None, 2, 1),  # type: ignore[arg-type]
        (1, Event(relation), DAYS, None, 1, 1, True),  # type: ignore[arg-type]
    )
]


def named(world: World) -> str:
    kind, most = world.measure.to_question()["kind"], world.measure.to_question()["at_most"]
    cut = " cut" if world.calendar is SHIFTED else ""
    return f"{kind} {most} {world.unit} {world.max_periods} {world.max_groups}/{world.groups}{cut} {world.alone}"


# Each kind of table beside both relations and both measures; all units with all measures are met among neighbours.
SOME = [world for turn, world in enumerate(WORLDS) if SCALE >= 1 or (turn // 20 + turn // 10 + turn) % 2 == 0]


@pytest.mark.parametrize("world", SOME, ids=named)
@pytest.mark.slow
def test_no_neighbours_differ_by_more_than_is_stated_and_some_by_all_of_it(world: World) -> None:
    l1, l2 = worst(world, 4)
    assert max(l1, l2) <= 1 + 1e-12
    if world.calendar is not SHIFTED:
        assert min(l1, l2) > 1 - 1e-6  # up to what a grid rounds away


def test_cells_that_units_share_change_by_twice_the_weight() -> None:
    """Days that cut the periods: what one of them holds can carry all weight from one end of the clip to the other."""
    world = World(mean(2), UserPeriod("1D"), SHIFTED)
    aligned = World(mean(2), UserPeriod("1D"), DAYS)
    (cut,), (whole,) = (one.asked()[0].table.sensitivities() for one in (world, aligned))
    assert (whole.l1, cut.l1) == (2 * 4.0, 2 * 2 * 2 * 4.0)  # two periods, and each replaced


def by_hand(
    rows: Sequence[Record],
    question: Question,
    *,
    beside: Callable[[Record, Record], bool],
    clipped: Literal["rows", "totals", "nothing"] = "rows",
    up: bool = False,
) -> Numbers:
    """Return the two sums of a mean in the plainest way; ``beside`` are the rows with which one shares its weight."""
    low, high = question.clip
    most, cells = question.rows or 1, len(question.calendar)
    above: dict[int, Fraction] = dict.fromkeys(range(cells), Fraction(0))
    weight: dict[int, Fraction] = dict.fromkeys(range(cells), Fraction(0))
    for row in rows:
        steps = round((row.number or 0.0) / question.grid.step)
        share = min(Fraction(1), Fraction(most, sum(beside(row, other) for other in rows)))
        period = int(np.searchsorted(question.calendar.edges, row.instant or 0, side="right")) - 1
        above[period] += share * (min(max(steps, low), high) - low if clipped == "rows" else steps - low)
        weight[period] += share
    found = []
    for cell in range(cells):
        if clipped == "totals":
            above[cell] = min(max(above[cell], Fraction(0)), Fraction(most * (high - low)))
        below = weight[cell] * (high - low) - above[cell]
        rounded = [-(-part // 1) if up else part // 1 for part in (above[cell], below)]
        found += [rounded[0], rounded[1] if up else round(weight[cell] * (high - low)) - rounded[0]]
    return np.array([int(part) for part in found])


def same_day(row: Record, other: Record) -> bool:
    return (row.instant or 0) // (24 * HOUR) == (other.instant or 0) // (24 * HOUR)


class TestWrongWeightsAreCaught:
    """The same enumeration finds what goes wrong when a weight looks at too much, or a bound is forgotten."""

    def test_the_plainest_way_gives_the_same(self) -> None:
        world = World(mean(2), User(), DAYS, 2)
        design, question = world.asked()
        for rows in world.rows(4):
            assert (honest(rows, design, question) == by_hand(rows, question, beside=same_day)).all()

    def test_weights_by_the_whole_history_under_a_period(self) -> None:
        world = World(mean(1), UserPeriod("1D"), DAYS)
        found = worst(world, 4, lambda rows, _, ask: by_hand(rows, ask, beside=lambda *_: True))
        assert max(found) == pytest.approx(1.5, abs=1e-6)  # one row of a day beside three of another

    def test_one_busy_day_would_shrink_all_others(self) -> None:
        # Eight rows of one day beside one on each of four others, with the weight of four: 16/3 where 4 are claimed.
        def weights(counts: list[int]) -> list[Fraction]:
            return [min(Fraction(1), Fraction(4, max(1, sum(counts)))) * count for count in counts]

        with_it, without = weights([8, 1, 1, 1, 1]), weights([0, 1, 1, 1, 1])
        assert sum(abs(one - other) for one, other in zip(with_it, without, strict=True)) == Fraction(16, 3)

    @pytest.mark.parametrize("make", [mean, histogram])
    def test_weights_under_events(self, make: Callable[[int], Measure]) -> None:
        world = World(make(1), Event(), DAYS)
        assert world.asked()[1].user is None

        def weighed(most: int) -> float:
            """Return what a row would change if it shared the weight of so many with its person's others."""

            def wrong(rows: Sequence[Record], design: Design, ask: Question) -> Numbers:
                return honest(rows, design, replace(ask, user="who", rows=most))

            return max(worst(world, 4, wrong))

        # A row that comes third takes the others' weight from 2 to 4/3; the weight of 1 alone would be no wrong.
        assert [weighed(most) for most in (1, 2, 3)] == pytest.approx([1.0, 4 / 3, 3 / 2], abs=1e-6)

    def test_rows_that_are_not_clipped(self) -> None:
        world = World(mean(1), User(), DAYS, 1)

        def wide(rows: Sequence[Record], design: Design, ask: Question) -> Numbers:
            del design
            fewer = [replace(row, number=min(row.number or 0.0, 9.0)) for row in rows]
            return by_hand(fewer, ask, beside=same_day, clipped="nothing")

        assert max(worst(world, 3, wide)) > 1.5

    def test_totals_clipped_in_place_of_rows(self) -> None:
        world = World(mean(2), User(), DAYS, 2)

        def totals(rows: Sequence[Record], design: Design, ask: Question) -> Numbers:
            del design
            fewer = [replace(row, number=min(row.number or 0.0, 99.0)) for row in rows]
            return by_hand(fewer, ask, beside=same_day, clipped="totals")

        assert max(worst(world, 2, totals)) == pytest.approx(1.5, abs=1e-6)  # one row, with what two may have

    def test_both_sums_rounded_up(self) -> None:
        world = World(mean(2), User(), DAYS, 1)
        design, question = world.asked()
        (stated,) = design.table.sensitivities()
        most = Fraction(stated.l1) / Fraction(question.grid.step)
        changes = [int(by_hand(rows, question, beside=same_day, up=True).sum()) for rows in world.rows(3)]
        assert max(changes) > most >= max(int(honest(rows, design, question).sum()) for rows in world.rows(3))


def test_more_groups_than_count_are_left_out_with_all_their_bins() -> None:
    world = World(histogram(2), User(), DAYS, 1, 2, 1)
    design, question = world.asked()
    at = int(DAYS.edges[0]) + HOUR
    rows = [Record("ann", at, value, (side,)) for value in (LOW, 0.5) for side in SIDES.keys]
    numbers = honest(rows, design, question).reshape(2, 2, 3) * question.grid.step
    assert sorted(numbers[0].sum(axis=1).tolist()) == [0.0, 2.0]
    assert sorted(numbers[0].max(axis=0).tolist()) == [0.0, 1.0, 1.0]


def test_the_weights_that_the_owner_sees() -> None:
    at = int(DAYS.edges[0]) + HOUR
    rows = [Record(who, at, value) for who, value in [("ann", 0.5), ("ann", 2.0), ("ann", 2.5), ("bo", 0.5)]]
    source = find_source(to_arrow(rows))
    for make in (mean, histogram):
        question = World(make(2), User(), DAYS, 1).asked()[1]
        found = DuckDB().tally(source, question, key="k")
        assert found.weighed
        assert (found.people, found.before) == (2, 4.0)
        assert found.clipped == found.kept == pytest.approx(3.0, abs=2 / TALLIED)


def test_refuses_what_64_bits_could_not_hold() -> None:
    wide = Question(DAYS, "at", "who", "number", Grid(1.0), (0, WIDEST_WEIGHED // 2), rows=2)
    assert wide.rows == 2
    with pytest.raises(InvalidArgument, match="clip must be at most"):
        replace(wide, rows=3)
    with pytest.raises(InvalidArgument, match="clip must be at most"):
        replace(wide, grid=Grid(2.0**-29), edges=(0.0, 1.0), rows=4)
