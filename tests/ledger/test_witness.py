"""A witness that is kept is missed when it is gone: its ledger goes on without it only by the owner's word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chronodp import User
from chronodp.errors import LedgerSetBack, LedgerUnavailable
from chronodp.ledger import FileWitness, Ledger, restore
from chronodp.ledger.marks import MarkFile
from tests.ledger.copies import copy_database, replace_database
from tests.ledger.examples import fulfil

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
