"""The grid of time against the standard library's clocks, read in the plainest way; and what is no grid."""

from __future__ import annotations

import bisect
import contextlib
import datetime as dt
import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Hashable
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from tests.conftest import Trials

from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.privacy import Calendar, Unit, dump, load
from chronodp.privacy.calendar import LONGEST
from chronodp.privacy.clock import days_touched

SECOND = 1_000_000
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
ELAPSED = {"s": 1, "min": 60, "h": 3600}
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu", "America/Sao_Paulo"]
ZONES += ["Africa/Cairo", "Africa/Casablanca", "Pacific/Kiritimati"]
ZONES += ["Australia/Lord_Howe", "Antarctica/Troll"]  # summer time of half an hour, and of two
ZONES += ["America/Havana"]  # clocks change at midnight, both ways
HOUR = 3600 * SECOND
DAY = 24 * HOUR


def on_the_clock(instant: int, zone: str) -> dt.datetime:
    return (EPOCH + dt.timedelta(microseconds=instant)).astimezone(ZoneInfo(zone))


def instant(text: str, zone: str) -> int:
    return microseconds(dt.datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)))


def microseconds(moment: dt.datetime) -> int:
    return (moment.astimezone(dt.UTC) - EPOCH) // dt.timedelta(microseconds=1)


def hours(calendar: Calendar) -> list[float]:
    return [float(width) / HOUR for width in np.diff(calendar.edges)]


def test_days_of_23_and_25_hours() -> None:
    assert hours(Calendar("1D", "2026-03-28", "2026-03-31", "Europe/Berlin")) == [24, 23, 24]
    assert hours(Calendar("1D", "2026-10-24", "2026-10-27", "Europe/Berlin")) == [24, 25, 24]
    assert hours(Calendar("1D", "2026-03-07", "2026-03-10", "America/New_York")) == [24, 23, 24]
    assert hours(Calendar("1D", "2026-10-31", "2026-11-03", "America/New_York")) == [24, 25, 24]
    assert hours(Calendar("1D", "2026-04-04", "2026-04-07", "Australia/Lord_Howe")) == [24, 24.5, 24]
    assert hours(Calendar("1W", "2026-03-23", "2026-04-06", "Europe/Berlin")) == [167, 168]
    assert hours(Calendar("1mo", "2026-03-01", "2026-05-01", "Europe/Berlin")) == [31 * 24 - 1, 720]
    assert hours(Calendar("1Y", "2026-01-01", "2027-01-01", "Europe/Berlin")) == [8760]


def test_the_hours_of_a_day_that_has_25() -> None:
    autumn = Calendar("1h", "2026-10-25", "2026-10-26", "Europe/Berlin")
    assert [moment.strftime("%H%z") for moment in autumn.starts()[1:5]] == ["01+0200", "02+0200", "02+0100", "03+0100"]
    assert len(autumn) == 25
    assert len(Calendar("15min", "2026-10-25", "2026-10-26", "Europe/Berlin")) == 100
    spring = Calendar("1h", "2026-03-29", "2026-03-30", "Europe/Berlin")
    assert [moment.hour for moment in spring.starts()[:4]] == [0, 1, 3, 4]
    assert len(spring) == 23
    assert len(Calendar("1h", "2026-11-01", "2026-11-02", "America/New_York")) == 25
    # A day of half an hour more has no whole number of hours, and one of half hours.
    assert len(Calendar("30min", "2026-04-05", "2026-04-06", "Australia/Lord_Howe")) == 49
    with pytest.raises(InvalidArgument, match="a whole number of 1h"):
        Calendar("1h", "2026-04-05", "2026-04-06", "Australia/Lord_Howe")


def test_hours_begin_where_the_series_begins() -> None:
    india = Calendar("1h", "2026-01-01", "2026-01-02", "Asia/Kolkata")
    assert india.edges[0] == instant("2025-12-31T18:30", "UTC")
    assert all(moment.minute == 0 for moment in india.starts())
    assert hours(Calendar("1D", "2026-01-01", "2026-03-01", "Asia/Kathmandu")) == [24] * 59


def test_a_midnight_that_does_not_exist() -> None:
    days = Calendar("1D", "2018-11-01", "2018-11-08", "America/Sao_Paulo")
    assert hours(days) == [24, 24, 24, 23, 24, 24, 24]
    assert [moment.hour for moment in days.starts()] == [0, 0, 0, 1, 0, 0, 0]
    assert hours(Calendar("1D", "2018-11-01", "2018-11-04", "America/Sao_Paulo")) == [24] * 3
    assert hours(Calendar("1mo", "2018-10-04", "2018-12-04", "America/Sao_Paulo")) == [31 * 24, 30 * 24 - 1]


