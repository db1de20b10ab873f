"""Lengths and zones of stretches of time, as units check and compare them.

The last of the steps in ``docs/explanation/proofs/units.md``: hours nest in days of 23 or 25 of them, weeks do not nest
in months.
"""

from __future__ import annotations

import datetime as dt

from chronodp.errors import InvalidArgument
from chronodp.privacy.clock import check_zone
from chronodp.privacy.periods import first_begin, parse_every, width_of

__all__ = ["check_begins", "check_timezone", "nests"]

_MONTHS = {"mo": 1, "Y": 12}
_DAYS = {"D": 1, "W": 7}
_QUARTER = 900_000_000  # microseconds; zones have differed from UTC by whole quarters of an hour since 1972


def check_timezone(every: str, timezone: str | None) -> None:
    """Refuse a zone where it plays no part, or that is none."""
    if timezone is None:
        return
    if width_of(every) is not None:
        raise InvalidArgument("timezone", timezone, f"left out: periods of {every} are the same in every zone")
    check_zone(timezone)


def check_begins(every: str, begins: object) -> str | None:
    """Return the first moment of a grid of periods that begin at a given one; None for the civil grid."""
    allowed = "a date or time without an offset at which a period begins, such as '2026-01-01' or '2026-01-01T06:00'"
    try:
        wall = dt.datetime.fromisoformat(begins) if isinstance(begins, str) else None
    except ValueError:
        wall = None
    if wall is None or wall.tzinfo is not None or not 1 < wall.year < 9999:
        raise InvalidArgument("begins", begins, allowed)
    if every.endswith(("mo", "Y")) and wall.day > 28:
        raise InvalidArgument("begins", begins, f"on day 1 to 28 for periods of {every}")
    return first_begin(every, wall)


def nests(inner: str, outer: str) -> bool:
    """Return whether every calendar period ``inner`` lies inside one ``outer`` of a zone that nobody stated."""
    inner_count, inner_letter = parse_every(inner)
    outer_count, outer_letter = parse_every(outer)
    width = width_of(inner)
    if inner == outer:
        return True
    if width is not None:
        return _QUARTER % width == 0  # these are UTC's
    if inner_letter in _DAYS:
        if inner_letter == outer_letter:
            return outer_count % inner_count == 0
        return inner == "1D" and width_of(outer) is None
    if outer_letter in _MONTHS:
        return outer_count * _MONTHS[outer_letter] % (inner_count * _MONTHS[inner_letter]) == 0
    return False
