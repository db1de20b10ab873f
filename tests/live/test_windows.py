"""Windows and the clock that closes them."""

from __future__ import annotations

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.live import Windows
from chronodp.live.windows import begin_of, parse_duration
from chronodp.privacy import Calendar
from tests.cases import raising


def test_windows_are_the_periods_of_the_calendar() -> None:
    for every in ["15min", "1h", "1D", "1W", "1mo"]:
        windows = Windows(every, "2026-03-01", timezone="Europe/Berlin", count=60)
        calendar = Calendar.from_length(every, "2026-03-01", 60, "Europe/Berlin")
        assert [windows.begins(number) for number in range(61)] == calendar.edges.tolist(), every
        edges = calendar.edges
        inside = np.concatenate((edges[:-1], edges[1:] - 1))
        assert windows.number(inside).tolist() == [*range(60), *range(60)], every
        assert windows.number(np.array([edges[0] - 1, edges[-1]])).tolist() == [-1, -1], every
    assert Windows("1s", "2026-01-01").length == 2**28  # without an end they go on for long
    assert Windows("1Y", "2026-01-01").length > 1000


def test_the_clock_alone_closes_windows() -> None:
    for every in ["1s", "1mo"]:
        windows = Windows(every, "2026-01-01", lateness="7s", skew="3s", count=50)
        for number in (0, 1, 7, 49):
            closes = windows.closes(number)
            assert closes == windows.ends(number) + 7_000_000, every
            assert (windows.due(closes - 1), windows.due(closes)) == (number, number + 1), every
            last = windows.last_open(number)
            assert last == 49 or windows.begins(last) <= closes + 3_000_000 < windows.begins(last + 1), every
        assert windows.due(windows.closes(49) * 2) == 50, every


def test_a_stream_without_a_start_begins_with_the_civil_period() -> None:
    noon = 1_767_268_800_000_000
    assert begin_of("1D", noon + 5, "UTC") == "2026-01-01T00:00:00+00:00"
    assert begin_of("1D", noon + 5, "Asia/Tokyo") == "2026-01-01T00:00:00+09:00"
    assert begin_of("15min", noon + 899_999_999, "UTC") == "2026-01-01T12:00:00+00:00"


def test_stretches_of_time_that_are_none_are_refused() -> None:
    for wrong in ["", "5", "-1s", "1.5s", "1mo", 5, None]:
        with raising(InvalidArgument, match="lateness must be a stretch of time", case=wrong):
            parse_duration("lateness", wrong)


def test_grids_that_cannot_be_are_refused() -> None:
    cases: list[dict[str, object]] = [{"every": "1fortnight"}, {"start": "then"}, {"count": 0}, {"timezone": "Mars"}]
    for wrong in cases:
        with raising(InvalidArgument, case=wrong):
            Windows(**{"every": "1s", "start": "2026-01-01", **wrong})  # type: ignore[arg-type]
