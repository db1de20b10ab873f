"""People's records as the origin of a plan's numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from chronodp.engines import (
    BoundsReport,
    DuckDB,
    Engine,
    Progress,
    Question,
    ReadingCheck,
    Source,
    Spark,
    Totals,
    is_spark_frame,
)
from chronodp.engines.reading import check_reading
from chronodp.privacy import Calendar, Grid
from chronodp.series import Design, Plan, Quanta, Table, Workload, make_plan

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

    def plan(self, table: Table, *, epsilon: float, delta: float, tuned_for: Workload) -> Plan:
        """Return the plan with the least error, made here. Free, and reads no data."""
        return make_plan(table, self, epsilon=epsilon, delta=delta, tuned_for=tuned_for)

    def numbers(self, design: Design, *, key: str, progress: Progress) -> tuple[Quanta, ...]:
        """Return the exact numbers of each kind, in steps of their noise's grid, period by period."""
        question = self.question(design)
        totals = self.reader.totals(self.source, question, key=key, progress=progress)
        shape = (len(question.calendar), question.places)
        parts = tuple(part.reshape(shape) for part in numbers_of(totals, question, design))
        return tuple(_in_blocks(part, design.table) for part in parts)

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
        if table.calendar is None or measure.finished:
            raise AssertionError("records always have a calendar, and are not added up before")
        step = measure.row_step(design.noises[0].step)
        return Question(
            calendar=table.calendar,
            time=self.time,
            user=self.user,
            value=measure.read_column,
            grid=Grid(step),
            clip=measure.clip_in_quanta(step),
            groupings=table.groupings,
            edges=measure.bin_edges,
            # One row could move a choice of periods through the whole history, so only a whole person has one; a choice
            # of places moves within one period, which is more than one row may do.
            max_periods=table.max_periods if unit.whole_person else None,
            max_places=None if unit.of_rows else table.max_places,
            reading=check_reading(table.reading),
            squares=measure.squares_shift(design.noises),
        )


def numbers_of(totals: Totals, question: Question, design: Design) -> tuple[Quanta, ...]:
    """Return the numbers of each kind that a measure is made of, in steps of their noise's grid."""
    measure = design.table.measure
    return measure.numbers(totals, clip=question.clip, noises=design.noises)


def _in_blocks(numbers: Quanta, table: Table) -> Quanta:
    """Return what is made of each block of periods, where there are blocks."""
    block = table.measure.block
    return numbers if block is None else block.gather(numbers, table.blocks.starts, table.blocks.stops)
