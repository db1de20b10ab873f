"""A ledger knows its keys, its name and how far it has come: what an attacker may try is refused by name."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chronodp import User
from chronodp.errors import KeysMismatch, LedgerSetBack, LedgerUnavailable
from chronodp.ledger import FileWitness, Ledger, opening
from chronodp.ledger.keyfile import read_keys
from chronodp.ledger.watch import Watch
from chronodp.privacy import PureCost
from tests import forkserver
from tests.ledger.copies import copy_database, replace_database
from tests.ledger.examples import CERTIFICATE, COST, fulfil


def begin(path: Path, **options: Any) -> Ledger:
    ledger = Ledger(path, **options)
    ledger.open("meters", unit=User(), epsilon=10.0)
    return ledger


# Each attack returns normally if it was refused by name, and fails if the ledger went along with it.


def through_a_link(folder: Path) -> None:
    with begin(folder / "budget.db") as ledger:
        fulfil(ledger, "january")
        public = ledger.public_key
    (folder / "elsewhere").mkdir()
    link = folder / "elsewhere" / "link.db"
    link.symlink_to(folder / "budget.db")
    with Ledger(link) as ledger:
        fulfil(ledger, "february")
        assert ledger.public_key == public
        chain = ledger.export("meters")
    assert sorted(path.name for path in (folder / "elsewhere").iterdir()) == ["link.db"]
    assert chain["public_key"] == public


def copied_without_its_log(folder: Path) -> None:
    begin(folder / "budget.db").close_connection()
    with Ledger(folder / "budget.db") as ledger:
        for number in range(5):
            fulfil(ledger, f"request {number}", text="first draw")
        copy = folder / "copy" / "budget.db"
        copy.parent.mkdir()
        shutil.copy(folder / "budget.db", copy)  # the log, with all five charges, stays behind
        shutil.copy(folder / "budget.db.keys", f"{copy}.keys")
        for keys in (None, folder / "budget.db.keys"):
            with pytest.raises(LedgerSetBack, match="it holds 0 charges of 'meters' and 5 were made"):
                fulfil(Ledger(copy, keys=keys), "request 0", text="second draw")


def set_back(folder: Path) -> None:
    path, copy = folder / "budget.db", folder / "copy.db"
    with begin(path) as ledger:
        fulfil(ledger, "january")
        copy_database(path, copy)
        fulfil(ledger, "february", text="first draw")
    replace_database(path, copy)
    with pytest.raises(LedgerSetBack, match="it holds 1 charges of 'meters' and 2 were made"):
        fulfil(Ledger(path), "february", text="second draw")


ATTACKS = (through_a_link, copied_without_its_log, set_back)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused(attack: Callable[[Path], None], tmp_path: Path) -> None:
    attack(tmp_path)


@pytest.mark.parametrize(
    ("attack", "mutant"),
    [(through_a_link, "spelling"), (copied_without_its_log, "no counter"), (set_back, "no counter")],
)
def test_without_its_guard_each_attack_works(
    attack: Callable[[Path], None], mutant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mutant == "spelling":
        monkeypatch.setattr(opening, "find_file", Path)
    else:
        monkeypatch.setattr(Watch, "check", lambda *_: None)
    with pytest.raises((AssertionError, KeysMismatch, pytest.fail.Exception)):
        attack(tmp_path)


def test_a_ledger_and_its_keys_move_together(tmp_path: Path) -> None:
    with begin(tmp_path / "budget.db") as ledger:
        fulfil(ledger, "january")
        public = ledger.public_key
    moved = tmp_path / "moved.db"
    (tmp_path / "budget.db").rename(moved)
    with pytest.raises(KeysMismatch, match=r"no keys at moved\.db\.keys, and this ledger has some: give keys="):
        Ledger(moved)
    assert not (tmp_path / "moved.db.keys").exists()
    with pytest.raises(KeysMismatch, match=r"budget\.db\.keys holds the keys of a ledger, and budget\.db is not there"):
        Ledger(tmp_path / "budget.db")
    assert not (tmp_path / "budget.db").exists()
    with Ledger(moved, keys=tmp_path / "budget.db.keys") as ledger:
        assert ledger.public_key == public
    (tmp_path / "budget.db.keys").rename(tmp_path / "moved.db.keys")
    with Ledger(moved) as ledger:
        assert fulfil(ledger, "january").repeated


def test_keys_of_another_ledger_are_refused(address: str, tmp_path: Path) -> None:
    with Ledger(address, keys=tmp_path / "own") as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        fulfil(ledger, "january")
    with Ledger(tmp_path / "other.db", keys=tmp_path / "others"):
        pass
    before = (tmp_path / "others").read_bytes()
    with pytest.raises(KeysMismatch, match="the keys in others are those of another ledger: give keys="):
        Ledger(address, keys=tmp_path / "others")
    assert (tmp_path / "others").read_bytes() == before
    with pytest.raises(KeysMismatch, match="no keys at none"):
        Ledger(address, keys=tmp_path / "none")
    assert not (tmp_path / "none").exists()
    # The same keys under the id of another ledger are as foreign.
    first = json.loads((tmp_path / "own").read_text(encoding="utf-8").splitlines()[0])
    (tmp_path / "renamed").write_text(json.dumps({**first, "ledger": "0" * 32}), encoding="utf-8")
    with pytest.raises(KeysMismatch, match="the keys in renamed are those of another ledger"):
        Ledger(address, keys=tmp_path / "renamed")
    with Ledger(address, keys=tmp_path / "own") as ledger:
        assert len(ledger.chain("meters")) == 1


def test_a_server_is_read_without_keys_and_not_spent_from(postgres_only: str, tmp_path: Path) -> None:
    with Ledger(postgres_only) as ledger:  # before it has keys it can be spent from
        ledger.open("meters", unit=User(), epsilon=1.0)
        ledger.spend("meters", PureCost(0.1), unit=User())
        with pytest.raises(LedgerUnavailable, match="keys='a file of yours'"):
            _ = ledger.public_key
    with Ledger(tmp_path / "other.db", keys=tmp_path / "others"):
        pass
    with pytest.raises(KeysMismatch, match="the keys in others serve a ledger, and this one has no keys yet"):
        Ledger(postgres_only, keys=tmp_path / "others")
    with Ledger(postgres_only, keys=tmp_path / "own") as ledger:
        public = ledger.public_key
    with Ledger(postgres_only) as ledger:
        assert ledger.public_key == public
        assert ledger.status("meters").charges == 1
        with pytest.raises(KeysMismatch, match="opened without"):
            ledger.spend("meters", PureCost(0.1), unit=User())
        assert ledger.status("meters").charges == 1


@contextmanager
def rewound(ledger: Ledger, address: str) -> Iterator[None]:
    """Set a database back to what it was, under whoever has it open."""
    tables = ("budgets", "accounts", "charges", "requests", "streams", "steps", "links", "chains", "identity")
    with ledger._store.transaction() as transaction:
        before = {table: transaction.run(f"SELECT * FROM {table}") for table in tables}
    yield
    other = Ledger(address, keys=read_path(ledger))
    with other as opened, opened._store.transaction() as transaction:
        for table, rows in before.items():
            transaction.run(f"DELETE FROM {table}")
            for row in rows:
                transaction.run(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def read_path(ledger: Ledger) -> Path:
    assert ledger._watch._marks is not None
    return ledger._watch._marks._path


def test_every_kind_of_loss_is_noticed_when_a_ledger_is_opened(address: str, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    with Ledger(address, keys=keys) as ledger:
        ledger.open("meters", unit=User(), epsilon=10.0)
        ledger.allot("meters", "ana", epsilon=5.0)
        ledger.open("old", unit=User(), epsilon=1.0)
        live = ledger.open_stream("meters", "live", cost=COST, unit=User(), plan="p", state=b"")
        losses: list[tuple[Callable[[], object], str]] = [
            (lambda: ledger.spend("meters", COST, unit=User()), "it holds 1 charges of 'meters' and 2 were made"),
            (
                lambda: ledger.spend("meters", COST, unit=User(), analyst="ana"),
                "it holds 1 charges of 'meters' and 2 were made; it holds 0 charges of 'ana' of 'meters' and 1 were",
            ),
            (lambda: fulfil(ledger, "x"), "it holds 0 releases of 'meters' and 1 were made"),
            (lambda: ledger.close("old"), "the budget 'old' was closed and is open in it"),
            (lambda: ledger.advance_stream(live, values=["1"], state=b""), "it holds 0 steps of 'live' and 1 were"),
            (
                lambda: ledger.open_stream("meters", "new", cost=COST, unit=User(), plan="p", state=b""),
                "it holds 1 charges of 'meters' and 2 were made",
            ),
        ]
        seen = keys.read_bytes()
        for change, message in losses:
            with rewound(ledger, address):
                change()
            with pytest.raises(LedgerSetBack, match=message):
                Ledger(address, keys=keys)
            keys.write_bytes(seen)
            ledger._watch._known = {}
        with Ledger(address, keys=keys) as again:
            assert again.status("meters").charges == 1


def test_a_database_set_back_under_an_open_ledger_is_noticed_at_the_next_charge(address: str, tmp_path: Path) -> None:
    with Ledger(address, keys=tmp_path / "keys") as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        with rewound(ledger, address):
            fulfil(ledger, "january")
        with pytest.raises(LedgerSetBack, match="it holds 0 charges of 'meters' and 1 were made"):
            fulfil(ledger, "january", text="second draw")
        with pytest.raises(LedgerSetBack):
            ledger.spend("meters", COST, unit=User())
        with ledger._store.transaction() as transaction:
            assert transaction.run("SELECT * FROM charges") == []


def test_a_release_whose_debit_is_gone_is_not_signed(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=1.0)

    def produce() -> Any:
        with ledger._store.transaction() as transaction:
            transaction.run("DELETE FROM requests")
        return "drawn", CERTIFICATE

    with pytest.raises(LedgerSetBack, match="while 'x' was under way: its debit is gone"):
        ledger.fulfil("meters", request="x", cost=COST, unit=User(), plan="p", source="s", produce=produce)
    assert ledger.chain("meters") == []


@pytest.mark.kill
@pytest.mark.parametrize("point", ["keys written", "identity written", "identity committed", "opening marked"])
def test_a_ledger_that_died_while_it_was_made_is_finished_by_the_next(point: str, address: str, tmp_path: Path) -> None:
    code = (
        "import sys; from chronodp.ledger import Ledger; from tests.killing import die_at; "
        "Ledger(sys.argv[1], keys=sys.argv[2], reached=die_at(sys.argv[3]))"
    )
    died = forkserver.run("-c", code, address, str(tmp_path / "keys"), point)
    assert died.returncode == -9, died.stderr
    made = read_keys(tmp_path / "keys")
    assert made is not None
    with Ledger(address, keys=tmp_path / "keys") as ledger:
        assert ledger.public_key == made.keys.public
        ledger.open("meters", unit=User(), epsilon=1.0)
        fulfil(ledger, "january")
    with Ledger(address, keys=tmp_path / "keys") as ledger:
        assert len(ledger.chain("meters")) == 1


def test_what_was_committed_and_not_marked_is_marked_before_it_is_told(address: str, tmp_path: Path) -> None:
    def stop(point: str) -> None:
        if point == "release committed":
            raise KeyboardInterrupt

    keys = tmp_path / "keys"
    with Ledger(address, keys=keys) as other, Ledger(address, keys=keys, reached=stop) as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        with pytest.raises(KeyboardInterrupt):
            fulfil(ledger, "january")
        assert b"releases" not in keys.read_bytes()
        assert fulfil(other, "january").repeated
        assert b"releases" in keys.read_bytes()


@pytest.mark.kill
def test_two_processes_share_one_keys_file(address: str, tmp_path: Path) -> None:
    keys = str(tmp_path / "keys")
    with Ledger(address, keys=keys) as ledger:
        ledger.open("meters", unit=User(), epsilon=100.0)
    code = (
        "import sys; from chronodp import User; from chronodp.ledger import Ledger\n"
        "from chronodp.privacy import PureCost\n"
        "with Ledger(sys.argv[1], keys=sys.argv[2]) as ledger:\n"
        "    for _ in range(50): ledger.spend('meters', PureCost(0.01), unit=User())"
    )
    programs = [forkserver.start("-c", code, address, keys) for _ in range(2)]
    for program in programs:
        assert program.communicate()[1] == ""
    file = read_keys(Path(keys))
    assert file is not None
    assert file.marks.read()['["charges", "meters", "", ""]'] == 100
    with Ledger(address, keys=keys) as ledger:
        assert ledger.status("meters").charges == 100


def test_a_charge_that_nobody_would_remember_is_refused(tmp_path: Path) -> None:
    with begin(tmp_path / "budget.db"):
        pass
    keys = tmp_path / "budget.db.keys"
    (tmp_path / "aside").mkdir()
    keys.rename(tmp_path / "aside" / "keys")
    keys.mkdir()
    with pytest.raises(LedgerUnavailable, match=r"keys file budget\.db\.keys cannot be read"):
        Ledger(tmp_path / "budget.db")


@pytest.mark.skipif(os.name == "nt", reason="rights are other things there")
def test_files_are_their_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        witness = FileWitness(tmp_path / "witness")
        with begin(tmp_path / "budget.db", witness=witness) as ledger:
            fulfil(ledger, "january")
            names = {path.name for path in tmp_path.iterdir()}
            assert names == {"budget.db", "budget.db-wal", "budget.db-shm", "budget.db.keys", "witness"}
            for path in tmp_path.iterdir():
                assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name
            for path in tmp_path.iterdir():
                path.chmod(0o644)
            with Ledger(tmp_path / "budget.db", witness=witness):
                pass
            for path in tmp_path.iterdir():
                assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name
    finally:
        os.umask(before)


def test_no_keys_are_shown_by_any_refusal(tmp_path: Path) -> None:
    with begin(tmp_path / "budget.db") as ledger:
        fulfil(ledger, "january")
        secrets = ledger.keys.to_dict().values()
    shutil.copy(tmp_path / "budget.db", tmp_path / "other.db")
    text = (tmp_path / "budget.db.keys").read_text(encoding="utf-8")
    for content in (text[:60], text.replace("signing", "sining"), text.replace('"', "'"), "[" + text):
        (tmp_path / "other.db.keys").write_text(content, encoding="utf-8")
        with pytest.raises(LedgerUnavailable, match=r"other\.db\.keys") as refused:
            Ledger(tmp_path / "other.db")
        assert not any(secret[:8] in str(refused.value) for secret in secrets)
        assert refused.value.__suppress_context__
