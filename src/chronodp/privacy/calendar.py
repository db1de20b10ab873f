"""The public grid of time: which periods a series has, in which time zone.

Periods of seconds, minutes and hours are stretches of elapsed time, so a day in autumn may hold 25 of them. Days,
weeks, months and years follow the wall clock of the stated zone. Everything is computed in microseconds of UTC.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy.clock import check_moment, check_zone, instant_of, microseconds_of, moment_at, offset_at
from chronodp.privacy.documents import document
from chronodp.privacy.fields import settle
from chronodp.privacy.parameters import check_whole
from chronodp.privacy.periods import advance, civil_begin, first_begin, width_of
from chronodp.privacy.printing import counted

__all__ = ["LONGEST", "Calendar", "Run"]

LONGEST = 2**24
"""Most periods, and most cells, of one release."""


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive periods of one length.

    Attributes:
        first: number of the first period.
        count: how many periods.
        start: when the first begins, in microseconds since 1970, UTC.
        width: length of one, in microseconds.
    """

    first: int
    count: int
    start: int
    width: int


@document("calendar")
@dataclass(frozen=True)
class Calendar:
    """Periods of length ``every`` from ``start`` to ``end``, read on the clocks of ``timezone``.

    Args:
        every: '1s' to '1Y': a whole number and s, min, h, D, W, mo or Y.
        start: when the first period begins; a text such as '2026-01-01', a date or a datetime.
        end: when the last period ends; it must fall on the grid.
        timezone: whose wall clock days, weeks, months and years follow, and in which times without an offset are read.

    >>> autumn = Calendar("1h", "2026-10-25", "2026-10-26", "Europe/Berlin")
    >>> len(autumn), Calendar("1mo", "2026-01-01", "2027-01-01").starts()[1].isoformat()
    (25, '2026-02-01T00:00:00+00:00')
    """

    every: str
    start: str
    end: str
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        zone = check_zone(self.timezone)
        first = check_moment("start", self.start, zone)
        last = check_moment("end", self.end, zone)
        if first >= last:
            raise InvalidArgument("end", self.end, f"after the start, {first.isoformat()}")
        settle(self, start=first.isoformat(), end=last.isoformat())
        _ = self.edges  # computed now, so that an end off the grid is refused here

    @classmethod
    def from_length(cls, every: str, start: object, periods: int, timezone: str = "UTC") -> Self:
        """Return the calendar of so many periods from a start."""
        zone = check_zone(timezone)
        first = check_moment("start", start, zone)
        width = width_of(every)
        check_whole("periods", periods, most=LONGEST)
        wall = _wall(first, every)
        try:
            if width is not None:
                last = first.astimezone(dt.UTC) + dt.timedelta(microseconds=width * periods)
            else:
                last = advance(every)(wall, periods).replace(tzinfo=zone)
        except (OverflowError, ValueError):
            raise InvalidArgument("start", first.isoformat(), f"{periods:,} × {every} before the year 9999") from None
        return cls(every, first.isoformat(), last.isoformat(), timezone)

    def earlier(self, periods: int) -> Calendar:
        """Return the same periods with so many before them.

        >>> Calendar("1D", "2026-01-07", "2026-01-09").earlier(6).start
        '2026-01-01T00:00:00+00:00'
        """
        if not periods:
            return self
        first, width = dt.datetime.fromisoformat(self.start).astimezone(self.zone), width_of(self.every)
        try:
            if width is not None:
                begin = first.astimezone(dt.UTC) - dt.timedelta(microseconds=width * periods)
            else:
                begin = advance(self.every)(_wall(first, self.every), -periods).replace(tzinfo=self.zone)
        except (OverflowError, ValueError):
            raise InvalidArgument("start", self.start, f"{periods:,} × {self.every} after the year 1") from None
        whole = Calendar(self.every, begin.isoformat(), self.end, self.timezone)
        if not np.array_equal(whole.edges[periods:], self.edges):
            allowed = f"at a time of day that the clock also shows {counted(periods, 'period')} before"
            raise InvalidArgument("start", self.start, allowed)
        return whole

    def __len__(self) -> int:
        return len(self.edges) - 1

    def __str__(self) -> str:
        clocks = (dt.datetime.fromisoformat(text).replace(tzinfo=None) for text in (self.start, self.end))
        ends = [clock.isoformat(sep=" ").removesuffix(" 00:00:00") for clock in clocks]
        return f"{counted(len(self), 'period')} of {self.every} from {ends[0]} to {ends[1]} ({self.timezone})"

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """Where each period begins, and where the last one ends, in microseconds since 1970, UTC."""
        first, last = (dt.datetime.fromisoformat(text).astimezone(self.zone) for text in (self.start, self.end))
        edges, beyond = _edges(self.every, first, last)
        if edges[-1] != microseconds_of(last):
            near = " or ".join(str(moment_at(int(edge)).astimezone(self.zone)) for edge in (*edges[1:][-1:], beyond))
            raise InvalidArgument("end", self.end, f"a whole number of {self.every} after the start: {near}")
        edges.setflags(write=False)
        return edges

    @property
    def zone(self) -> ZoneInfo:
        """The time zone."""
        return ZoneInfo(self.timezone)

    @property
    def span(self) -> tuple[dt.datetime, dt.datetime]:
        """When the first period begins and when the last one ends, on the zone's clocks."""
        first, last = (moment_at(int(edge)).astimezone(self.zone) for edge in (self.edges[0], self.edges[-1]))
        return first, last

    @property
    def begins(self) -> str | None:
        """Which grid of such periods it is, by its first beginning since 1970; None for the civil calendar's."""
        first = moment_at(int(self.edges[0]))
        if width_of(self.every) is not None:
            return first_begin(self.every, first.replace(tzinfo=None))
        return first_begin(self.every, _wall(first.astimezone(self.zone), self.every))

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The grid as few runs of periods of equal length: one, unless days or months differ in length."""
        widths = np.diff(self.edges)
        begins = np.flatnonzero(np.concatenate(([True], widths[1:] != widths[:-1])))
        counts = np.diff(begins, append=len(widths))
        return tuple(
            Run(int(first), int(count), int(self.edges[first]), int(widths[first]))
            for first, count in zip(begins, counts, strict=True)
        )

    def starts(self) -> list[dt.datetime]:
        """Return when each period begins, on the zone's clocks."""
        zone = self.zone
        return [moment_at(int(edge)).astimezone(zone) for edge in self.edges[:-1]]

    def divided(self, every: str) -> NDArray[np.int64]:
        """Return the edges of whole periods of another length from the same start, as many as fit."""
        first, last = (dt.datetime.fromisoformat(text).astimezone(self.zone) for text in (self.start, self.end))
        return _edges(every, first, last)[0]

    def most_within(self, every: str, timezone: str | None = None) -> tuple[int, bool]:
        """Return how many periods one calendar period ``every`` can touch, and whether each lies inside one.

        Calendar periods are those of the civil calendar of ``timezone``, the grid's own unless told: days from
        midnight, weeks from Monday, months from the first, years from January; hours, minutes and seconds as in UTC.
        """
        some = np.diff(self.edges) > 0  # a day that the zone left out touches nothing
        first, last = (ends[some] for ends in self._civil_places(every, timezone))
        # A period touches every civil period from the one it begins in to the one it ends in.
        places, where = np.unique(np.concatenate((first, last + 1)), return_inverse=True)
        steps = np.bincount(where, weights=np.repeat([1.0, -1.0], len(first)), minlength=len(places))
        return int(np.cumsum(steps).max()), bool(np.all(first == last))

    def civil_blocks(self, every: str, timezone: str | None = None) -> tuple[int, ...]:
        """Return in which calendar period ``every`` each period begins, numbered from 0 in their order."""
        return tuple(np.unique(self._civil_places(every, timezone)[0], return_inverse=True)[1].tolist())

    def _civil_places(self, every: str, timezone: str | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the calendar periods in which each period begins and ends, as numbers in their order."""
        starts, lasts = self.edges[:-1], self.edges[1:] - 1
        width = width_of(every)
        if width is not None:
            return starts // width, lasts // width
        outer = np.fromiter(self.civil_edges(every, timezone), dtype=np.int64)
        return np.searchsorted(outer, starts, side="right"), np.searchsorted(outer, lasts, side="right")

    def wall_clock_changes(self) -> list[tuple[int, int]]:
        """Return the zone's offsets from UTC as (wall-clock microsecond from which it holds, offset), first one first.

        A wall-clock time that occurs twice is read as the first; one that never occurs as if the change had not come
        yet: what Python's ``fold=0`` means.
        """
        zone = self.zone
        slack = 2 * 86_400_000_000
        moment, end = int(self.edges[0]) - slack, int(self.edges[-1]) + slack
        offset = offset_at(moment, zone)
        changes = [(-(2**62), offset)]
        while moment < end:
            later = min(moment + 86_400_000_000, end)
            if offset_at(later, zone) != offset:
                known, found = moment, later
                while found - known > 1:
                    middle = (known + found) // 2
                    known, found = (middle, found) if offset_at(middle, zone) == offset else (known, middle)
                new = offset_at(found, zone)
                changes.append((found + max(offset, new), new))
                offset = new
                later = found
            moment = later
        return changes

    def civil_edges(self, every: str, timezone: str | None = None) -> Iterator[int]:
        """Yield where civil periods begin, from one not after the start to one not before the end."""
        width = width_of(every)
        if width is not None:
            begin = int(self.edges[0]) // width * width
            yield from range(begin, int(self.edges[-1]) + width, width)
            return
        zone = self.zone if timezone is None else check_zone(timezone)
        try:
            yield from self._civil_days(every, zone)
        except (OverflowError, ValueError):
            raise InvalidArgument("every", every, "a period that lies between the years 1 and 9999") from None

    def _civil_days(self, every: str, zone: ZoneInfo) -> Iterator[int]:
        # Several days, weeks or months are counted from a fixed day, so that every grid sees the same ones.
        first = civil_begin(every, moment_at(int(self.edges[0])).astimezone(zone).replace(tzinfo=None))
        move = advance(every)
        step = 0
        while True:
            edge = instant_of(move(first, step), zone)
            yield edge
            if edge >= self.edges[-1]:
                return
            step += 1


def _edges(every: str, first: dt.datetime, last: dt.datetime) -> tuple[NDArray[np.int64], int]:
    """Return the edges of all periods that fit between two moments, and where the next one would end."""
    width = width_of(every)
    start, end = microseconds_of(first), microseconds_of(last)
    if width is not None:
        periods = (end - start) // width
        _check_length(periods, every)
        return start + width * np.arange(periods + 1, dtype=np.int64), start + width * (periods + 1)
    zone, wall = first.tzinfo, _wall(first, every)
    move = advance(every)
    edges = [start]
    while edges[-1] <= end:
        _check_length(len(edges) - 1, every)
        try:
            edges.append(instant_of(move(wall, len(edges)), zone))
        except (OverflowError, ValueError):
            raise InvalidArgument("end", last.isoformat(), f"some {every} before the year 9999") from None
    return np.array(edges[:-1], dtype=np.int64), edges[-1]


def _check_length(periods: int, every: str) -> None:
    if periods > LONGEST:
        raise InvalidArgument("every", every, f"long enough for at most {LONGEST:,} periods between start and end")


def _wall(first: dt.datetime, every: str) -> dt.datetime:
    """Return what the clock should show when periods begin: midnight also where the clock left midnight out."""
    wall = first.replace(tzinfo=None, fold=0)
    midnight = wall.replace(hour=0, minute=0, second=0, microsecond=0)
    if instant_of(midnight, first.tzinfo) == microseconds_of(first):
        wall = midnight
    if every.endswith(("mo", "Y")) and wall.day > 28:
        raise InvalidArgument("start", first.isoformat(), f"on day 1 to 28 for periods of {every}")
    return wall
