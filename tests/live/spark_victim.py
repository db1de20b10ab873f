"""A live stream on a cluster of Spark: ``python -m tests.live.spark_victim FOLDER MASTER POINT COUNT WINDOWS``.

The driver kills itself, with SIGKILL, the COUNT-th time it reaches POINT; with COUNT 0 it goes on until all windows are
released. Without a MASTER it uses the Java that its environment names, which is there after it.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

from chronodp import Ledger, User
from chronodp.live import Limits, LiveOnSpark, State, Windows, open_streams
from chronodp.live.sinks import CsvSink
from tests.engines.cluster import SETTINGS, attached
from tests.killing import die_at
from tests.live.epochs import KEY, Case, EpochClock, random_case
from tests.live.examples import NAME


def kill_case(windows: int) -> Case:
    """Return a stream in which people count in a few windows only: who has counted must outlive every kill."""
    grid = Windows("1min", "2026-01-01", lateness="10s", skew="1D", count=windows)
    return random_case(random.Random(3), Limits(User(), grid, clip=(-2.0, 5.0), max_periods=5), closed=(1, 2))


def open_all(case: Case, ledger: Ledger) -> list[Any]:
    """Go on with streams whose noise is so small that totals can be read off."""
    return list(open_streams(case.designs(epsilon=1e7), ledger=ledger, dataset="visits"))


def session_of(master: str) -> Any:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.master(master).appName("victim")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def main() -> None:
    folder, master, reached = Path(sys.argv[1]), sys.argv[2], die_at(sys.argv[3], int(sys.argv[4]))
    case = kill_case(int(sys.argv[5]))
    windows, clock = case.limits.windows, EpochClock(folder, case)
    session = session_of(master) if master else attached()
    with (
        Ledger(folder / "budget.db", reached=reached) as ledger,
        (folder / "told.txt").open("a", encoding="utf-8", buffering=1) as file,
    ):
        state = State(folder / "live.db", keys=ledger.keys, name=NAME)
        live = LiveOnSpark(
            case.limits,
            messages=session.readStream.text(str(folder / "in")),
            fields=case.fields,
            checkpoint=str(folder / "checkpoint"),
            streams=open_all(case, ledger),
            state=state,
            key=KEY,
            ledger=ledger,
            dataset="visits",
            partitions=2,
            sinks=[CsvSink(folder / "out.csv")],
            clock=clock,
            jump="10D",
            tell=lambda rows: print(json.dumps(rows[0]), file=file),
            reached=reached,
        )
        due = [windows.due(moment) for moment, _ in case.epochs]

        def bring() -> None:
            """Let the next epoch come; each closes windows."""
            clock.allowed = sum(one <= live.progress.next_window for one in due) + 1

        live.run(every="50ms", each=bring)
        state.close()
    if master:
        session.stop()


if __name__ == "__main__":
    main()