def test_series_that_start_with_or_end_before_a_midnight_that_does_not_exist() -> None:
    for zone, day in [("America/Sao_Paulo", "2018-11-04"), ("Africa/Cairo", "2026-04-24")]:
        end = dt.date.fromisoformat(day)
        week = Calendar("1D", day, (end + dt.timedelta(days=7)).isoformat(), zone)
        assert [moment.hour for moment in week.starts()] == [1, 0, 0, 0, 0, 0, 0], zone
        assert Calendar.from_length("1D", day, 7, zone) == week, zone
        first = end - dt.timedelta(days=3)
        assert days_of(Calendar("1D", first.isoformat(), day, zone)) == (first, end), zone


def test_a_day_that_was_skipped_is_an_empty_period() -> None:
    samoa = Calendar("1D", "2011-12-28", "2012-01-02", "Pacific/Apia")
    assert hours(samoa) == [24, 24, 0, 24, 24]
    assert samoa.most_within("1D")[0] == 1
    assert hours(Calendar("1mo", "2011-12-01", "2012-02-01", "Pacific/Apia")) == [30 * 24, 31 * 24]


def test_months_from_a_day_of_the_month() -> None:
    for first in (1, 15, 28):
        calendar = Calendar("1mo", f"2026-01-{first:02d}", f"2027-01-{first:02d}")
        assert [moment.day for moment in calendar.starts()] == [first] * 12
    for every in ("1mo", "1Y"):
        for day in ("2028-02-29", "2026-01-30", "2026-12-31"):
            with pytest.raises(InvalidArgument, match=f"start must be on day 1 to 28 for periods of {every}"):
                Calendar(every, day, "2031-03-01")
    assert hours(Calendar("1mo", "2026-01-15T06:30", "2026-03-15T06:30"))[1] == 28 * 24


@given(
    every=st.sampled_from(["7s", "1min", "11min", "1h", "5h", "1D", "3D", "1W", "1mo", "5mo", "1Y"]),
    zone=st.sampled_from(ZONES),
    begin=st.datetimes(dt.datetime(2015, 1, 1), dt.datetime(2027, 1, 1)).filter(lambda begin: begin.day <= 27),
    length=st.integers(1, 60),
    share=st.floats(0.01, 0.99),
)
def test_an_end_off_the_grid_names_the_two_near_it(
    every: str, zone: str, begin: dt.datetime, length: int, share: float
) -> None:
    start = begin.replace(tzinfo=ZoneInfo(zone))
    whole = Calendar.from_length(every, start, length + 1, zone)
    low, high = int(whole.edges[-2]), int(whole.edges[-1])
    off = on_the_clock(low + max(1, int(share * (high - low - 1))), zone)
    with pytest.raises(InvalidArgument, match="end must be a whole number of") as caught:
        Calendar(every, start, off, zone)  # type: ignore[arg-type]
    near = re.fullmatch(rf"a whole number of {every} after the start: (.+) or (.+)", caught.value.allowed)
    assert near is not None
    assert [microseconds(dt.datetime.fromisoformat(end)) for end in near.groups()] == [low, high]
    assert [len(Calendar(every, start, end, zone)) for end in near.groups()] == [length, length + 1]  # type: ignore[arg-type]


def test_an_end_before_the_first_whole_period_names_the_one_after_it() -> None:
    with pytest.raises(InvalidArgument) as caught:
        Calendar("1D", "2026-01-01", "2026-01-01T06:00")
    assert caught.value.allowed == "a whole number of 1D after the start: 2026-01-02 00:00:00+00:00"


EVERY = st.one_of(
    st.builds(lambda count, letter: f"{count}{letter}", st.integers(1, 400), st.sampled_from(["s", "min", "h", "D"])),
    st.builds(lambda count, letter: f"{count}{letter}", st.integers(1, 14), st.sampled_from(["W", "mo", "Y"])),
)


CALENDARS = st.builds(
    Calendar.from_length,
    every=EVERY,
    start=st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2040, 1, 1)).filter(lambda start: start.day <= 28),
    periods=st.integers(1, 300),
    timezone=st.sampled_from(ZONES),
)


@given(CALENDARS)
def test_json_and_back(calendar: Calendar) -> None:
    again = load(dump(calendar), Calendar)
    assert again == calendar
    assert dump(again) == dump(calendar)
    assert np.array_equal(again.edges, calendar.edges)
    with pytest.raises(UnknownDocument):
        load(dump(calendar), Unit)


