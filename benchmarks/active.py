"""People who were active lately: time and memory beside our own count and DuckDB's distinct counts; error by way."""

from __future__ import annotations

import importlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import Topic, alone, peak, show
from benchmarks.records import HOUR, KEY, PERIODS, START, make_records

WINDOW, STAYS, ROUNDS = 168, 2, 2  # a week of hours

Work = Callable[[], int]
"""From the file to the sum of all numbers."""


class Run(NamedTuple):
    """What one process reports."""

    seconds: float
    peak: float
    kept: int


def measure() -> Topic:
    topic = Topic(
        "People who were active lately",
        "python -m benchmarks.active",
        ("events", "by", "seconds", "ratio to our count", "peak GiB"),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "records.parquet")
        for events in (10**6, 10**7):
            alone(make_records, path, events)
            names = [name for name in CONTENDERS if events < 10**7 or name != "DuckDB, distinct by join"]
            runs = {name: [alone(_run, name, path) for _ in range(ROUNDS)] for name in names}
            best = {name: min(found, key=lambda run: run.seconds) for name, found in runs.items()}
            counted = best["chronodp, count"].seconds
            for name, run in best.items():
                topic.rows.append((events, name, run.seconds, run.seconds / counted, run.peak))
            if len({run.kept for name, run in best.items() if name in SAME}) > 1:
                raise AssertionError("two ways count other people")
    topic.notes = [
        f"a person for every 100 events, {PERIODS} hours; present is who has a row in the last {WINDOW} hours",
        f"chronodp, {STAYS} stays: of a person the first {STAYS} stays count; the others count everybody, and agree",
        "DuckDB, by stays: the same with window functions over a person's distinct hours, as one writes it who knows "
        "stays; distinct by join: count(DISTINCT person) over each hour's window, at the smaller size only",
        "from a Parquet file to the numbers, each run in a process of its own, imports left out; the best of "
        f"{ROUNDS}; peak: the most that a run held, its libraries included",
    ]
    return topic


def _run(name: str, path: str) -> Run:
    work = CONTENDERS[name](path)
    start = time.perf_counter()
    kept = work()
    return Run(time.perf_counter() - start, peak(), kept)


def _ours(path: str, window: int | None, max_stays: int | None) -> Work:
    for name in ("duckdb", "pandas", "pyarrow", "sqlglot.dialects.duckdb"):  # what it imports when it first needs it
        importlib.import_module(name)
    from chronodp.engines import DuckDB, Question, find_source
    from chronodp.privacy import Calendar, Grid

    calendar = Calendar("1h", "2026-01-01", "2026-01-31")
    question = Question(calendar, "moment", "person", None, Grid(1.0), (0, 1), window=window, max_stays=max_stays)
    return lambda: int(DuckDB().totals(find_source(path), question, key=KEY).people.sum())


def _hours(path: str) -> str:
    return f"SELECT DISTINCT person, (epoch_us(moment) - {START}) // {HOUR} AS hour FROM '{path}'"


def _by_stays(path: str) -> Work:
    import duckdb

    query = f"""WITH hours AS ({_hours(path)}), spans AS (
        SELECT least({WINDOW}, coalesce(lead(hour) OVER (PARTITION BY person ORDER BY hour), {PERIODS}) - hour,
            {PERIODS} - hour) AS lasts FROM hours
    ) SELECT sum(lasts) FROM spans"""
    return lambda: int(duckdb.connect().execute(query).fetchall()[0][0])


def _by_join(path: str) -> Work:
    import duckdb

    query = f"""WITH hours AS ({_hours(path)}), every AS (SELECT range AS period FROM range({PERIODS}))
        SELECT count(DISTINCT person) FROM every JOIN hours ON hour <= period AND hour > period - {WINDOW}
        GROUP BY period"""
    return lambda: sum(int(number) for (number,) in duckdb.connect().execute(query).fetchall())


SAME = ("chronodp, active", "DuckDB, by stays", "DuckDB, distinct by join")
CONTENDERS: dict[str, Callable[[str], Work]] = {
    "chronodp, count": lambda path: _ours(path, None, None),
    "chronodp, active": lambda path: _ours(path, WINDOW, None),
    f"chronodp, active, {STAYS} stays": lambda path: _ours(path, WINDOW, STAYS),
    "DuckDB, by stays": _by_stays,
    "DuckDB, distinct by join": _by_join,
}

if __name__ == "__main__":
    show(measure)
