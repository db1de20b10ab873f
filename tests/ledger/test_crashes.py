"""Kill -9 in every gap: never a release without its debit, never a step twice, never a damaged file."""

from __future__ import annotations

import random
import signal
import sqlite3
from pathlib import Path

import pytest

from chronodp.ledger import Ledger, verify_chain
from tests import forkserver
from tests.conftest import Trials
from tests.ledger.victim import PART_CELLS

pytestmark = pytest.mark.kill

POINTS = {
    "requests": (
        *("debit written", "debit committed", "debit marked", "noise drawn"),
        *("release written", "release committed", "release marked"),
    ),
    "staged": (
        *("debit written", "debit committed", "debit marked", "draw claimed", "choice drawn", "choice written"),
        *("choice committed", "noise drawn", "release written", "release committed", "release marked"),
    ),
    # Twice among the parts: after the first of them, or a later one, as the count falls.
    "parts": ("debit marked", "noise drawn", "part written", "part written", "release written", "release committed"),
    "stream": (
        *("stream written", "stream committed", "stream marked"),
        *("step written", "step committed", "step marked"),
    ),
}


def kill(address: str, folder: Path, job: str, point: str, count: int) -> None:
    died = forkserver.run("-m", "tests.ledger.victim", address, str(folder), job, point, str(count))
    assert died.returncode == -signal.SIGKILL, died.stderr


def announced(folder: Path, job: str) -> list[list[str]]:
    path = folder / f"{job}.txt"
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


@pytest.mark.parametrize("job", POINTS)
def test_nothing_is_lost_or_doubled(job: str, address: str, tmp_path: Path, trials: Trials) -> None:
    points = POINTS[job]
    chance = random.Random(7)
    kills = trials(100, least=len(points))  # four jobs on both stores: 400 a store
    looked_into: set[str] = set()
    for number in range(kills):
        point = points[number % len(points)]
        kill(address, tmp_path, job, point, 1 if point.startswith("stream") else chance.randint(1, 4))
        check(job, address, tmp_path, looked_into)
    check(job, address, tmp_path, set())
    assert announced(tmp_path, job)


def test_the_check_notices_a_release_that_was_told_before_it_was_paid(address: str, tmp_path: Path) -> None:
    kill(address, tmp_path, "careless", "debit written", 1)
    with pytest.raises(KeyError, match="careless"):
        check("careless", address, tmp_path, set())


def check(job: str, address: str, folder: Path, looked_into: set[str]) -> None:
    """Compare the ledger with what was announced; of large releases the numbers are read that were not looked into."""
    with Ledger(address, keys=folder / "keys") as ledger, ledger._store.transaction() as transaction:
        charges = transaction.run("SELECT purpose, amounts FROM charges WHERE dataset = 'meters'")
        paid = [purpose for purpose, _ in charges]
        requests = transaction.run("SELECT request, release FROM requests")
        chosen: dict[str, list[str | None]] = {}
        for request, text in transaction.run("SELECT request, chosen FROM choices ORDER BY request, number"):
            chosen.setdefault(request, []).append(text)
        steps = transaction.run("SELECT step FROM steps WHERE stream = 'live' ORDER BY step")
        opened = [row[0] for row in transaction.run("SELECT name FROM streams")]
        (account,) = transaction.run("SELECT spent_0, charges FROM accounts WHERE dataset = 'meters'")
    assert int(account[1]) == len(charges)
    assert int(account[0]) == sum(int(amounts.strip("[]").split(",")[0]) for _, amounts in charges)
    if job == "parts":
        check_parts(address, folder, requests, looked_into)
    if job in ("requests", "staged", "parts", "careless"):
        stored: dict[str, str | None] = dict(requests)
        assert sorted(paid) == sorted(stored)  # every request, released or not, has exactly one debit
        for request, release in announced(folder, job):
            assert (stored[request] or "").replace(" ", "_") == release
        for request, made in stored.items():  # the choices on disk are those that its release was made of
            texts = [text for text in chosen.get(request, []) if text is not None]
            assert made is None or job != "staged" or made.split(",")[:2] == texts
        with Ledger(address, keys=folder / "keys") as ledger:
            lost = ledger.status("meters").unreleased
            assert set(lost) == {request for request, release in requests if release is None}
            chain = ledger.chain("meters")
            verify_chain(chain, ledger.keys.public)
            assert len(chain) == len(stored) - len(lost)
    else:
        assert sorted(paid) == sorted(opened)  # no stream without its debit, no debit without its stream
    if steps:
        with Ledger(address, keys=folder / "keys") as ledger:
            released = ledger.released_steps("live")
            assert len(released) == int(steps[-1][0]) == ledger.resume_stream("live").step
        told = announced(folder, job)
        assert len({step for step, _ in told}) == len(told)  # no step was announced twice
        for step, value in told:
            assert released[int(step) - 1] == value
    if "://" not in address:
        connection = sqlite3.connect(address)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()


def check_parts(address: str, folder: Path, requests: list[tuple[str, str | None]], looked_into: set[str]) -> None:
    """No part without its release, no release without all of its parts, and each as it was signed."""
    with Ledger(address, keys=folder / "keys") as ledger:
        with ledger._store.transaction() as transaction:
            found: dict[str, int] = dict(transaction.run("SELECT request, COUNT(*) FROM parts GROUP BY request"))
        assert found == {request: 3 for request, release in requests if release is not None}
        for request in found.keys() - looked_into:
            looked_into.add(request)
            stored = ledger.stored.release_of("meters", request)
            assert stored is not None
            assert sum(map(len, stored.written.unpack())) == 3 * PART_CELLS
