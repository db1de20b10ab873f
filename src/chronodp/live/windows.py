"""Windows of event time on a public grid, and when a public clock closes them.

*Due*, and L(d), of steps 1 and 2 of "What is computed" in ``docs/explanation/proofs/live.md``: public numbers only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, check_whole, check_zone, moment_at, settle

__all__ = ["Windows", "begin_of", "parse_duration"]

_DURATION = re.compile(r"(\d{1,9})(ms|s|min|h|D)")
_MICROSECONDS = {"ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000, "D": 86_400_000_000}
_EVEN = ("s", "min", "h")
_MOST_UNEVEN = 10_000  # days, weeks, months and years differ in length: their edges are kept in a table
_MOST = 2**28  # as many as a stream without a known end has steps


@dataclass(frozen=True)
class Windows:
    """Windows numbered from 0, each closed by the clock when its end and the allowed lateness have passed.

    Attributes:
        every: length of a window: '1s' to '1Y', as of a `Calendar`.
        start: when the first begins.
        lateness: how long after its end a window stays open, such as '5s'.
        skew: how far beyond the closing moment a record may be dated before it is left out.
        timezone: whose wall clock days, weeks, months and years follow.
        count: how many windows there are; None if no end is known.

    >>> minutes = Windows("1min", "2026-01-01", lateness="10s", skew="1min")
    >>> begin = minutes.begins(0)
    >>> minutes.number(np.array([begin, begin + 59_999_999, begin + 60_000_000])).tolist()
    [0, 0, 1]
    >>> minutes.due(begin + 69_999_999), minutes.due(begin + 70_000_000)
    (0, 1)
    """

    every: str
    start: str
    lateness: str = "0s"
    skew: str = "1min"
    timezone: str = "UTC"
    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is not None:
            check_whole("horizon", self.count, most=_MOST)
        one = Calendar.from_length(self.every, self.start, 1, self.timezone)
        settle(self, start=one.start)
        parse_duration("lateness", self.lateness)
        parse_duration("skew", self.skew)
        if self.width is None and self.count is not None and self.count > _MOST_UNEVEN:
            raise InvalidArgument("horizon", self.count, f"at most {_MOST_UNEVEN:,} for windows of {self.every}")

    @cached_property
    def length(self) -> int:
        """How many windows there are at most."""
        return (self.count or _MOST) if self.width is not None else len(self._edges) - 1

    @cached_property
    def width(self) -> int | None:
        """The length of every window in microseconds; None where they differ."""
        if not self.every.endswith(_EVEN):
            return None
        edges = Calendar.from_length(self.every, self.start, 1, self.timezone).edges
        return int(edges[1] - edges[0])

    @cached_property
    def _first(self) -> int:
        return int(Calendar.from_length(self.every, self.start, 1, self.timezone).edges[0])

    @cached_property
    def _edges(self) -> NDArray[np.int64]:
        wanted = self.count or _MOST_UNEVEN
        while True:  # windows of years end with the calendar
            try:
                return Calendar.from_length(self.every, self.start, wanted, self.timezone).edges
            except InvalidArgument:
                if self.count is not None or wanted == 1:
                    raise
                wanted //= 2

    @cached_property
    def _open_for(self) -> int:
        return parse_duration("lateness", self.lateness)

    def begins(self, window: int) -> int:
        """Return when a window begins, in microseconds since 1970, UTC."""
        return self._first + window * self.width if self.width is not None else int(self._edges[window])

    def ends(self, window: int) -> int:
        """Return when a window ends."""
        return self.begins(window + 1)

    def closes(self, window: int) -> int:
        """Return when the clock closes a window: at its end, and the lateness later."""
        return self.ends(window) + self._open_for

    def label(self, window: int) -> str:
        """Return when a window begins, as text on the zone's clocks."""
        return moment_at(self.begins(window)).astimezone(check_zone(self.timezone)).isoformat()

    def number(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the window of each time; -1 for times outside all of them."""
        if self.width is not None:
            found = (times - self._first) // self.width
            return np.where((found >= 0) & (found < self.length), found, -1)
        # A window is [begin, end): a time on an edge belongs to the window that begins there.
        found = np.searchsorted(self._edges, times, side="right") - 1
        return np.where(found < len(self._edges) - 1, found, -1)

    def due(self, now: int) -> int:
        """Return how many windows, from the first on, are to be closed by now."""
        return self._begun(now - self._open_for, before=True)

    def last_open(self, window: int) -> int:
        """Return the last window that takes records while ``window`` is the last to be closed next.

        Records may be dated up to the moment at which it closes, and the skew beyond. The limit follows from public
        numbers alone, so that no record can put another one beyond it.
        """
        return min(self._begun(self.closes(window) + parse_duration("skew", self.skew)), self.length - 1)

    def _begun(self, moment: int, *, before: bool = False) -> int:
        """Return the window that a moment lies in; with ``before`` how many have ended by then, which is the same."""
        if self.width is not None:
            found = (moment - self._first) // self.width
        else:
            found = int(np.searchsorted(self._edges, moment, side="right")) - 1
        return min(max(found, 0), self.length) if before else max(found, 0)


def begin_of(every: str, moment: int, timezone: str) -> str:
    """Return when the civil period of that length began in which a moment lies, as text.

    >>> begin_of("1h", 5_400_000_000, "UTC")
    '1970-01-01T01:00:00+00:00'
    """
    zone = check_zone(timezone)
    second = moment_at(moment // 1_000_000 * 1_000_000).astimezone(zone)
    edges = Calendar.from_length("1s", second, 1, timezone).civil_edges(every)
    begun = max(edge for edge in edges if edge <= moment)
    return moment_at(begun).astimezone(zone).isoformat()


def parse_duration(name: str, text: object) -> int:
    """Return a stretch of time in microseconds.

    >>> parse_duration("lateness", "250ms")
    250000
    """
    found = _DURATION.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise InvalidArgument(name, text, "a stretch of time such as '250ms', '5s', '10min', '1h' or '1D'")
    return int(found[1]) * _MICROSECONDS[found[2]]
