"""A small dataset, a policy for it and a curator, for tests of the service."""

from __future__ import annotations

import asyncio
import functools
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

import httpx
import numpy as np
import pandas
import psycopg
import pyarrow.parquet
import pytest
import uvicorn.server

from chronodp.series import FindPlan, Plan
from chronodp.service.app import make_app
from chronodp.service.client import Client
from chronodp.service.curator import Curator
from chronodp.service.edge import EdgeServer
from chronodp.service.pacing import Paces
from chronodp.service.policy_file import read_policy
from chronodp.service.serving import listen
from chronodp.service.tokens import Role, add_token

ROOT = Path(__file__).parents[2]
API = "/api/v1"
SUM = {"measure": {"kind": "sum", "column": "kwh", "clip": [0.0, 3.0]}, "epsilon": 0.5, "delta": 1e-7}
COUNT = {"measure": {"kind": "count"}, "epsilon": 0.5, "delta": 1e-7}
POLICY = """
[service]
title = "Test"
floor = {floor}
quantum = {floor}
rate = 1000000
waiting = 1000000
lease = {lease}

[datasets.meters]
source = "{source}"
time = "read_at"
user = "meter"
every = "1h"
start = "2026-01-01"
end = "2026-01-03"
unit = "user"
max_periods = 48
people = 60
epsilon = {epsilon}
delta = 1e-6
share = {share}

[datasets.meters.columns.kwh]
clip = {{ 1h = [0.0, 5.0], 1D = [0.0, 5.0] }}

[datasets.meters.groups]
region = {{ north = 40, south = 20 }}

[datasets.meters.allow]
grids = ["1h", "1D"]
epsilon = 10.0
least_group = 15

{analysts}

[datasets.other]
source = "rows.parquet"
other_people = true
time = "read_at"
user = "meter"
every = "1D"
start = "2026-01-01"
end = "2026-01-03"
unit = "user"
max_periods = 2
epsilon = 1.0

[datasets.other.analysts.ben]
epsilon = 1.0
"""


def write_rows(path: Path, *, people: int = 60, hours: int = 48) -> None:
    """Write a table of hourly readings."""
    if path.suffix == ".parquet":
        table = _table(max(1, people), hours)
        pyarrow.parquet.write_table(table if people else table.slice(0, 0), path)  # with the types of one that is not
    else:
        path.write_text(_csv(max(1, people), hours), encoding="utf-8")


@functools.cache
def _csv(people: int, hours: int) -> str:
    return str(_rows(people, hours).to_csv(index=False))


@functools.cache
def _table(people: int, hours: int) -> pyarrow.Table:
    return pyarrow.Table.from_pandas(_rows(people, hours))


def _rows(people: int, hours: int) -> pandas.DataFrame:
    chance = np.random.default_rng(7)
    times = pandas.Timestamp("2026-01-01") + pandas.to_timedelta(np.arange(hours), unit="h")
    return pandas.DataFrame(
        {
            "read_at": np.tile(times, people),
            "meter": np.repeat([f"m{number}" for number in range(people)], hours),
            "region": np.repeat(np.where(np.arange(people) % 3 == 0, "south", "north"), hours),
            "kwh": chance.gamma(2.0, 0.4, people * hours),
        }
    )


def write_policy(
    folder: Path,
    *,
    source: str = "rows.parquet",
    floor: float = 0.05,
    lease: float = 2.0,
    epsilon: float = 8.0,
    share: bool = True,
    parts: dict[str, float] | None = None,
    changes: dict[str, str] | None = None,
) -> Path:
    """Write a policy with some texts changed, and the rows it speaks of unless they are there."""
    if source == "rows.parquet" and not (folder / source).exists():
        write_rows(folder / source)
    given = {"ana": 4.0, "ben": 4.0} if parts is None else parts
    analysts = "\n".join(f"[datasets.meters.analysts.{who}]\nepsilon = {part}\n" for who, part in given.items())
    text = POLICY.format(
        source=source, floor=floor, lease=lease, epsilon=epsilon, share=str(share).lower(), analysts=analysts
    )
    for old, new in (changes or {}).items():
        assert old in text, old
        text = text.replace(old, new, 1)
    path = folder / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


