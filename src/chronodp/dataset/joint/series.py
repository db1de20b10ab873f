"""Series among queries that are planned together: counts, sums, means, histograms, peaks and totals of blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chronodp.dataset.joint.sharing import Following, PlanPart, Shareable, terms_of
from chronodp.dataset.records import Records
from chronodp.errors import InvalidArgument
from chronodp.ledger import Dates
from chronodp.postprocess import Law
from chronodp.privacy import Unit
from chronodp.series import EachPeriod, Origin, Plan, Table, coarser, make_plan

__all__ = ["SeriesPart", "SharedSeries"]


@dataclass(frozen=True, slots=True)
class SharedSeries:
    """A table to be released and where its numbers come from."""

    table: Table
    origin: Origin

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

    def at(self, law: Law, share: float) -> SeriesPart | None:
        """Return its plan at a share."""
        if law == "laplace" and self.table.measure.norm is not None:
            return None  # a whole series is bounded in l2
        epsilon, delta = terms_of(law, share)
        plan = make_plan(self.table, self.origin, epsilon=epsilon, delta=delta, tuned_for=EachPeriod())
        designs = [design for design in (plan.design, *plan.others) if design.law == law]
        return SeriesPart(replace(plan, design=designs[0], others=())) if designs else None

    def follows_from(self, other: Shareable) -> Following | None:
        """Return how it follows from another series: it is the same, or a total of what the other holds."""
        if not isinstance(other, SharedSeries) or not _same_origin(self.origin, other.origin):
            return None
        mine, theirs = self.table, other.table
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


def _is_total(table: Table) -> bool:
    return table.measure.block is not None and not table.measure.block.extreme


def _people(table: Table) -> int:
    return table.measure.divisor or 1


def _same_origin(one: Origin, other: Origin) -> bool:
    if not isinstance(one, Records) or not isinstance(other, Records):
        return one is other
    same = one.data is other.data or (isinstance(one.data, str | Path) and one.data == other.data)
    return same and (one.time, one.user) == (other.time, other.user)
