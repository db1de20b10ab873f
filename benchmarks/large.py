"""Releases of many numbers: how long storing, reading and verifying take beside the bare bytes, and how much memory."""

from __future__ import annotations

import hashlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Topic, alone, peak, show
from chronodp import TimeSeries, User
from chronodp.ledger import Ledger, Written, load_release, pack, save_release, verify_file
from chronodp.privacy import Certificate, Claim, Guarantee, PureCost, canonical
from chronodp.randomness import secure
from chronodp.series import Release

CELLS = 2**25
ROUNDS = 3
GROUPS, DAYS = 100_000, 365
COST = PureCost(0.125)
CERTIFICATE = Certificate("noise", Claim(User(), COST, "none"), Guarantee(User(), 0.125), "definition", "integers")


def measure() -> Topic:
    topic = Topic(
        f"A release of 2^25 = {CELLS:,} numbers: stored, read, saved, loaded and verified, beside its bare bytes",
        "python -m benchmarks.large",
        ("step", "seconds", "bare bytes: seconds", "ratio"),
    )
    numbers = 64 * 2**24 + secure().laplace(2.0**25, CELLS)  # a count by place, on the grid of its noise
    with tempfile.TemporaryDirectory() as folder:
        steps = _steps(Path(folder), numbers)
        times = [{name: (_timed(ours), _timed(bare)) for name, (ours, bare) in steps.items()} for _ in range(ROUNDS)]
        for name in steps:
            pairs = [one[name] for one in times]
            ratio = statistics.median(ours / bare for ours, bare in pairs)
            topic.rows.append((name, min(ours for ours, _ in pairs), min(bare for _, bare in pairs), ratio))
        sizes = [Path(folder, name).stat().st_size / CELLS for name in ("saved", "bare")]
        with Ledger(Path(folder) / "budget.db") as ledger:
            stored = ledger.stored.release("large", 1)
    kept = 0 if stored is None else sum(map(len, stored.parts)) / CELLS
    topic.notes = [
        "bare bytes: their SHA-256 and a file of them that is written and synced, or read; ratios: medians of "
        f"{ROUNDS} rounds, turn by turn",
        f"bytes a number: {kept:.2g} in the ledger, {sizes[0]:.2g} in a saved file, {sizes[1]:.2g} bare",
    ]
    return topic


def measure_whole() -> Topic:
    topic = Topic(
        f"A count by {GROUPS:,} keys and {DAYS} days, {GROUPS * DAYS:,} numbers: seconds, and the most memory held",
        "python -m benchmarks.large",
        ("step", "seconds", "peak GiB"),
    )
    with tempfile.TemporaryDirectory() as folder:
        topic.rows += alone(_release, folder)
        topic.rows += [(f"load the file, then {name}", *alone(_read, folder, name)) for name in READINGS]
    topic.notes = ["200,000 rows of made-up records; every line from `load` on in a process of its own"]
    return topic


def _steps(folder: Path, numbers: NDArray[np.int64]) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    ledger = Ledger(folder / "budget.db")
    ledger.open("large", unit=User(), epsilon=10.0)
    requests = iter(range(2**10))
    bare = folder / "bare"

    def produce() -> tuple[Written, Certificate]:
        described, parts = pack([numbers])
        return Written(canonical({"kind": "release", "noisy": described}), parts), CERTIFICATE

    def store() -> object:
        request = f"r{next(requests)}"
        return ledger.fulfil("large", request=request, cost=COST, unit=User(), plan="p", source="s", produce=produce)

    def read() -> object:
        stored = ledger.stored.release("large", 1)
        return None if stored is None else [part.sum() for part in stored.written.unpack()]

    def save() -> object:
        stored = ledger.stored.release("large", 1)
        return None if stored is None else save_release(folder / "saved", stored.written, stored.signed)

    def write_bare() -> None:
        hashlib.sha256(numbers.data).hexdigest()
        with bare.open("wb") as file:
            file.write(numbers.data)
            os.fsync(file.fileno())

    def read_bare() -> None:
        hashlib.sha256(bare.read_bytes()).hexdigest()

    return {
        "digest, pack, debit and store": (store, write_bare),
        "read and check all": (read, read_bare),
        "save as a file": (save, write_bare),
        "load the file": (lambda: load_release(folder / "saved"), read_bare),
        "verify the file": (lambda: verify_file(folder / "saved", ledger.public_key), read_bare),
    }


def _release(folder: str) -> list[tuple[object, ...]]:
    import pyarrow

    chance, rows = np.random.default_rng(0), 200_000
    keys = [f"place-{number:06d}" for number in range(GROUPS)]
    times = np.datetime64("2026-01-01", "us") + chance.integers(0, DAYS, rows) * np.timedelta64(1, "D")
    columns = {"t": times, "u": chance.integers(0, 50_000, rows), "p": np.array(keys)[chance.integers(0, GROUPS, rows)]}
    series = TimeSeries(
        pyarrow.table({name: pyarrow.array(column) for name, column in columns.items()}),
        time="t",
        user="u",
        every="1D",
        start="2026-01-01",
        end="2027-01-01",
        unit=User(),
        max_periods=2,
    )
    found: list[tuple[object, ...]] = []
    with Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("large", unit=User(), epsilon=10.0)
        begin = time.perf_counter()
        plan = series.count().by(p=keys, max_groups=1).plan(epsilon=1.0)
        found.append(("plan", time.perf_counter() - begin, peak()))
        begin = time.perf_counter()
        made = plan.release(ledger, dataset="large", request="all", progress=lambda _: None)
        found.append(("release: read, debit, draw, sign, store", time.perf_counter() - begin, peak()))
        begin = time.perf_counter()
        made.save(Path(folder) / "all.arrow")
        found.append(("save", time.perf_counter() - begin, peak()))
    return found


READINGS: dict[str, Callable[[Release], object]] = {
    "each period by stretches": lambda release: sum(
        len(stretch.to_pandas()) for stretch in release.each_period().stretches()
    ),
    "to_pandas": lambda release: release.to_pandas(),
    "rolling mean of 7 to_pandas": lambda release: release.rolling(7).to_pandas(),
}


def _read(folder: str, name: str) -> tuple[float, float]:
    begin = time.perf_counter()
    READINGS[name](Release.load(Path(folder) / "all.arrow"))
    return time.perf_counter() - begin, peak()


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    show(measure)
    show(measure_whole)
