"""Files and disks that fail around a debit: nothing is spent, or what was spent is released in the end, once."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from chronodp import User
from chronodp.errors import LedgerUnavailable, RequestConflict
from chronodp.ledger import FileWitness, Fulfilled, Ledger, Transaction
from chronodp.ledger.marks import MarkFile
from chronodp.privacy import Certificate, PureCost
from tests.ledger.conftest import fresh_database
from tests.ledger.examples import CERTIFICATE, COST, fulfil

resource = pytest.importorskip("resource", reason="this system limits no files")

POINTS = ("debit written", "debit committed", "debit marked", "noise drawn", "release written", "release committed")
PADDING = 2**22  # bytes of a file that can be kept from growing while all others may


class Bench:
    """A ledger whose files can be broken at a given moment."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.draws = folder, 0
        self.point, self.fault = "", FAULTS["the database is locked"]
        self.mends: list[Callable[[], object]] = []
        (folder / "elsewhere").mkdir()
        self.ledger = Ledger(
            self.path("budget.db"),
            keys=self.path("budget.db.keys"),
            witness=FileWitness(self.path("elsewhere/witness")),
            timeout=0.2,
            reached=self.reached,
        )
        self.ledger.open("meters", unit=User(), epsilon=10.0)
        self.made("before")  # so that all files are open

    def path(self, name: str) -> Path:
        return self.folder / name

    def reached(self, point: str) -> None:
        if point == self.point:
            self.point = ""
            self.break_it()

    def break_it(self) -> None:
        self.mends.append(self.fault(self))

    def mend(self) -> None:
        while self.mends:
            self.mends.pop()()

    def produce(self) -> tuple[str, Certificate]:
        self.draws += 1
        return f"release {self.draws}", CERTIFICATE

    def made(self, request: str) -> Fulfilled:
        return fulfil(self.ledger, request, produce=self.produce)


Fault = Callable[[Bench], Callable[[], object]]


def _moved(name: str) -> Fault:
    def fault(bench: Bench) -> Callable[[], object]:
        away = bench.path(f"{name}.away")
        bench.path(name).rename(away)
        return lambda: away.rename(bench.path(name))

    return fault


def _replaced(name: str) -> Fault:
    """A folder is where the file was, as where a mount has gone and its place is used otherwise."""

    def fault(bench: Bench) -> Callable[[], object]:
        mend = _moved(name)(bench)
        bench.path(name).mkdir()

        def put_back() -> None:
            bench.path(name).rmdir()
            mend()

        return put_back

    return fault


def _older(name: str) -> Fault:
    """Another copy is in its place, which lacks what was marked."""

    def fault(bench: Bench) -> Callable[[], object]:
        mend = _moved(name)(bench)
        bench.path(name).write_text("", encoding="ascii")

        def put_back() -> None:
            bench.path(name).unlink()
            mend()

        return put_back

    return fault


def _full(bench: Bench) -> Callable[[], object]:
    """Neither the witness nor anything larger can grow."""
    witness = bench.path("elsewhere/witness")
    size = max(PADDING, witness.stat().st_size)
    with witness.open("ab") as file:
        file.write(b" " * (size - witness.stat().st_size))
    return _limit(size)


def _database_full(bench: Bench) -> Callable[[], object]:
    """What is set aside in the log lies beyond the limit: files can do even less than on a full disk."""
    return _limit(bench.path("budget.db").stat().st_size)


def _limit(size: int) -> Callable[[], object]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _locked(bench: Bench) -> Callable[[], object]:
    other = sqlite3.connect(bench.path("budget.db"), isolation_level=None, timeout=0.0)
    try:
        other.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:  # within a transaction of ours
        other.close()
        return lambda: None
    return other.close  # which rolls back


FAULTS: dict[str, Fault] = {
    "the witness is missing": _moved("elsewhere/witness"),
    "the witness's folder is missing": _moved("elsewhere"),
    "the witness is a folder": _replaced("elsewhere/witness"),
    "the witness is an older copy": _older("elsewhere/witness"),
    "the witness's disk is full": _full,
    "the keys are missing": _moved("budget.db.keys"),
    "the keys are a folder": _replaced("budget.db.keys"),
    "the database is missing": _moved("budget.db"),
    "the database is a folder": _replaced("budget.db"),
    "the database's disk is full": _database_full,
    "the database is locked": _locked,
}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.mend()
    made.ledger.close_connection()


