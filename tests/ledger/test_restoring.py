"""Going on from a backup: what is not known counts as spent, and certificates say so. Ledgers of 0.1.0 go on."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from chronodp import User
from chronodp.errors import (
    BudgetExhausted,
    CertificateInvalid,
    InvalidArgument,
    KeysMismatch,
    LedgerSetBack,
    RequestConflict,
    StreamConflict,
)
from chronodp.ledger import FileWitness, Ledger, SignedLink, restore, verify_chain
from chronodp.ledger.keyfile import read_keys
from chronodp.privacy import PureCost
from tests import forkserver
from tests.ledger.copies import copy_database, replace_database
from tests.ledger.examples import COST, fulfil

GOLDEN = Path(__file__).parents[1] / "golden" / "ledger" / "0.1.0"
JANUARY = (dt.date(2026, 1, 1), dt.date(2026, 2, 1))


def world(folder: Path) -> tuple[Path, Path, list[SignedLink]]:
    """A ledger, a backup of it, and the chain that was exported after more was released."""
    path, copy = folder / "budget.db", folder / "copy.db"
    with Ledger(path) as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        ledger.open("idle", unit=User(), epsilon=1.0, delta=1e-6)
        ledger.open("monthly", unit=User(), epsilon=1.0, renews="1mo")
        ledger.allot("meters", "ana", epsilon=0.5)
        ledger.spend("monthly", PureCost(0.25), unit=User(), dates=JANUARY)
        fulfil(ledger, "january")
        live = ledger.open_stream("meters", "live", cost=COST, unit=User(), plan="p", state=b"seed")
        copy_database(path, copy)
        ledger.advance_stream(live, values=["1"], state=b"one")
        for name in ("february", "march"):
            fulfil(ledger, name)
        chain = ledger.chain("meters")
    replace_database(path, copy)
    return path, copy, chain


def test_what_is_unknown_counts_as_spent_and_later_certificates_say_so(tmp_path: Path) -> None:
    path, copy, _ = world(tmp_path)
    with pytest.raises(LedgerSetBack):
        Ledger(path)
    done = restore(path)
    assert done.booked == (("idle", ""), ("meters", ""), ("meters", "ana"), ("monthly", ""))
    assert done.stopped == ("live",)
    assert "is not known to this ledger, and was booked as all that was left" in done.words
    with Ledger(path) as ledger:
        for name in ("idle", "meters"):
            assert ledger.status(name).share == 1.0
            with pytest.raises(BudgetExhausted):
                ledger.spend(name, PureCost(1e-9), unit=User())
        with pytest.raises(BudgetExhausted):
            ledger.spend("meters", PureCost(1e-9), unit=User(), analyst="ana")
        for day in (JANUARY, (dt.date(1999, 1, 1), dt.date(1999, 1, 2)), (dt.date.today(), dt.date.max)):
            days = (day[0], min(day[1], day[0] + dt.timedelta(days=1)))
            with pytest.raises(BudgetExhausted):  # in periods that the backup has never heard of as well
                ledger.spend("monthly", PureCost(1e-9), unit=User(), dates=days)
        next_year = dt.date.today() + dt.timedelta(days=400)
        ledger.spend("monthly", PureCost(0.5), unit=User(), dates=(next_year, next_year + dt.timedelta(days=1)))
        with pytest.raises(StreamConflict):
            ledger.advance_stream(ledger.resume_stream("live"), values=["again"], state=b"")
        assert "what was spent since is not known" in ledger.history("idle")[0].purpose
        ledger.open("fresh", unit=User(), epsilon=1.0)
        made = ledger.fulfil(
            "fresh", request="x", cost=COST, unit=User(), plan="p", source="s", produce=lambda: ("[1]", fulfilled())
        )
        assert made.signed.link.restored == ledger.restored == done.words
        assert verify_chain(ledger.chain("fresh"), ledger.public_key) == [made.signed.link]
    replace_database(path, copy)
    with pytest.raises(LedgerSetBack, match="a copy from before the ledger was restored"):
        Ledger(path)


def fulfilled() -> Any:
    from tests.ledger.examples import CERTIFICATE

    return CERTIFICATE


def test_declared_complete_only_what_is_not_accounted_for_is_booked(tmp_path: Path) -> None:
    path, _, chain = world(tmp_path)
    done = restore(path, since=[chain], complete=True)
    assert (done.booked, done.recovered, done.stopped) == ((), 2, ("live",))
    assert "known by the owner's declaration" in done.words
    with Ledger(path) as ledger:
        assert ledger.status("meters").charges == 4  # january, the stream, february and march
        assert ledger.status("meters").sums[0].spent == pytest.approx(4 * COST.epsilon)
        assert ledger.chain("meters") == chain
        with pytest.raises(RequestConflict):  # drawn before: never again
            fulfil(ledger, "march")
        assert len(verify_chain([*chain, fulfil(ledger, "april").signed], ledger.public_key)) == 4


@pytest.mark.parametrize("missing", [0, 1])
def test_a_chain_that_leaves_a_charge_out_does_not_help(missing: int, tmp_path: Path) -> None:
    path, _, chain = world(tmp_path)
    done = restore(path, since=[chain[: 1 + missing]], complete=True)
    assert done.booked == (("meters", ""),)
    assert "is not known" in done.words
    with Ledger(path) as ledger:
        assert ledger.status("meters").share == 1.0
        assert ledger.status("idle").share == 0.0


def test_chains_of_others_are_refused_and_change_nothing(tmp_path: Path) -> None:
    path, _, chain = world(tmp_path)
    (tmp_path / "second").mkdir()
    other_path, _, other = world(tmp_path / "second")
    for since, error in (
        (other, CertificateInvalid),
        ([chain[1]], CertificateInvalid),
        ([SignedLink(chain[0].body, chain[1].signature)], CertificateInvalid),
    ):
        with pytest.raises(error):
            restore(path, since=[since])
    with pytest.raises(KeysMismatch):
        restore(path, keys=f"{other_path}.keys")
    with pytest.raises(InvalidArgument, match="complete"):
        restore(path, complete="yes")  # type: ignore[arg-type]
    with pytest.raises(LedgerSetBack):
        Ledger(path)
    done = restore(path, since=[chain])
    assert done.recovered == 2
    assert ("meters", "") in done.booked


@pytest.mark.kill
@pytest.mark.parametrize("point", ["restoration written", "restoration committed"])
def test_a_restoration_that_was_killed_is_done_or_not(point: str, tmp_path: Path) -> None:
    path, _, _ = world(tmp_path)
    code = (
        "import sys; from chronodp.ledger import restore; from tests.killing import die_at; "
        "restore(sys.argv[1], reached=die_at(sys.argv[2]))"
    )
    died = forkserver.run("-c", code, str(path), point)
    assert died.returncode == -9, died.stderr
    if point == "restoration written":
        with pytest.raises(LedgerSetBack):
            Ledger(path)
        restore(path)
    with Ledger(path) as ledger:
        assert ledger.status("meters").share == 1.0


def test_a_restored_ledger_can_be_set_back_and_restored_again(tmp_path: Path) -> None:
    path, _, _ = world(tmp_path)
    witness = FileWitness(tmp_path / "witness")
    restore(path, witness=witness)
    with Ledger(path, witness=witness) as ledger:
        ledger.open("fresh", unit=User(), epsilon=1.0)
        copy_database(path, tmp_path / "second.db")
        ledger.spend("fresh", PureCost(0.5), unit=User())
    replace_database(path, tmp_path / "second.db")
    with pytest.raises(LedgerSetBack, match="it holds 0 charges of 'fresh' and 1 were made"):
        Ledger(path, witness=witness)
    done = restore(path, witness=witness, complete=True)
    assert done.booked == (("fresh", ""),)
    with Ledger(path, witness=witness) as ledger:
        assert ledger.restored.count("restored from a backup") == 2
        assert ledger.status("fresh").share == 1.0


def golden(address: str, folder: Path, *, keys: bool = True) -> Path:
    """Put the ledger that 0.1.0 wrote at an address, and its keys into a folder."""
    script = (GOLDEN / "budget.sql").read_text(encoding="utf-8")
    if "://" in address:
        with psycopg.connect(address, autocommit=True) as server:
            server.execute(script.encode())
    else:
        with closing(sqlite3.connect(address)) as file, file:
            file.executescript(script)
        file.close()
    place = folder / "keys"
    if keys:
        shutil.copy(GOLDEN / "budget.db.keys", place)
    return place


def test_a_ledger_of_0_1_0_goes_on_with_its_own_keys(address: str, tmp_path: Path) -> None:
    keys = golden(address, tmp_path)
    export = json.loads((GOLDEN / "chain.json").read_text(encoding="utf-8"))
    for _ in range(2):
        with Ledger(address, keys=keys, witness=FileWitness(tmp_path / "witness")) as ledger:
            assert ledger.public_key == export["public_key"]
            assert [one.to_dict() for one in ledger.chain("meters")] == export["links"]
            assert ledger.status("meters").charges == 4
            assert ledger.status("monthly", period="2026-02").sums[0].spent == 0.25
            assert ledger.status("meters").unreleased == ("lost",)
            assert ledger.resume_stream("live").state == b"after two"
            assert ledger.restored == ""
    with Ledger(address, keys=keys) as ledger:
        ledger.advance_stream(ledger.resume_stream("live"), values=["3.5"], state=b"after three")
        made = fulfil(ledger, "march")
        assert made.signed.link.number == 3
        verify_chain(ledger.chain("meters"), export["public_key"])
    file = read_keys(keys)
    assert file is not None
    assert file.ledger is not None
    shutil.copy(GOLDEN / "budget.db.keys", tmp_path / "safe")  # a copy in a safe place knows of no id, and serves
    with Ledger(address, keys=tmp_path / "safe") as ledger:
        assert ledger.status("meters").charges == 5


def test_a_ledger_of_0_1_0_is_not_given_other_keys(address: str, tmp_path: Path) -> None:
    keys = golden(address, tmp_path, keys=False)
    with pytest.raises(KeysMismatch, match="no keys at keys, and this ledger holds what was signed: give keys="):
        Ledger(address, keys=keys)
    assert not keys.exists()
    with Ledger(tmp_path / "other.db", keys=tmp_path / "others"):
        pass
    first = (tmp_path / "others").read_text(encoding="utf-8").splitlines()[0]
    for content in (first, (tmp_path / "others").read_text(encoding="utf-8")):
        keys.write_text(content, encoding="utf-8")
        with pytest.raises(KeysMismatch, match="the keys in keys did not sign the newest release of this ledger"):
            Ledger(address, keys=keys)


def test_a_backup_that_0_1_0_made_is_not_taken_for_another_ledger(tmp_path: Path) -> None:
    address = str(tmp_path / "budget.db")
    keys = golden(address, tmp_path)
    copy_database(Path(address), tmp_path / "copy.db")
    with Ledger(address, keys=keys) as ledger:
        fulfil(ledger, "march")
    replace_database(Path(address), tmp_path / "copy.db")
    with pytest.raises(KeysMismatch, match=r"made by 0\.1\.0: it is an old copy of that ledger, or another"):
        Ledger(address, keys=keys)
    assert ("meters", "") in restore(address, keys=keys, complete=True).booked
    with Ledger(address, keys=keys) as ledger:
        assert ledger.status("meters").share == 1.0
        assert ledger.status("noisy").share < 1.0


def test_new_ledgers_are_not_made_beside_keys_of_0_1_0(tmp_path: Path) -> None:
    shutil.copy(GOLDEN / "budget.db.keys", tmp_path / "budget.db.keys")
    with pytest.raises(KeysMismatch, match=r"for a new ledger choose another name, or move these keys away"):
        Ledger(tmp_path / "budget.db")
    assert [path.name for path in tmp_path.iterdir()] == ["budget.db.keys"]
