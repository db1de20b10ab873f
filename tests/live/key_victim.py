"""A live stream of keys that runs until it dies: ``python -m tests.live.key_victim FOLDER POINT COUNT``.

It kills itself, with SIGKILL, the COUNT-th time it reaches POINT; with COUNT 0 it goes on until all windows are told.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from chronodp import Ledger, User
from chronodp.live import Fields, KeyLimits, Live, Reader, State, Windows, open_streams, terms_of
from chronodp.live.sinks import CsvSink, ParquetSink
from chronodp.live.sources import FileSource
from chronodp.randomness import seeded
from chronodp.series.key_streams import KeyStream
from tests.killing import die_at
from tests.live.examples import SetClock, write

LIMITS = KeyLimits(User(), Windows("1h", "2026-01-01", skew="1D", count=24), max_keys=3, looks=8)
DESIGN = LIMITS.design(epsilon=2.0, delta=1e-3)
NAME = "pages"


def prepare(folder: Path) -> None:
    """Open the stream with a seed, so that two of them are one stream twice, and write what it is to read."""
    with Ledger(folder / "budget.db") as ledger:
        ledger.open("web", unit=User(), epsilon=4.0, delta=1e-2, reserve=5e-3)
        KeyStream.open(DESIGN, ledger=ledger, dataset="web", name=NAME, entropy=seeded(5))
    chance = np.random.default_rng(1)
    records = []
    for window in range(24):
        begin = LIMITS.windows.begins(window) / 1e6
        for _ in range(120):
            late = float(chance.uniform(0, 3600))
            person, page = f"p{chance.integers(500)}", f"/{chance.geometric(0.1)}"
            records.append({"at": begin + late, "who": person, "page": page})
        records.append({"at": begin + 1, "who": "eve", "page": "x" * 300})
    write(folder / "in.jsonl", *records, "noise")


def run(folder: Path, reached: Callable[[str], None], *, until: int = 24) -> Live:
    with (
        Ledger(folder / "budget.db", reached=reached) as ledger,
        (folder / "told.txt").open("a", encoding="utf-8", buffering=1) as file,
    ):
        state = State(folder / "live.db", keys=ledger.keys, name=NAME)
        terms = terms_of(LIMITS)
        state.check_terms(terms)
        state.write(terms=terms)
        clock = SetClock(LIMITS.windows.begins(0))
        reader = Reader(Fields("at", user="who", group="page"), longest=LIMITS.longest)
        live = Live(
            LIMITS,
            source=FileSource(folder / "in.jsonl", reader=reader),
            streams=open_streams({NAME: DESIGN}, ledger=ledger, dataset="web"),
            state=state,
            key=bytes(32),
            ledger=ledger,
            dataset="web",
            sinks=[CsvSink(folder / "out.csv"), ParquetSink(folder / "out")],
            clock=clock,
            tell=lambda rows: print(json.dumps(rows), file=file),
            reached=reached,
        )

        def forward() -> None:
            """Let the clock go on by an hour whenever what is due is told."""
            due = min(live.progress.next_window + 1, until)
            clock.moment = max(clock.moment, LIMITS.windows.closes(due - 1))

        live.run(stop=lambda: live.progress.next_window >= until, each=forward)
        state.close()
        return live


def main() -> None:
    run(Path(sys.argv[1]), die_at(sys.argv[2], int(sys.argv[3])))


if __name__ == "__main__":
    main()
