"""A ledger knows its keys, its name and how far it has come: what an attacker may try is refused by name."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chronodp import User
from chronodp.errors import KeysMismatch, LedgerSetBack, LedgerUnavailable
from chronodp.ledger import FileWitness, Ledger, marks, opening, restore
from chronodp.ledger.keyfile import read_keys
from chronodp.ledger.marks import MarkFile
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
        fulfil(ledger, "x", produce=produce)
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


REFUSED = "holds no marks, and this ledger has a witness that does"


class Files:
    """A ledger with its keys and its witness, and copies of the first two."""

    def __init__(self, folder: Path) -> None:
        self.database, self.keys = folder / "budget.db", folder / "budget.db.keys"
        self.elsewhere, self.copy = folder / "witness", folder / "copy.db"

    def opened(self) -> Ledger:
        return Ledger(self.database, witness=FileWitness(self.elsewhere))

    def back_up(self) -> None:
        copy_database(self.database, self.copy)
        self.kept = self.keys.read_bytes()

    def put_back(self) -> None:
        replace_database(self.database, self.copy)
        self.keys.write_bytes(self.kept)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Return a ledger with a release that its copies do not know."""
    made = Files(tmp_path)
    with made.opened() as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        fulfil(ledger, "before")
        made.back_up()
        fulfil(ledger, "since", text="first draw")
    return made


LOSSES: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "blank": lambda path: path.write_bytes(b"\n  \n"),
    "zeros": lambda path: path.write_bytes(bytes(4096)),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("set_back", [True, False])
def test_a_witness_without_marks_is_not_taken_as_new(files: Files, name: str, set_back: bool) -> None:
    LOSSES[name](files.elsewhere)
    if set_back:
        files.put_back()
    before = files.elsewhere.read_bytes() if files.elsewhere.exists() else None
    for _ in range(2):
        with pytest.raises(LedgerUnavailable, match=f"{REFUSED}|witness is damaged"):
            files.opened()
    assert (files.elsewhere.read_bytes() if files.elsewhere.exists() else None) == before


@pytest.mark.parametrize("complete", [True, False])
def test_the_owner_says_that_a_witness_is_new(files: Files, complete: bool) -> None:
    files.elsewhere.unlink()
    done = restore(files.database, witness=FileWitness(files.elsewhere), complete=complete)
    assert done.booked == (() if complete else (("meters", ""),))
    with files.opened() as ledger:
        assert ledger.status("meters").share == (pytest.approx(0.25) if complete else 1.0)
        assert fulfil(ledger, "since").release == "first draw"
        assert "restored" in ledger.restored
    files.elsewhere.unlink()
    with pytest.raises(LedgerSetBack, match=REFUSED):
        files.opened()


def test_a_witness_that_comes_late_is_told_all_that_was_made(tmp_path: Path) -> None:
    files = Files(tmp_path)
    with Ledger(files.database) as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        fulfil(ledger, "before")
        files.back_up()
        fulfil(ledger, "since")
    files.opened().close_connection()
    marks = MarkFile(files.elsewhere).read()
    assert marks['["releases", "meters"]'] == marks['["charges", "meters", "", ""]'] == 2
    with Ledger(files.database) as ledger:  # as the command line does, which knows of no witness
        fulfil(ledger, "without it")
    files.opened().close_connection()
    assert MarkFile(files.elsewhere).read()['["releases", "meters"]'] == 3
    files.put_back()  # from before there was a witness
    with pytest.raises(LedgerSetBack, match="it holds 1 charges of 'meters' and 3 were made"):
        files.opened()


def test_a_witness_of_ones_own_is_missed_as_well(tmp_path: Path) -> None:
    class Shared:
        def __init__(self) -> None:
            self.numbers: dict[str, int] = {}

        def newest(self, stream: str) -> int:
            return self.numbers.get(stream, 0)

        def saw(self, stream: str, step: int) -> None:
            self.numbers[stream] = step

    path, shared = tmp_path / "budget.db", Shared()
    with Ledger(path, witness=shared) as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        fulfil(ledger, "before")
    for _ in range(2):
        with Ledger(path, witness=shared) as ledger:
            assert fulfil(ledger, "before").repeated
        with pytest.raises(LedgerSetBack, match=f"the witness {REFUSED}"):
            Ledger(path, witness=Shared())
    shared = Shared()
    restore(path, witness=shared, complete=True)
    with Ledger(path, witness=shared) as ledger:
        assert fulfil(ledger, "before").repeated


