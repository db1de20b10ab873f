"""What is declared of a table: its measure, its periods and its groups, and how many numbers that makes."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

from chronodp.engines import Derived, Grouping, Reading, Scaling
from chronodp.privacy import LATER, Calendar, Contribution
from chronodp.privacy.units import RecordUnit
from chronodp.series.measures import Measure
from chronodp.series.places import PlaceLevels
from chronodp.series.windows import Windows, coarser

__all__ = ["DeclaredTable"]

_LENGTHS = {"1min": "minute", "1h": "hour", "1D": "day", "1W": "week", "1mo": "month", "1Y": "year"}


@dataclass(frozen=True)
class DeclaredTable:
    """What the owner declares of the table that is released, and whom its numbers are about.

    Attributes:
        measure: what is released of each period and group.
        unit: who is protected, as it was written.
        horizon: how many periods.
        calendar: when they are; None if they are only numbered.
        groupings: columns that split it, with their public keys.
        max_periods: how many periods of one person count, for `User`.
        max_groups: in how many groups one person counts within a period.
        single_rows: whether every row stands for itself, there being no person.
        reading: what the owner declared about how cells are written; None for nothing.
        where: which rows count, as an expression over one row; None for all.
        columns: columns made of others that it names; None for none.
        levels: the public tree over the keys of one grouping, all of whose levels are released; None for none.
    """

    measure: Measure
    unit: RecordUnit
    horizon: int
    calendar: Calendar | None = None
    groupings: tuple[Grouping, ...] = ()
    max_periods: int | None = None
    max_groups: int = 1
    single_rows: bool = False
    reading: Reading | None = field(default=None, metadata=LATER)
    where: str | None = field(default=None, metadata=LATER)
    columns: tuple[Derived, ...] | None = field(default=None, metadata=LATER)
    levels: PlaceLevels | None = field(default=None, metadata=LATER)

    @cached_property
    def periods(self) -> Self:
        """The table of the periods that blocks are made of; of other measures the table itself."""
        block = self.measure.block
        if block is None:
            return self
        return replace(self, measure=block.of, horizon=len(block.calendar), calendar=block.calendar)

    @cached_property
    def blocks(self) -> Windows:
        """Which periods each block is made of."""
        block = self.measure.block
        if self.calendar is None or block is None:
            raise AssertionError("asked of blocks only")
        return coarser(block.calendar, self.calendar.every)

    @property
    def window(self) -> int:
        """For how many periods an active one makes a person present: 1 where each period is counted by itself."""
        present = self.measure.presence
        return 1 if present is None or self.calendar is None else present.periods_on(self.calendar)

    @cached_property
    def read(self) -> Calendar | None:
        """The periods whose rows are read: those of `periods`, and before them as many as a window reaches back."""
        calendar = self.periods.calendar
        return None if calendar is None else calendar.earlier(self.window - 1)

    @property
    def span(self) -> tuple[dt.datetime, dt.datetime] | None:
        """When its data begin and end, also such as lie before the first period; None if periods are only numbered."""
        if self.calendar is None:
            return None
        return self.calendar.span if self.read is None else (self.read.span[0], self.calendar.span[1])

    @property
    def released(self) -> str:
        """What is released, in plain words."""
        return self.measure.words_alone() if self.rows_apart else self.measure.words(self.unit.called)

    @property
    def computed(self) -> str:
        """Which rows count and how columns are made of others, in words; empty if all do and none is."""
        parts = [] if self.where is None else [f"rows where {self.where}"]
        return "; ".join([*parts, *(str(one) for one in self.columns or ())])

    @property
    def label(self) -> str:
        """What its numbers are, in a word."""
        return self.measure.label_for(self.unit.called)

    @property
    def per(self) -> str:
        """Of what a number is, where it is of one, such as "row", or "person and day"; "" where it adds up."""
        each = self.measure.each
        if not each or (self.rows_apart and self.measure.row_weight is not None):
            return "row" if each else ""
        calendar = self.periods.calendar
        period = "period" if calendar is None else _LENGTHS.get(calendar.every, f"period of {calendar.every}")
        return each.replace("person", self.unit.called or "person").replace("period", period, 1)

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return math.prod(len(grouping.keys) for grouping in self.groupings)

    @cached_property
    def scaling(self) -> Scaling | None:
        """What part of the widest clip each key's own is, by which its numbers are divided; None for one clip."""
        clips = self.measure.clips
        return None if clips is None else clips.scaling(self.groupings)

    @cached_property
    def scales(self) -> tuple[float, ...] | None:
        """The same for each group, of keys of all columns."""
        return None if self.scaling is None else self.scaling.of_groups(self.groupings)

    @property
    def finds_keys(self) -> bool:
        """Whether a private step finds keys of it: there may be fewer than one person has, or none."""
        return any(grouping.found for grouping in self.groupings)

    @property
    def places(self) -> int:
        """How many numbers of each kind a period has."""
        return self.groups * self.measure.bins

    @property
    def kinds(self) -> int:
        """How many numbers are stored of each place: a mean has its sum and its people."""
        return 1 if self.measure.norm is not None else len(self._of_people)

    @cached_property
    def _of_people(self) -> tuple[Contribution, ...]:
        """What one person can do to each number of a cell."""
        return self.measure.contributions()

    @property
    def cells(self) -> int:
        """How many numbers are stored of all periods and places."""
        return self.horizon * self.places * self.kinds

    @property
    def max_places(self) -> int:
        """In how many places one person counts within a period."""
        return self.max_groups * self.measure.bins_of_one

    @property
    def places_touched(self) -> int:
        """In how many places one person can change anything within a period."""
        return self.max_groups * self.measure.bins_touched

    @property
    def rows_apart(self) -> bool:
        """Whether rows are added up one by one: they stand for themselves, or single rows are protected and weighed.

        With a person's other rows in its weight, one row would change theirs.
        """
        return self.single_rows or (self.unit.of_rows and self.measure.row_weight is not None)
