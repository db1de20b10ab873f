"""Kill -9 in every gap: never a release without its debit, never a step twice, never a damaged file."""

from __future__ import annotations

import random
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from chronodp import User
from chronodp.ledger import Ledger, verify_chain
from tests import forkserver
from tests.conftest import SCALE, Trials
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


_ENOUGH = 200  # debits, of which each process should have some
_PATIENCE = 40.0  # seconds


def crowd(address: str, seconds: float, sigma: float) -> list[tuple[int, float, int]]:
    begin = str(time.time() + 0.5)
    words = ("-m", "tests.ledger.spender", address, begin, str(seconds), str(sigma))
    programs = [forkserver.start(*words) for _ in range(8)]
    lines = [program.communicate(timeout=seconds + 60)[0].split() for program in programs]
    return [(int(granted), float(longest), int(refused)) for granted, longest, refused in lines]


def check_totals(address: str, granted: int) -> None:
    with Ledger(address) as ledger:
        status = ledger.status("crowd")
        with ledger._store.transaction() as transaction:
            rows = transaction.run("SELECT number, amounts FROM charges WHERE dataset = 'crowd' ORDER BY number")
            ((spent,),) = transaction.run("SELECT spent_0 FROM accounts WHERE dataset = 'crowd'")
    assert status.charges == len(rows) == granted
    assert [int(row[0]) for row in rows] == list(range(1, granted + 1))
    assert int(spent) == sum(int(row[1].strip("[]").split(",")[0]) for row in rows)
    assert int(spent) <= status.budget.filter.ceilings[0]


def test_every_granted_debit_is_counted_once_and_everyone_gets_a_share(address: str, trials: Trials) -> None:
    with Ledger(address) as ledger:
        ledger.open("crowd", unit=User(), epsilon=4.0, delta=1e-6)
    seconds, before = trials(10), 0
    while True:
        results = crowd(address, seconds=seconds, sigma=1e5)
        total = sum(granted for granted, _, _ in results)
        check_totals(address, before + total)
        assert max(longest for _, longest, _ in results) < 10.0  # else the time-out would have spoken
        if total >= _ENOUGH or seconds > _PATIENCE:
            break
        seconds, before = 4 * seconds, before + total  # too few to speak of shares: the machine is busy
    if "://" in address:
        assert min(granted for granted, _, _ in results) >= total / 8 / 10


def test_a_race_for_the_last_of_a_budget_stops_exactly_there(address: str) -> None:
    with Ledger(address) as ledger:
        ledger.open("crowd", unit=User(), epsilon=1.0, delta=1e-6)
        limit = ledger.status("crowd").budget.filter.ceilings[0]
    results = crowd(address, seconds=300.0, sigma=50.0)  # each ends when it is refused, however slow the machine
    with Ledger(address) as ledger:
        from chronodp.privacy import GaussianCost

        each = ledger.status("crowd").budget.filter.amounts(GaussianCost(1.0, 50.0))[0]
    total = sum(granted for granted, _, _ in results)
    assert total == limit // each
    assert all(refused == 1 for _, _, refused in results)
    check_totals(address, total)


def test_threads_of_one_ledger_share_it(address: str) -> None:
    import threading

    from chronodp.privacy import GaussianCost

    granted, seconds = [], 1.0 if SCALE >= 1 else 0.3
    with Ledger(address) as ledger:
        ledger.open("crowd", unit=User(), epsilon=4.0, delta=1e-6)

        def work() -> None:
            stop, mine = time.time() + seconds, 0
            while time.time() < stop:
                ledger.spend("crowd", GaussianCost(1.0, 1e5), unit=User())
                mine += 1
            granted.append(mine)
            ledger.close_connection()

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    check_totals(address, sum(granted))