@dataclass
class House:
    """A curator in this process, behind a real server, with a way to ask it and a token for everyone."""

    curator: Curator
    http: httpx.Client
    tokens: dict[str, str]

    def headers(self, who: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[who]}"}

    def get(self, who: str, path: str) -> httpx.Response:
        return self.http.get(API + path, headers=self.headers(who))

    def post(self, who: str, path: str, content: object) -> httpx.Response:
        return self.http.post(API + path, headers=self.headers(who), json=content)

    def client(self, who: str, *, timeout: float = 30.0) -> Client:
        return Client(str(self.http.base_url), token=self.tokens[who], timeout=timeout)

    def ended(self, who: str, request: str, question: object, *, fresh: bool = False) -> dict[str, Any]:
        """Submit, and return the job as it ends."""
        return self.finish(who, self.submit(who, request, question, fresh=fresh).json()["id"])

    def submit(self, who: str, request: str, question: object, *, fresh: bool = False) -> httpx.Response:
        content = {"request": request, "question": question, "fresh": fresh}
        return self.post(who, "/datasets/meters/jobs", content)

    def finish(self, who: str, job: str, *, seconds: float = 30.0) -> dict[str, object]:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found: dict[str, object] = self.get(who, f"/jobs/{job}").json()
            if found["state"] not in ("waiting", "running"):
                return found
            time.sleep(0.02)
        raise AssertionError(f"job {job} does not end")


PEOPLE: tuple[tuple[str, Role], ...] = (
    ("olga", "owner"),
    ("ana", "analyst"),
    ("ben", "analyst"),
    ("eve", "auditor"),
    ("zoe", "analyst"),
)


class _Prompt:
    """What uvicorn takes from asyncio, with shorter sleeps: it looks ten times a second whether it should end."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    def sleep(self, seconds: float) -> Any:
        return asyncio.sleep(seconds / 10)


uvicorn.server.asyncio = _Prompt()  # type: ignore[assignment,attr-defined]


@contextmanager
def open_house(
    policy: Path,
    ledger: str | None = None,
    *,
    keys: Path | None = None,
    pace: Paces | None = None,
    tls: bool = False,
    certificate: tuple[str, str] | None = None,
) -> Iterator[House]:
    """Run the application in this process; with a certificate and its key, under TLS."""
    curator = Curator(read_policy(policy), ledger or str(policy.with_name("budget.db")), keys=keys, timeout=2.0)
    curator.open_budgets()
    tokens = {name: add_token(curator.store, name, role) for name, role in PEOPLE}
    door = listen("127.0.0.1", 0)
    server = EdgeServer(make_app(curator, pace=pace, tls=tls), [door], tls=certificate)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    url = f"http{'s' if certificate else ''}://127.0.0.1:{door.getsockname()[1]}"
    with httpx.Client(base_url=url, timeout=30, verify=False) as http:
        while not server.started:
            time.sleep(0.01)
        yield House(curator, http, tokens)
    server.should_exit = True
    thread.join(30)
    assert not thread.is_alive(), "the server waits for a connection that nobody ends"
    door.close()
    curator.close()


def said_of_a_question(plan: Plan | FindPlan) -> str:
    """Return what a plan at home says, without how its owner looks at the rows first: a curator's plan has no rows."""
    if isinstance(plan, FindPlan):
        return str(plan)
    said, told, last = str(plan).rpartition("\nBefore paying: ")
    assert told
    assert "plan.diagnose()" in last
    return said


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as door:
        return int(door.getsockname()[1])


def fresh_database(server: str) -> str:
    """Return the address of a new database in a PostgreSQL server."""
    name = f"curator_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return re.sub(r"/postgres(\?|$)", rf"/{name}\1", server)


def house_of(
    write: Callable[[Path], Path], furnish: Callable[[House], object] = bool, *, scope: Literal["function", "module"]
) -> Any:
    """Make a fixture: a house of a policy, opened for each test or for all of a file."""

    @pytest.fixture(scope=scope)
    def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
        alone = scope == "function"
        with open_house(
            write(request.getfixturevalue("tmp_path") if alone else tmp_path_factory.mktemp("house"))
        ) as house:
            furnish(house)
            yield house

    return opened
