"""People's records as the origin of a plan's numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from chronodp.engines import (
    Booked,
    BoundsReport,
    Derived,
    DuckDB,
    Engine,
    HeldKeys,
    KeysQuestion,
    LifeQuestion,
    LossesQuestion,
    MissingQuestion,
    Progress,
    Question,
    ReadingCheck,
    Sizes,
    SizesQuestion,
    Source,
    Spark,
    Tally,
    Totals,
    WholePrice,
    derived_as,
    is_spark_frame,
)
from chronodp.engines.reading import check_reading
from chronodp.privacy import Calendar, Grid
from chronodp.series import (
    Design,
    Discover,
    DiscoverDesign,
    DiscoverPlan,
    Find,
    FindPlan,
    Plan,
    Quanta,
    QuantilePlan,
    Table,
    Terms,
    make_discover_plan,
    make_find_plan,
    make_plan,
    make_quantile_plan,
    voters_of,
)
from chronodp.series.finding import Joint, Scale, Typical

__all__ = ["Records", "numbers_of"]


@dataclass(frozen=True, slots=True)
class Records:
    """A source and which of its columns are what. The data is never printed.

    Without an engine, Spark frames are read by Spark and all else by DuckDB.
    """

    data: object = field(repr=False)
    time: str
    user: str | None
    engine: Engine | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return str(self.source)

    @property
    def source(self) -> Source:
        """The source, looked for only now: a plan may be made before its file exists."""
        return self.reader.find(self.data)

    @property
    def reader(self) -> Engine:
        """What reads the data."""
        if self.engine is not None:
            return self.engine
        return Spark() if is_spark_frame(self.data) else DuckDB()

    def plan(self, table: Table, **terms: Unpack[Terms]) -> Plan:
        """Return the plan with the least error, made here. Free, and reads no data."""
        return make_plan(table, self, **terms)

    def find_plan(self, table: Table, finds: Mapping[str, Find], **terms: Unpack[Terms]) -> FindPlan:
        """Return the plan that finds these bounds first. Free, and reads no data."""
        return make_find_plan(table, finds, self, **terms)

    def discover_plan(self, table: Table, discover: Discover, **terms: Unpack[Terms]) -> DiscoverPlan:
        """Return the plan that finds keys first. Free, and reads no data."""
        return make_discover_plan(table, discover, self, **terms)

    def quantile_plan(self, table: Table, **terms: Unpack[Terms]) -> QuantilePlan:
        """Return the plan of quantiles with the least error. Free, and reads no data."""
        return make_quantile_plan(table, self, **terms)

    def here(self) -> Records:
        """Return the records themselves: lives are booked on this machine."""
        return self

    def held_keys(self, design: DiscoverDesign, *, key: str) -> HeldKeys:
        """Return who holds which key, bounded; nobody may see it."""
        table, rows_apart = design.table.periods, design.table.unit.of_rows
        public = tuple(grouping for grouping in table.groupings if not grouping.found)
        question = replace(
            self._question(table, Grid(1.0)), user=self.user, value=None, edges=(), groupings=public, columns=()
        )
        whole = rows_apart or design.blocks.of_periods is None
        asked = KeysQuestion(
            replace(question, columns=_used(table, (design.column, *(one.column for one in public)))),
            design.column,
            design.chosen,
            choose_by_period=not whole,
            blocks=None if whole else design.blocks.of_periods,
            rows_apart=rows_apart,
            longest=design.discover.longest,
        )
        return self.reader.held_keys(self.source, asked, key=key)

    def sizes(self, scale: Scale | Typical) -> Sizes:
        """Return how much voters hold, counted by the sizes of a scale, which nobody may see."""
        question, of_rows = self._sized(scale.table, scale.grid), isinstance(scale, Typical)
        if of_rows:
            question = replace(question, edges=())  # there are none yet: values themselves are read
        asked = SizesQuestion(
            question,
            scale.sizes,
            scale.top,
            voters_of(scale.table).whole_person,
            means=_of_means(scale.table),
            rows=of_rows,
        )
        return self.reader.sizes(self.source, asked)

    def losses(self, joint: Joint) -> tuple[int, ...]:
        """Return what each candidate for bounds would take away, which nobody may see."""
        question = self._sized(joint.table, joint.grid)
        asked = LossesQuestion(
            question,
            joint.sizes,
            joint.periods,
            joint.groups,
            joint.top,
            joint.cap,
            voters_of(joint.table).whole_person,
            whole_series=joint.table.measure.norm is not None,
            means=_of_means(joint.table),
        )
        return self.reader.losses(self.source, asked)

    def numbers(self, design: Design, *, key: str, progress: Progress) -> tuple[Quanta, ...]:
        """Return the exact numbers of each kind, in steps of their noise's grid, period by period."""
        if not design.table.places:  # no key was found
            return tuple(np.zeros((design.table.horizon, 0), np.int64) for _ in design.noises)
        question = self.question(design)
        totals = self.reader.totals(self.source, question, key=key, progress=progress)
        shape, lead = (len(question.calendar), design.table.periods.places), design.table.window - 1
        parts = tuple(part.reshape(shape)[lead:] for part in numbers_of(totals, question, design))
        return tuple(_in_blocks(part, design.table) for part in parts)

    def book(
        self, design: Design, price: WholePrice, tally: Tally, *, salt: str, key: str, progress: Progress
    ) -> tuple[tuple[Quanta, ...], Booked]:
        """Return the exact numbers of an issue as far as lives go, and what each person pays, which nobody may see."""
        if design.life is None:
            raise AssertionError("used with issues of a lifetime series only")
        question = replace(self.question(design), max_periods=None)  # a life limits, and nothing else
        asked = LifeQuestion(question, design.life.shares, price, salt)
        booked = self.reader.book(self.source, asked, tally, key=key, progress=progress)
        shape = (len(question.calendar), design.table.places)
        return tuple(part.reshape(shape) for part in numbers_of(booked.totals, question, design)), booked

    def missing(self, design: Design, *, key: str) -> Quanta:
        """Return what bounds take away, in steps of its noise's grid, and how many reach beyond."""
        figure, question = design.missing, self.question(design)
        if figure is None:
            raise AssertionError("asked where the figure is released only")
        if not figure.noises:  # nothing can be missing
            return np.zeros(0, np.int64)
        step = question.grid.step
        asked = MissingQuestion(
            question,
            top=math.floor(figure.top / step),
            cap=math.floor(figure.cap / step),
            whole_person=voters_of(design.table).whole_person,
            beyond=len(figure.noises) > 1,
        )
        lost, beyond = self.reader.missing(self.source, asked, key=key)
        first, *others = figure.noises
        # Down to the grid of the noise, which is as coarse or coarser: both are powers of two.
        coarser = round(first.step / step)
        return np.array([lost // coarser, *(round(beyond / noise.step) for noise in others)], np.int64)

    def look(self, design: Design) -> ReadingCheck:
        """Return how the source is read, for the owner only."""
        return self.reader.look(self.source, self.question(design))

    def tally(self, design: Design, *, key: str, progress: Progress) -> BoundsReport:
        """Return what the bounds take away, for the owner only."""
        return self.reader.tally(self.source, self.question(design), key=key, progress=progress)

    def moved(self, data: object, table: Table, *, start: Any, end: Any) -> tuple[Records, Table]:
        """Return the same question about other data and another stretch of time."""
        old = table.periods.calendar
        if old is None or table.calendar is None:
            raise AssertionError("records always have a calendar")
        first = old.start if start is None else start
        last = old.end if end is None else end
        calendar = Calendar(old.every, first, last, old.timezone)
        moved = table.periods.moved_to(len(calendar), calendar)
        if table.measure.block is not None:
            moved = moved.in_blocks(table.measure.block.statistic, table.calendar.every)
        return replace(self, data=data), moved

    def question(self, design: Design) -> Question:
        """Return what the engine is asked."""
        table = design.table.periods
        measure, unit = table.measure, table.unit
        step = measure.row_step(design.noises[0].step)
        return replace(
            self._question(table, Grid(step)),
            clip=measure.clip_in_quanta(step),
            # One row could move a choice of periods through the whole history, so only a whole person has one; a choice
            # of places moves within one period, which is more than one row may do.
            max_periods=table.max_periods if unit.whole_person else None,
            max_places=None if unit.of_rows or measure.norm is not None else table.max_places,
            squares=measure.squares_shift(design.noises),
            rows=measure.row_weight,
            norm=measure.norm_in_quanta(step),
            window=None if measure.presence is None else table.window,
            max_stays=None if measure.presence is None else measure.presence.max_stays,
        )

    def _sized(self, table: Table, grid: Grid) -> Question:
        """Return a question about the sizes of all that people have."""
        return replace(self._question(table, grid), row_limit=2**62)

    def _question(self, table: Table, grid: Grid) -> Question:
        """Return a question about all that people have, on a grid, unbounded."""
        if table.read is None or table.measure.finished:
            raise AssertionError("records always have a calendar, and are not added up before")
        return Question(
            calendar=table.read,
            time=self.time,
            user=None if table.rows_apart else self.user,
            value=table.measure.read_column,
            grid=grid,
            clip=(0, 1),
            groupings=table.groupings,
            edges=table.measure.bin_edges,
            reading=check_reading(table.reading),
            where=table.where,
            columns=table.columns or (),
            scaling=table.scaling,
        )


def _of_means(table: Table) -> bool:
    """Return whether people's rows in a cell count together as one of them, so that it is as large as their mean."""
    return table.measure.row_weight == 1 and not table.measure.bin_edges


def _used(table: Table, names: tuple[str, ...]) -> tuple[Derived, ...]:
    """Return the derived columns among these."""
    return tuple(one for one in table.columns or () if any(derived_as([one], name) for name in names))


def numbers_of(totals: Totals, question: Question, design: Design) -> tuple[Quanta, ...]:
    """Return the numbers of each kind that a measure is made of, in steps of their noise's grid."""
    measure = design.table.measure
    return measure.numbers(totals, clip=question.clip, noises=design.noises)


def _in_blocks(numbers: Quanta, table: Table) -> Quanta:
    """Return what is made of each block of periods, where there are blocks."""
    block = table.measure.block
    return numbers if block is None else block.gather(numbers, table.blocks.starts, table.blocks.stops)
