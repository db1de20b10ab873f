"""Workers killed at any moment: one debit for one request, no release without one, and none drawn twice."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import httpx
import pytest

from chronodp.errors import LedgerUnavailable
from chronodp.ledger import Ledger
from chronodp.service.holds import lift_hold, list_holds
from chronodp.service.tables import open_tables
from chronodp.service.tokens import add_token
from tests import forkserver
from tests.conftest import Trials
from tests.service.runs import ANA, check_a_death, runner_of, started, submitted
from tests.service.servers import forked_server
from tests.service.town import API, COUNT, SUM, fresh_database, write_policy

pytestmark = pytest.mark.kill


def workers_of(process: forkserver.Program) -> list[int]:
    """The processes that answer: children of the one that was started."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    return [int(child) for child in children.split()]


def test_kills_of_workers_leave_one_debit_a_request(postgres: str, tmp_path: Path, trials: Trials) -> None:
    address = fresh_database(postgres)
    policy = write_policy(tmp_path, epsilon=1e4, parts={"ana": 1e4}, lease=1.0, floor=0.1)
    keys, kills, chance = tmp_path / "keys", trials(100, least=5), random.Random(5)
    store = open_tables(address)
    headers = {"Authorization": f"Bearer {add_token(store, 'ana', 'analyst')}"}
    told: dict[str, str] = {}
    jobs: dict[str, str] = {}
    with (
        forked_server(policy, address, "--keys", str(keys), "--workers", "2") as (url, process),
        httpx.Client(base_url=f"{url}{API}", headers=headers, timeout=10) as http,
    ):
        for number in range(kills):
            for part in range(3):
                request = f"r{number}-{part}"
                question = COUNT | {"epsilon": 0.1 + number / 1e3 + part / 1e5}
                body = {"request": request, "question": question}
                jobs[request] = _patiently(http, "POST", "/datasets/meters/jobs", body)["id"]
            time.sleep(chance.uniform(0.0, 0.3))
            victims = workers_of(process)
            if victims:
                os.kill(chance.choice(victims), signal.SIGKILL)
            time.sleep(chance.uniform(0.0, 0.2))
        deadline = time.monotonic() + 60 + kills
        for request, job in jobs.items():
            while (found := _patiently(http, "GET", f"/jobs/{job}"))["state"] in ("waiting", "running"):
                assert time.monotonic() < deadline, found
                for hold in list_holds(store):  # as an owner would who knows why workers die
                    lift_hold(store, hold.id)
                time.sleep(0.1)
            assert found["state"] in ("done", "lost"), found
            if found["state"] == "done":
                told[request] = _patiently(http, "GET", f"/datasets/meters/releases/{found['release']}")["release"]
    store.close()
    assert told
    with Ledger(address, keys=keys) as ledger:
        charges = [entry.purpose for entry in ledger.history("meters", limit=100_000) if not entry.analyst]
        stored = {one.request: one.text for one in ledger.stored.releases("meters", limit=100_000)}
        lost = set(ledger.status("meters").unreleased)
    assert len(charges) == len(set(charges))  # one debit for each, however often its worker died
    assert set(charges) == set(stored) | lost
    assert {f"ana/{request}": text for request, text in told.items()} == stored
    assert len(told) + len(lost) == len(jobs)


def _patiently(http: httpx.Client, method: str, path: str, body: object = None) -> dict[str, str]:
    """Ask again while a worker is gone: with the same request id nothing is paid twice."""
    deadline = time.monotonic() + 60
    while True:
        try:
            answer = http.request(method, path, json=body)
            if answer.status_code < 300:
                found: dict[str, str] = answer.json()
                return found
            assert answer.status_code == 503, answer.text
        except httpx.HTTPError:
            pass
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("point", "state"),
    [
        ("debit written", "done"),
        ("debit committed", "lost"),
        ("noise drawn", "lost"),
        ("release written", "lost"),
        ("release committed", "done"),
    ],
)
def test_a_job_cut_off_at_each_gap_goes_on_from_the_ledger(tmp_path: Path, point: str, state: str) -> None:
    check_a_death(write_policy(tmp_path, lease=600.0), SUM, point, state)


def test_a_job_whose_ledger_was_lost_for_a_moment_is_taken_up_again_by_the_same_worker(tmp_path: Path) -> None:
    curator, lost = started(write_policy(tmp_path, lease=600.0)), iter([True])
    job = submitted(curator, SUM)

    def cut(reached: str) -> None:
        if reached == "debit written" and next(lost, False):
            raise LedgerUnavailable("the connection to the ledger failed")

    curator.ledger = Ledger(tmp_path / "budget.db", reached=cut)
    runner = runner_of(curator)
    with pytest.raises(LedgerUnavailable):
        runner.run_one()
    assert runner.run_one()
    assert curator.job(ANA, job.id).state == "done"
    curator.close()


def test_stopping_finishes_what_has_begun_and_the_rest_waits_on_disk(tmp_path: Path) -> None:
    ledger = str(tmp_path / "budget.db")
    policy = write_policy(tmp_path, epsilon=1e4, parts={"ana": 1e4}, floor=0.5, lease=1.0)
    store = open_tables(ledger)
    headers = {"Authorization": f"Bearer {add_token(store, 'ana', 'analyst')}"}
    store.close()

    with forked_server(policy, ledger) as (url, process), httpx.Client(base_url=url + API, headers=headers) as http:
        jobs = []
        for number in range(6):
            body = {"request": f"r{number}", "question": COUNT | {"epsilon": 1.0 + number / 100}}
            jobs.append(http.post("/datasets/meters/jobs", json=body).json()["id"])
        time.sleep(0.2)
        process.terminate()
        assert process.wait(60) in (0, -signal.SIGTERM)
    with Ledger(ledger) as opened:
        begun = len(opened.stored.releases("meters"))
        assert not opened.status("meters").unreleased
    assert begun < 6
    with forked_server(policy, ledger) as (url, _), httpx.Client(base_url=url + API, headers=headers) as http:
        deadline = time.monotonic() + 60
        while [http.get(f"/jobs/{job}").json()["state"] for job in jobs] != ["done"] * 6:
            assert time.monotonic() < deadline
            time.sleep(0.2)
    with Ledger(ledger) as opened:
        assert len([entry for entry in opened.history("meters") if not entry.analyst]) == 6