@pytest.mark.parametrize("name", FAULTS)
def test_what_fails_before_a_debit_spends_nothing(bench: Bench, name: str) -> None:
    bench.fault = FAULTS[name]
    bench.break_it()
    with pytest.raises(LedgerUnavailable, match=r"nothing was spent|Put the newest one back"):
        bench.made("r")
    bench.mend()
    assert bench.ledger.status("meters").charges == bench.draws == 1
    assert bench.made("r").release == "release 2"


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("name", FAULTS)
def test_what_fails_around_a_debit_is_spent_once_drawn_once_and_told_in_the_end(
    bench: Bench, name: str, point: str
) -> None:
    bench.fault, bench.point = FAULTS[name], point
    try:
        told = bench.made("r").release
    except LedgerUnavailable:
        told = ""
    bench.mend()
    made = bench.made("r")
    assert bench.draws == 2  # one of them for the request before
    assert told in ("", made.release)
    status = bench.ledger.status("meters")
    assert (status.charges, status.unreleased) == (2, ())
    assert [link.link.request for link in bench.ledger.chain("meters")] == ["before", "r"]
    for file in ("budget.db.keys", "elsewhere/witness"):
        marks = MarkFile(bench.path(file)).read()
        assert marks['["charges", "meters", "", ""]'] == marks['["releases", "meters"]'] == 2


@pytest.mark.parametrize("point", ["debit committed", "debit marked", "noise drawn", "release committed"])
def test_a_disk_that_fills_up_after_the_debit_cannot_take_the_room_of_its_marks(bench: Bench, point: str) -> None:
    bench.fault, bench.point = _full, point
    assert bench.made("r").release == "release 2"


def test_what_is_drawn_and_not_stored_is_named_and_lost_only_with_its_process(bench: Bench) -> None:
    bench.fault, bench.point = _moved("budget.db"), "noise drawn"
    with pytest.raises(LedgerUnavailable, match="this process keeps it, and stores it when the same request id"):
        bench.made("r")
    bench.mend()
    with Ledger(bench.path("budget.db")) as other:
        assert other.status("meters").unreleased == ("r",)
        with pytest.raises(RequestConflict, match="never drawn again"):
            fulfil(other, "r", produce=bench.produce)
    assert bench.ledger.may_finish("meters", "r")
    assert bench.ledger.store_drawn("meters", "r")
    assert not bench.ledger.store_drawn("meters", "r")
    assert bench.made("r").repeated
    assert bench.draws == 2


def test_a_stored_release_is_told_to_nobody_before_it_is_marked(bench: Bench) -> None:
    bench.fault, bench.point = _moved("elsewhere/witness"), "release committed"
    with pytest.raises(LedgerUnavailable, match="its release is stored: once that is mended, the same request id"):
        bench.made("r")
    with pytest.raises(LedgerUnavailable):
        bench.made("r")
    with pytest.raises(LedgerUnavailable):
        bench.ledger.stored.releases("meters")
    with pytest.raises(LedgerUnavailable):
        bench.ledger.chain("meters")
    assert not bench.ledger.status("meters").unreleased
    bench.mend()
    assert (bench.made("r").repeated, bench.draws) == (True, 2)


def test_a_torn_file_of_marks_loses_nothing(bench: Bench) -> None:
    for name in ("elsewhere/witness", "budget.db.keys"):
        path = bench.path(name)
        os.truncate(path, path.stat().st_size - 9)
        assert bench.made(name).release
    bench.ledger.close_connection()
    with Ledger(bench.path("budget.db"), witness=FileWitness(bench.path("elsewhere/witness"))) as again:
        assert again.status("meters").charges == len(again.chain("meters")) == 3


def test_a_slow_disk_changes_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    sync = os.fdatasync

    def slowly(descriptor: int) -> None:
        time.sleep(0.1)
        sync(descriptor)

    monkeypatch.setattr(os, "fdatasync", slowly)
    assert bench.made("r").release == "release 2"


def test_what_is_tried_before_leaves_files_as_they_say(bench: Bench) -> None:
    before = {name: MarkFile(bench.path(name)).read() for name in ("budget.db.keys", "elsewhere/witness")}
    bench.ledger.check_ready()
    assert {name: MarkFile(bench.path(name)).read() for name in before} == before
    for fault in (_moved("elsewhere/witness"), _moved("budget.db.keys"), _full):
        bench.fault = fault
        bench.break_it()
        with pytest.raises(LedgerUnavailable, match="nothing was spent"):
            bench.ledger.check_ready()
        bench.mend()
    bench.ledger._store.room = lambda: 2**19  # type: ignore[method-assign]
    with pytest.raises(LedgerUnavailable, match="a release may take 1 MB; nothing was spent"):
        bench.ledger.check_ready()
    with pytest.raises(LedgerUnavailable, match="a release may take 1 MB; nothing was spent"):
        bench.made("r")


def test_a_stream_whose_mark_failed_is_marked_when_it_is_resumed(bench: Bench) -> None:
    bench.fault, bench.point = _moved("elsewhere/witness"), "stream committed"
    opening = {"cost": COST, "unit": User(), "plan": "p", "state": b"s"}
    with pytest.raises(LedgerUnavailable):
        bench.ledger.open_stream("meters", "live", **opening)  # type: ignore[arg-type]
    bench.mend()
    assert bench.ledger.resume_stream("live").step == 0
    assert MarkFile(bench.path("elsewhere/witness")).read()['["charges", "meters", "", ""]'] == 2


