"""Stretches of time that a unit speaks of, and how many periods of one grid a stretch of another can touch.

A `Window` is any so many consecutive periods of a grid; a `UserPeriod` is one period of the civil grid. Fixed lengths
are compared by arithmetic. Days and longer are laid out on their zones' clocks, over `FIRST` to `LAST`, and counted:
every clock change of these years, and every day of 23 or 25 hours, is in the count.

L of "On the clock" in ``docs/explanation/proofs/units.md``: `_touch_fixed` is *Both lengths fixed*, the others *Days
and longer*.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.privacy.clock import check_zone, microseconds_of
from chronodp.privacy.periods import advance, civil_begin, width_of

__all__ = ["FIRST", "LAST", "Stretches", "Touch", "touching"]

FIRST, LAST = 1973, 2100
"""Years over which clocks are compared: the last zone left odd seconds in January 1972, and rules repeat long before
the end."""

Edges: TypeAlias = NDArray[np.int64]

_EPOCH = dt.datetime(1970, 1, 1)
_NO_OFFSET, _MICROSECOND = dt.timedelta(0), dt.timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Stretches:
    """Any so many consecutive periods of one grid.

    Attributes:
        periods: how many.
        every: length of one.
        timezone: whose clocks days and longer periods follow; None for seconds to hours.
        begins: which grid of that length it is (`periods.first_begin`); None for the civil one.
    """

    periods: int
    every: str
    timezone: str | None
    begins: str | None

    @property
    def grid(self) -> tuple[str, str | None, str | None]:
        """The grid without the number of periods."""
        return self.every, self.timezone, self.begins

    @property
    def phase(self) -> int:
        """When a grid of a fixed length begins, in microseconds since 1970, UTC."""
        return (
            0 if self.begins is None else microseconds_of(dt.datetime.fromisoformat(self.begins).replace(tzinfo=dt.UTC))
        )


@dataclass(frozen=True, slots=True)
class Touch:
    """How many periods of one grid a stretch of another touches.

    Attributes:
        least: in the stretch that touches fewest.
        most: in the one that touches most.
        aligned: whether every stretch begins and ends where periods do, so that it cuts none of them.
    """

    least: int
    most: int
    aligned: bool


@lru_cache(maxsize=256)
def touching(held: Stretches, wanted: Stretches) -> Touch | None:
    """Return how many periods of the held grid one wanted stretch touches; None if the years compared hold no stretch.

    >>> touching(Stretches(1, "1D", "Asia/Tokyo", None), Stretches(1, "1D", "UTC", None))
    Touch(least=2, most=2, aligned=False)
    >>> touching(Stretches(1, "1h", None, None), Stretches(1, "1D", "Europe/Berlin", None))
    Touch(least=23, most=25, aligned=True)
    """
    if held.grid == wanted.grid:
        return Touch(wanted.periods, wanted.periods, aligned=True)
    width, length = width_of(held.every), width_of(wanted.every)
    if width is not None and length is not None:
        return _touch_fixed(held, width, wanted, length)
    try:
        if length is not None:
            return _touch_anywhere(_edges(*held.grid), wanted, length)
        edges = _edges(*wanted.grid)
        starts, ends = edges[: -wanted.periods], edges[wanted.periods :]
        within = ends > starts  # a day that the zone left out touches nothing
        starts, ends = starts[within], ends[within]
        if not len(starts):
            return None
        if width is not None:
            # Ends are not in a stretch: the last microsecond before one decides the last period touched.
            first, last = (starts - held.phase) // width, (ends - 1 - held.phase) // width
            aligned = not np.any((starts - held.phase) % width) and not np.any((ends - held.phase) % width)
            return _touch(last - first + 1, aligned=bool(aligned))
        return _touch_days(_edges(*held.grid), starts, ends)
    except (OverflowError, ValueError):  # periods beyond the years that a clock can show
        return None


def _touch(counts: Edges, *, aligned: bool) -> Touch:
    return Touch(int(counts.min()), int(counts.max()), aligned)


def _touch_fixed(held: Stretches, width: int, wanted: Stretches, length: int) -> Touch:
    """Both lengths are fixed: where stretches begin within a held period runs through the multiples of their gcd."""
    common = math.gcd(width, length)
    least = (wanted.phase - held.phase) % common  # the earliest place in a held period where a stretch begins
    latest = width - common + least
    span = wanted.periods * length
    aligned = length % width == 0 and (wanted.phase - held.phase) % width == 0
    # A stretch [s, s + span) ends before its end: its last microsecond is s + span - 1, and decides the last period.
    return Touch((least + span - 1) // width + 1, (latest + span - 1) // width + 1, aligned)


def _touch_days(held: Edges, starts: Edges, ends: Edges) -> Touch | None:
    known = (starts >= held[0]) & (ends <= held[-1])
    starts, ends = starts[known], ends[known]
    if not len(starts):
        return None
    # Edges strictly inside a stretch each begin one more period; a day that was left out counts among them.
    counts = np.searchsorted(held, ends, side="left") - np.searchsorted(held, starts, side="right") + 1
    return _touch(counts, aligned=bool(np.all(np.isin(starts, held)) and np.all(np.isin(ends, held))))


def _touch_anywhere(held: Edges, wanted: Stretches, length: int) -> Touch | None:
    """Wanted stretches of a fixed length: of all that begin in one held period the last one reaches farthest."""
    # The last multiple of the length that is at most one microsecond before a held period ends.
    starts = wanted.phase + (held - 1 - wanted.phase) // length * length
    touch = _touch_days(held, starts, starts + wanted.periods * length)
    return None if touch is None else Touch(1, touch.most, aligned=False)


@lru_cache(maxsize=64)
def _edges(every: str, timezone: str | None, begins: str | None) -> Edges:
    """Return where periods of days or longer begin, from one not after `FIRST` to one not before the end of `LAST`."""
    zone = check_zone(timezone)
    start, end = dt.datetime(FIRST, 1, 1), dt.datetime(LAST + 1, 1, 1)
    move = advance(every)
    wall = civil_begin(every, _EPOCH) if begins is None else dt.datetime.fromisoformat(begins)
    step = 0
    while move(wall, step) > start:
        step -= 1
    while move(wall, step + 1) <= start:
        step += 1
    found = []
    while True:  # over forty thousand days: as `instant_of`, without a moment of every zone on the way
        shown = move(wall, step)
        found.append((shown - _EPOCH - (zone.utcoffset(shown) or _NO_OFFSET)) // _MICROSECOND)
        if shown >= end:
            return np.array(found, dtype=np.int64)
        step += 1
