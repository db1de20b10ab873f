"""Files and disks that fail under a running curator, and backups: no job is begun that could not be finished, and none
is lost."""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from chronodp.errors import LedgerSetBack, LedgerUnavailable
from chronodp.ledger import FileWitness, Ledger, restore
from chronodp.service.curator import WITNESS, Curator
from chronodp.service.holds import list_holds
from chronodp.service.policy_file import read_policy
from chronodp.service.runner import Runner
from tests.service.runs import ANA, debits, die_at, end_leases, runner_of, started, submitted
from tests.service.town import API, COUNT, SUM, House, open_house, write_policy

ASKED = COUNT | {"epsilon": 0.1}
FILES = ("budget.db", "budget.db.keys", f"budget.db{WITNESS}")


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
    house.ended("ana", "first", COUNT)
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
    curator = started(write_policy(tmp_path), timeout=0.2)
    job, runner = submitted(curator, ASKED), runner_of(curator)
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
    curator = started(write_policy(tmp_path, lease=600.0), timeout=0.2)
    job, wanted = submitted(curator, ASKED), [point]
    mends: list[Callable[[], object]] = []

    def break_it(reached: str) -> None:
        if wanted == [reached]:
            wanted.clear()
            mends.append(move_away(tmp_path / name))

    witness = curator.ledger._watch._elsewhere
    curator.ledger = Ledger(tmp_path / "budget.db", witness=witness, timeout=0.2, reached=break_it)
    runner = runner_of(curator)
    with contextlib.suppress(LedgerUnavailable):
        run_until_idle(runner)
    mends.pop()()
    run_until_idle(runner)
    if (found := curator.job(ANA, job.id)).state == "running":  # it could not even be let go: its lease runs out
        end_leases(curator)
        run_until_idle(runner)
        found = curator.job(ANA, job.id)
    assert found.state == "done"
    status = curator.ledger.status("meters")
    assert (status.charges, status.unreleased, len(curator.ledger.chain("meters"))) == (1, (), 1)
    assert not list_holds(curator.store)
    curator.close()


def test_a_release_that_is_drawn_waits_for_its_database_and_nobody_else_takes_it(tmp_path: Path) -> None:
    curator = started(write_policy(tmp_path, lease=600.0), timeout=0.2)
    job = submitted(curator, ASKED)
    mends: list[Callable[[], object]] = []

    def break_it(reached: str) -> None:
        if reached == "noise drawn" and not mends:
            mends.append(move_away(tmp_path / "budget.db"))

    curator.ledger = Ledger(tmp_path / "budget.db", timeout=0.2, reached=break_it)
    runner, other = runner_of(curator), runner_of(started(tmp_path / "policy.toml"))
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


@pytest.mark.slow
def test_workers_that_die_hold_nothing_until_several_were_lost_in_a_row(tmp_path: Path) -> None:
    curator = started(write_policy(tmp_path, lease=600.0), timeout=0.2)
    runner = runner_of(curator)

    def lose(request: str) -> None:
        submitted(curator, ASKED, request, fresh=True)
        die_at(tmp_path / "policy.toml", "noise drawn")
        end_leases(curator)
        run_until_idle(runner)

    for request in ("a", "b"):
        lose(request)
    submitted(curator, ASKED, "between", fresh=True)
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


@pytest.mark.parametrize("question", [COUNT, SUM], ids=["count", "sum"])
def test_of_rows_that_cannot_be_read_the_log_has_a_line_and_the_analyst_has_nothing(
    tmp_path: Path, question: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    rows = ["2026-01-01T10:00,m1,1.0,north", "31/01/2026,m2,1.0,north", "2026-01-01T11:00,m2,x,south"]
    (tmp_path / "rows.csv").write_text("\n".join(["read_at,meter,kwh,region", *rows, ""]), encoding="utf-8")
    curator = started(write_policy(tmp_path, source="rows.csv"))
    job = submitted(curator, question)
    with caplog.at_level(logging.WARNING, "chronodp.service"):
        assert runner_of(curator).run_one()
    (unread,) = [record.getMessage() for record in caplog.records if "were read" in record.getMessage()]
    assert unread.startswith("unread meters ana/r: rows.csv: ")
    assert f"{2 if question is COUNT else 1} of 3 rows were read" in unread
    done = curator.job(ANA, job.id)
    assert done.state == "done"
    stored = curator.ledger.stored.release_of("meters", done.request)
    for seen in (json.dumps(done.problem), str(stored), str(done)):
        assert "were read" not in seen
    curator.close()


def back_up(ledger: Path, copy: Path) -> None:
    """What the how-to says: the database's own copy, while the service runs."""
    with closing(sqlite3.connect(ledger)) as source, source, closing(sqlite3.connect(copy)) as target, target:
        source.backup(target)
    source.close()
    target.close()


def release(house: House, request: str, question: object) -> str:
    job = house.ended("ana", request, question)
    assert job["state"] == "done", job
    return str(house.get("ana", f"/datasets/meters/releases/{job['release']}").json()["release"])


@pytest.mark.slow
def test_a_backup_goes_on_where_it_was_made(tmp_path: Path) -> None:
    ledger, copy, policy = tmp_path / "budget.db", tmp_path / "copy.db", write_policy(tmp_path)
    with open_house(policy, str(ledger)) as house:
        first = release(house, "first", SUM)
        back_up(ledger, copy)
        token = house.tokens["ana"]
    for path in tmp_path.glob("budget.db*"):
        if not path.name.endswith((".keys", WITNESS)):
            path.unlink()
    shutil.copy(copy, ledger)
    with open_house(policy, str(ledger)) as house:
        house.tokens["ana"] = token  # tokens are in the backup too
        assert house.get("ana", "/datasets/meters/releases/1").json()["release"] == first
        assert len(house.get("eve", "/datasets/meters/history").json()) == 1
        release(house, "second", COUNT)


@pytest.mark.slow
def test_an_old_backup_with_its_keys_is_noticed_by_the_witness_alone(tmp_path: Path) -> None:
    ledger, copy, policy = tmp_path / "budget.db", tmp_path / "copy.db", write_policy(tmp_path)
    with open_house(policy, str(ledger)) as house:
        back_up(ledger, copy)
        keys = (tmp_path / "budget.db.keys").read_bytes()
        release(house, "since", SUM)
    for path in tmp_path.glob("budget.db*"):
        if not path.name.endswith(WITNESS):
            path.unlink()
    shutil.copy(copy, ledger)
    (tmp_path / "budget.db.keys").write_bytes(keys)
    with pytest.raises(LedgerSetBack, match="set back"):
        Curator(read_policy(policy), str(ledger))
    witness = tmp_path / f"budget.db{WITNESS}"
    witness.unlink()
    for _ in range(2):  # nor is one made: nobody could tell
        with pytest.raises(LedgerSetBack, match="holds no marks, and this ledger has a witness that does"):
            Curator(read_policy(policy), str(ledger))
    restore(ledger, witness=FileWitness(witness), complete=True)  # the owner's word that nothing came since
    careless = Curator(read_policy(policy), str(ledger))
    careless.open_budgets()
    assert careless.ledger.status("meters").charges == 0
    careless.close()
