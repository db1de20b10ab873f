"""A live stream that counts people's windows, until it dies: ``python -m tests.live.people_victim FOLDER POINT COUNT``.

It kills itself, with SIGKILL, the COUNT-th time it reaches POINT; with COUNT 0 it goes on until all windows are told.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from chronodp import EachPeriod, Ledger, User
from chronodp.live import Limits, Live, Reader, State, Windows, open_streams, stored_counts, stream_design
from chronodp.live.sinks import CsvSink
from chronodp.live.sources import FileSource
from tests.killing import die_at
from tests.live.examples import SetClock, at, fields_of, write

WINDOWS = 30
LIMITS = Limits(User(), Windows("1s", "2026-01-01", skew="1h", count=WINDOWS), at_most=1, max_periods=3)
PEOPLE = 300
NAME = "people"


class WatchedState(State):
    """Tells of a moment within the transaction that settles windows: people are written, and nothing else yet."""

    reached: Callable[[str], None]

    def _write(self, facts: dict[str, str]) -> None:
        if "settled" in facts:
            self.reached("people written")
        super()._write(facts)


def prepare(folder: Path) -> list[int]:
    """Write what the stream is to read, and return its totals: each person counts in the first three windows."""
    chance, used, totals = random.Random(9), Counter[str](), [0] * WINDOWS
    with Ledger(folder / "budget.db") as ledger:
        ledger.open("visits", unit=User(), epsilon=1e9)
    for window in range(WINDOWS):
        people = chance.sample(range(PEOPLE), k=chance.choice((0, 1, 40, 120)))
        write(folder / "in.jsonl", *[{"at": at(LIMITS, window), "who": f"p{person}"} for person in people] * 2)
        for person in map(str, people):
            totals[window] += used[person] < 3
            used[person] += 1
    return totals


def run(folder: Path, reached: Callable[[str], None], *, until: int = WINDOWS) -> None:
    with (
        patch.object(stored_counts, "_ROOM", -4_000),  # so that everything is written at times
        Ledger(folder / "budget.db", reached=reached) as ledger,
        (folder / "told.txt").open("a", encoding="utf-8", buffering=1) as file,
    ):
        state = WatchedState(folder / "live.db", keys=ledger.keys, name=NAME)
        state.reached = reached
        design = stream_design(LIMITS, workload=EachPeriod(), epsilon=1e6)
        clock = SetClock(LIMITS.windows.begins(0))
        live = Live(
            LIMITS,
            source=FileSource(folder / "in.jsonl", reader=Reader(fields_of(LIMITS))),
            streams=open_streams({NAME: design}, ledger=ledger, dataset="visits"),
            state=state,
            key=bytes(32),
            ledger=ledger,
            dataset="visits",
            sinks=[CsvSink(folder / "out.csv")],
            clock=clock,
            tell=lambda rows: print(json.dumps(rows), file=file),
            reached=reached,
        )

        def forward() -> None:
            """Let the clock close one window, or three at once, whenever what is due is told."""
            due = min(live.progress.next_window + (3 if live.progress.next_window % 5 == 0 else 1), until)
            clock.moment = max(clock.moment, LIMITS.windows.closes(due - 1))

        live.run(stop=lambda: live.progress.next_window >= until, each=forward)
        state.close()


def main() -> None:
    run(Path(sys.argv[1]), die_at(sys.argv[2], int(sys.argv[3])))


if __name__ == "__main__":
    main()
