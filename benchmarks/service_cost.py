"""What a request costs the curator in processor time, and what ten thousand datasets do.

python -m benchmarks.service_cost [--json] [--quick]
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import httpx

from benchmarks.harness import Topic, show
from benchmarks.service import API, Work, bare, curator, free_port, look, plan_again, plan_anew, see_budget, started
from chronodp.ledger import Ledger
from chronodp.privacy import GaussianCost, User
from chronodp.service.tables import open_tables
from chronodp.service.tokens import add_token

QUICK = "--quick" in sys.argv[1:]
ROUNDS, CALLS = (3, 20) if QUICK else (12, 50)
DATASETS = 500 if QUICK else 10_000
DATASET = """
[datasets.{name}]
source = "{name}/*.parquet"
time = "read_at"
user = "meter_id"
every = "1h"
start = "2026-01-01"
end = "2026-02-01"
unit = "user"
max_periods = 744
epsilon = 8.0
delta = 1e-6
columns.kwh.clip = [0.0, 5.0]
analysts.ana.epsilon = 4.0
"""


def measure() -> Topic:
    topic = Topic(
        title="The curator: processor time of a request",
        command="python -m benchmarks.service_cost",
        columns=("asked", "CPU ms a request", "times the bare route"),
        notes=[
            f"User and system time of the server's process, SQLite, one worker; {ROUNDS} rounds of {CALLS} calls each, "
            "all kinds in turn, one call at a time.",
            "The bare service is FastAPI with one route that answers a constant, without tokens or a database.",
            "A budget is the whole's and one's own part; after a charge, what still fits is found anew.",
        ],
    )
    folder = Path(tempfile.mkdtemp())
    try:
        with ExitStack() as stack:
            plain, plain_process = stack.enter_context(bare(folder))
            url, tokens, process = stack.enter_context(curator(folder / "town", "SQLite", 1))
            headers = {"Authorization": f"Bearer {tokens[0]}"}
            ledger = stack.enter_context(Ledger(folder / "town" / "budget.db", keys=folder / "town" / "keys"))
            charge = partial(_charge, ledger)
            kinds: dict[str, tuple[str, int, Work, Callable[[], object]]] = {
                "a constant, bare FastAPI": (plain, plain_process, look, _nothing),
                "health": (url, process, look, _nothing),
                "a budget": (url, process, see_budget, _nothing),
                "a budget after a charge": (url, process, see_budget, charge),
                "a plan asked for before": (url, process, plan_again, _nothing),
                "a new plan": (url, process, plan_anew, _nothing),
            }
            spent = dict.fromkeys(kinds, 0.0)
            for turn in range(ROUNDS + 1):
                for name, (address, server, work, before) in kinds.items():
                    took = asyncio.run(_cost(address, server, headers, work, before, turn))
                    spent[name] += took if turn else 0.0  # the first round warms up
        each = {name: 1e3 * total / (ROUNDS * CALLS) for name, total in spent.items()}
        least = each["a constant, bare FastAPI"]
        topic.rows = [(name, cost, cost / least) for name, cost in each.items()]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return topic


async def _cost(
    url: str, process: int, headers: dict[str, str], work: Work, before: Callable[[], object], turn: int
) -> float:
    """Return the processor time of some calls, in seconds."""
    async with httpx.AsyncClient(base_url=url + API, timeout=120) as http:
        begun = processor_time(process)
        for call in range(CALLS):
            before()
            if not await work(http, headers, turn * CALLS + call):
                raise RuntimeError("the service refused")
        return processor_time(process) - begun


def _charge(ledger: Ledger) -> None:
    ledger.spend("meters", GaussianCost(1.0, 50.0), unit=User(), analyst="ana")


def _nothing() -> None:
    return None


def processor_time(process: int) -> float:
    """Return user and system time of a process and its threads, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_start() -> Topic:
    topic = Topic(
        title=f"The curator: starting with {DATASETS:,} datasets",
        command="python -m benchmarks.service_cost",
        columns=("start", "seconds until it answers", "CPU seconds", "CPU ms to find one", "CPU ms of 100 listed"),
        notes=[
            "Each dataset has files of its own, a budget and an analyst's part of it; SQLite, one worker. The first "
            "start opens all budgets; both read the policy and look for the files.",
        ],
    )
    folder = Path(tempfile.mkdtemp())
    try:
        _write_many(folder)
        for name in ("the first", "again"):
            with _starting(folder) as (url, process, took):
                spent = processor_time(process)
                headers = {"Authorization": f"Bearer {_token(folder)}"}
                one = asyncio.run(_cost(url, process, headers, _find, _nothing, 0))
                page = asyncio.run(_cost(url, process, headers, _list, _nothing, 0))
                topic.rows.append((name, took, spent, 1e3 * one / CALLS, 1e3 * page / CALLS))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return topic


def _name(number: int) -> str:
    return f"meters-{number:05d}"


def _write_many(folder: Path) -> None:
    """Write a policy of many datasets, each with files of its own."""
    names = [_name(number) for number in range(DATASETS)]
    for name in names:
        (folder / name).mkdir()
        (folder / name / "rows.parquet").touch()
    text = "[service]\nrate = 1000000\n" + "".join(DATASET.format(name=name) for name in names)
    (folder / "policy.toml").write_text(text, encoding="utf-8")


@contextmanager
def _starting(folder: Path) -> Iterator[tuple[str, int, float]]:
    """Start the service, and yield its address, its process and how long it took until it answered."""
    port, begun = free_port(), time.perf_counter()
    command = [sys.executable, "-c", "from chronodp.cli import main; main()", "serve"]
    command += ["--policy", str(folder / "policy.toml"), "--ledger", str(folder / "budget.db"), "--port", str(port)]
    for url, process in started(command, f"http://127.0.0.1:{port}", folder):
        yield url, process, time.perf_counter() - begun


def _token(folder: Path) -> str:
    store = open_tables(str(folder / "budget.db"))
    try:
        return add_token(store, "ana", "analyst")
    finally:
        store.close()


async def _find(http: httpx.AsyncClient, headers: dict[str, str], number: int) -> bool:
    name = _name(DATASETS - 1 - number)
    found: str = (await http.get(f"/datasets/{name}", headers=headers)).json()["name"]
    return found == name


async def _list(http: httpx.AsyncClient, headers: dict[str, str], number: int) -> bool:  # noqa: ARG001  # of Work
    return len((await http.get("/datasets?limit=100", headers=headers)).json()) == 100


if __name__ == "__main__":
    show(measure)
    show(measure_start)
