"""Clocks that jump: nothing closes before its time for a clock that is wrong for a while, and nothing closes twice."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from chronodp import Event
from chronodp.errors import InvalidArgument
from chronodp.live import Limits, Live, Windows
from chronodp.live.clock_guard import ClockGuard
from chronodp.live.windows import begin_of, parse_duration
from chronodp.privacy import Calendar
from tests.cases import raising
from tests.live.examples import Bench, SetClock, at, write

SECOND = 1_000_000
JUMP = 10 * SECOND
GRID = Windows("1s", "2026-01-01", lateness="1s", skew="2s", count=10_000)
COUNTS = Limits(Event(), GRID, at_most=1000)
AHEAD = (
    "the clock went ahead by 10 min: windows close as if it had not, until it has stayed there for 10 min; "
    "start again with --clock-is-right if it is right"
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path, COUNTS)
    made.path.touch()
    return made


def drive(bench: Bench, *moves: Callable[[], object], believe: bool = False) -> Live:
    """Run one process; do each move, and let the stream go round three times after each."""
    live, state, ledger = bench.start()
    if believe:
        live.believe_clock()
    waiting, rounds = list(moves), 0

    def stop() -> bool:
        nonlocal rounds
        rounds += 1
        if rounds % 3:
            return False
        if not waiting:
            return True
        waiting.pop(0)()
        return False

    try:
        live.run(stop=stop)
    finally:
        state.close()
        ledger.close_connection()
    return live


def pass_seconds(bench: Bench, seconds: int) -> Callable[[], None]:
    def move() -> None:
        bench.clock.moment += seconds * SECOND

    return move


def be_wrong(bench: Bench, seconds: int) -> Callable[[], None]:
    def move() -> None:
        bench.clock.error = seconds * SECOND

    return move


def test_a_clock_that_is_ten_minutes_ahead_for_a_while_closes_nothing_before_its_time(bench: Bench) -> None:
    live = drive(
        bench,
        pass_seconds(bench, 3),
        be_wrong(bench, 600),
        pass_seconds(bench, 2),
        lambda: write(bench.path, {"at": at(COUNTS, 5), "who": "ann"}),
        be_wrong(bench, 0),
        pass_seconds(bench, 3),
    )
    assert live.progress.next_window == 7  # eight seconds have passed, and one is the lateness
    assert bench.totals() == [0, 0, 0, 0, 0, 1, 0]
    assert bench.said == [AHEAD, "clock: it is believed again"]
    assert not live.progress.doubted


@pytest.mark.slow
def test_a_clock_that_stays_ahead_is_believed_after_as_long_as_it_jumped(bench: Bench) -> None:
    seen: list[tuple[int, bool]] = []
    live = drive(
        bench,
        be_wrong(bench, 600),
        # Who sends goes by the same time: what is dated by it is kept, and not left out as dated ahead.
        lambda: write(bench.path, {"at": at(COUNTS, 600), "who": "ann"}),
        pass_seconds(bench, 599),
        lambda: seen.append((live_of(bench).progress.next_window, bool(live_of(bench).progress.doubted))),
        pass_seconds(bench, 1),
    )
    assert seen == [(598, True)]
    assert live.progress.next_window == 1199
    assert live.progress.owner.future == 0
    assert [window for window, total in enumerate(bench.totals()) if total] == [600]


def test_the_owner_may_say_that_the_clock_is_right(bench: Bench) -> None:
    assert drive(bench, be_wrong(bench, 600)).progress.next_window == 0
    assert drive(bench).progress.next_window == 0  # a restart is no answer
    live = drive(bench, believe=True)
    assert live.progress.next_window == 599
    assert not live.progress.doubted
    assert drive(bench, be_wrong(bench, 0)).progress.next_window == 599


@pytest.mark.slow
def test_a_machine_that_started_anew_is_believed_unless_its_clock_was_doubted(bench: Bench) -> None:
    drive(bench)
    bench.clock = Started("the second", bench.clock.moment + 100 * SECOND)
    assert drive(bench).progress.next_window == 99
    drive(bench, be_wrong(bench, 600))
    bench.clock = Started("the third", bench.clock.moment + SECOND, error=600 * SECOND)
    live = drive(bench, pass_seconds(bench, 599))
    assert live.progress.next_window == 699
    assert drive(bench, pass_seconds(bench, 1)).progress.next_window == 1300


def test_a_clock_that_went_back_is_told_and_closes_nothing_twice(bench: Bench) -> None:
    live = drive(bench, pass_seconds(bench, 100), be_wrong(bench, -60), pass_seconds(bench, 30), be_wrong(bench, 0))
    assert live.progress.next_window == 129
    assert [row["window"] for row in bench.rows] == list(range(129))
    back = "the clock went back by 60 s: no window is opened again, the next ones wait for the clock"
    assert bench.said == [back, "clock: it is believed again"]


@pytest.mark.slow
def test_a_record_dated_ahead_neither_closes_windows_nor_makes_them_wait(tmp_path: Path) -> None:
    records = [{"at": at(COUNTS, 2), "who": "ann"}]
    forged = [{"at": at(COUNTS, 600), "who": "eve"}, {"at": 4e9, "who": "eve"}, {"at": -4e9, "who": "eve"}]
    seen = []
    for number, sent in enumerate((records, [*forged, *records, *forged])):
        folder = tmp_path / str(number)
        folder.mkdir()
        bench = Bench(folder, COUNTS)
        write(bench.path, *sent)
        live = drive(bench, *[pass_seconds(bench, 1)] * 5)
        seen.append((live.progress.next_window, live.progress.doubted, bench.totals(), bench.said))
    assert seen[0] == seen[1] == (4, "", [0, 0, 1, 0], [])


class Started(SetClock):
    """The clock of a machine that started anew: its steady one counts from another moment."""

    def __init__(self, boot: str, moment: int, *, error: int = 0) -> None:
        super().__init__(moment, error=error)
        self.boot = boot

    def steady(self) -> int:
        return super().steady() - 12345 * SECOND


def shown(errors: Sequence[int], *, pace: int = 1) -> list[int]:
    """Return by how much the moment up to which windows close differs from the right time, look by look."""
    clock = SetClock(1_000 * JUMP)
    guard = ClockGuard(clock)
    found = []
    for error in errors:
        clock.moment, clock.error = clock.moment + pace * JUMP, error * JUMP
        found.append((guard.look().closing - clock.moment) // JUMP)
    return found


def test_no_clock_that_is_wrong_for_less_time_than_it_is_wrong_by_closes_a_window_early() -> None:
    """All 4^6 clocks that are 0, 3, 5 or −4 jumps from the right time, look by look, a jump of time apart.

    Windows never close before the clock shows their end, and before the right time only by a difference that the clock
    had for as long as it is large, without a break.
    """
    for errors in itertools.product((0, 3, 5, -4), repeat=6):
        for look, early in enumerate(shown(errors)):
            assert early <= errors[look]
            if early > 0:
                stretches = [errors[begin : begin + early + 1] for begin in range(look - early + 1)]
                assert (early,) * (early + 1) in stretches, errors


def test_a_clock_within_the_jump_is_followed_and_one_that_stays_is_believed() -> None:
    assert shown([0, 1, 1, 0, -1, 0]) == [0, 1, 1, 0, -1, 0]
    assert shown([3, 3, 3, 3, 3, 0]) == [0, 0, 0, 3, 3, 0]
    assert shown([3, 0, 3, 3, 3, 3]) == [0, 0, 0, 0, 0, 3]
    assert shown([3, 5, 5, 5, 5, 5, 5]) == [0, 0, 0, 0, 0, 0, 5]
    assert shown([-4, -4, -4, -4, -4, 0, 0, 0, 0, 0]) == [-4, -4, -4, -4, -4, -4, -4, -4, -4, 0]
    assert shown([-4, -4, 0, 0]) == [-4, -4, 0, 0]


def test_a_doubt_outlives_the_process_to_the_second() -> None:
    """Stopped and started again at every look, the guard says the same."""
    for errors in itertools.product((0, 3, -4), repeat=5):
        clock = SetClock(1_000 * JUMP)
        known = ClockGuard(clock).fact
        found = []
        for error in errors:
            clock.moment, clock.error = clock.moment + JUMP, error * JUMP
            guard = ClockGuard(clock, known=known)
            found.append((guard.look().closing - clock.moment) // JUMP)
            known = guard.fact
        assert found == shown(errors)


def live_of(bench: Bench) -> Live:
    """Return the process that runs now."""
    assert bench.running is not None
    return bench.running


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
