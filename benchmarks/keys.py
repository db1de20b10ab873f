"""Who holds which key of ten million rows: time and memory, beside plain SQL that bounds nobody."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import Topic, alone, peak, show
from benchmarks.records import KEY

PEOPLE, KEYS, DAYS, MOST = 0.05, 0.1, 30, 10  # people and keys for each row; days; keys of a person that count
ROUNDS = 3
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
        ratio = seconds / statistics.median(run.seconds for run in runs[PLAIN])
        each = "" if name == PLAIN else ", ".join(f"{one:.2f}" for one in ratios)
        again = "" if name == PLAIN else statistics.median(run.again for run in found)
        topic.rows.append((rows, name, seconds, ratio, each, again, max(run.peak for run in found), found[0].keys))
    topic.notes = [
        f"{round(rows * PEOPLE):,} people and {round(rows * KEYS):,} pages over {DAYS} days, half of the rows evenly"
        f" over the pages, half mostly to few of them; at most {MOST} pages of a person count (user), or 1 a day"
        " (user-period), or all (event)",
        "chronodp: from the file to people and weights of each key, keyed choice included; weights anew: a second round"
        " with a third of the keys dropped",
        f"median of {ROUNDS} rounds in turns, each in a process of its own; in each round: the ratios to plain of the"
        " same round",
    ]
    return topic


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


def _held(path: str, unit: str) -> Run:
    import math

    import numpy as np

    from chronodp.engines import DuckDB, KeysQuestion, Question, find_source
    from chronodp.privacy import Calendar, Grid

    days = Calendar.from_length("1D", "2026-01-01", DAYS)
    question = Question(days, "day", "person", None, Grid(1.0), (0, 1))
    asked = {
        "user": KeysQuestion(question, "page", MOST),
        "user-period": KeysQuestion(question, "page", 1, choose_by_period=True, blocks=tuple(range(DAYS))),
        "event": KeysQuestion(question, "page", None, rows_apart=True),
    }[unit]
    weights = [math.isqrt(2**32 // d) for d in range(1, asked.most + 1)]
    start = time.perf_counter()
    held = DuckDB().held_keys(find_source(path), asked, key=KEY)
    held.weigh(weights)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    held.weigh(weights, np.arange(len(held.keys)) % 3 == 0)
    return Run(seconds, time.perf_counter() - start, peak(), len(held.keys))


if __name__ == "__main__":
    sizes = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    show(lambda: measure(*sizes))
