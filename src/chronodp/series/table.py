"""The table that is released: what of each period, whom its numbers are about, and how far one unit moves them.

The declared things that a plan's design is computed from, *Argument* in ``docs/explanation/proofs/release.md``.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from chronodp.engines import Derived, Grouping, Reading, check_where, expressions_of
from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    LATER,
    LONGEST,
    Blocking,
    Bounds,
    Calendar,
    Contribution,
    Sensitivity,
    block_extremes,
    block_totals,
    check_whole,
    document,
    of_scaled,
    per_period,
)
from chronodp.privacy.units import PeriodBlocks, RecordUnit, check_record_unit
from chronodp.series.measures import Blocks, Measure, Statistic
from chronodp.series.shapes.candidates import shaped_sensitivity
from chronodp.series.shapes.reach import above
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shaping import ReleasedShape
from chronodp.series.windows import Windows, coarser

__all__ = ["Table"]


@document("table")
@dataclass(frozen=True)
class Table:
    """The table that is released, and whom its numbers are about.

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

    def __post_init__(self) -> None:
        check_whole("horizon", self.horizon, most=LONGEST)
        if self.calendar is not None and len(self.calendar) != self.horizon:
            raise InvalidArgument("horizon", self.horizon, f"the {len(self.calendar)} periods of the calendar")
        check_record_unit("unit", self.unit)
        check_whole("max_groups", self.max_groups, most=None if self.finds_keys else self.groups)
        self._check_norm()
        if self.horizon * self.places > LONGEST:
            raise InvalidArgument(
                "groups",
                f"{self.horizon * self.places:,} cells",
                f"few enough for at most {LONGEST:,} cells (periods × groups × bins): fewer keys or longer periods",
            )
        if self.measure.divisor is not None and self.unit.relation != "replace":
            raise InvalidArgument(
                "people",
                self.measure.divisor,
                f"left out, or the unit's relation 'replace': when people come and go ({self.unit}) their number is no "
                "public fact",
            )
        if self.rows_apart and self.measure.row_weight not in (None, 1):
            allowed = f"1 or left out for {self.unit}: every row counts in full there"
            raise InvalidArgument("at_most", self.measure.row_weight, allowed)
        self._check_expressions()
        _ = self.bounds, self.claimed

    def _check_norm(self) -> None:
        """Refuse a bound on whole series where not whole people are protected, or limits beside it."""
        if self.measure.norm is None:
            return
        if not self.unit.whole_person:
            allowed = (
                f"left out for {self.unit}: its factor looks at the whole history, so one day would move all others; "
                "it is for User(), others take a clip"
            )
            raise InvalidArgument("bound", "Norm(...)", allowed)
        if self.finds_keys:
            allowed = "a clip where keys are found; or find them with a count, and use release.keys"
            raise InvalidArgument("bound", "Norm(...)", allowed)
        if self.max_periods is not None or self.max_groups != self.groups:
            raise InvalidArgument("bound", "Norm(...)", "without max_periods and max_groups: all of a person counts")

    def _check_expressions(self) -> None:
        """Refuse a filter that is none, and derived columns that cannot be what they are named for."""
        if self.columns == ():
            raise InvalidArgument("columns", (), "left out where there are none")
        derived = self.columns or ()
        check_where(self.where, derived)
        groups = tuple(grouping.column for grouping in self.groupings)
        expressions_of(self.where, derived, self.periods.measure.read_column, groups)

    def moved_to(self, horizon: int, calendar: Calendar | None) -> Table:
        """Return the same table of other periods; a limit of more periods than there are means all of them."""
        periods = None if self.max_periods is None else min(self.max_periods, horizon)
        return replace(self, horizon=horizon, calendar=calendar, max_periods=periods)

    def in_blocks(self, statistic: Statistic, every: str) -> Table:
        """Return the table of a total, peak or trough of every longer period; a last one not filled is left out."""
        if self.calendar is None:
            raise InvalidArgument("every", every, "used only where periods have dates")
        if not self.measure.in_blocks:
            raise InvalidArgument(statistic, str(self.measure), "asked of a count or a sum")
        outer = coarser(self.calendar, every)
        calendar = Calendar.from_length(every, self.calendar.start, len(outer.starts), self.calendar.timezone)
        measure = Blocks(statistic, self.measure, self.calendar)
        return replace(self, measure=measure, horizon=len(calendar), calendar=calendar)

    @cached_property
    def periods(self) -> Table:
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
    def span(self) -> tuple[dt.datetime, dt.datetime] | None:
        """When its data begin and end; None if periods are only numbered."""
        return None if self.calendar is None else self.calendar.span

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
    def groups(self) -> int:
        """How many groups there are."""
        return math.prod(len(grouping.keys) for grouping in self.groupings)

    @property
    def finds_keys(self) -> bool:
        """Whether a private step finds keys of it: there may be fewer than one person has, or none."""
        return any(grouping.found for grouping in self.groupings)

    @property
    def places(self) -> int:
        """How many numbers of each kind a period has."""
        return self.groups * self.measure.bins

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

    @cached_property
    def bounds(self) -> Bounds:
        """Where one unit may appear; of blocks, in the periods that they are made of."""
        if self.measure.block is not None:
            return self.periods.bounds
        if self.measure.norm is not None:
            return Bounds(self.horizon, self.horizon, groups=self.places, max_groups=self.places)
        periods = self.unit.periods_touched(self.max_periods, horizon=self.horizon, calendar=self.calendar)
        # Noise is for as many groups of a person as were declared, also where fewer keys were found.
        return Bounds(self.horizon, periods, groups=max(self.places, self.max_places), max_groups=self.max_places)

    @cached_property
    def claimed(self) -> RecordUnit:
        """The unit as its calendar gives it a meaning: what is claimed, charged and certified."""
        return self.unit.on(self.periods.calendar)

    @property
    def protected(self) -> RecordUnit:
        """The unit as sensitivities read it."""
        return self.unit.summed_on(self.periods.calendar)

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to each number of a cell, ``rounding`` of finished totals included."""
        parts = self.measure.contributions(rounding=rounding)
        return tuple(part.of_single_rows() for part in parts) if self.rows_apart else parts

    def opposite(self, part: Contribution) -> Fraction | None:
        """Return how far what a unit adds can go against the sign of its largest; None if as far."""
        if self.unit.of_rows and not self.rows_apart and not self.measure.whole:
            return None  # a row can lift or lower a total that it shares
        return self.measure.opposite(part)

    def sensitivities(self, shape: ReleasedShape | None = None, *, rounding: float = 0.0) -> tuple[Sensitivity, ...]:
        """Return how much one unit can change the numbers of each kind, seen through a shape."""
        block = self.measure.block
        if block is not None:
            changed = block_extremes if block.extreme else block_totals
            return tuple(changed(self.protected, self.bounds, part, self._blocking()) for part in self.contributions())
        if self.measure.norm is not None:
            cells = self.horizon * self.places
            return (of_scaled(self.protected, cells, self.measure.norm, signed=self.measure.negative),)
        if shape is None or isinstance(shape, White):
            parts = self.contributions(rounding=rounding)
            return tuple(per_period(self.protected, self.bounds, part) for part in parts)
        found = tuple(
            shaped_sensitivity(shape, self.protected, self.bounds, part, self.opposite(part))
            for part in self.contributions()
        )
        if not rounding or not self.measure.finished:
            return found
        # Every change of a finished total is one number, so the sensitivity grows with it in proportion.
        wider = (self.measure.reach + rounding) / self.measure.reach
        return tuple(Sensitivity(above(part.l1 * wider, 2), above(part.l2 * wider, 2)) for part in found)

    def _blocking(self) -> Blocking:
        blocks = self.blocks
        if self.calendar is None:
            raise AssertionError("blocks have dates")
        touched = self.unit.blocks_touched(
            PeriodBlocks(blocks.starts, blocks.stops, self.periods.horizon, self.calendar)
        )
        return Blocking(len(blocks.starts), int(blocks.lengths.max()), touched)