@given(CALENDARS)
def test_runs_and_edges_say_the_same(calendar: Calendar) -> None:
    again = [run.start + run.width * number for run in calendar.runs for number in range(run.count)]
    assert [*again, calendar.edges[-1]] == calendar.edges.tolist()
    assert [run.first for run in calendar.runs] == np.cumsum([0, *(run.count for run in calendar.runs)])[:-1].tolist()
    assert all(one.width != two.width for one, two in pairwise(calendar.runs))
    if calendar.every[-1] in "snh":
        assert len(calendar.runs) == 1
    assert not calendar.edges.flags.writeable


@given(CALENDARS)
def test_days_and_months_keep_the_time_of_day(calendar: Calendar) -> None:
    found = re.fullmatch(r"(\d+)(\D+)", calendar.every)
    assert found is not None
    count, letter = int(found[1]), found[2]
    if letter in ELAPSED:
        assert set(np.diff(calendar.edges).tolist()) == {count * ELAPSED[letter] * SECOND}
        return
    days, months = count * {"D": 1, "W": 7}.get(letter, 0), count * {"mo": 1, "Y": 12}.get(letter, 0)
    wall = pd.Timestamp(calendar.start).tz_localize(None)
    for number, edge in enumerate(calendar.edges.tolist()):
        moved = (wall + number * pd.DateOffset(days=days, months=months)).to_pydatetime()
        assert edge == microseconds(moved.replace(tzinfo=calendar.zone, fold=0))


@given(CALENDARS)
def test_a_number_of_periods_and_an_end_make_the_same(calendar: Calendar) -> None:
    assert Calendar(calendar.every, calendar.start, calendar.end, calendar.timezone) == calendar
    assert Calendar.from_length(calendar.every, calendar.start, len(calendar), calendar.timezone) == calendar


def test_times_are_read_on_the_zones_clocks_unless_they_say_otherwise() -> None:
    expected = Calendar("1h", "2026-01-01T01:00", "2026-01-01T05:00", "Europe/Berlin")
    paris = dt.timezone(dt.timedelta(hours=1))
    same: list[tuple[object, object]] = [
        ("2026-01-01T00:00Z", "2026-01-01T05:00"),
        ("2026-01-01T01:00", "2026-01-01T04:00+00:00"),
        (dt.datetime(2026, 1, 1, 1), dt.datetime(2026, 1, 1, 5, tzinfo=paris)),
        (dt.datetime(2026, 1, 1, 0, tzinfo=dt.UTC), "2025-12-31T23:00-05:00"),
        (pd.Timestamp("2026-01-01 01:00"), pd.Timestamp("2026-01-01 04:00", tz="UTC")),
    ]
    for start, end in same:
        assert Calendar("1h", start, end, "Europe/Berlin") == expected  # type: ignore[arg-type]
    assert Calendar("1D", dt.date(2026, 1, 1), dt.date(2026, 1, 3)) == Calendar("1D", "2026-01-01", "2026-01-03")  # type: ignore[arg-type]
    # Of a time that occurs twice the first is meant; the offset tells the second.
    first = Calendar("30min", "2026-10-25T02:30", "2026-10-25T03:00", "Europe/Berlin")
    second = Calendar("30min", "2026-10-25T02:30+01:00", "2026-10-25T03:00", "Europe/Berlin")
    assert (len(first), len(second)) == (3, 1)


def test_the_days_of_a_series() -> None:
    dates = days_of(Calendar("1h", "2026-01-31T22:00", "2026-02-01T02:00", "Europe/Berlin"))
    assert dates == (dt.date(2026, 1, 31), dt.date(2026, 2, 2))
    assert days_of(Calendar("1D", "2026-01-01", "2026-02-01")) == (dt.date(2026, 1, 1), dt.date(2026, 2, 1))
    west = Calendar("1h", "2026-01-01T00:00Z", "2026-01-01T06:00Z", "America/New_York")
    assert days_of(west) == (dt.date(2025, 12, 31), dt.date(2026, 1, 2))
    assert days_touched(*west.span, ZoneInfo("UTC")) == (dt.date(2026, 1, 1), dt.date(2026, 1, 2))


def test_a_day_ends_when_the_next_begins_for_the_first_time() -> None:
    # Clocks of St. John's went from 00:01 back to 23:01: that hour belongs to the day that had begun.
    zone = ZoneInfo("America/St_Johns")
    begun = dt.datetime(2006, 10, 29, tzinfo=zone)
    again = begun.astimezone(dt.UTC) + dt.timedelta(minutes=30)
    assert again.astimezone(zone).date() == dt.date(2006, 10, 28)
    assert days_touched(again, again + dt.timedelta(minutes=1), zone) == (dt.date(2006, 10, 29), dt.date(2006, 10, 30))


