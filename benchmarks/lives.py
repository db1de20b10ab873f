"""People who have lives: what keeping to a tally and booking adds to reading a month's table."""

from __future__ import annotations

import importlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Topic, alone, peak, show
from benchmarks.records import KEY

SALT, SHARE, LIFE = "5a" * 16, 2**32, 12
SIZES = ((10**6, 5 * 10**5), (10**7, 5 * 10**6))
"""People known to the tally, and people of the month."""

ROWS = 2  # of a person in the month


class Run(NamedTuple):
    """What one process reports."""

    seconds: float
    processor: float
    peak: float
    counted: int


class Held(NamedTuple):
    """A tally as it lies in memory once it is verified."""

    entries: Any

    def used(self, high: Any, low: Any) -> Any:
        """Return what each entry has used."""
        from chronodp.lifetime.entries import used_by

        return used_by(self.entries, high, low)


def measure() -> Topic:
    topic = Topic(
        "People who have lives: a month's table",
        "python -m benchmarks.lives",
        (
            "rows",
            "people known",
            "people this month",
            "by",
            "seconds",
            "on top",
            "of the processor",
            "on top of that",
            "peak GiB",
        ),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "month.parquet")
        for known, people in SIZES:
            alone(make_month, path, people)
            runs = {name: alone(_run, name, path, known, people) for name in WAYS}
            plain = runs["totals"]
            for name, run in runs.items():
                times = (run.seconds, run.seconds - plain.seconds, run.processor, run.processor - plain.processor)
                topic.rows.append((people * ROWS, known, people, name, *times, run.peak))
    topic.notes = [
        f"sums of a month, {ROWS} rows a person; half of the month's people are known to the tally, and a sixth of "
        "these have nothing left",
        "from a Parquet file to totals and to who paid what, in order of entries; the tally is in memory, and what "
        "is done to it on disk stands in a table of its own",
        "of the processor: seconds of all threads together, which other work on the machine stretches less",
        "each run in a process of its own, imports and the making of the tally left out; peak: the most that a run "
        "held, its libraries and its tally included",
    ]
    return topic


def make_month(path: str, people: int) -> None:
    """Write a month of meters."""
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet

    chance = np.random.default_rng(3)
    start = np.datetime64("2026-01-01", "us").astype(np.int64)
    with pyarrow.parquet.ParquetWriter(path, _schema()) as writer:
        for first in range(0, people * ROWS, 2**20):
            rows = np.arange(first, min(first + 2**20, people * ROWS))
            names: Any = pyarrow.array((rows * 7919) % people).cast(pyarrow.string())
            moments = pyarrow.array(start + chance.integers(0, 31 * 86_400 * 10**6, len(rows)))
            columns = [
                pyarrow.compute.binary_join_element_wise("meter", names, " "),
                moments.cast(pyarrow.timestamp("us", tz="UTC")),
                pyarrow.array(chance.exponential(0.5, len(rows))),
            ]
            writer.write_batch(pyarrow.record_batch(columns, schema=_schema()))


def _schema() -> Any:
    import pyarrow

    types: Any = {"person": pyarrow.string(), "moment": pyarrow.timestamp("us", tz="UTC"), "kwh": pyarrow.float64()}
    return pyarrow.schema(types)


def make_tally(known: int, people: int) -> Held:
    """Return a tally that knows half of a month's people, or as many of them as it knows people."""
    from chronodp.engines import entry_of
    from chronodp.lifetime.entries import Entries

    chance = np.random.default_rng(4)
    words = chance.integers(0, 2**64, (known, 2), np.uint64)
    met = min(known, people // 2)
    words[:met] = np.fromiter(
        (entry_of(SALT, f"meter {number}") for number in range(met)), np.dtype((np.uint64, 2)), met
    )
    spent = np.maximum(np.arange(known) % 6 * (LIFE * SHARE // 5), 1)
    order = np.argsort(words[:, 0])
    return Held(Entries(words[order, 0], words[order, 1], spent[order]))


def _question() -> Any:
    from chronodp.engines import Question
    from chronodp.privacy import Calendar, Grid

    month = Calendar("1mo", "2026-01-01", "2026-02-01")
    return Question(month, "moment", "person", "kwh", Grid(2.0**-16), (0, 3 * 2**16))


def _totals(path: str, known: int, people: int) -> Callable[[], int]:
    from chronodp.engines import DuckDB, find_source

    del known, people
    return lambda: int(DuckDB().totals(find_source(path), _question(), key=KEY).people.sum())


def _book(path: str, known: int, people: int) -> Callable[[], int]:
    from chronodp.engines import DuckDB, LifeQuestion, WholePrice, find_source

    asked, tally = LifeQuestion(_question(), LIFE * SHARE, WholePrice((SHARE,)), SALT), make_tally(known, people)
    return lambda: len(DuckDB().book(find_source(path), asked, tally, key=KEY).spent)


WAYS: dict[str, Callable[[str, int, int], Callable[[], int]]] = {
    "totals": _totals,
    "book, a share each": _book,
}


def _run(name: str, path: str, known: int, people: int) -> Run:
    for module in ("duckdb", "pandas", "pyarrow", "sqlglot.dialects.duckdb"):  # imported when first needed
        importlib.import_module(module)
    work = WAYS[name](path, known, people)
    start, busy = time.perf_counter(), time.process_time()
    counted = work()
    return Run(time.perf_counter() - start, time.process_time() - busy, peak(), counted)


if __name__ == "__main__":
    show(measure)
