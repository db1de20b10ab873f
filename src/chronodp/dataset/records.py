"""People's records as the origin of a plan's numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from chronodp.engines import (
    DuckDB,
    Engine,
    Progress,
    Question,
    ReadingCheck,
    Source,
    Spark,
    Tally,
    Totals,
    is_spark_frame,
)
from chronodp.engines.reading import check_reading
from chronodp.privacy import Calendar, Grid
from chronodp.series import Blocks, Count, Design, Histogram, Mean, Plan, Steps, Table, Total, Workload, make_plan

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

    def numbers(self, design: Design, *, key: str, progress: Progress) -> tuple[Steps, ...]:
        """Return the exact numbers of each kind, in steps of their noise's grid, period by period."""
        question = self.question(design)
        totals = self.reader.totals(self.source, question, key=key, progress=progress)
        shape = (len(question.calendar), question.places)
        parts = tuple(part.reshape(shape) for part in numbers_of(totals, question, design))
        return tuple(_in_blocks(part, design.table) for part in parts)

    def look(self, design: Design) -> ReadingCheck:
        """Return how the source is read, for the owner only."""
        return self.reader.look(self.source, self.question(design))

    def tally(self, design: Design, *, key: str, progress: Progress) -> Tally:
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
        if isinstance(table.measure, Blocks):
            moved = moved.in_blocks(table.measure.statistic, table.calendar.every)
        return replace(self, data=data), moved

    def question(self, design: Design) -> Question:
        """Return what the engine is asked."""
        table = design.table.periods
        measure, unit = table.measure, table.unit
        if table.calendar is None or isinstance(measure, Total | Blocks):
            raise AssertionError("records always have a calendar, and periods are neither totals nor blocks")
        step = design.noises[0].step * (2 if isinstance(measure, Mean) else 1)
        if isinstance(measure, Count | Histogram):
            clip = (0, round((measure.at_most if isinstance(measure, Count) else 1) / step))
        else:
            clip = _inside(measure.clip, step)
        return Question(
            calendar=table.calendar,
            time=self.time,
            user=self.user,
            value=None if isinstance(measure, Count) else measure.column,
            grid=Grid(step),
            clip=clip,
            groupings=table.groupings,
            edges=measure.edges if isinstance(measure, Histogram) else (),
            # One row could move a choice of periods through the whole history, so only a whole person has one; a choice
            # of places moves within one period, which is more than one row may do.
            max_periods=table.max_periods if unit.whole_person else None,
            max_places=None if unit.of_rows else table.max_places,
            reading=check_reading(table.reading),
        )


def numbers_of(totals: Totals, question: Question, design: Design) -> tuple[Steps, ...]:
    """Return the numbers of each kind that a measure is made of, in steps of their noise's grid."""
    if not isinstance(design.table.measure, Mean):
        return (totals.sums,)
    # Twice the sum less (low + high) for each person: the sum about the middle, in half steps.
    centred = 2 * totals.sums - sum(question.clip) * totals.people
    return centred, totals.people * round(1 / design.noises[1].step)


def _in_blocks(numbers: Steps, table: Table) -> Steps:
    """Return the total, the largest or the least of each block of periods; whole numbers, so nothing is rounded."""
    measure = table.measure
    if not isinstance(measure, Blocks):
        return numbers
    # Blocks follow each other without a gap; what comes after the last one belongs to none.
    within, starts = numbers[: table.blocks.stops[-1]], table.blocks.starts
    match measure.statistic:
        case "total":
            return np.add.reduceat(within, starts, axis=0)
        case "peak":
            return np.maximum.reduceat(within, starts, axis=0)
        case "trough":
            return np.minimum.reduceat(within, starts, axis=0)


def _inside(clip: tuple[float, float], step: float) -> tuple[int, int]:
    """Return the outermost steps that are not beyond the clip; toward 0 if none lies inside."""
    low, high = math.ceil(clip[0] / step), math.floor(clip[1] / step)
    return (low, high) if low <= high else (math.trunc(clip[0] / step),) * 2
