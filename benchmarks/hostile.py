"""How long a signed-in analyst waits while strangers try to be in the way.

python -m benchmarks.hostile [--json] [--quick] [--check]

With ``--check`` it fails if the median of her calls more than doubles beside any kind of stranger.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.harness import Topic, show
from benchmarks.service import API, QUESTION, ROOT, answering, free_port
from benchmarks.strangers import ALL, KINDS
from chronodp.cli.curated_town import prepare_town
from chronodp.service.tables import open_tables
from chronodp.service.tokens import add_token

SECONDS = 2.0 if "--quick" in sys.argv[1:] else 10.0
BEGIN = 1.0  # until strangers are all there
MOST = 2.0
BURN = "while True: pass"


def measure() -> Topic:
    topic = Topic(
        title="The curator among strangers: a signed-in analyst's calls",
        command="python -m benchmarks.hostile",
        columns=(
            "strangers",
            "tries a second",
            "median ms",
            "95 % ms",
            "times alone",
            "95 %, times alone",
            "failed",
            "new connections failed",
        ),
        notes=[
            "One analyst asks for a budget and a plan in turn, on one connection; after every tenth call she makes one "
            "on a new connection too. SQLite, one worker, the edge's own settings.",
            "Strangers have a core to themselves; curator and analyst share another. *Alone* is while a loop keeps the "
            "strangers' core busy instead, before and after each kind.",
            "Strangers come from many addresses of 127.0.0.0/8, or all of them from hers. Tries are connections that "
            "they opened, or wanted to.",
        ],
    )
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        topic.notes.append("Not measured: it takes two cores.")
        return topic
    folder, load = Path(tempfile.mkdtemp()), os.getloadavg()[0]
    try:
        os.sched_setaffinity(0, {cores[0]})  # and so for the curator, whom this process starts
        with curator(folder) as (port, token):
            analyst = Analyst(port, token)
            analyst.ask(1.0)
            before = alone(analyst, cores[1])
            for name in (*KINDS, ALL):
                among, tries = beside(analyst, name, port, cores[1])
                after = alone(analyst, cores[1])
                topic.rows.append((name, tries, *among.figures(before, after)))
                before = after
    finally:
        os.sched_setaffinity(0, cores)
        shutil.rmtree(folder, ignore_errors=True)
    topic.notes.append(
        f"The machine's load was {load:.1f} before and {os.getloadavg()[0]:.1f} at the end, on {len(cores)} cores: "
        "what is above 2 is others' work, which shows in the 95 % first."
    )
    return topic


@dataclass
class Calls:
    """What became of an analyst's calls: times in ms."""

    times: list[float] = field(default_factory=list)
    failed: int = 0
    anew: int = 0
    anew_failed: int = 0

    @property
    def median(self) -> float:
        """The median time."""
        return statistics.median(self.times)

    @property
    def tail(self) -> float:
        """The time that 95 of 100 stay below."""
        return statistics.quantiles(self.times, n=20)[18]

    def figures(self, before: Calls, after: Calls) -> tuple[float | str, ...]:
        """Return the figures of a row, beside those without strangers."""
        quiet = Calls(before.times + after.times)
        fresh = f"{self.anew_failed} of {self.anew}"
        return self.median, self.tail, self.median / quiet.median, self.tail / quiet.tail, self.failed, fresh


class Analyst:
    """Someone with a token."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._fields = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._line = self._connect()

    def ask(self, seconds: float) -> Calls:
        """Ask for so long."""
        calls, until = Calls(), time.monotonic() + seconds
        plan = json.dumps(QUESTION | {"epsilon": 0.5})
        while time.monotonic() < until:
            for method, path, body in (("GET", "/budget", None), ("POST", "/plan", plan)):
                began = time.perf_counter()
                try:
                    self._call(self._line, method, f"/datasets/meters{path}", body)
                    calls.times.append(1e3 * (time.perf_counter() - began))
                except (OSError, http.client.HTTPException):
                    calls.failed += 1
                    self._line = self._connect()
            if len(calls.times) % 10 == 0:
                calls.anew += 1
                with contextlib.closing(self._connect()) as line:
                    try:
                        self._call(line, "GET", "/me", None)
                    except (OSError, http.client.HTTPException):
                        calls.anew_failed += 1
        return calls

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)

    def _call(self, line: http.client.HTTPConnection, method: str, path: str, body: str | None) -> None:
        line.request(method, API + path, body=body, headers=self._fields)
        answer = line.getresponse()
        answer.read()
        if answer.status != 200:
            raise http.client.HTTPException(answer.status)


def alone(analyst: Analyst, core: int) -> Calls:
    """Return her calls while the strangers' core is busy with nothing."""
    burning = subprocess.Popen([sys.executable, "-c", BURN])
    try:
        os.sched_setaffinity(burning.pid, {core})
        return analyst.ask(SECONDS / 2)
    finally:
        burning.kill()
        burning.wait()


def beside(analyst: Analyst, name: str, port: int, core: int) -> tuple[Calls, float]:
    """Return her calls beside strangers of a kind, and how often a second these tried."""
    command = [sys.executable, "-m", "benchmarks.strangers", name, str(port), str(SECONDS + 2 * BEGIN), str(core)]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    strangers = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.PIPE, text=True)
    try:
        time.sleep(BEGIN)
        calls = analyst.ask(SECONDS)
        said, _ = strangers.communicate(timeout=60)
    finally:
        strangers.kill()
        strangers.wait()
    return calls, int(said) / (SECONDS + 2 * BEGIN)


@contextmanager
def curator(folder: Path) -> Iterator[tuple[int, str]]:
    """Run a curator whose analysts may call as often as they like, and strangers as often as by default."""
    prepare_town(folder, households=200)
    policy, ledger, port = folder / "policy.toml", str(folder / "budget.db"), free_port()
    text = re.sub(r"\[service\]", "[service]\nrate = 1000000", policy.read_text(encoding="utf-8"))
    policy.write_text(f"{text}\n[service.edge]\nstrangers = 20\n", encoding="utf-8")
    store = open_tables(ledger)
    token = add_token(store, "ana", "analyst")
    store.close()
    command = [sys.executable, "-c", "from chronodp.cli import main; main()", "serve", "--policy", str(policy)]
    for _ in answering([*command, "--ledger", ledger, "--port", str(port)], f"http://127.0.0.1:{port}", folder):
        yield port, token


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        found = measure()
        print(found.to_markdown())
        if slow := [row[0] for row in found.rows if row[4] > MOST]:
            sys.exit(f"the median of a signed-in analyst's calls more than doubles beside: {', '.join(slow)}")
    else:
        show(measure)