def test_keys_know_of_a_witness_after_they_were_written_anew(files: Files) -> None:
    with files.keys.open("ab") as file:
        file.write(b" " * 2**19)
    with files.opened() as ledger:
        fulfil(ledger, "long")
    assert files.keys.stat().st_size < 2**12
    files.elsewhere.unlink()
    with pytest.raises(LedgerSetBack, match=REFUSED):
        files.opened()


def test_the_highest_number_counts_in_whatever_order_lines_come(tmp_path: Path) -> None:
    file = MarkFile(tmp_path / "marks")
    assert file.read() == {}
    for numbers in ({"a": 2}, {"a": 5, "b": 1}, {"a": 3}):
        file.add(numbers, sync=False)
    assert MarkFile(tmp_path / "marks").read() == {"a": 5, "b": 1}


@pytest.mark.parametrize("rest", ["", '\n{"saw":{"a":9', "\x00" * 40, '\n{"saw":', "\n7x"])
def test_a_line_that_was_cut_off_spoils_no_other(rest: str, tmp_path: Path) -> None:
    file = MarkFile(tmp_path / "marks")
    file.add({"a": 4}, sync=True)
    with (tmp_path / "marks").open("a", encoding="utf-8") as end:
        end.write(rest)
    file.add({"b": 5}, sync=True)
    assert MarkFile(tmp_path / "marks").read() == {"a": 4, "b": 5}


def test_a_file_that_has_grown_is_written_anew_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marks, "_LARGE", 2000)
    path = tmp_path / "marks"
    path.write_text('{"signing": "kept", "ledger": "x"}', encoding="utf-8")
    writers = [MarkFile(path) for _ in range(4)]

    def write(file: MarkFile, name: str) -> None:
        for number in range(1, 301):
            file.add({name: number}, sync=False)

    threads = [threading.Thread(target=write, args=(one, f"n{place}")) for place, one in enumerate(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert MarkFile(path).read() == {f"n{place}": 300 for place in range(4)}
    assert path.stat().st_size < 6000
    assert path.read_text(encoding="utf-8").startswith('{"signing": "kept", "ledger": "x"}\n')
    assert path.stat().st_mode & 0o077 == 0
    assert [one.name for one in tmp_path.iterdir()] == ["marks"]


def _fill(path: Path, name: str) -> None:
    marks._LARGE = 2000
    file = MarkFile(path)
    for number in range(1, 201):
        file.add({name: number}, sync=False)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking is the point of the test
def test_processes_and_forked_children_share_a_file(tmp_path: Path) -> None:
    own = MarkFile(tmp_path / "marks")
    own.add({"own": 1}, sync=True)
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_fill, args=(tmp_path / "marks", f"c{place}")) for place in range(3)]
    children.append(context.Process(target=own.add, args=({"child": 7},), kwargs={"sync": True}))
    for child in children:
        child.start()
    for number in range(2, 100):
        own.add({"own": number}, sync=False)
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 4
    assert own.read() == {"own": 99, "child": 7, "c0": 200, "c1": 200, "c2": 200}


def test_trouble_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(LedgerUnavailable, match="folder cannot be read"):
        MarkFile(tmp_path / "folder").read()
    for path in (tmp_path / "folder", tmp_path / "nowhere" / "marks"):
        with pytest.raises(LedgerUnavailable, match=f"{path.name} cannot be written"):
            MarkFile(path).check_writable()
    (tmp_path / "damaged").write_text("a secret text", encoding="utf-8")
    with pytest.raises(LedgerUnavailable, match="damaged is damaged") as refused:
        MarkFile(tmp_path / "damaged").read()
    assert "secret" not in str(refused.value)


def test_marks_are_synced_when_it_is_asked_for_and_else_once_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    file = MarkFile(tmp_path / "marks")
    file.add({"a": 1}, sync=False)  # the first in a while
    assert len(synced) == 1
    for number in range(2, 20):
        file.add({"a": number}, sync=False)
    assert len(synced) == 1
    file.add({"a": 20}, sync=True)
    assert len(synced) == 2
    file.add({"a": 21}, sync=False)
    assert len(synced) == 2
    clock[0] += 1.1
    file.add({"a": 22}, sync=False)
    assert len(synced) == 3
    file.add({"a": 23}, sync=False)
    file.close()
    assert len(synced) == 4


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system does not list open files")
def test_a_file_that_nobody_closed_is_let_go(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        MarkFile(tmp_path / "marks").add({"a": 1}, sync=False)
    assert len(os.listdir("/proc/self/fd")) <= before + 1
