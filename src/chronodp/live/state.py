"""What a live stream must not lose: counts of open windows, who has counted before, how far sources were read.

One SQLite file beside the ledger. Counts, and how far the source was read for them, are one transaction: after a crash
reading goes on exactly where counting stopped. Counts, people and positions, which hold digests of what was read, are
sealed with the ledger's key.

s and c of "Once, and in order" in ``docs/explanation/proofs/live.md``, each written in the transaction that it is part
of.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from chronodp.errors import LedgerUnavailable, StreamConflict
from chronodp.ledger import Gap, Keys
from chronodp.live.hash_table import Hashes, Numbers
from chronodp.live.stored_counts import StoredCounts
from chronodp.live.window_totals import Part

__all__ = ["State"]

_TABLES = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, content TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE counts (part INTEGER PRIMARY KEY, window INTEGER NOT NULL, sealed TEXT NOT NULL)",
)
_FORMAT = 2  # of what is written: raised whenever that changes; 0 is a new file's


class State:
    """The file of one live stream. One process at a time has it; a killed one lets go of it.

    Args:
        path: of the file; made if there is none, readable by its owner only.
        keys: the ledger's.
        name: of the stream.
    """

    def __init__(self, path: Path, *, keys: Keys, name: str) -> None:
        self._path, self._keys, self._name = path, keys, name
        if not path.parent.is_dir():
            raise LedgerUnavailable(f"the folder of {path.name} does not exist")
        with self._translated():
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._database = sqlite3.connect(path, timeout=0.5, isolation_level=None)
            try:
                # Set before the first read: the lock is then held until this process ends, however it does.
                self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._database.execute("PRAGMA page_size = 32768")  # of a new file; rows are long: a third of the time
                self._database.execute("PRAGMA journal_mode = WAL")
                self._database.execute("PRAGMA synchronous = FULL")
                self._people = StoredCounts(self._database, keys=keys, name=name)
                self._prepare()
            except BaseException:
                self._database.close()
                raise

    @property
    def settled(self) -> int:
        """How many windows, from the first on, are released and forgotten."""
        return int(self.fact("settled") or 0)

    @property
    def closing(self) -> int:
        """Up to which window, that one left out, closing was begun: no stream may stand beyond it."""
        return int(self.fact("closing") or 0)

    @property
    def positions(self) -> str:
        """How far the source was read; empty if it was not."""
        known = self.fact("positions") or ""
        return self._keys.unseal(known, self._place_context).decode() if known else ""

    @property
    def gaps(self) -> list[Gap]:
        """The last gaps that were noticed in what the source brought. For the owner."""
        return [Gap(*gap) for gap in json.loads(self.fact("gaps") or "[]")]

    def fact(self, name: str) -> str | None:
        """Return what was written under a name."""
        with self._translated():
            rows = self._database.execute("SELECT content FROM facts WHERE name = ?", (name,)).fetchall()
        return rows[0][0] if rows else None

    def write(self, **facts: str) -> None:
        """Write facts, durably."""
        with self._translated(), self._transaction():
            self._write(facts)

    def check_terms(self, terms: str) -> None:
        """Refuse other public terms than those that the stream was opened with, if it was."""
        known = self.fact("terms")
        if known is not None and known != terms:
            ours, given = json.loads(known), json.loads(terms)
            other = sorted(name for name in ours.keys() | given.keys() if ours.get(name) != given.get(name))
            raise StreamConflict(
                f"live stream {self._name!r} was opened with another {', '.join(other)}: put the old setting back, or "
                "choose another name"
            )

    def commit(
        self, parts: Iterable[Part], *, positions: str, closing: int | None = None, gaps: Sequence[Gap] = ()
    ) -> None:
        """Write what was counted, how far the source was read for it, and the gaps in it, all or nothing."""
        sealed = [(part.window, self._keys.seal(part.content, self._context(part.window))) for part in parts]
        facts = {"positions": self._keys.seal(positions.encode(), self._place_context)}
        if closing is not None:
            facts["closing"] = str(closing)
        if gaps:
            facts["gaps"] = json.dumps([(gap.at, gap.what) for gap in gaps])
        with self._translated(), self._transaction():
            self._database.executemany("INSERT INTO counts (window, sealed) VALUES (?, ?)", sealed)
            self._write(facts)

    def parts(self) -> Iterator[Part]:
        """Yield what was counted in windows that are not settled."""
        with self._translated():
            for window, sealed in self._database.execute("SELECT window, sealed FROM counts ORDER BY part"):
                yield Part(int(window), self._keys.unseal(sealed, self._context(int(window))))

    def used(self, people: Hashes) -> Numbers:
        """Return in how many settled windows people have counted."""
        return self._people.of(people)

    def settle(self, people: Iterable[Hashes], *, settled: int) -> None:
        """Write who has counted in each of the released windows, and forget what these held, all or nothing."""
        with self._translated():
            try:
                with self._transaction():
                    self._people.add(people)
                    self._database.execute("DELETE FROM counts WHERE window < ?", (settled,))
                    self._write({"settled": str(settled)})
            except BaseException:
                self._people.load()  # nothing of it is on disk
                raise

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _prepare(self) -> None:
        """Make the tables of a new file."""
        with self._transaction():
            (form,) = self._database.execute("PRAGMA user_version").fetchone()
            if form not in (0, _FORMAT):
                raise LedgerUnavailable(
                    f"{self._path.name} is the state of a live stream in another format: go on with the chronodp that "
                    "made it"
                )
            if form == 0:
                for table in _TABLES:
                    self._database.execute(table)
                self._people.make()
                self._database.execute(f"PRAGMA user_version = {_FORMAT}")
        self._people.load()

    def _write(self, facts: dict[str, str]) -> None:
        self._database.executemany(
            "INSERT INTO facts (name, content) VALUES (?, ?) ON CONFLICT DO UPDATE SET content = excluded.content",
            facts.items(),
        )

    @property
    def _place_context(self) -> str:
        return f"positions of {self._name}"

    def _context(self, window: int) -> str:
        return f"counts of {self._name} in window {window}"

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._database.execute("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            raise

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, OSError) as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            reason = {
                sqlite3.SQLITE_BUSY: "is used by another process: a live stream runs once",
                sqlite3.SQLITE_FULL: "cannot grow: the disk is full",
                sqlite3.SQLITE_READONLY: "cannot be written: it or its folder is read-only",
                sqlite3.SQLITE_NOTADB: "is not the state of a live stream: it is another kind of file",
                sqlite3.SQLITE_CORRUPT: "is damaged",
            }.get(code, "cannot be read or written")
            raise LedgerUnavailable(f"{self._path.name} {reason}") from None
