"""Which rows are the baseline of a change: all between two dates, or of each weekday its own."""

from __future__ import annotations

import datetime as dt
from numbers import Integral
from typing import Literal, TypeAlias

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, check_moment, microseconds_of, moment_at
from chronodp.series.readings.axes import Rows
from chronodp.series.readings.weights import Wholes

__all__ = ["Baseline", "Match", "baseline_rows"]

Baseline: TypeAlias = tuple[object, object]
Match: TypeAlias = Literal["weekday"] | None

_ALLOWED = "a pair (first, last) of dates, or of periods where these have no dates, both of them in the baseline"
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HOUR = 3_600_000_000


def baseline_rows(rows: Rows, baseline: object, match: object) -> tuple[tuple[Wholes, ...], Wholes]:
    """Return the baseline's rows, of each kind of row its own, and of which kind every row is."""
    if not isinstance(baseline, tuple | list) or len(baseline) != 2:
        raise InvalidArgument("baseline", baseline, _ALLOWED)
    if match is not None and not (isinstance(match, str) and match == "weekday"):
        raise InvalidArgument("match", match, "'weekday' or None")
    calendar = rows.table.calendar
    inside = _numbered(rows, baseline) if calendar is None else _dated(rows, calendar, baseline)
    if not len(inside):
        raise InvalidArgument("baseline", _told(baseline), "a stretch of time in which rows begin")
    if match is None:
        return (inside,), np.zeros(len(rows.windows.labels), np.int64)
    if calendar is None:
        raise InvalidArgument("match", match, "None where periods have no dates")
    return _by_weekday(rows, calendar, inside)


def _dated(rows: Rows, calendar: Calendar, baseline: tuple[object, object] | list[object]) -> Wholes:
    first, last = (check_moment("baseline", end, calendar.zone) for end in baseline)
    begin, stop = microseconds_of(first), microseconds_of(last)
    if _is_day(baseline[1]):  # a day is meant whole
        following = (last.replace(tzinfo=None) + dt.timedelta(days=1)).replace(tzinfo=calendar.zone)
        stop = microseconds_of(following) - 1
    dates = rows.dates
    if begin > stop:
        raise InvalidArgument("baseline", _told(baseline), "a pair whose first is not after its last")
    end = int(calendar.edges[rows.windows.stops[-1]])
    if begin < dates[0] or stop >= end:
        span = " to ".join(_day(int(edge), calendar) for edge in (dates[0], end - 1))
        raise InvalidArgument("baseline", _told(baseline), f"inside what is shown here, {span}")
    return np.flatnonzero((dates >= begin) & (dates <= stop))


def _numbered(rows: Rows, baseline: tuple[object, object] | list[object]) -> Wholes:
    labels = rows.windows.labels
    first, last = (int(end) if isinstance(end, Integral) and not isinstance(end, bool) else None for end in baseline)
    if first is None or last is None:
        raise InvalidArgument("baseline", _told(baseline), _ALLOWED)
    if not labels[0] <= first <= last <= labels[-1]:
        raise InvalidArgument("baseline", _told(baseline), f"periods from {labels[0]} to {labels[-1]}, in order")
    found: Wholes = np.flatnonzero((labels >= first) & (labels <= last))
    return found


def _by_weekday(rows: Rows, calendar: Calendar, inside: Wholes) -> tuple[tuple[Wholes, ...], Wholes]:
    lengths = calendar.edges[rows.windows.stops] - calendar.edges[rows.windows.starts]
    if not rows.abut or lengths.min() < 23 * _HOUR or lengths.max() > 25 * _HOUR:
        raise InvalidArgument("match", "weekday", "None, or used with days: call resample('1D') first")
    days = np.array([moment_at(int(date)).astimezone(calendar.zone).weekday() for date in rows.dates])
    found = []
    for day, name in enumerate(_DAYS):
        weeks = inside[days[inside] == day]
        if not len(weeks) and (days == day).any():
            raise InvalidArgument("baseline", f"no {name}", "long enough for every weekday: a week or more")
        found.append(weeks)
    return tuple(found), days


def _is_day(end: object) -> bool:
    if isinstance(end, str):
        return len(end) <= len("2026-01-01")
    return isinstance(end, dt.date) and not isinstance(end, dt.datetime)


def _day(edge: int, calendar: Calendar) -> str:
    return moment_at(edge).astimezone(calendar.zone).date().isoformat()


def _told(baseline: tuple[object, object] | list[object]) -> str:
    return " to ".join(str(end) for end in baseline)
