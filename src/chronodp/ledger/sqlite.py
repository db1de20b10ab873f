"""A ledger in one file."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from chronodp.errors import LedgerUnavailable
from chronodp.ledger.connections import ThreadConnections
from chronodp.ledger.store import Parameters, Row

__all__ = ["SQLiteStore"]


class SQLiteStore:
    """SQLite with a write-ahead log that is synced at every commit; one connection a thread.

    SQLite lets one writer in at a time and is not fair about whom: a writer waits in short random sleeps, and after
    ``timeout`` seconds gives up with an error.
    """

    def __init__(self, path: Path, *, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._connections = ThreadConnections(self._connect)

    def transaction(self) -> AbstractContextManager[_SQLiteTransaction]:
        """Begin as the only writer, commit at the end, roll back on any error."""
        return self._within("BEGIN IMMEDIATE")

    def snapshot(self) -> AbstractContextManager[_SQLiteTransaction]:
        """Begin as a reader: the write-ahead log lets it see one state while others write."""
        return self._within("BEGIN")

    @contextmanager
    def _within(self, begin: str) -> Iterator[_SQLiteTransaction]:
        with _translated(self._path):
            connection = self._connections.get()
            self._begin(connection, begin)
        try:
            yield _SQLiteTransaction(connection, self._path)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        with _translated(self._path):
            try:
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close this thread's connection."""
        connection = self._connections.take()
        if connection is not None:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        if not self._path.parent.is_dir():
            raise LedgerUnavailable(f"the folder of {self._path.name} does not exist")
        connection = sqlite3.connect(self._path, timeout=2.0, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # NORMAL may lose a committed debit when the power fails.
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA busy_timeout = 0")  # from here on we wait ourselves, and fairly
        except BaseException:
            connection.close()
            raise
        return connection

    def _begin(self, connection: sqlite3.Connection, begin: str) -> None:
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                connection.execute(begin)
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    raise
                if time.monotonic() > deadline:
                    raise LedgerUnavailable(
                        f"{self._path.name} was locked by another writer for {self._timeout:g} s; nothing was spent"
                    ) from None
                time.sleep(random.uniform(0.0002, 0.002))  # spreads out the writers
            else:
                return


class _SQLiteTransaction:
    """Statements of one SQLite transaction."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def run(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Run one statement."""
        with _translated(self._path):
            return self._connection.execute(sql, tuple(parameters)).fetchall()

    def alone(self) -> None:
        """Nothing to do: every transaction is SQLite's only writer."""


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Turn the database's errors into ours; what was not committed did not happen."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        reasons = {
            sqlite3.SQLITE_READONLY: "cannot be written: it or its folder is read-only",
            sqlite3.SQLITE_CANTOPEN: "cannot be opened: it is no file, or may not be read",
            sqlite3.SQLITE_FULL: "cannot grow: the disk is full",
            sqlite3.SQLITE_IOERR: "cannot be read or written: the disk fails",
            sqlite3.SQLITE_NOTADB: "is not a ledger: it is another kind of file",
            sqlite3.SQLITE_CORRUPT: "is damaged",
            sqlite3.SQLITE_BUSY: "is locked by another program",
        }
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code not in reasons:
            raise
        raise LedgerUnavailable(f"{path.name} {reasons[code]}; nothing was spent") from None
