"""Series among queries that are planned together: counts, sums, means, histograms, peaks and totals of blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from chronodp.dataset.joint.sharing import Following, PlanPart, Prepared, Shareable, terms_of
from chronodp.dataset.records import Records
from chronodp.engines import Progress
from chronodp.errors import InvalidArgument
from chronodp.ledger import Dates, Opening, Written
from chronodp.postprocess import Law
from chronodp.privacy import Cost, Unit, dump
from chronodp.randomness import Entropy
from chronodp.series import (
    Design,
    EachPeriod,
    Find,
    Found,
    Origin,
    Plan,
    Split,
    Table,
    coarser,
    design_release,
    make_plan,
    numbers_within,
)
from chronodp.series.finding import bounded_table

__all__ = ["FoundPart", "SeriesPart", "SharedSeries", "same_origin"]


@dataclass(frozen=True, slots=True)
class SharedSeries:
    """A table to be released, where its numbers come from, and which of its bounds are found first."""

    table: Table
    origin: Origin
    finds: tuple[tuple[str, Find], ...] = ()

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self.table.claimed

    @property
    def numbers(self) -> int:
        """How many numbers it releases."""
        return self.table.horizon * self.table.places

    @property
    def scale(self) -> float:
        """The most that one unit adds to a number; of a mean over people, to the sum that it is made of."""
        table = self.table
        one = float(table.contributions()[0].presence) / _people(table)
        return one * (int(table.blocks.lengths.max()) if _is_total(table) else 1)

    def at(self, law: Law, share: float) -> SeriesPart | FoundPart | None:
        """Return its plan at a share."""
        if law == "laplace" and self.table.measure.norm is not None:
            return None  # a whole series is bounded in l2
        epsilon, delta = terms_of(law, share)
        if self.finds:
            return FoundPart(self.table, self.origin, dict(self.finds), numbers_within(law, share), epsilon, delta)
        plan = make_plan(self.table, self.origin, epsilon=epsilon, delta=delta, tuned_for=EachPeriod())
        designs = [design for design in (plan.design, *plan.others) if design.law == law]
        return SeriesPart(replace(plan, design=designs[0], others=())) if designs else None

    def follows_from(self, other: Shareable) -> Following | None:
        """Return how it follows from another series: it is the same, or a total of what the other holds."""
        if not isinstance(other, SharedSeries) or not same_origin(self.origin, other.origin):
            return None
        mine, theirs = self.table, other.table
        if self.finds != other.finds:
            return None  # what one finds the other has declared
        if mine == theirs:
            return Following(1.0, None)
        if mine.calendar is None or theirs.calendar is None or mine.periods != theirs.periods:
            return None
        if not _is_total(mine) or (theirs.measure.block is not None and not _is_total(theirs)):
            return None
        try:
            windows = coarser(theirs.calendar, mine.calendar.every)
        except InvalidArgument:
            return None  # its periods do not fill mine
        if not np.array_equal(theirs.calendar.edges[windows.starts], mine.calendar.edges[:-1]):
            return None
        return Following(float(windows.lengths.mean()), mine.calendar.every)

    def __str__(self) -> str:
        return self.table.released + (f"; {self.table.calendar}" if self.table.calendar is not None else "")


@dataclass(frozen=True, slots=True)
class SeriesPart(PlanPart):
    """A series planned at its share."""

    plan: Plan

    @property
    def rmse(self) -> float:
        """The root mean squared error of one number; of a mean over the people present, of its sum."""
        return self.plan.design.errors.rmse_mean / _people(self.plan.design.table)

    @property
    def dates(self) -> Dates | None:
        """When its data begin and end."""
        return self.plan.design.table.span


@dataclass(frozen=True)
class FoundPart:
    """A series at its share of the numbers' price, with noise relative to bounds that are found first.

    Attributes:
        table: at the reference bounds.
        origin: where its numbers come from.
        finds: the bounds that are found first.
        split: what its numbers cost, whichever bounds are found.
        epsilon: of its share.
        delta: of its share.
    """

    table: Table
    origin: Origin
    finds: Mapping[str, Find]
    split: Split
    epsilon: float
    delta: float

    @property
    def cost(self) -> Cost:
        """What its numbers cost, whichever bounds are found."""
        return self.split.cost

    @property
    def cells(self) -> int:
        """How many numbers are stored."""
        return self.table.cells

    @cached_property
    def reference(self) -> Design:
        """Its design at the reference bounds: sizes of 1 and all periods and groups, where these are found."""
        return self._design(self.table)

    @property
    def rmse(self) -> float:
        """The root mean squared error of one number at the reference bounds; in sizes, where these are found."""
        return self.reference.errors.rmse_mean / _people(self.table)

    @property
    def dates(self) -> Dates | None:
        """When its data begin and end."""
        return self.table.span

    @property
    def identity(self) -> str:
        """A text that tells it from any other."""
        return dump(self.reference)

    def prepare(self, *, key: str, progress: Progress) -> Prepared:
        """Read nothing yet: what is read hangs on bounds that are drawn after the debit."""
        del key
        progress(1.0)
        return Prepared((), _drawn_by_stages)

    def openings(self, name: str, *, entropy: Entropy) -> tuple[Opening, ...]:
        """Return no streams."""
        del name, entropy
        return ()

    def bounded(self, found: Found) -> Plan:
        """Return its plan with bounds that were found; of them, those that it was to find."""
        measure = self.table.periods.measure
        own = replace(
            found,
            size=found.size if measure.size_name in self.finds else None,
            edges=found.edges if measure.size_name in self.finds else None,
            max_periods=found.max_periods if "max_periods" in self.finds else None,
            max_groups=found.max_groups if "max_groups" in self.finds else None,
        )
        table = bounded_table(
            self.table, size=own.sized(measure.size_name), max_periods=own.max_periods, max_groups=own.max_groups
        )
        return Plan(replace(self._design(table), found=own), (), self.delta, self.origin)

    def _design(self, table: Table) -> Design:
        best, *_ = design_release(
            table, epsilon=self.epsilon, delta=self.delta, tuned_for=EachPeriod(), split=self.split
        )
        return best


def _drawn_by_stages(entropy: Entropy) -> Written:
    del entropy
    raise AssertionError("numbers whose bounds are found are drawn by stages")


def _is_total(table: Table) -> bool:
    return table.measure.block is not None and not table.measure.block.extreme


def _people(table: Table) -> int:
    return table.measure.divisor or 1


def same_origin(one: Origin, other: Origin) -> bool:
    """Return whether two queries read the same data."""
    if not isinstance(one, Records) or not isinstance(other, Records):
        return one is other
    same = one.data is other.data or (isinstance(one.data, str | Path) and one.data == other.data)
    return same and (one.time, one.user) == (other.time, other.user)
