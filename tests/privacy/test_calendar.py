"""The grid of time against the standard library's clocks, read in the plainest way."""

from __future__ import annotations

import bisect
import datetime as dt
import random
import re
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from tests.conftest import Trials
from tests.privacy.clocks import ELAPSED, EPOCH, SECOND, ZONES, on_the_clock

from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.privacy import Calendar, Unit, dump, load
from chronodp.privacy.clock import days_touched

HOUR = 3600 * SECOND
DAY = 24 * HOUR


def instant(text: str, zone: str) -> int:
    return microseconds(dt.datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)))


def microseconds(moment: dt.datetime) -> int:
    return (moment.astimezone(dt.UTC) - EPOCH) // dt.timedelta(microseconds=1)


def hours(calendar: Calendar) -> list[float]:
    return [float(width) / HOUR for width in np.diff(calendar.edges)]


def test_every_kind_of_period(subtests: pytest.Subtests) -> None:
    for every, start, end, periods, second in [
        ("1s", "2026-03-01", "2026-03-01T00:02", 120, "2026-03-01T00:00:01"),
        ("90s", "2026-03-01", "2026-03-01T01:00", 40, "2026-03-01T00:01:30"),
        ("1min", "2026-03-01", "2026-03-02", 1440, "2026-03-01T00:01"),
        ("15min", "2026-03-01", "2026-03-02", 96, "2026-03-01T00:15"),
        ("1h", "2026-03-01", "2026-03-02", 24, "2026-03-01T01:00"),
        ("7h", "2026-03-01", "2026-03-08", 24, "2026-03-01T07:00"),
        ("1D", "2026-02-01", "2026-03-01", 28, "2026-02-02"),
        ("1D", "2028-02-01", "2028-03-01", 29, "2028-02-02"),
        ("10D", "2026-01-01", "2026-04-11", 10, "2026-01-11"),
        ("1W", "2026-01-01", "2026-02-26", 8, "2026-01-08"),
        ("2W", "2026-01-05", "2026-03-02", 4, "2026-01-19"),
        ("1mo", "2026-01-01", "2027-01-01", 12, "2026-02-01"),
        ("3mo", "2025-11-15", "2026-11-15", 4, "2026-02-15"),
        ("1Y", "1999-01-01", "2026-01-01", 27, "2000-01-01"),
        ("4Y", "2000-02-28", "2024-02-28", 6, "2004-02-28"),
    ]:
        with subtests.test(every=every, start=start, end=end, periods=periods, second=second):
            calendar = Calendar(every, start, end)
            assert len(calendar) == len(calendar.starts()) == periods
            assert calendar.edges[0] == instant(start, "UTC")
            assert calendar.edges[1] == instant(second, "UTC")
            assert calendar.edges[-1] == instant(end, "UTC")
            assert f"{periods:,} periods of {every}" in str(calendar)


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
