"""What many datasets of a policy have in common, made once: thousands of them have some few grids, units and budgets.

Only what an owner wrote is remembered: what callers write could be of any size.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from chronodp.dataset import GridSeries
from chronodp.engines import Reading
from chronodp.ledger import Budget, Renewal
from chronodp.privacy import Calendar, Unit
from chronodp.privacy.units import RecordUnit

__all__ = ["budget_of", "calendar_of", "check_countable"]

_KINDS = 1024


def calendar_of(every: str, start: Any, end: Any, timezone: str) -> Calendar:
    """Return a grid; dates as TOML has them are no texts, and need not be hashable."""
    make = _written_calendar if isinstance(start, str) and isinstance(end, str) else Calendar
    return make(every, start, end, timezone)


_written_calendar = lru_cache(maxsize=_KINDS)(Calendar)


@lru_cache(maxsize=_KINDS)
def budget_of(
    unit: Unit,
    epsilon: float,
    delta: float,
    reserve: float | None,
    renews: Renewal | None = None,
    zone: str | None = None,
) -> Budget:
    """Return the terms of a budget, or raise what is wrong with them."""
    return Budget(unit, epsilon, delta, None, reserve, renews, timezone=zone)


@lru_cache(maxsize=_KINDS)
def check_countable(
    calendar: Calendar, time: str, user: str | None, unit: RecordUnit, max_periods: int | None, reading: Reading
) -> None:
    """Raise unless rows of such a dataset can be counted: its columns, unit and limit fit each other and the grid."""
    series = GridSeries(calendar, "", time=time, user=user, unit=unit, max_periods=max_periods, reading=reading)
    if max_periods is None:
        series.count()  # curators offer no bound on a whole series in place of a limit
