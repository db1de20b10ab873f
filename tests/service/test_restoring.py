"""Backups, and what happens when an old one is put back."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import chronodp as cdp
from chronodp.errors import LedgerSetBack
from chronodp.ledger import FileWitness, Ledger, restore
from chronodp.service.curator import WITNESS, Curator
from chronodp.service.policy_file import read_policy
from tests.service.town import COUNT, SUM, House, open_house, write_policy


def back_up(ledger: Path, copy: Path) -> None:
    """What the how-to says: the database's own copy, while the service runs."""
    with closing(sqlite3.connect(ledger)) as source, source, closing(sqlite3.connect(copy)) as target, target:
        source.backup(target)
    source.close()
    target.close()


def release(house: House, request: str, question: object) -> str:
    job = house.finish("ana", house.submit("ana", request, question).json()["id"])
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
def test_an_old_backup_is_noticed_before_anything_is_spent_twice(tmp_path: Path) -> None:
    ledger, copy, policy = tmp_path / "budget.db", tmp_path / "copy.db", write_policy(tmp_path)
    with open_house(policy, str(ledger)) as house:
        back_up(ledger, copy)
        release(house, "since", SUM)
    for path in tmp_path.glob("budget.db*"):
        if not path.name.endswith((".keys", WITNESS)):
            path.unlink()
    shutil.copy(copy, ledger)
    with pytest.raises(LedgerSetBack, match="set back: it holds 0 charges of 'meters' and 1 were made"):
        Curator(read_policy(policy), str(ledger))


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


def test_streams_have_their_own_witness(tmp_path: Path) -> None:
    ledger, copy = tmp_path / "budget.db", tmp_path / "copy.db"
    witness = FileWitness(tmp_path / "steps.json")
    with Ledger(ledger, witness=witness) as opened:
        opened.open("meters", unit=cdp.Event(), epsilon=1.0)
        live = cdp.Stream(
            cdp.EachPeriod(),
            horizon=9,
            change=1.0,
            unit=cdp.Event(),
            epsilon=1.0,
            ledger=opened,
            dataset="meters",
            name="live",
        )
        back_up(ledger, copy)
        shutil.copy(f"{ledger}.keys", f"{copy}.keys")
        live.step(3.0)
    with pytest.raises(LedgerSetBack, match="set back: it holds 0 steps of 'live' and 1 were made"):
        Ledger(copy, witness=witness)
    with pytest.raises(LedgerSetBack, match="set back"):
        Ledger(copy, keys=f"{ledger}.keys")
