"""Room for a release is there before its request is debited, whatever keeps files from growing."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from chronodp import User
from chronodp.errors import LedgerError, LedgerUnavailable
from chronodp.ledger import FileWitness, Ledger, Staged
from chronodp.privacy import Certificate
from tests.conftest import Trials
from tests.ledger.examples import CERTIFICATE, COST, fulfil

resource = pytest.importorskip("resource", reason="this system limits no files")


@contextmanager
def limited(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def opened(folder: Path) -> Ledger:
    return Ledger(folder / "budget.db", witness=FileWitness(folder / "witness"))


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """Return the folder of a ledger with an open budget."""
    folder = tmp_path / "begun"
    folder.mkdir()
    with opened(folder) as ledger:
        ledger.open("meters", unit=User(), epsilon=1000.0)
    return folder


def ask(ledger: Ledger, count: int, size: int, drawn: Counter[str], told: dict[str, str]) -> None:
    """Ask for releases of a size until two in a row are refused, for each of them twice."""
    refused = 0
    for number in range(count):
        request = f"r{number}"

        def produce(request: str = request) -> tuple[str, Certificate]:
            drawn[request] += 1
            return f'["{request}", "{os.urandom(size // 2).hex()}"]', CERTIFICATE

        for _ in range(2):
            with suppress(LedgerUnavailable):
                made = fulfil(ledger, request, produce=produce)
                assert told.setdefault(request, made.release) == made.release
        refused = 0 if request in told else refused + 1
        if refused == 2:
            return


def fill(ledger: Ledger) -> str:
    """Make releases until one is refused; return why."""
    for number in range(100):
        try:
            fulfil(ledger, f"fill {number}", text="x" * 30_000)
        except LedgerUnavailable as error:
            return str(error)
    raise AssertionError("nothing was refused")


@pytest.mark.slow
@pytest.mark.parametrize("size", [100, 60_000])
def test_no_limit_on_the_size_of_files_parts_a_debit_from_its_release(
    begun: Path, tmp_path: Path, trials: Trials, size: int
) -> None:
    outcomes = Counter[str]()
    step = 2_000_000 // trials(400, least=20)
    for limit in range(4_096, 2_400_000, step):
        folder = tmp_path / str(limit)
        shutil.copytree(begun, folder)
        drawn, told = Counter[str](), dict[str, str]()
        with limited(limit), suppress(LedgerError), opened(folder) as ledger:
            ask(ledger, 24, size, drawn, told)
        with opened(folder) as ledger:
            status = ledger.status("meters")
            stored = {one.request: one.text for one in ledger.stored.releases("meters", limit=1000)}
            assert status.unreleased == ()  # a debit has its release
            assert status.charges == len(stored)  # a release its debit
            assert told == stored
            assert drawn == dict.fromkeys(stored, 1)  # nothing is drawn in vain, or twice
            ask(ledger, 25, 100, drawn, told)
            assert (len(told), ledger.status("meters").charges) == (25, 25)
            assert set(drawn.values()) == {1}
        outcomes["all" if len(stored) == 24 else "some" if stored else "none"] += 1
        shutil.rmtree(folder)
    assert outcomes["none"] >= 2
    assert outcomes["all" if size == 100 else "some"] >= 2


def test_files_that_cannot_grow_after_a_debit_keep_nothing_from_its_release(begun: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for point in ("debit committed", "debit marked", "noise drawn", "release written", "release committed"):
        reached: list[str] = []

        def stop(name: str, point: str = point, reached: list[str] = reached) -> None:
            if name == point and not reached:
                reached.append(name)
                largest = max(path.stat().st_size for path in begun.iterdir())
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest, before[1]))

        try:
            with Ledger(begun / "budget.db", reached=stop) as ledger:
                reached.append("not yet")
                for number in range(8):  # the log is the largest file by then
                    fulfil(ledger, f"{point} {number}")
                reached.clear()
                assert not fulfil(ledger, point).repeated
                assert reached == [point]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_log_that_cannot_grow_begins_anew(begun: Path) -> None:
    with opened(begun) as ledger:
        for number in range(4):
            fulfil(ledger, f"large {number}", text="x" * 300_000)
        log = begun / "budget.db-wal"
        reached = log.stat().st_size
        with limited(reached):  # which is more than the database takes
            assert fulfil(ledger, "next").release
        assert log.stat().st_size < reached
        reader = sqlite3.connect(begun / "budget.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM requests").fetchone()  # whoever reads keeps the log as it is
        with limited(log.stat().st_size):
            assert re.search(r"-wal cannot grow by .*; nothing was spent$", fill(ledger))
            assert not ledger.status("meters").unreleased
            assert fulfil(ledger, "next").repeated  # what is stored can be told without room
        reader.close()


def test_a_choice_is_not_drawn_where_what_follows_has_no_room(begun: Path) -> None:
    draws: list[str] = []

    def draw(name: str) -> str:
        draws.append(name)
        return name

    def release(chosen: tuple[str, ...]) -> object:
        return lambda: (draw(f"[{chosen}]"), CERTIFICATE)

    staged = Staged((lambda _: lambda: draw("first"), lambda _: lambda: draw("second")), release)  # type: ignore[arg-type]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def block(name: str) -> None:
        if name == "debit marked":
            resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, before[1]))

    with Ledger(begun / "budget.db", reached=block) as ledger:
        asked = {"request": "r", "cost": COST, "unit": User(), "plan": "p", "source": "s", "produce": staged}
        try:
            with pytest.raises(LedgerUnavailable, match="cannot grow"):
                ledger.fulfil("meters", **asked)  # type: ignore[arg-type]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert draws == []
        assert ledger.fulfil("meters", **asked).release  # type: ignore[arg-type]
        assert (len(draws), ledger.status("meters").charges) == (3, 1)


def test_threads_that_fill_a_disk_together_lose_nothing(begun: Path) -> None:
    told: dict[str, str] = {}

    def work(ledger: Ledger, name: str) -> None:
        for number in range(30):
            request = f"{name} {number}"
            with suppress(LedgerUnavailable):
                told[request] = fulfil(ledger, request, text=f'["{request}", "{"x" * 5_000}"]').release
        ledger.close_connection()

    with limited(1_500_000), opened(begun) as ledger:
        threads = [threading.Thread(target=work, args=(ledger, str(number))) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.status("meters").unreleased == ()
        assert ledger.status("meters").charges == len(told) > 4


def test_where_a_file_system_sets_nothing_aside_zeros_are_written(begun: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unable(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, "not supported")

    monkeypatch.setattr(os, "posix_fallocate", unable, raising=False)
    with opened(begun) as ledger:
        for number in range(5):
            fulfil(ledger, f"r{number}")
        log = begun / "budget.db-wal"
        assert log.stat().st_size > 2**20
        for path in begun.glob("budget.db*"):  # as a machine that stops leaves them
            shutil.copy(path, begun.parent)
        shutil.copy(begun / "witness", begun.parent)
        with opened(begun.parent) as copy:
            assert len(copy.chain("meters")) == copy.status("meters").charges == 5
        with limited(log.stat().st_size):
            assert "cannot grow" in fill(ledger)
        assert not ledger.status("meters").unreleased
