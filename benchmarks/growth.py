"""How the cost of a release grows with the table, from a million rows to a thousand million, beside plain DuckDB.

`python -m benchmarks.growth 1e6 1e7 --folder /somewhere` makes each table in pieces in the folder, releases it, and
renews its lines of ``benchmarks/growth.csv``, from which ``docs/explanation/scale.md`` has its table and its picture.
A table of 10^9 rows is 21 GiB, and what does not fit the memory goes to the same folder: up to 45 GiB more.
"""

from __future__ import annotations

import argparse
import csv
import resource
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.harness import alone, peak
from benchmarks.records import HOUR, START, TOP, make_records

if TYPE_CHECKING:
    from chronodp.engines import Engine
    from chronodp.series import Plan

__all__ = ["FIGURES", "Growth", "known"]

FIGURES = Path(__file__).with_name("growth.csv")
SIZES = (10**6, 10**7, 10**8)
PIECE = 10**8
MEMORY = 4  # GiB that a run may hold, unless told
DISK = 40 * 2**30  # for temporary files of DuckDB, which takes a tenth more; 10^9 rows do not fit 30 GiB
LIMIT = 24


@dataclass(frozen=True, slots=True)
class Growth:
    """What one run took.

    Attributes:
        rows: of the table.
        by: what ran.
        seconds: wall clock.
        cpu: processor seconds, of all threads.
        peak: the most memory held, in GiB, libraries included.
        disk: the most that lay in temporary files, in GiB.
        table: how large the table is, in GiB.
        allowed: how much memory it was allowed to hold, in GiB.
        finished: no where memory and temporary files did not suffice.
    """

    rows: int
    by: str
    seconds: float
    cpu: float
    peak: float
    disk: float
    table: float
    allowed: int = MEMORY
    finished: bool = True


def known() -> list[Growth]:
    """Return the stored figures, by rows."""
    with FIGURES.open(encoding="utf-8", newline="") as file:
        lines = [_read(line) for line in csv.DictReader(file)]
    return sorted(lines, key=lambda line: (line.rows, line.by))


def measure(rows: int, folder: Path, allowed: int = MEMORY) -> list[Growth]:
    """Make a table, and run everything on it once."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="rows-") as place:
        for first in range(0, rows, PIECE):
            path = str(Path(place) / f"{first:012d}.parquet")
            alone(make_records, path, min(PIECE, rows - first), people=rows // 100, first=first)
        return [alone(_run, name, rows, place, allowed) for name in WORK]


def _run(name: str, rows: int, place: str, allowed: int) -> Growth:
    with tempfile.TemporaryDirectory(dir=place, prefix="temporary-") as temporary:
        work = WORK[name](f"{place}/*.parquet", temporary, allowed)
        before, start = _cpu(), time.perf_counter()
        with _Watched(Path(temporary)) as watched:
            finished = _finishes(work)
        seconds, cpu = time.perf_counter() - start, _cpu() - before
    disk, table = watched.most / 2**30, _size(Path(place)) / 2**30
    return Growth(rows, name, seconds, cpu, peak(), disk, table, allowed, finished)


def _finishes(work: Callable[[], object]) -> bool:
    import duckdb

    try:
        work()
    except duckdb.OutOfMemoryException:
        return False
    return True


def _release(pattern: str, temporary: str, allowed: int) -> Callable[[], object]:
    """From the table to a signed release: read, bound, debit, draw, sign, store."""
    import pyarrow

    from chronodp import Ledger, User
    from chronodp.engines import DuckDB

    def release(plan: Plan) -> object:
        with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "budget.db") as ledger:
            ledger.open("records", unit=User(), epsilon=1.0)
            return plan.release(ledger, dataset="records", request="growth", progress=lambda _: None)

    one = pyarrow.table({"person": ["u"], "moment": pyarrow.array([START], pyarrow.timestamp("us")), "amount": [1.0]})
    engine = DuckDB(memory=allowed * 2**30, folder=temporary)
    plans = [_plan(data, engine) for data in (one, pattern)]
    release(plans[0])  # imports what a release needs
    return lambda: release(plans[1])


def _plan(data: object, engine: Engine) -> Plan:
    from chronodp import TimeSeries, User

    series = TimeSeries(
        data,
        time="moment",
        user="person",
        every="1h",
        start="2026-01-01",
        end="2026-01-31",
        unit=User(),
        max_periods=LIMIT,
        engine=engine,
    )
    return series.sum("amount", clip=(0.0, TOP)).plan(epsilon=1.0)


def _plain(pattern: str, temporary: str, allowed: int) -> Callable[[], object]:
    """The same sums by person and hour, then by hour: bounded nowhere, and not private."""
    import duckdb

    connection = duckdb.connect(
        config={
            "memory_limit": f"{allowed}GiB",
            "temp_directory": temporary,
            "max_temp_directory_size": f"{DISK // 2**20}MiB",
            "preserve_insertion_order": False,
        }
    )
    connection.execute("SET enable_progress_bar = false")
    query = f"""SELECT hour, sum(total) AS total FROM (
        SELECT person, (epoch_us(moment) - {START}) // {HOUR} AS hour, sum(amount) AS total
        FROM '{pattern}' GROUP BY ALL
    ) GROUP BY ALL"""
    return lambda: connection.execute(query).fetchall()


WORK = {"chronodp": _release, "plain DuckDB": _plain}


class _Watched:
    """Looks at a folder now and then, and keeps the most that was in it."""

    def __init__(self, folder: Path) -> None:
        self.most = 0
        self._folder, self._ended = folder, threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> _Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.5):
            self.most = max(self.most, _size(self._folder))


def _size(folder: Path) -> int:
    """Return the bytes of files in a folder; one may vanish while it is looked at."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _read(line: dict[str, str]) -> Growth:
    rows, by, allowed, finished = (line.pop(name) for name in ("rows", "by", "allowed", "finished"))
    numbers = {name: float(value) for name, value in line.items()}
    return Growth(int(rows), by, **numbers, allowed=int(allowed), finished=finished == "True")


def _store(found: list[Growth]) -> None:
    """Put new figures in place of those of the same size."""
    others = [line for line in known() if line.rows not in {one.rows for one in found}] if FIGURES.exists() else []
    lines = sorted([*others, *found], key=lambda line: (line.rows, line.by))
    with FIGURES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Growth)], lineterminator="\n")
        writer.writeheader()
        for line in lines:
            numbers = {
                name: f"{value:.4g}" if isinstance(value, float) else value for name, value in asdict(line).items()
            }
            writer.writerow(numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", type=lambda text: int(float(text)), default=SIZES, help="how many rows")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where tables lie meanwhile")
    parser.add_argument("--memory", type=int, default=MEMORY, help="GiB that a run may hold; 10^9 rows need 10")
    asked = parser.parse_args()
    for rows in asked.rows:
        found = measure(rows, asked.folder, asked.memory)
        for line in found:
            print(line, flush=True)
        _store(found)


if __name__ == "__main__":
    main()
