"""The table that is released: what of each period, whom its numbers are about, and how far one unit moves them.

The declared things that a plan's design is computed from, *Argument* in ``docs/explanation/proofs/release.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from chronodp.errors import InvalidArgument
from chronodp.ledger import MOST_CELLS
from chronodp.privacy import (
    LONGEST,
    Blocking,
    Bounds,
    Calendar,
    Contribution,
    Presence,
    Sensitivity,
    block_extremes,
    block_totals,
    check_whole,
    counted,
    document,
    of_scaled,
    per_period,
    periods_held,
    presence_of,
)
from chronodp.privacy.units import PeriodBlocks, RecordUnit, check_record_unit
from chronodp.series.key_text import check_key_text
from chronodp.series.measures import Active, Blocks, Statistic
from chronodp.series.places import PlaceLevels, Places, level_changes, level_sensitivity, weights_of
from chronodp.series.shapes.candidates import reach_of, shaped_sensitivity
from chronodp.series.shapes.differenced import Differenced
from chronodp.series.shapes.reach import above
from chronodp.series.shapes.stays import stays_sensitivity
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shaping import ReleasedShape
from chronodp.series.table_checks import check_clips, check_expressions, check_levels, check_norm, check_presence
from chronodp.series.table_declared import DeclaredTable
from chronodp.series.windows import coarser

__all__ = ["Table"]


@document("table")
@dataclass(frozen=True)
class Table(DeclaredTable):
    """The table that is released, and how far one unit moves its numbers. Fields are those of `DeclaredTable`."""

    def __post_init__(self) -> None:
        check_whole("horizon", self.horizon, most=LONGEST)
        if self.calendar is not None and len(self.calendar) != self.horizon:
            raise InvalidArgument(
                "horizon", self.horizon, f"the {counted(len(self.calendar), 'period')} of the calendar"
            )
        check_record_unit("unit", self.unit)
        check_whole("max_groups", self.max_groups, most=None if self.finds_keys else self.groups)
        check_norm(self)
        check_clips(self)
        check_levels(self)
        check_presence(self)
        check_key_text(self.declared_keys)
        if self.cells > MOST_CELLS:
            kinds = "" if self.kinds == 1 else f" × {self.kinds} for {self.measure.noun}s"
            raise InvalidArgument(
                "groups",
                f"{self.cells:,} cells",
                f"few enough for at most {MOST_CELLS:,} cells (periods × groups × bins{kinds}): fewer keys or longer "
                "periods, or several releases",
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
        check_expressions(self)
        _ = self.bounds, self.claimed

    @property
    def declared_keys(self) -> list[tuple[str, ...]]:
        """The public keys of each grouping and level; of keys that are found a `Discover` has its own bound."""
        levels = () if self.levels is None else self.levels.keys
        return [*(grouping.keys for grouping in self.groupings if not grouping.found), *levels]

    def with_places(self, places: Places, focus: object = None) -> Table:
        """Return the table of every level of a tree of places, whose leaves split it already."""
        plain = (1.0,) * len(places.names)
        levels = PlaceLevels(places.column, places.names, places.keys[:-1], places.children, plain)
        table = replace(self, levels=levels)
        weights = weights_of(levels, focus, table.level_changes)
        return table if weights == plain else replace(table, levels=replace(levels, weights=weights))

    def moved_to(self, horizon: int, calendar: Calendar | None) -> Table:
        """Return the same table of other periods; a limit of more periods than there are means all of them."""
        periods = None if self.max_periods is None else min(self.max_periods, horizon)
        return replace(self, horizon=horizon, calendar=calendar, max_periods=periods)

    def in_blocks(self, statistic: Statistic, every: str) -> Table:
        """Return the table of a total, peak or trough of every longer period; a last one not filled is left out."""
        if self.calendar is None:
            raise InvalidArgument("every", every, "used only where periods have dates")
        if not self.measure.in_blocks:
            raise InvalidArgument(statistic, str(self.measure), "used with a count, or with a sum with a clip")
        outer = coarser(self.calendar, every)
        calendar = Calendar.from_length(every, self.calendar.start, len(outer.starts), self.calendar.timezone)
        measure = Blocks(statistic, self.measure, self.calendar)
        return replace(self, measure=measure, horizon=len(calendar), calendar=calendar)

    @cached_property
    def presence(self) -> Presence | None:
        """What one unit can change of who is present; None where each period is counted by itself."""
        present = self.measure.presence
        if present is None:
            return None
        return presence_of(
            self.unit,
            horizon=self.horizon,
            window=self.window,
            calendar=self.read,
            max_periods=self.max_periods,
            max_stays=present.max_stays,
            places=self.places,
            max_places=self.max_places,
        )

    @property
    def cap(self) -> str:
        """What limits where a person is present, in words; empty if nothing does."""
        present = self.measure.presence
        if present is None or not self.unit.whole_person:
            return ""
        stays = [] if present.max_stays is None else [f"{present.max_stays:,} stays"]
        return " and ".join([*stays, *([] if self.max_periods is None else [f"{self.max_periods:,} active periods"])])

    @property
    def ways(self) -> tuple[Table, ...]:
        """The tables that a plan may choose from: of who was active lately, with no limit and with each that is given.

        The first stands for the others where they err as much: a limit that buys nothing cuts nobody.
        """
        measure = self.measure
        if not isinstance(measure, Active) or not self.unit.whole_person:
            return (self,)
        free = replace(self, measure=replace(measure, max_stays=None), max_periods=None)
        days = [] if self.max_periods is None else [replace(free, max_periods=self.max_periods)]
        stays = [] if measure.max_stays is None else [replace(free, measure=measure)]
        return (free, *days, *stays)

    @cached_property
    def bounds(self) -> Bounds:
        """Where one unit may appear; of blocks, in the periods that they are made of."""
        if self.measure.block is not None:
            return self.periods.bounds
        if self.measure.norm is not None:
            return Bounds(self.horizon, self.horizon, groups=self.places, max_groups=self.places)
        if self.presence is not None:
            # What `presence` says of runs is finer than any number of periods.
            return Bounds(self.horizon, self.horizon, groups=self.places, max_groups=self.presence.places)
        periods = self.unit.periods_touched(self.max_periods, horizon=self.horizon, calendar=self.calendar)
        # Noise is for as many groups of a person as were declared, also where fewer keys were found.
        return Bounds(self.horizon, periods, groups=max(self.places, self.max_places), max_groups=self.max_places)

    @cached_property
    def claimed(self) -> RecordUnit:
        """The unit as its calendar gives it a meaning: what is claimed, charged and certified."""
        return self.unit.on(self.read)

    @cached_property
    def protected(self) -> RecordUnit:
        """The unit as sensitivities read it."""
        return self.unit.summed_on(self.read)

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to each number of a cell, ``rounding`` of finished totals included."""
        if not rounding:
            return self._contributions
        return self._of_rows(self.measure.contributions(rounding=rounding))

    @cached_property
    def _contributions(self) -> tuple[Contribution, ...]:
        return self._of_rows(self._of_people)

    def _of_rows(self, parts: tuple[Contribution, ...]) -> tuple[Contribution, ...]:
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
        if self.presence is not None:
            if isinstance(shape, Differenced):
                return (stays_sensitivity(shape.of, self.horizon, self.presence),)
            if shape is None or isinstance(shape, White):
                return (self.presence.sensitivity,)
            allowed = "white noise, or a shape for running totals put on differences"
            raise InvalidArgument("shape", str(shape), allowed)
        if isinstance(shape, Differenced):
            raise InvalidArgument(
                "shape", str(shape), "one for sums: noise on differences is for who was active lately"
            )
        if shape is None or isinstance(shape, White):
            return self._white(rounding) if rounding else self._unshaped
        found = tuple(
            shaped_sensitivity(shape, self.protected, self.bounds, part, self.opposite(part))
            for part in self.contributions()
        )
        if not rounding or not self.measure.finished:
            return found
        # Every change of a finished total is one number, so the sensitivity grows with it in proportion.
        wider = (self.measure.reach + rounding) / self.measure.reach
        return tuple(Sensitivity(above(part.l1 * wider, 2), above(part.l2 * wider, 2)) for part in found)

    @cached_property
    def _unshaped(self) -> tuple[Sensitivity, ...]:
        return self._white(0.0)  # asked for by every law, and in words

    def _white(self, rounding: float) -> tuple[Sensitivity, ...]:
        return tuple(per_period(self.protected, self.bounds, part) for part in self.contributions(rounding=rounding))

    @property
    def level_changes(self) -> tuple[int, ...]:
        """Of each level of places, root first, the most that the squares of what one unit changes sum up to."""
        if self.levels is None:
            raise AssertionError("asked of places only")
        tree = self.levels.tree
        cells = 1 if self.protected.of_rows else self.max_places
        return level_changes(tree, cells, copies=self.places // tree.leaves)

    def level_sensitivities(self, shape: ReleasedShape) -> tuple[Sensitivity, ...]:
        """Return how much one unit can change all nodes of each level of places, root first, seen through a shape."""
        # Adding cells up never lengthens a change in l1: each level changes by no more than the leaves do.
        (leaves,) = self.sensitivities(shape)
        (part,) = self.contributions()
        unit, reach = self.protected, reach_of(shape, self.horizon)
        return tuple(
            Sensitivity(
                leaves.l1,
                level_sensitivity(
                    reach,
                    change,
                    periods=1 if unit.of_rows else periods_held(unit, self.bounds),
                    contribution=part,
                    opposite=self.opposite(part),
                    of_rows=unit.of_rows,
                    together=not unit.whole_person,
                    replace=unit.relation == "replace",
                ),
            )
            for change in self.level_changes
        )

    def _blocking(self) -> Blocking:
        blocks = self.blocks
        if self.calendar is None:
            raise AssertionError("blocks have dates")
        touched = self.unit.blocks_touched(
            PeriodBlocks(blocks.starts, blocks.stops, self.periods.horizon, self.calendar)
        )
        return Blocking(len(blocks.starts), int(blocks.lengths.max()), touched)
