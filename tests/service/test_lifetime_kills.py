"""A curator that dies in the middle of an issue: the job is taken up again, and the issue is made once."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import chronodp as cdp
from chronodp.errors import LedgerUnavailable
from chronodp.ledger import Ledger
from chronodp.service import issuing
from chronodp.service.curator import Caller, Curator
from chronodp.service.issue_rules import IssueAsked
from chronodp.service.job import Job
from chronodp.service.pacing import Unpaced
from chronodp.service.policy_file import read_policy
from chronodp.service.runner import Runner
from chronodp.service.tables import open_tables
from chronodp.service.tokens import add_token
from tests.service.lives import charges, month, started, write_life_policy
from tests.service.servers import forked_server
from tests.service.town import API, fresh_database

ANA = Caller("ana", "analyst", "")


class _Killed(BaseException):
    """What a kill looks like from inside: nothing after it runs."""


def submitted(curator: Curator, number: int = 0, *, request: str = "r") -> Job:
    asked = IssueAsked(lifetime="load", clip=None, **month(number))
    return curator.submit_issue(ANA, curator.policy.datasets["meters"], asked, request=request, fresh=False)[0]


def silent(curator: Curator) -> None:
    """Let the leases of all jobs run out, as if their workers had fallen silent long ago."""
    with curator.store.transaction() as transaction:
        transaction.run("UPDATE service_jobs SET lease = 1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "point", ["segment written", "noise drawn", "issue written", "issue committed", "issue marked"]
)
def test_an_issue_cut_off_at_each_gap_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str) -> None:
    policy = write_life_policy(tmp_path, lease=600.0)
    curator = started(policy)
    job = submitted(curator)

    def cut(reached: str) -> None:
        if reached == point:
            raise _Killed

    broken = Curator(read_policy(policy), str(tmp_path / "budget.db"))
    broken.ledger = Ledger(tmp_path / "budget.db", reached=cut)
    with monkeypatch.context() as patched:
        patched.setattr(issuing._Held, "_pause", lambda _: cut("segment written"))
        with pytest.raises(_Killed):
            Runner(broken, pace=Unpaced()).run_one()
    broken.close()
    before = curator.ledger.stored.release_of("meters", "ana/r")
    assert (before is not None) == (point in ("issue committed", "issue marked"))
    runner = Runner(curator, pace=Unpaced())
    assert not runner.run_one()  # its lease still holds
    silent(curator)
    assert runner.run_one()
    assert curator.job(ANA, job.id).state == "done"
    assert (tmp_path / "load.tally" / "announced").exists()  # before anyone is told
    stored = curator.ledger.stored.release_of("meters", "ana/r")
    assert stored is not None
    assert before is None or before == stored
    assert [issue.life.issue for issue in curator.issues.of(curator.ledger, "load")] == [1]
    assert charges(curator) == ["load"]
    load = cdp.Lifetime.resume(curator.ledger, "load", tally=tmp_path / "load.tally")
    assert load.diagnose().used == pytest.approx(1 / 12 / 9, rel=1e-3)  # everyone's total is a third of the clip, once
    assert submitted(curator).id == job.id
    assert not runner.run_one()
    curator.close()


@pytest.mark.slow
def test_an_issue_whose_ledger_was_lost_for_a_moment_is_taken_up_again(tmp_path: Path) -> None:
    curator = started(write_life_policy(tmp_path, lease=600.0))
    job = submitted(curator)
    lost = iter([True])

    def cut(reached: str) -> None:
        if reached == "issue written" and next(lost, False):
            raise LedgerUnavailable("the connection to the ledger failed")

    curator.ledger = Ledger(tmp_path / "budget.db", reached=cut)
    runner = Runner(curator, pace=Unpaced())
    with pytest.raises(LedgerUnavailable):
        runner.run_one()
    assert runner.run_one()
    assert curator.job(ANA, job.id).state == "done"
    curator.close()


@pytest.mark.kill
def test_workers_that_overtake_each_other_make_every_issue_once(postgres: str, tmp_path: Path) -> None:
    address, keys = fresh_database(postgres), tmp_path / "keys"
    curator = Curator(read_policy(write_life_policy(tmp_path, lease=600.0)), address, keys=keys)
    curator.open_budgets()
    jobs = [submitted(curator, number, request=f"r{number}") for number in range(4)]

    def work() -> None:
        while Runner(curator, pace=Unpaced()).run_one():
            pass
        curator.close()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert [curator.job(ANA, job.id).state for job in jobs] == ["done"] * 4
    issues = curator.issues.of(curator.ledger, "load")
    assert [issue.life.issue for issue in issues] == [1, 2, 3, 4]
    assert {issue.request for issue in issues} == {job.request for job in jobs}
    load = cdp.Lifetime.resume(curator.ledger, "load", tally=tmp_path / "load.tally")
    assert load.diagnose().used == pytest.approx(4 / 12 / 9, rel=1e-3)
    curator.close()


@pytest.mark.kill
def test_a_service_that_is_killed_goes_on_with_its_issues_after_a_restart(tmp_path: Path) -> None:
    policy, ledger = write_life_policy(tmp_path, floor=0.3, lease=1.0), str(tmp_path / "budget.db")
    store = open_tables(ledger)
    headers = {"Authorization": f"Bearer {add_token(store, 'ana', 'analyst')}"}
    store.close()
    jobs: list[str] = []
    with forked_server(policy, ledger) as (url, process), _asking(url, headers) as http:
        for number in range(3):
            content = {"request": f"r{number}", **month(number)}
            answer = http.post("/datasets/meters/lifetimes/load/issues", json=content)
            assert answer.status_code == 202, answer.text
            jobs.append(answer.json()["id"])
        while {http.get(f"/jobs/{job}").json()["state"] for job in jobs} == {"waiting"}:
            time.sleep(0.02)
        time.sleep(0.35)  # in the middle of one, or just after
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
    with forked_server(policy, ledger) as (url, _), _asking(url, headers) as http:
        deadline = time.monotonic() + 120
        while [http.get(f"/jobs/{job}").json()["state"] for job in jobs] != ["done"] * 3:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        series: dict[str, Any] = http.get("/datasets/meters/lifetimes/load").json()
        again = http.post("/datasets/meters/lifetimes/load/issues", json={"request": "r0", **month(0)})
        assert (again.status_code, again.json()["id"]) == (200, jobs[0])
    assert sorted(issue["request"] for issue in series["issues"]) == ["ana/r0", "ana/r1", "ana/r2"]
    with Ledger(ledger) as opened:
        assert [entry.purpose for entry in opened.history("meters")] == ["load"]
        load = cdp.Lifetime.resume(opened, "load", tally=tmp_path / "load.tally")
        assert load.diagnose().used == pytest.approx(3 / 12 / 9, rel=1e-3)


def _asking(url: str, headers: dict[str, str]) -> httpx.Client:
    return httpx.Client(base_url=f"{url}{API}", headers=headers, timeout=30)