def days_of(calendar: Calendar) -> tuple[dt.date, dt.date]:
    return days_touched(*calendar.span, calendar.zone)


def offset_of(changes: list[tuple[int, int]], wall: int) -> int:
    place = bisect.bisect_right([since for since, _ in changes], wall) - 1
    return changes[place][1]


def test_wall_clock_times_as_the_standard_library_reads_them(trials: Trials, subtests: pytest.Subtests) -> None:
    for zone, start, end in [
        *((zone, "2017-01-01", "2027-01-01") for zone in ZONES),
        ("Pacific/Apia", "2009-01-01", "2014-01-01"),  # a whole day is left out
        ("Europe/London", "1939-01-01", "1949-01-01"),  # double summer time
        ("Europe/Dublin", "1967-01-01", "1975-01-01"),
        ("Europe/Amsterdam", "1930-01-01", "1942-01-01"),  # offsets with seconds
        ("Africa/Monrovia", "1970-01-01", "1974-01-01"),
        ("America/Toronto", "1918-01-01", "1921-01-01"),  # clocks change half an hour before midnight
    ]:
        with subtests.test(zone=zone, start=start, end=end):
            calendar = Calendar("1D", start, end, zone)
            changes = calendar.wall_clock_changes()
            assert [since for since, _ in changes] == sorted(since for since, _ in changes)
            dice = random.Random(zone)
            first, last = (dt.datetime.fromisoformat(text) for text in (start, end))
            span = (last - first) // dt.timedelta(microseconds=1)
            origin = dt.datetime(1970, 1, 1)
            walls = [first + dt.timedelta(microseconds=dice.randrange(span)) for _ in range(trials(50_000, least=3000))]
            for since, _ in changes[1:]:
                turn = origin + dt.timedelta(microseconds=since)
                walls += [turn + dt.timedelta(microseconds=shift) for shift in (-DAY, -HOUR, -1, 0, 1, HOUR, DAY)]
                walls += [turn + dt.timedelta(seconds=dice.uniform(-3 * 3600, 3 * 3600)) for _ in range(20)]
            seen = set()
            for wall in walls:
                here = (wall - origin) // dt.timedelta(microseconds=1)
                seen.add(offset_of(changes, here))
                expected = wall.replace(tzinfo=ZoneInfo(zone), fold=0).utcoffset()
                assert expected is not None
                assert offset_of(changes, here) == expected // dt.timedelta(microseconds=1), wall
            assert len(seen) == len({offset for _, offset in changes})


