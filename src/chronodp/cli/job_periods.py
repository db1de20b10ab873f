"""The period that a scheduled job is for: a year, a quarter, a month, a week or a day, as it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from chronodp.errors import InvalidArgument

__all__ = ["JobPeriod", "read_period"]

_FORMS = (
    "a period such as 2026, 2026-Q4, 2026-11, 2026-W46 or 2026-11-17, "
    "or one of yesterday, last-week, last-month, last-quarter, last-year"
)
_WRITTEN = re.compile(
    r"(?P<year>\d{4})(?:-Q(?P<quarter>[1-4])|-W(?P<week>\d{2})|-(?P<month>\d{2})(?:-(?P<day>\d{2}))?)?"
)
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class JobPeriod:
    """A stretch of days: how it is written, its first day and the day after its last."""

    name: str
    start: date
    end: date


def read_period(given: str, today: date) -> JobPeriod:
    """Return the period that a text names, by the calendar of a day.

    >>> read_period("2026-W46", date(2026, 11, 17))
    JobPeriod(name='2026-W46', start=datetime.date(2026, 11, 9), end=datetime.date(2026, 11, 16))
    >>> read_period("last-month", date(2026, 1, 31)).name
    '2025-12'
    """
    name = _before(given, today)
    found = _WRITTEN.fullmatch(name)
    if not found:
        raise InvalidArgument("for", given, _FORMS)
    try:
        start, end = _days(**{part: int(text) for part, text in found.groupdict().items() if text})
    except (ValueError, OverflowError):
        raise InvalidArgument("for", given, f"{_FORMS}; the calendar has no such day or week") from None
    return JobPeriod(name, start, end)


def _before(given: str, today: date) -> str:
    """Return how the last period before a day is written; what is no such word as it stands."""
    if given == "yesterday":
        return f"{today - _DAY}"
    if given == "last-week":
        year, week, _ = (today - 7 * _DAY).isocalendar()
        return f"{year:04d}-W{week:02d}"
    if given == "last-month":
        return f"{today.replace(day=1) - _DAY:%Y-%m}"
    if given == "last-quarter":
        ended = today.replace(month=3 * ((today.month - 1) // 3) + 1, day=1) - _DAY
        return f"{ended.year:04d}-Q{(ended.month + 2) // 3}"
    return f"{today.year - 1:04d}" if given == "last-year" else given


def _days(
    year: int, quarter: int | None = None, week: int | None = None, month: int | None = None, day: int | None = None
) -> tuple[date, date]:
    if week is not None:
        start = date.fromisocalendar(year, week, 1)
        return start, start + 7 * _DAY
    if day is not None and month is not None:
        start = date(year, month, day)
        return start, start + _DAY
    first, months = 1, 12
    if month is not None:
        first, months = month, 1
    elif quarter is not None:
        first, months = 3 * quarter - 2, 3
    after = 12 * year + first - 1 + months
    return date(year, first, 1), date(after // 12, after % 12 + 1, 1)
