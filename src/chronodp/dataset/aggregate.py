"""Totals that someone else has bounded and added up.

*Finished totals* of ``docs/explanation/proofs/release.md``: how far one unit moves each of them is the owner's word.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from chronodp.dataset.groups import check_keys
from chronodp.engines import BoundsReport, Grouping, Progress, ReadingCheck
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Shown, check_text, counted
from chronodp.privacy.units import RecordUnit, check_unit
from chronodp.series import Design, Discover, EachPeriod, Plan, Quanta, Table, Total, Workload, make_plan, unit_reach

__all__ = ["Aggregate"]

_LARGEST = 2.0**62
_NAME = "what the totals are, in a word such as 'rides'"


class Aggregate(Shown):
    """A series of totals, one a period, with your word for how much one unit can change them.

    Args:
        totals: one finite number a period; by groups, a row of numbers a period, one a group in the order of the keys
            (of several columns, the last one's keys change fastest).
        change: the most that one unit changes any one total.
        unit: who is protected.
        by: the public keys of each column that splits the totals.
        max_groups: how many groups of a period one unit changes; 1 if not given.
        max_periods: under `User` how many totals one person changes; under `UserPeriod` how many totals one calendar
            period of a person changes, unless dates tell.
        every: length of a period, if totals have dates.
        start: when the first period begins.
        timezone: whose clocks.
        name: what the totals are, in a word.

    >>> import chronodp as cdp
    >>> hours = Aggregate([120.0, 95.5, 101.0], change=5.0, unit=cdp.Event())
    >>> print(hours.plan(epsilon=1.0).design.cost)
    Laplace noise of scale 5 on l1 sensitivity 5
    """

    def __init__(
        self,
        totals: ArrayLike,
        *,
        change: float,
        unit: RecordUnit,
        max_periods: int | None = None,
        every: str | None = None,
        start: Any = None,
        timezone: str = "UTC",
        name: str = "total",
        by: Mapping[str, Sequence[object]] | None = None,
        max_groups: int = 1,
    ) -> None:
        check_unit("unit", unit)
        if not check_text("name", name, _NAME):
            raise InvalidArgument("name", name, _NAME)
        groupings = _groupings(by)
        self.origin = _Totals(_check_totals(totals, groupings))
        horizon = len(self.origin.values)
        calendar = None
        if every is not None or start is not None:
            if every is None or start is None:
                raise InvalidArgument("every", every, "given together with start, or neither")
            calendar = Calendar.from_length(every, start, horizon, timezone)
        self.table = Table(
            Total(change, name), unit, horizon, calendar, groupings, max_periods=max_periods, max_groups=max_groups
        )

    def plan(self, *, epsilon: float, delta: float = 0.0, tuned_for: Workload | None = None) -> Plan:
        """Return the plan with the least error within (epsilon, delta). Free."""
        workload = EachPeriod() if tuned_for is None else tuned_for
        return make_plan(self.table, self.origin, epsilon=epsilon, delta=delta, tuned_for=workload)

    def __repr__(self) -> str:
        return f"Aggregate({self.table.released}, {counted(self.table.horizon, 'period')}, unit={self.table.unit!r})"

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """What was declared; never a total."""
        table = self.table
        groups = ", ".join(one.column for one in table.groupings)
        when = counted(table.horizon, "period") if table.calendar is None else str(table.calendar)
        return [
            ("Totals", f"{table.released}; {when}{f'; by {groups}' if groups else ''}"),
            ("Protects", f"{table.claimed}: {table.unit.protects}"),
            ("One unit", unit_reach(table)),
        ]


@dataclass(frozen=True, slots=True)
class _Totals:
    """Finished totals as the origin of a plan's numbers. Never printed."""

    values: Any = field(repr=False)

    def __str__(self) -> str:
        return "totals"

    def numbers(self, design: Design, *, key: str, progress: Progress) -> tuple[Quanta, ...]:  # noqa: ARG002  # of Origin
        """Return the totals in steps of the noise's grid, rounded to the nearest."""
        progress(1.0)
        with np.errstate(over="ignore"):  # a warning would tell of a value
            steps = np.rint(self.values / design.noises[0].step)
        return (np.clip(steps, -_LARGEST, _LARGEST).astype(np.int64),)

    def missing(self, design: Design, *, key: str) -> Quanta:  # noqa: ARG002  # of Origin
        """Refuse: whoever bounded the totals knows what was left out."""
        raise InvalidArgument("missing", "totals", "left out: totals were bounded elsewhere")

    def look(self, design: Design) -> ReadingCheck:  # noqa: ARG002  # of Origin
        """Refuse: whoever made the totals knows how they were read."""
        raise InvalidArgument("plan", "totals", "about a table of records: totals were bounded elsewhere")

    def tally(self, design: Design, *, key: str, progress: Progress) -> BoundsReport:  # noqa: ARG002  # of Origin
        """Refuse: whoever bounded the totals knows what was left out."""
        raise InvalidArgument("plan", "totals", "about a table of records: totals were bounded elsewhere")

    def moved(self, data: object, table: Table, *, start: Any, end: Any) -> tuple[_Totals, Table]:
        """Return the same question about other totals."""
        if end is not None:
            raise InvalidArgument("end", str(end), "left out: the number of totals tells it")
        totals = _Totals(_check_totals(data, table.groupings))
        horizon = len(totals.values)
        calendar = table.calendar
        if calendar is not None:
            first = calendar.start if start is None else start
            calendar = Calendar.from_length(calendar.every, first, horizon, calendar.timezone)
        return totals, table.moved_to(horizon, calendar)


def _groupings(by: object) -> tuple[Grouping, ...]:
    if by is None:
        return ()
    if not isinstance(by, Mapping) or not by:
        raise InvalidArgument("by", by, "a dictionary of columns with their public keys, such as {'page': ['a', 'b']}")
    for column, keys in by.items():
        if isinstance(keys, Discover):
            raise InvalidArgument(str(column), "Discover()", "a list of public keys: totals are by keys already")
    return tuple(Grouping(column, check_keys(column, keys)) for column, keys in by.items())


def _check_totals(totals: object, groupings: Sequence[Grouping]) -> Any:
    """Return totals as periods × groups, if they are such numbers."""
    groups = math.prod(len(grouping.keys) for grouping in groupings)
    allowed = "a list or array of finite numbers, one a period"
    if groupings:
        allowed = f"a row of {groups:,} finite numbers a period, one a group"
    if np.ma.isMaskedArray(totals):  # what a mask hides would be released
        raise InvalidArgument("totals", totals, allowed, private=True)
    try:
        values = np.asarray(totals)
    except (ValueError, TypeError):
        raise InvalidArgument("totals", totals, allowed, private=True) from None
    values = values if groupings else np.expand_dims(values, -1)
    if values.ndim != 2 or values.shape[1:] != (groups,) or not values.size or values.dtype.kind not in "iuf":
        raise InvalidArgument("totals", totals, allowed, private=True)
    values = values.astype(np.float64)
    if not np.all(np.isfinite(values)):
        raise InvalidArgument("totals", totals, allowed, private=True)
    return values
