"""Lengths of periods such as '15min' or '1D', and where grids of such periods begin.

Seconds, minutes and hours are stretches of elapsed time, counted in UTC. Days, weeks, months and years follow the wall
clock of a zone. A grid is *civil* if its periods are those of the common calendar: whole multiples since 1970 in UTC,
days from midnight, weeks from Monday, months from the first, years from January; several together are counted from a
fixed day, so that every grid of that length is the same one.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable

from chronodp.errors import InvalidArgument
from chronodp.privacy.clock import moment_at

__all__ = ["MONDAY", "advance", "civil_begin", "first_begin", "parse_every", "times_as_long", "width_of", "words_of"]

MONDAY = dt.datetime(1969, 12, 29)
"""The day from which days and weeks are counted."""

_EVERY = re.compile(r"([1-9][0-9]{0,5})(s|min|h|D|W|mo|Y)")
_SECONDS = {"s": 1, "min": 60, "h": 3600}
_MONTHS = {"mo": 1, "Y": 12}
_DAYS = {"D": 1, "W": 7}
_NAMES = {"s": "second", "min": "minute", "h": "hour", "D": "day", "W": "week", "mo": "month", "Y": "year"}
_1970 = 1970 * 12


def parse_every(every: object) -> tuple[int, str]:
    """Return the count and the letter of a length of periods."""
    found = _EVERY.fullmatch(every) if isinstance(every, str) else None
    if found is None:
        raise InvalidArgument("every", every, "a period such as '1s', '15min', '1h', '1D', '1W', '1mo' or '1Y'")
    return int(found[1]), found[2]


def width_of(every: str) -> int | None:
    """Return the length in microseconds; None for days and longer, which differ from one to the next.

    >>> width_of("15min"), width_of("1D")
    (900000000, None)
    """
    count, letter = parse_every(every)
    return count * _SECONDS[letter] * 1_000_000 if letter in _SECONDS else None


def times_as_long(longer: str, every: str) -> int | None:
    """Return how many periods of one length a longer one always has; None if it has not always the same whole number.

    >>> times_as_long("1W", "1D"), times_as_long("24h", "1h"), times_as_long("1D", "1h"), times_as_long("1mo", "1D")
    (7, 24, None, None)
    """
    (count, letter), (own, other) = parse_every(longer), parse_every(every)
    for family in (_SECONDS, _DAYS, _MONTHS):  # hours in a day and days in a month are not always as many
        if letter in family and other in family:
            times, rest = divmod(count * family[letter], own * family[other])
            return times if times and not rest else None
    return None


def words_of(every: str, periods: int = 1) -> str:
    """Return so many periods in words.

    >>> words_of("1h", 24), words_of("15min", 4), words_of("1D")
    ('24 hours', '4 periods of 15 minutes', 'day')
    """
    count, letter = parse_every(every)
    name = _NAMES[letter]
    if count == 1:
        return name if periods == 1 else f"{periods} {name}s"
    return f"{'period' if periods == 1 else f'{periods} periods'} of {count} {name}s"


def advance(every: str) -> Callable[[dt.datetime, int], dt.datetime]:
    """Return the function that moves a wall-clock time forward by so many periods of days or longer."""
    count, letter = parse_every(every)
    if letter in _DAYS:
        days = count * _DAYS[letter]
        return lambda wall, periods: wall + dt.timedelta(days=days * periods)
    months = count * _MONTHS[letter]

    def by_months(wall: dt.datetime, periods: int) -> dt.datetime:
        year, month = divmod(wall.year * 12 + wall.month - 1 + months * periods, 12)
        return wall.replace(year=year, month=month + 1)

    return by_months


def civil_begin(every: str, wall: dt.datetime) -> dt.datetime:
    """Return when the civil period of days or longer began that a wall-clock time lies in."""
    count, letter = parse_every(every)
    midnight = wall.replace(hour=0, minute=0, second=0, microsecond=0)
    if letter in _DAYS:
        return midnight - dt.timedelta(days=(midnight - MONDAY).days % (count * _DAYS[letter]))
    months = count * _MONTHS[letter]
    year, month = divmod((wall.year * 12 + wall.month - 1) // months * months, 12)
    return midnight.replace(year=year, month=month + 1, day=1)


def first_begin(every: str, wall: dt.datetime) -> str | None:
    """Return the one text that tells which grid has a period that begins at ``wall``; None for the civil grid.

    It is the first beginning since 1970 (of days and weeks since its Monday), on the clock that the grid follows: UTC's
    for seconds to hours. Grids of one length with the same text are the same grid.

    >>> first_begin("1W", dt.datetime(2026, 1, 1)), first_begin("1W", dt.datetime(2026, 1, 5))
    ('1970-01-01', None)
    """
    count, letter = parse_every(every)
    width = width_of(every)
    if width is not None:
        since = (wall - moment_at(0).replace(tzinfo=None)) % dt.timedelta(microseconds=width)
        return _text(moment_at(0).replace(tzinfo=None) + since) if since else None
    if letter in _DAYS:
        since = (wall - MONDAY) % dt.timedelta(days=count * _DAYS[letter])
        return _text(MONDAY + since) if since else None
    months = count * _MONTHS[letter]
    rest = (wall.year * 12 + wall.month - 1) % months
    first = rest + max(0, -(-(_1970 - rest) // months)) * months
    year, month = divmod(first if first < 9999 * 12 else rest, 12)
    begin = wall.replace(year=year, month=month + 1)
    return (
        None if rest == 0 and begin == begin.replace(day=1, hour=0, minute=0, second=0, microsecond=0) else _text(begin)
    )


def _text(wall: dt.datetime) -> str:
    return wall.isoformat().removesuffix("T00:00:00")