@pytest.mark.parametrize("point", ["noise drawn", "release written", "release committed"])
def test_a_connection_lost_after_the_debit_loses_no_release(postgres: str, tmp_path: Path, point: str) -> None:
    address, draws, fired = fresh_database(postgres), [], [point]

    def cut(reached: str) -> None:
        if [reached] == fired:
            fired.clear()
            process = ledger._store._connections.get().info.backend_pid  # type: ignore[attr-defined]
            with psycopg.connect(postgres, autocommit=True) as admin:
                admin.execute("SELECT pg_terminate_backend(%s, 60000)", (process,))

    def produce() -> tuple[str, Certificate]:
        draws.append(1)
        return "noisy", CERTIFICATE

    with Ledger(address, keys=tmp_path / "keys", reached=cut) as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        asked = {"request": "r", "cost": COST, "unit": User(), "plan": "p", "source": "s", "produce": produce}
        with suppress(LedgerUnavailable):
            ledger.fulfil("meters", **asked)  # type: ignore[arg-type]
        assert ledger.fulfil("meters", **asked).release == "noisy"  # type: ignore[arg-type]
        status = ledger.status("meters")
        assert (len(draws), status.charges, status.unreleased, len(ledger.chain("meters"))) == (1, 1, (), 1)


@pytest.mark.parametrize("committed", [True, False])
def test_a_debit_that_nobody_knows_of_is_gone_on_with_by_its_process_alone(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    """The database answers no more while a debit is committed."""
    ledger.open("meters", unit=User(), epsilon=1.0)
    store, draws = ledger._store, []

    @contextmanager
    def lost() -> Iterator[Transaction]:
        monkeypatch.undo()
        try:
            with store.transaction() as transaction:
                yield transaction
                if not committed:
                    raise ZeroDivisionError  # rolled back
        except ZeroDivisionError:
            pass
        raise LedgerUnavailable("the connection was lost; a debit under way may or may not have been committed")

    def produce() -> tuple[str, Certificate]:
        draws.append(1)
        return "noisy", CERTIFICATE

    asked: dict[str, Any] = {"request": "r", "cost": COST, "unit": User(), "plan": "p", "source": "s"}
    monkeypatch.setattr(store, "transaction", lost)
    with pytest.raises(LedgerUnavailable):
        ledger.fulfil("meters", **asked, produce=produce)
    assert (ledger.status("meters").charges, draws) == (int(committed), [])
    assert ledger.may_finish("meters", "r")
    assert not ledger.store_drawn("meters", "r")
    assert ledger.fulfil("meters", **asked, produce=produce).release == "noisy"
    status = ledger.status("meters")
    assert (len(draws), status.charges, status.unreleased) == (1, 1, ())
    assert not ledger.may_finish("meters", "r")
    assert MarkFile(tmp_path / "keys").read()['["charges", "meters", "", ""]'] == 1


def test_a_draw_that_fails_after_a_debit_in_doubt_is_lost_as_any_other(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.open("meters", unit=User(), epsilon=1.0)
    store = ledger._store

    @contextmanager
    def lost() -> Iterator[Transaction]:
        monkeypatch.undo()
        with store.transaction() as transaction:
            yield transaction
        raise LedgerUnavailable("the connection was lost")

    def produce() -> tuple[str, Certificate]:
        raise ValueError("what was drawn may have been seen")

    asked: dict[str, Any] = {"request": "r", "cost": COST, "unit": User(), "plan": "p", "source": "s"}
    monkeypatch.setattr(store, "transaction", lost)
    with pytest.raises(LedgerUnavailable):
        ledger.fulfil("meters", **asked, produce=produce)
    with pytest.raises(ValueError, match="may have been seen"):
        ledger.fulfil("meters", **asked, produce=produce)
    with pytest.raises(RequestConflict, match="never drawn again"):
        ledger.fulfil("meters", **asked, produce=produce)
    assert ledger.status("meters").unreleased == ("r",)


@contextmanager
def mounted(place: Path) -> Iterator[None]:
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        pytest.skip("nothing can be mounted here")
    if done.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], capture_output=True, check=False)


@pytest.mark.slow
def test_a_real_disk_that_is_full_and_then_vanishes(tmp_path: Path) -> None:
    place = tmp_path / "mounted"
    with mounted(place), Ledger(tmp_path / "budget.db", witness=FileWitness(place / "witness")) as ledger:
        ledger.open("meters", unit=User(), epsilon=10.0)
        ledger.spend("meters", COST, unit=User())
        with suppress(OSError), (place / "other").open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        spent, refused = 1, ""
        while not refused:  # until the last block of the witness is full as well
            try:
                ledger.spend("meters", PureCost(0.001), unit=User())
                spent += 1
            except LedgerUnavailable as error:
                refused = str(error)
        assert "nothing was spent" in refused
        assert ledger.status("meters").charges == spent
        subprocess.run(["umount", "-l", str(place)], check=True)
        with pytest.raises(LedgerUnavailable, match=r"witness cannot be written: .*nothing was spent"):
            ledger.spend("meters", COST, unit=User())
        assert ledger.status("meters").charges == spent
