"""Live streams of keys, or of people's windows, that run until they die: ``python -m tests.live.victims KIND FOLDER
POINT COUNT``.

They kill themselves, with SIGKILL, the COUNT-th time they reach POINT; with COUNT 0 they go on until all windows are
told.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from chronodp import EachPeriod, Ledger, User
from chronodp.live import (
    Fields,
    KeyLimits,
    Limits,
    Live,
    Reader,
    State,
    Windows,
    open_streams,
    stored_counts,
    stream_design,
    terms_of,
)
from chronodp.live.sinks import CsvSink, ParquetSink, Sink
from chronodp.live.sources import FileSource
from chronodp.randomness import seeded
from chronodp.series.key_streams import KeyStream
from tests.killing import die_at
from tests.live.examples import SetClock, at, fields_of, write

KEYS = KeyLimits(User(), Windows("1h", "2026-01-01", skew="1D", count=24), max_keys=3, looks=8)
KEY_DESIGN = KEYS.design(epsilon=2.0, delta=1e-3)
PEOPLE = Limits(User(), Windows("1s", "2026-01-01", skew="1h", count=30), at_most=1, max_periods=3)


class WatchedState(State):
    """Tells of a moment within the transaction that settles windows: people are written, and nothing else yet."""

    reached: Callable[[str], None]

    def _write(self, facts: dict[str, str]) -> None:
        if "settled" in facts:
            self.reached("people written")
        super()._write(facts)


def prepare_keys(folder: Path) -> None:
    """Open the stream with a seed, so that two of them are one stream twice, and write what it is to read."""
    with Ledger(folder / "budget.db") as ledger:
        ledger.open("web", unit=User(), epsilon=4.0, delta=1e-2, reserve=5e-3)
        KeyStream.open(KEY_DESIGN, ledger=ledger, dataset="web", name="keys", entropy=seeded(5))
    chance = np.random.default_rng(1)
    records = []
    for window in range(24):
        begin = KEYS.windows.begins(window) / 1e6
        for _ in range(120):
            late = float(chance.uniform(0, 3600))
            person, page = f"p{chance.integers(500)}", f"/{chance.geometric(0.1)}"
            records.append({"at": begin + late, "who": person, "page": page})
        records.append({"at": begin + 1, "who": "eve", "page": "x" * 300})
    write(folder / "in.jsonl", *records, "noise")


def prepare_people(folder: Path) -> list[int]:
    """Write what the stream is to read, and return its totals: each person counts in the first three windows."""
    chance, used, totals = random.Random(9), Counter[int](), [0] * 30
    with Ledger(folder / "budget.db") as ledger:
        ledger.open("web", unit=User(), epsilon=1e9)
    for window in range(30):
        people = chance.sample(range(300), k=chance.choice((0, 1, 40, 120)))
        write(folder / "in.jsonl", *[{"at": at(PEOPLE, window), "who": f"p{person}"} for person in people] * 2)
        for person in people:
            totals[window] += used[person] < 3
            used[person] += 1
    return totals


def run_keys(folder: Path, reached: Callable[[str], None], *, until: int = 24, limits: KeyLimits = KEYS) -> Live:
    reader = Reader(Fields("at", user="who", group="page"), longest=limits.longest)
    sinks: list[Sink] = [CsvSink(folder / "out.csv"), ParquetSink(folder / "out")]
    return _run(folder, reached, limits, {"keys": KEY_DESIGN}, reader, sinks, lambda told: min(told + 1, until), until)


def run_people(folder: Path, reached: Callable[[str], None], *, until: int = 30) -> Live:
    """Let the clock close one window, or three at once."""
    designs = {"people": stream_design(PEOPLE, workload=EachPeriod(), epsilon=1e6)}
    sinks, reader = [CsvSink(folder / "out.csv")], Reader(fields_of(PEOPLE))

    def due(told: int) -> int:
        return min(told + (3 if told % 5 == 0 else 1), until)

    with patch.object(stored_counts, "_ROOM", -4_000):  # so that everything is written at times
        return _run(folder, reached, PEOPLE, designs, reader, sinks, due, until)


def _run(
    folder: Path,
    reached: Callable[[str], None],
    limits: Limits | KeyLimits,
    designs: dict[str, Any],
    reader: Reader,
    sinks: Sequence[Sink],
    due: Callable[[int], int],
    until: int,
) -> Live:
    with (
        Ledger(folder / "budget.db", reached=reached) as ledger,
        (folder / "told.txt").open("a", encoding="utf-8", buffering=1) as file,
    ):
        state = WatchedState(folder / "live.db", keys=ledger.keys, name=next(iter(designs)))
        state.reached = reached
        terms = terms_of(limits)
        state.check_terms(terms)
        state.write(terms=terms)
        clock = SetClock(limits.windows.begins(0))
        live = Live(
            limits,
            source=FileSource(folder / "in.jsonl", reader=reader),
            streams=open_streams(designs, ledger=ledger, dataset="web"),
            state=state,
            key=bytes(32),
            ledger=ledger,
            dataset="web",
            sinks=sinks,
            clock=clock,
            tell=lambda rows: print(json.dumps(rows), file=file),
            reached=reached,
        )

        def forward() -> None:
            """Let the clock go on whenever what is due is told."""
            clock.moment = max(clock.moment, limits.windows.closes(due(live.progress.next_window) - 1))

        live.run(stop=lambda: live.progress.next_window >= until, each=forward)
        state.close()
        return live


def main() -> None:
    run = {"keys": run_keys, "people": run_people}[sys.argv[1]]
    run(Path(sys.argv[2]), die_at(sys.argv[3], int(sys.argv[4])))


if __name__ == "__main__":
    main()
