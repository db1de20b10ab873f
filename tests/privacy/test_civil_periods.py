"""How many periods one civil day, week, month or year touches, counted in the plainest way."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from collections import defaultdict
from collections.abc import Callable, Hashable
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from tests.privacy.clocks import ELAPSED, SECOND, ZONES, on_the_clock

from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar

Label = Callable[[int], Hashable]


def civil(every: str, zone: str) -> Label:
    """In which civil period an instant lies, told by the date on the clock."""
    found = re.fullmatch(r"(\d+)(\D+)", every)
    assert found is not None
    count, letter = int(found[1]), found[2]
    if letter in ELAPSED:
        return lambda moment: moment // (count * ELAPSED[letter] * SECOND)
    if letter in ("D", "W"):
        days = count * (7 if letter == "W" else 1)
        return lambda moment: (on_the_clock(moment, zone).date() - dt.date(1969, 12, 29)).days // days
    months = count * (12 if letter == "Y" else 1)

    def month(moment: int) -> int:
        day = on_the_clock(moment, zone)
        return (day.year * 12 + day.month - 1) // months

    return month


def touched(calendar: Calendar, every: str) -> tuple[int, bool]:
    """How many periods a civil period touches, by looking every few minutes which one it is."""
    label = civil(every, calendar.timezone)
    found = defaultdict(set)
    inside = True
    for number, (begin, end) in enumerate(pairwise(calendar.edges.tolist())):
        moments = {begin, end - 1, *range(begin, end, 15 * 60 * SECOND)}
        labels = {label(moment) for moment in moments}
        inside &= len(labels) == 1
        for one in labels:
            found[one].add(number)
    return max(map(len, found.values())), inside


def test_what_one_civil_period_touches(subtests: pytest.Subtests) -> None:
    for grid, every in [
        (Calendar("1h", "2026-10-20", "2026-11-05", "Europe/Berlin"), "1D"),
        (Calendar("1h", "2026-03-20", "2026-04-05", "Europe/Berlin"), "1D"),
        (Calendar("15min", "2026-10-30", "2026-11-03", "America/New_York"), "1D"),
        (Calendar("1h", "2026-10-20T00:30", "2026-10-30T00:30", "Europe/Berlin"), "1D"),
        (Calendar("1h", "2026-10-20", "2026-10-30", "Europe/Berlin"), "6h"),
        (Calendar("1h", "2026-01-01", "2026-01-10", "Asia/Kolkata"), "1h"),
        (Calendar("1h", "2026-01-01T00:30", "2026-01-10T00:30", "Asia/Kolkata"), "1D"),
        (Calendar("5h", "2026-01-01", "2026-01-11"), "1D"),
        (Calendar("7h", "2026-01-01", "2026-01-08"), "1W"),
        (Calendar("1D", "2018-10-20", "2018-11-20", "America/Sao_Paulo"), "1D"),
        (Calendar("1h", "2018-11-01", "2018-11-08", "America/Sao_Paulo"), "1D"),
        (Calendar("1h", "2018-02-15", "2018-02-20", "America/Sao_Paulo"), "1D"),  # back from midnight to eleven
        (Calendar("1h", "2026-10-28", "2026-11-04", "America/Havana"), "1D"),
        (Calendar("30min", "2026-04-01", "2026-04-10", "Australia/Lord_Howe"), "1D"),
        (Calendar("1D", "2026-01-01", "2026-03-01"), "1W"),
        (Calendar("1D", "2026-01-01", "2026-03-01"), "1mo"),
        (Calendar("1D", "2026-01-15", "2026-03-15"), "1mo"),
        (Calendar("1W", "2026-01-05", "2026-06-01"), "1mo"),
        (Calendar("1mo", "2026-01-15", "2027-01-15"), "1mo"),
        (Calendar("1mo", "2026-01-01", "2028-01-01"), "1Y"),
        (Calendar("1mo", "2026-02-01", "2027-02-01"), "5mo"),
        (Calendar("1D", "2026-01-01", "2026-02-01"), "1h"),
        (Calendar("1D", "2026-01-02", "2026-02-01"), "3D"),
        (Calendar("3D", "2026-01-01", "2026-01-31"), "2D"),
        (Calendar("2W", "2026-01-05", "2026-03-02"), "1Y"),
        (Calendar("1D", "2025-12-20", "2026-01-20"), "2Y"),
        (Calendar("1min", "2026-01-01T00:07:30", "2026-01-01T02:07:30"), "1min"),
        (Calendar("90s", "2026-01-01", "2026-01-01T03:00"), "2min"),
    ]:
        with subtests.test(grid=grid, every=every):
            assert grid.most_within(every) == touched(grid, every)


@given(
    every=st.sampled_from(["20min", "45min", "1h", "5h", "1D", "2D"]),
    outer=st.sampled_from(["1h", "3h", "1D", "2D", "1W", "1mo"]),
    zone=st.sampled_from(ZONES),
    start=st.datetimes(dt.datetime(2017, 1, 1), dt.datetime(2027, 1, 1)),
    periods=st.integers(1, 40),
)
def test_what_any_civil_period_touches(every: str, outer: str, zone: str, start: dt.datetime, periods: int) -> None:
    # Offsets are whole quarters of an hour in these years, so looking every quarter from one misses nothing.
    first = start.replace(minute=15 * (start.minute // 15), second=0, microsecond=0)
    calendar = Calendar.from_length(every, first, periods, zone)
    assert calendar.most_within(outer) == touched(calendar, outer)


def test_periods_of_ages_touch_everything_or_are_refused() -> None:
    month = Calendar("1D", "2026-01-01", "2026-02-01")
    assert (month.most_within("1s"), month.most_within("1000Y")) == ((1, False), (31, True))
    for every, start in (("3000Y", "2026"), ("999999mo", "2026"), ("999999W", "2026"), ("7Y", "0002"), ("5Y", "9998")):
        with contextlib.suppress(InvalidArgument):
            assert Calendar("1D", f"{start}-01-01", f"{start}-02-01").most_within(every) == (31, True), every
