"""Old copies: of the ledger, of the tally, of both; what each side notices of the other, and what a witness does."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import psycopg
import pytest

from chronodp.errors import LedgerError, LedgerSetBack, LedgerUnavailable, TallyMismatch
from chronodp.ledger import restore
from chronodp.lifetime.events import forget
from tests.ledger.copies import copy_database, replace_database
from tests.lifetime.plain import MONTHS, Life


class Copies:
    """Copies of a ledger's database, its keys and a tally, which can be put back."""

    def __init__(self, address: str, folder: Path) -> None:
        self.address, self.folder = address, folder

    def take(self, label: str) -> None:
        shutil.copy(self.folder / "keys", self.folder / f"keys {label}")
        shutil.copytree(self.folder / "tally", self.folder / f"tally {label}")
        if "://" in self.address:
            self._as_server(f'CREATE DATABASE "{self._database} {label}" TEMPLATE "{self._database}"')
        else:
            copy_database(Path(self.address), self.folder / f"copy {label}")

    def put_back(self, label: str, *, ledger: bool = False, keys: bool = False, tally: bool = False) -> None:
        if keys:
            shutil.copy(self.folder / f"keys {label}", self.folder / "keys")
        if tally:
            shutil.rmtree(self.folder / "tally")
            shutil.copytree(self.folder / f"tally {label}", self.folder / "tally")
        if ledger and "://" in self.address:
            self._as_server(f'DROP DATABASE "{self._database}"')
            self._as_server(f'CREATE DATABASE "{self._database}" TEMPLATE "{self._database} {label}"')
        elif ledger:
            replace_database(Path(self.address), self.folder / f"copy {label}")

    @property
    def _database(self) -> str:
        found = re.search(r"/(ledger_[0-9a-f]+)", self.address)
        assert found is not None
        return found[1]

    def _as_server(self, statement: str) -> None:
        server = self.address.replace(f"/{self._database}", "/postgres")
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture
def copies(address: str, tmp_path: Path) -> Copies:
    """Return copies from after months 3 and 5 of six; a witness has seen all."""
    found = Copies(address, tmp_path)
    for label, months in (("3", range(3)), ("5", range(3, 5)), ("6", range(5, 6))):
        with Life(address, tmp_path, witness=True) as life:
            life.open()
            for month in months:
                life.issue(month)
        found.take(label)
    return found


def goes_on(copies: Copies, *, witness: bool) -> str:
    """Ask for one more issue, and return why that is refused; empty if it is not."""
    try:
        with Life(copies.address, copies.folder, witness=witness) as life:
            for month in range(len(MONTHS)):
                life.issue(month)
            life.event("one more", lambda tally: forget(tally, life.entry("someone")))
            return ""
    except LedgerError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("witness", [True, False])
def test_old_copies_are_refused(copies: Copies, witness: bool) -> None:
    for label in ("3", "5"):  # also by one step
        copies.put_back(label, ledger=True)
        assert f"it holds {label} steps of 'load' and 6 were made" in goes_on(copies, witness=witness)
        copies.put_back(label, keys=True)  # which now know no better: the tally does
        refused = goes_on(copies, witness=witness)
        if witness:
            assert "LedgerSetBack: the ledger was set back" in refused
        else:
            assert f"LedgerSetBack: the ledger knows {label} steps of 'load' and its tally has seen 6" in refused
        copies.put_back("6", ledger=True, keys=True)
        copies.put_back(label, tally=True)
        # The newest is what the ledger's head asks for first; what is stored is told only where a mark explains it.
        why = "is not marked: 'announced' is an old copy" if label == "3" else "is missing"
        assert goes_on(copies, witness=witness).startswith(f"TallyMismatch: step 6 in the tally of 'load' {why}")
        copies.put_back("6", tally=True)
    (path,) = (copies.folder / "tally").glob("000000000002.*.segment")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    assert goes_on(copies, witness=witness).startswith("TallyMismatch: step 2 in the tally of 'load' was changed")
    copies.put_back("6", tally=True)
    assert goes_on(copies, witness=witness) == ""


def test_both_put_back_together_are_noticed_by_a_witness_alone(copies: Copies) -> None:
    copies.put_back("3", ledger=True, keys=True, tally=True)
    assert goes_on(copies, witness=True).startswith("LedgerSetBack: the ledger was set back")
    assert goes_on(copies, witness=False) == ""  # the documented limit


@pytest.mark.parametrize("complete", [True, False])
def test_a_lifetime_does_not_go_on_after_its_ledger_was_restored(copies: Copies, complete: bool) -> None:
    copies.put_back("3", ledger=True, keys=True)  # an old copy of both: its marks know of nothing since
    done = restore(copies.address, keys=copies.folder / "keys", complete=complete)
    assert done.stopped == (() if complete else ("load",))
    with Life(copies.address, copies.folder) as life:
        for month in range(3):
            assert life.issue(month).repeated  # what was stored can still be read
        with pytest.raises(LedgerSetBack, match=r"restored from a backup.* this series has ended"):
            life.issue(3)
    copies.put_back("3", tally=True)
    with Life(
        copies.address, copies.folder
    ) as life:  # with a tally as old, by the owner's word that nothing came since
        stream = life.stands()
        assert stream.finished is not complete


def test_what_was_stored_is_returned_without_a_look_at_the_tally(copies: Copies) -> None:
    (path,) = (copies.folder / "tally").glob("000000000002.*.segment")
    path.unlink()
    with Life(copies.address, copies.folder) as life:
        assert life.issue(5).repeated
        with pytest.raises(TallyMismatch):
            life.stands()
        shutil.rmtree(copies.folder / "tally")
        with pytest.raises(LedgerUnavailable):  # but not before it is marked
            life.issue(5)