def test_longer_periods_from_the_same_start() -> None:
    autumn = Calendar("1h", "2026-10-24", "2026-10-27T12:00", "Europe/Berlin")
    assert (np.diff(autumn.divided("1D")) // HOUR).tolist() == [24, 25, 24]
    assert autumn.divided("1W").tolist() == autumn.edges[:1].tolist()
    assert np.array_equal(autumn.divided("1h"), autumn.edges)
    assert len(autumn.divided("30min")) == 2 * len(autumn) + 1
    shifted = Calendar("1h", "2026-01-15T06:00", "2026-03-20T06:00")
    assert [on_the_clock(int(edge), "UTC").isoformat()[:13] for edge in shifted.divided("1mo")] == [
        "2026-01-15T06",
        "2026-02-15T06",
        "2026-03-15T06",
    ]
    with pytest.raises(InvalidArgument, match="start must be on day 1 to 28"):
        Calendar("1D", "2026-01-31", "2026-05-01").divided("1mo")
    with pytest.raises(InvalidArgument, match="every must be a period such as"):
        autumn.divided("1 day")


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
        (Calendar("15min", "2026-10-30", "2026-11-03", "America/New_York"), "1D"),
        (Calendar("1h", "2026-01-01T00:30", "2026-01-10T00:30", "Asia/Kolkata"), "1D"),
        (Calendar("7h", "2026-01-01", "2026-01-08"), "1W"),
        (Calendar("1h", "2018-11-01", "2018-11-08", "America/Sao_Paulo"), "1D"),
        (Calendar("1h", "2018-02-15", "2018-02-20", "America/Sao_Paulo"), "1D"),  # back from midnight to eleven
        (Calendar("30min", "2026-04-01", "2026-04-10", "Australia/Lord_Howe"), "1D"),
        (Calendar("1D", "2026-01-01", "2026-03-01"), "1mo"),
        (Calendar("1W", "2026-01-05", "2026-06-01"), "1mo"),
        (Calendar("1mo", "2026-01-15", "2027-01-15"), "1mo"),
        (Calendar("1mo", "2026-01-01", "2028-01-01"), "1Y"),
        (Calendar("1mo", "2026-02-01", "2027-02-01"), "5mo"),
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


def test_refuses_what_is_no_period() -> None:
    texts = ("", "0s", "1", "h", "1.5h", "-1h", "01h", "1H", "1d", "1M", "1 h", "1h ", "1ms", "1234567s")
    for every in (*texts, None, 1, b"1h"):
        uses: list[Callable[[Any], object]] = [
            lambda every: Calendar(every, "2026-01-01", "2026-01-02"),
            lambda every: Calendar.from_length(every, "2026-01-01", 3),
            lambda every: Calendar("1h", "2026-01-01", "2026-01-02").most_within(every),
        ]
        for use in uses:
            with pytest.raises(InvalidArgument, match="every must be a period such as '1s', '15min'") as refused:
                use(every)
            assert refused.value.name == "every", every


def test_refuses_what_is_no_time() -> None:
    texts = ("", " ", "today", "2026-13-01", "2026-02-30", "NaT")
    for moment in (*texts, None, 0, 1.5e9, math.nan, pd.NaT, dt.time(1), (2026, 1, 1)):
        for argument in ("start", "end"):
            ends: dict[str, Any] = {"start": "2026-01-01", "end": "2026-01-02", argument: moment}
            with pytest.raises(InvalidArgument, match=f"{argument} must be a date or time such as '2026-01-01'"):
                Calendar("1h", **ends)


def test_refuses_unknown_zones() -> None:
    zones: tuple[Any, ...] = ("", "Mars/Olympus", "Europe", "CEST+1", "../../etc/passwd", "\0", "Ü", None, 1, dt.UTC)
    for zone in zones:
        with pytest.raises(InvalidArgument, match="timezone must be the name of a time zone such as 'UTC'"):
            Calendar("1h", "2026-01-01", "2026-01-02", zone)


def test_refuses_an_end_that_is_not_after_the_start() -> None:
    for end in ("2026-01-01", "2025-12-31", "2026-01-01T00:00+00:00", "2026-01-01T12:00+14:00"):
        with pytest.raises(InvalidArgument, match=r"end must be after the start, 2026-01-01T00:00:00\+00:00"):
            Calendar("1h", "2026-01-01", end)
    for periods in (0, -3):
        with pytest.raises(InvalidArgument, match="periods must be a whole number"):
            Calendar.from_length("1D", "2026-01-01", periods)


def test_refuses_times_at_the_edge_of_what_python_counts() -> None:
    for start, end, argument in (
        ("0001-01-01", "0002-02-01", "start"),
        ("0001-12-31T23:59:59", "0002-02-01", "start"),
        ("9998-01-01", "9999-01-01", "end"),
        (dt.datetime.min, "2026-01-01", "start"),
        ("2026-01-01", dt.datetime.max, "end"),
    ):
        with pytest.raises(InvalidArgument, match=f"{argument} must be between the years 2 and 9998"):
            Calendar("1D", start, end)  # type: ignore[arg-type]
    assert len(Calendar("1Y", "0002-01-01", "9998-01-01")) == 9996
    assert len(Calendar("1D", "9998-12-01", "9998-12-31", "Pacific/Kiritimati")) == 30
    with pytest.raises(InvalidArgument, match="end must be some 1000Y before the year 9999"):
        Calendar("1000Y", "2000-01-01", "9000-01-01")


def test_refuses_more_periods_than_a_release_holds() -> None:
    assert len(Calendar.from_length("1s", "2026-01-01", LONGEST)) == LONGEST
    with pytest.raises(InvalidArgument, match="periods must be a whole number from 1 to 16777216"):
        Calendar.from_length("1s", "2026-01-01", LONGEST + 1)
    for make in (
        lambda: Calendar("1s", "0002-01-01", "9998-01-01"),
        lambda: Calendar("1Y", "1990-01-01", "2026-01-01").divided("1s"),
    ):
        with pytest.raises(InvalidArgument, match="every must be long enough for at most 16,777,216 periods"):
            make()
    for every in ("999999h", "1D", "1mo", "999999Y"):
        with pytest.raises(InvalidArgument, match=f"start must be .* × {every} before the year 9999"):
            Calendar.from_length(every, "2026-01-01", LONGEST)


def test_a_number_of_months_from_the_31st_is_refused_for_its_day() -> None:
    with pytest.raises(InvalidArgument, match="start must be on day 1 to 28"):
        Calendar.from_length("1mo", "2026-01-31", 1)
