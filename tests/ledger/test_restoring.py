"""Going on from a backup: what is not known counts as spent, and certificates say so."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from chronodp import User
from chronodp.errors import BudgetExhausted, InvalidArgument, KeysMismatch, LedgerSetBack, StreamConflict
from chronodp.ledger import FileWitness, Ledger, restore, verify_chain
from chronodp.privacy import PureCost
from tests import forkserver
from tests.ledger.copies import copy_database, replace_database
from tests.ledger.examples import COST, fulfil

JANUARY = (dt.date(2026, 1, 1), dt.date(2026, 2, 1))


def world(folder: Path) -> tuple[Path, Path]:
    """A ledger that was set back to a backup, after which more was released, and the backup."""
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
    replace_database(path, copy)
    return path, copy


def test_what_is_unknown_counts_as_spent_and_later_certificates_say_so(tmp_path: Path) -> None:
    path, copy = world(tmp_path)
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
        made = fulfil(ledger, "x", dataset="fresh")
        assert made.signed.link.restored == ledger.restored == done.words
        assert verify_chain(ledger.chain("fresh"), ledger.public_key) == [made.signed.link]
    replace_database(path, copy)
    with pytest.raises(LedgerSetBack, match="a copy from before the ledger was restored"):
        Ledger(path)


def test_declared_complete_only_what_is_not_accounted_for_is_booked(tmp_path: Path) -> None:
    path, _ = world(tmp_path)
    done = restore(path, complete=True)
    assert (done.booked, done.stopped) == ((("meters", ""),), ("live",))
    with Ledger(path) as ledger:
        assert [ledger.status(name).share for name in ("meters", "idle")] == [1.0, 0.0]
        assert ledger.status("monthly", period="2026-01").share == 0.25
    copy_database(path, tmp_path / "second.db")
    replace_database(path, tmp_path / "second.db")
    assert "known by the owner's declaration" in restore(path, complete=True).words  # nothing came since


def test_what_cannot_be_restored_is_refused_and_changed_in_nothing(tmp_path: Path) -> None:
    path, _ = world(tmp_path)
    (tmp_path / "second").mkdir()
    other, _ = world(tmp_path / "second")
    with pytest.raises(KeysMismatch):
        restore(path, keys=f"{other}.keys")
    with pytest.raises(InvalidArgument, match="complete"):
        restore(path, complete="yes")  # type: ignore[arg-type]
    with pytest.raises(LedgerSetBack):
        Ledger(path)


def test_a_backup_of_a_server_from_before_it_had_keys_is_restored_with_them(postgres_only: str, tmp_path: Path) -> None:
    tables = ("budgets", "accounts", "charges", "requests", "links", "chains", "identity")
    with Ledger(postgres_only) as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        ledger.spend("meters", PureCost(0.1), unit=User())
        with ledger._store.transaction() as transaction:
            before = {table: transaction.run(f"SELECT * FROM {table}") for table in tables}
    with Ledger(postgres_only, keys=tmp_path / "keys") as ledger:
        fulfil(ledger, "march")
        with ledger._store.transaction() as transaction:
            for table, rows in before.items():
                transaction.run(f"DELETE FROM {table}")
                for row in rows:
                    transaction.run(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    with pytest.raises(KeysMismatch, match=r"has no keys yet: it is another, or a backup of that\s+ledger"):
        Ledger(postgres_only, keys=tmp_path / "keys")
    assert restore(postgres_only, keys=tmp_path / "keys", complete=True).booked == (("meters", ""),)
    with Ledger(postgres_only, keys=tmp_path / "keys") as ledger:
        assert ledger.status("meters").share == 1.0


@pytest.mark.kill
@pytest.mark.parametrize("point", ["restoration written", "restoration committed"])
def test_a_restoration_that_was_killed_is_done_or_not(point: str, tmp_path: Path) -> None:
    path, _ = world(tmp_path)
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
    path, _ = world(tmp_path)
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
