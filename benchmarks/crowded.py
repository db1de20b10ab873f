"""How long every view and route takes with 1,000 datasets, 10,000 jobs and 100,000 releases in the ledger.

python -m benchmarks.crowded [--json] [--quick]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

import httpx

from benchmarks.crowded_ledger import LARGE, Size, fill_ledger, name_of, write_policy
from benchmarks.harness import Topic, show
from benchmarks.service import API, address, answering, free_port
from chronodp.ledger import open_store
from chronodp.service.curator import Curator
from chronodp.service.policy_file import read_policy
from chronodp.service.tables import open_tables
from chronodp.service.tokens import Role, add_token

QUICK = "--quick" in sys.argv[1:]
SIZE = Size(datasets=50, jobs=500, releases=5_000) if QUICK else Size()
CALLS = 10 if QUICK else 40
PEOPLE: dict[str, Role] = {"olga": "owner", "ana": "analyst"}
MIDDLE = SIZE.releases // 4
OTHER = name_of(SIZE.datasets // 2)

ROUTES = (
    ("olga", "/me"),
    ("olga", "/datasets"),
    ("olga", f"/datasets/{LARGE}"),
    ("olga", f"/datasets/{LARGE}/budget"),
    ("olga", f"/datasets/{LARGE}/history"),
    ("olga", f"/datasets/{LARGE}/history?limit=1000"),
    ("ana", f"/datasets/{LARGE}/history?who=ana"),
    ("olga", f"/datasets/{LARGE}/releases"),
    ("ana", f"/datasets/{LARGE}/releases"),
    ("olga", f"/datasets/{LARGE}/releases?limit=200&before={MIDDLE}"),
    ("olga", f"/datasets/{OTHER}/releases"),
    ("olga", f"/datasets/{LARGE}/releases/{MIDDLE}"),
    ("olga", f"/datasets/{LARGE}/releases/{MIDDLE}/table"),
    ("olga", f"/datasets/{LARGE}/releases/{MIDDLE}/file"),
    ("olga", f"/datasets/{LARGE}/releases/{MIDDLE}/certificate"),
    ("olga", "/releases"),
    ("ana", "/releases"),
    ("olga", "/releases?limit=200&who=ben"),
    ("olga", f"/releases?dataset={OTHER}"),
    ("olga", "/jobs"),
    ("ana", "/jobs"),
    ("olga", "/jobs?limit=200"),
    ("olga", "/jobs?state=lost&who=ben"),
    ("olga", f"/jobs?dataset={OTHER}"),
    ("olga", "/streams"),
    ("olga", "/claims"),
    ("ana", "/claims"),
    ("olga", f"/datasets/{LARGE}/chain"),
    ("olga", f"/datasets/{LARGE}/chain?limit=200&after={MIDDLE}"),
    ("olga", "/spending"),
    ("olga", f"/datasets/{LARGE}/spending"),
    ("olga", "/publications"),
    ("olga", "/publications?limit=200&who=ana"),
    ("olga", f"/policy?dataset={LARGE}"),
    ("olga", "/policy"),
    ("olga", "/tokens"),
    ("olga", "/holds"),
    ("olga", "/key"),
    ("olga", "/metrics"),
    ("olga", "/openapi.json"),
)


@dataclass(frozen=True, slots=True)
class Crowded:
    """A service that answers, and how long it took to start."""

    url: str
    tokens: dict[str, str]
    first_start: float
    start: float


def measure() -> Topic:
    topic = Topic(
        title=f"The curator with {SIZE.datasets:,} datasets, {SIZE.jobs:,} jobs and {SIZE.releases:,} releases",
        command="python -m benchmarks.crowded",
        columns=("store", "asked by", "GET", "median ms", "95 % ms", "/health beside it ms", "kB"),
        notes=[
            f"Half of the releases are of one dataset, {LARGE}, which is not shared and of which ana made 8, the "
            "oldest; five analysts have a part of every budget. One worker, and one caller at a time; each call is "
            f"made {CALLS} times after a first one, in turn with /health, which reads one row.",
            "Lists are cut at their default of 50 to 200 lines unless `limit` says otherwise.",
            "Every release has its charges, its request and a signed link that follows the one before it; all have the "
            "text of one real release.",
        ],
    )
    folder = Path(tempfile.mkdtemp())
    try:
        for store in ("SQLite", "PostgreSQL"):
            with crowded(folder / store, store) as town:
                topic.rows += [(store, *row) for row in timed(town)]
                topic.notes.append(
                    f"{store}: opening the budgets took {town.first_start:.1f} s the first time and "
                    f"{town.start:.2f} s again, with what the ledger checks of itself; the policy's file is read "
                    "before."
                )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return topic


@contextmanager
def crowded(folder: Path, store: str) -> Iterator[Crowded]:
    folder.mkdir()
    policy = write_policy(folder, SIZE)
    with address(folder, store) as ledger:
        first = _start(policy, ledger, folder)
        fill_ledger(ledger, folder / "keys", SIZE)
        if store == "PostgreSQL":  # as its own housekeeping would, a minute later
            database = open_store(ledger, timeout=60.0)
            with database.transaction() as transaction:
                transaction.run("ANALYZE")
            database.close()
        tables = open_tables(ledger)
        tokens = {name: add_token(tables, name, role) for name, role in PEOPLE.items()}
        tables.close()
        again = _start(policy, ledger, folder)
        port = free_port()
        command = [sys.executable, "-c", "from chronodp.cli import main; main()", "serve", "--policy", str(policy)]
        command += ["--ledger", ledger, "--keys", str(folder / "keys"), "--port", str(port)]
        for url in answering(command, f"http://127.0.0.1:{port}", folder):
            yield Crowded(url, tokens, first, again)


def _start(policy: Path, ledger: str, folder: Path) -> float:
    """Return how long a curator takes to open a ledger and its budgets."""
    known = read_policy(policy)
    began = time.perf_counter()
    curator = Curator(known, ledger, keys=folder / "keys")
    curator.open_budgets()
    elapsed = time.perf_counter() - began
    curator.close()
    return elapsed


def timed(town: Crowded) -> Iterator[tuple[object, ...]]:
    """Yield a row a route: who asked, what, median and 95 % of its time, that of /health beside it, and its size."""
    with httpx.Client(base_url=town.url + API, timeout=120) as http:
        for who, path in ROUTES:
            headers = {"Authorization": f"Bearer {town.tokens[who]}"}
            size = len(http.get(path, headers=headers).raise_for_status().content)
            pairs = [(_took(http, path, headers), _took(http, "/health", {})) for _ in range(CALLS)]
            times, base = zip(*pairs, strict=True)
            yield PEOPLE[who], f"`{path}`", median(times), quantiles(times, n=20)[18], median(base), size / 1e3


def _took(http: httpx.Client, path: str, headers: dict[str, str]) -> float:
    began = time.perf_counter()
    http.get(path, headers=headers).raise_for_status()
    return 1e3 * (time.perf_counter() - began)


if __name__ == "__main__":
    show(measure)
