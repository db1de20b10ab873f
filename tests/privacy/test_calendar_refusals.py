"""What is no grid of time, and how it is refused."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar
from chronodp.privacy.calendar import LONGEST


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
