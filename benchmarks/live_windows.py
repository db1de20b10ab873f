"""Live windows of many people: what a record, a closing and a restart cost, in processor time; no broker.

`--short` leaves out the million.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.harness import Topic, alone, show
from benchmarks.live import START, resident
from chronodp import Ledger, User
from chronodp.live import Fields, Limits, Reader, State, Windows
from chronodp.live.window_totals import WindowTotals

PEOPLE = (10**4, 10**5) if "--short" in sys.argv[1:] else (10**4, 10**5, 10**6)
WINDOWS = 3
_AT_ONCE = 20_000
_LIMITS = Limits(User(), Windows("1min", START, count=1_000), clip=(0.0, 5.0), max_periods=100)


def measure() -> Topic:
    topic = Topic(
        "Live: windows of many people, one record each, people's windows counted",
        "python -m benchmarks.live_windows",
        (
            "people",
            "window",
            "µs a record, read and counted",
            "µs a record, on disk",
            "s a closing",
            "memory, MiB more than at the start",
            "state, MiB",
            "s to start again",
        ),
    )
    for people in PEOPLE:
        topic.rows += alone(_windows, people)
    topic.notes = [
        "times are of one core; a closing adds up, asks who has counted before, writes who counts now, and drops what "
        "the window held; the first window has only new people, the others none",
    ]
    return topic


def _windows(people: int) -> list[tuple[Any, ...]]:
    """Return one row a window."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "budget.db") as ledger:
        path, reader, tally = Path(folder) / "live.db", Reader(Fields("at", user="who", value="kwh")), _tally()
        state, before = State(path, keys=ledger.keys, name="live"), resident()
        for window in range(WINDOWS):
            counted = stored = 0.0
            for first in range(0, people, _AT_ONCE):
                messages = _messages(window, range(first, min(people, first + _AT_ONCE)))
                begin = time.process_time()
                _, parts = tally.add(reader.read(messages), first=window, last=window)
                then = time.process_time()
                state.commit(parts, positions="{}")
                counted, stored = counted + then - begin, stored + time.process_time() - then
            begin = time.process_time()
            closing = tally.closing(window, state.used)
            state.settle([closing.people], settled=window + 1)
            tally.forget(window + 1)
            closed, held = time.process_time() - begin, resident() - before
            state.close()
            size, begin = path.stat().st_size / 2**20, time.process_time()
            state = State(path, keys=ledger.keys, name="live")
            again = time.process_time() - begin
            each = 1e6 / people
            rows.append((people, window + 1, counted * each, stored * each, closed, held, size, again))
        state.close()
    return rows


def _tally() -> WindowTotals:
    return WindowTotals(_LIMITS, bytes(32))


def _messages(window: int, people: range) -> list[bytes]:
    when = _LIMITS.windows.begins(window) / 1e6 + 5
    return [b'{"at":%.6f,"who":"meter-%d","kwh":%.3f}' % (when, person, person % 50 / 10) for person in people]


if __name__ == "__main__":
    show(measure)
