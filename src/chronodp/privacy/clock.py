"""Moments and wall clocks: what a clock shows in a time zone, and when that is."""

from __future__ import annotations

import datetime as dt
import re
from zoneinfo import ZoneInfo

from chronodp.errors import InvalidArgument

__all__ = ["check_moment", "check_zone", "days_touched", "instant_of", "microseconds_of", "moment_at", "offset_at"]

_MICROSECOND = dt.timedelta(microseconds=1)
_ZONE = re.compile(r"[A-Za-z0-9_+/-]{1,100}")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def check_zone(name: object) -> ZoneInfo:
    """Return the time zone of that name."""
    allowed = "the name of a time zone such as 'UTC' or 'Europe/Berlin'"
    if not isinstance(name, str) or not _ZONE.fullmatch(name):  # others are looked for as modules, however deep
        raise InvalidArgument("timezone", name, allowed)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InvalidArgument("timezone", name, allowed) from None


def check_moment(argument: str, value: object, zone: ZoneInfo) -> dt.datetime:
    """Return a date, time or text as a moment; without an offset it is read on the clocks of ``zone``."""
    allowed = "a date or time such as '2026-01-01' or '2026-01-01T06:00+01:00'"
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            raise InvalidArgument(argument, value, allowed) from None
    elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        value = dt.datetime.combine(value, dt.time())
    if not isinstance(value, dt.datetime) or not isinstance(value.year, int):  # a missing pandas time has no year
        raise InvalidArgument(argument, value, allowed)
    moment = dt.datetime(*value.timetuple()[:6], value.microsecond, tzinfo=value.tzinfo, fold=value.fold)
    if not 1 < moment.year < 9999:
        raise InvalidArgument(argument, moment.isoformat(), "between the years 2 and 9998")
    return (moment.replace(tzinfo=zone) if moment.tzinfo is None else moment).astimezone(dt.UTC).astimezone(zone)


def instant_of(wall: dt.datetime, zone: dt.tzinfo | None) -> int:
    """Return when a clock shows ``wall``, in microseconds since 1970, UTC; the first time if it does so twice."""
    return microseconds_of(wall.replace(tzinfo=zone))


def microseconds_of(moment: dt.datetime) -> int:
    """Return a moment in microseconds since 1970, UTC."""
    return (moment.astimezone(dt.UTC) - _EPOCH) // _MICROSECOND


def moment_at(microseconds: int) -> dt.datetime:
    """Return the moment so many microseconds after 1970 began, in UTC."""
    return _EPOCH + dt.timedelta(microseconds=microseconds)


def days_touched(first: dt.datetime, end: dt.datetime, zone: ZoneInfo) -> tuple[dt.date, dt.date]:
    """Return the first civil day of a zone that a stretch of time touches, and the first day after the last one.

    >>> noon = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
    >>> [day.isoformat() for day in days_touched(noon, noon + dt.timedelta(hours=1), ZoneInfo("Pacific/Kiritimati"))]
    ['2026-02-01', '2026-02-02']
    """
    return _day_of(microseconds_of(first), zone), _day_of(microseconds_of(end) - 1, zone) + dt.timedelta(days=1)


def _day_of(instant: int, zone: ZoneInfo) -> dt.date:
    day = moment_at(instant).astimezone(zone).date()
    # A day ends when the next begins for the first time, also where clocks then go back past midnight.
    after = dt.datetime.combine(day + dt.timedelta(days=1), dt.time())
    return after.date() if instant_of(after, zone) <= instant else day


def offset_at(microseconds: int, zone: ZoneInfo) -> int:
    """Return how far a zone's clocks are ahead of UTC, in microseconds."""
    offset = moment_at(microseconds).astimezone(zone).utcoffset() or dt.timedelta()
    return offset // _MICROSECOND
