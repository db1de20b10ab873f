"""Files and disks that fail under a running curator: no job is begun that could not be finished, and none is lost."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from chronodp.errors import LedgerUnavailable
from chronodp.ledger import Ledger
from chronodp.service.curator import WITNESS, Caller, Curator
from chronodp.service.holds import list_holds
from chronodp.service.job import Job
from chronodp.service.pacing import Unpaced
from chronodp.service.policy_file import read_policy
from chronodp.service.question import QueryRequest
from chronodp.service.runner import Runner
from tests.service.town import API, COUNT, House, write_policy

ANA = Caller("ana", "analyst", "")
FILES = ("budget.db", "budget.db.keys", f"budget.db{WITNESS}")


def started(policy: Path) -> Curator:
    curator = Curator(read_policy(policy), str(policy.with_name("budget.db")), timeout=0.2)
    curator.open_budgets()
    return curator


def submitted(curator: Curator, request: str = "r", *, epsilon: float = 0.1) -> Job:
    question = QueryRequest.model_validate(COUNT | {"epsilon": epsilon})
    return curator.submit(ANA, curator.policy.datasets["meters"], question, request=request, fresh=True)[0]


def debits(curator: Curator) -> int:
    return curator.ledger.status("meters").charges


def move_away(path: Path) -> Callable[[], object]:
    """Put a folder in the place of a file; return what puts the file back."""
    away = path.with_name(f"{path.name}.away")
    path.rename(away)
    path.mkdir()

    def put_back() -> None:
        path.rmdir()
        away.rename(path)

    return put_back


def run_until_idle(runner: Runner) -> None:
    while runner.run_one():
        pass


def wait_for(house: House, status: str) -> dict[str, str]:
    deadline = time.monotonic() + 30
    while (answer := house.http.get(f"{API}/health")).json()["status"] != status:
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.05)
    assert answer.status_code == (200 if status == "ok" else 503)
    found: dict[str, str] = answer.json()
    return found


def test_a_witness_that_becomes_unwritable_costs_nobody_anything(house: House, tmp_path: Path) -> None:
    house.finish("ana", house.submit("ana", "first", COUNT).json()["id"])
    mend = move_away(tmp_path / f"budget.db{WITNESS}")
    jobs = [house.submit("ana", f"r{number}", COUNT | {"epsilon": 0.1 + number / 100}) for number in range(6)]
    health = wait_for(house, "read-only")
    assert "missing, full or read-only" in health["why"]
    assert "budget" not in health["why"]  # nothing of the owner's files
    time.sleep(0.3)
    assert {house.get("ana", f"/jobs/{job.json()['id']}").json()["state"] for job in jobs} == {"waiting"}
    assert house.curator.ledger.status("meters", analyst="ana").charges == 1
    mend()
    assert [house.finish("ana", job.json()["id"])["state"] for job in jobs] == ["done"] * 6
    assert wait_for(house, "ok")["why"] is None
    status = house.curator.ledger.status("meters")
    assert (status.charges, status.unreleased, len(house.curator.ledger.chain("meters"))) == (7, (), 7)


@pytest.mark.parametrize("name", FILES)
def test_no_job_is_taken_while_a_file_that_it_needs_is_away(tmp_path: Path, name: str) -> None:
    curator = started(write_policy(tmp_path))
    job, runner = submitted(curator), Runner(curator, pace=Unpaced())
    mend = move_away(tmp_path / name)
    with pytest.raises(LedgerUnavailable):
        runner.run_one()
    mend()
    assert curator.job(ANA, job.id).state == "waiting"
    assert debits(curator) == 0
    run_until_idle(runner)
    assert curator.job(ANA, job.id).state == "done"
    assert debits(curator) == 1
    curator.close()


@pytest.mark.parametrize("point", ["debit written", "debit committed", "noise drawn", "release committed"])
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_goes_away_under_a_job_loses_no_release(tmp_path: Path, name: str, point: str) -> None:
    curator = started(write_policy(tmp_path, lease=600.0))
    job, wanted = submitted(curator), [point]
    mends: list[Callable[[], object]] = []

    def break_it(reached: str) -> None:
        if wanted == [reached]:
            wanted.clear()
            mends.append(move_away(tmp_path / name))

    witness = curator.ledger._watch._elsewhere
    curator.ledger = Ledger(tmp_path / "budget.db", witness=witness, timeout=0.2, reached=break_it)
    runner = Runner(curator, pace=Unpaced())
    with contextlib.suppress(LedgerUnavailable):
        run_until_idle(runner)
    mends.pop()()
    run_until_idle(runner)
    if (found := curator.job(ANA, job.id)).state == "running":  # it could not even be let go: its lease runs out
        with curator.store.transaction() as transaction:
            transaction.run("UPDATE service_jobs SET lease = 1")
        run_until_idle(runner)
        found = curator.job(ANA, job.id)
    assert found.state == "done"
    status = curator.ledger.status("meters")
    assert (status.charges, status.unreleased, len(curator.ledger.chain("meters"))) == (1, (), 1)
    assert not list_holds(curator.store)
    curator.close()


def test_a_release_that_is_drawn_waits_for_its_database_and_nobody_else_takes_it(tmp_path: Path) -> None:
    curator = started(write_policy(tmp_path, lease=600.0))
    job = submitted(curator)
    mends: list[Callable[[], object]] = []

    def break_it(reached: str) -> None:
        if reached == "noise drawn" and not mends:
            mends.append(move_away(tmp_path / "budget.db"))

    curator.ledger = Ledger(tmp_path / "budget.db", timeout=0.2, reached=break_it)
    runner, other = Runner(curator, pace=Unpaced()), Runner(started(tmp_path / "policy.toml"), pace=Unpaced())
    with pytest.raises(LedgerUnavailable, match="this process keeps it"):
        runner.run_one()
    mends.pop()()
    mends.append(lambda: None)
    assert not other.run_one()  # the first still has it in hand
    assert runner.run_one()  # what was drawn is stored
    assert not runner.run_one()
    assert curator.job(ANA, job.id).state == "done"
    assert debits(curator) == len(curator.ledger.chain("meters")) == 1
    curator.close()


def failing(curator: Curator, tmp_path: Path) -> None:
    """Let every draw of a curator fail from now on."""

    def fail(reached: str) -> None:
        if reached == "debit marked":
            raise ValueError("a value")

    curator.ledger = Ledger(tmp_path / "budget.db", reached=fail)


def test_the_first_loss_that_nobody_died_of_holds_everything_until_the_owner_looks(
    house: House, tmp_path: Path
) -> None:
    sound = house.curator.ledger
    failing(house.curator, tmp_path)
    first = house.submit("ana", "first", COUNT).json()["id"]
    assert house.finish("ana", first)["state"] == "lost"
    assert "lost after it was paid for" in wait_for(house, "held")["why"]
    assert house.curator.ledger.status("meters").unreleased == ("ana/first",)
    house.curator.ledger = sound
    second = house.submit("ana", "second", COUNT | {"epsilon": 0.2}).json()["id"]
    (hold,) = house.get("eve", "/holds").json()
    assert (hold["dataset"], hold["by_whom"]) == ("", "")
    time.sleep(0.3)
    assert house.get("ana", f"/jobs/{second}").json()["state"] == "waiting"
    assert house.http.delete(f"{API}/holds/{hold['id']}", headers=house.headers("olga")).status_code == 204
    assert house.finish("ana", second)["state"] == "done"
    wait_for(house, "ok")
    assert house.curator.ledger.status("meters").charges == 2  # one released, one lost and named


class _Killed(BaseException):
    """What a kill looks like from inside: nothing after it runs."""


@pytest.mark.slow
def test_workers_that_die_hold_nothing_until_several_were_lost_in_a_row(tmp_path: Path) -> None:
    curator = started(write_policy(tmp_path, lease=600.0))
    runner = Runner(curator, pace=Unpaced())

    def lose(request: str) -> None:
        submitted(curator, request)

        def cut(reached: str) -> None:
            if reached == "noise drawn":
                raise _Killed

        broken = started(tmp_path / "policy.toml")
        broken.ledger = Ledger(tmp_path / "budget.db", reached=cut)
        with pytest.raises(_Killed):
            Runner(broken, pace=Unpaced()).run_one()
        with curator.store.transaction() as transaction:
            transaction.run("UPDATE service_jobs SET lease = 1 WHERE state = 'running'")
        run_until_idle(runner)
        broken.close()

    for request in ("a", "b"):
        lose(request)
    submitted(curator, "between")
    run_until_idle(runner)
    for request in ("c", "d"):
        lose(request)
    assert not list_holds(curator.store)
    lose("e")
    (hold,) = list_holds(curator.store)
    assert (hold.dataset, hold.by_whom) == ("", "")
    assert hold.why.startswith("3 releases in a row")
    status = curator.ledger.status("meters")
    assert status.unreleased == ("ana/a", "ana/b", "ana/c", "ana/d", "ana/e")
    assert status.charges == 5 + len(curator.ledger.chain("meters"))
    curator.close()
