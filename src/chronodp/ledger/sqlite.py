"""A ledger in one file, and one connection a thread, which no forked child shares with its parent."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from chronodp.errors import LedgerUnavailable
from chronodp.ledger.log_room import allocate_log
from chronodp.ledger.ownership import create_private, tighten
from chronodp.ledger.store import Parameters, Row
from chronodp.randomness import Lineage

__all__ = ["SQLiteStore", "ThreadConnections"]


class _Closable(Protocol):
    def close(self) -> None: ...


Connection = TypeVar("Connection", bound=_Closable)


class _Held(Generic[Connection]):
    """A connection that closes when its thread ends; never in a child that inherited it."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.generation = connection, Lineage.generation

    def __del__(self) -> None:
        if self.generation == Lineage.generation:
            with suppress(Exception):  # lost, or collected by another thread: then it goes with its object
                self.connection.close()


class ThreadConnections(Generic[Connection]):
    """Connections by thread, made when first asked for.

    A child that used, or even closed, a connection it inherited would break the parent's. It is put aside instead, and
    kept, so that not even the collector closes it.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._local = threading.local()
        self._inherited: list[_Held[Connection]] = []

    def get(self) -> Connection:
        """Return this thread's connection."""
        local = self._local
        held: _Held[Connection] | None = getattr(local, "held", None)
        if held is not None and held.generation != Lineage.generation:
            self._inherited.append(held)
            held = None
        if held is None:
            held = local.held = _Held(self._connect())
        return held.connection

    def take(self) -> Connection | None:
        """Return this thread's connection, if it has one, to be closed, and forget it."""
        held: _Held[Connection] | None = getattr(self._local, "held", None)
        if held is None:
            return None
        del self._local.held
        if held.generation != Lineage.generation:
            self._inherited.append(held)
            return None
        return held.connection


class _Connection(sqlite3.Connection):
    """A connection that knows the device and the number of its file."""

    file: tuple[int, int]

    def __del__(self) -> None:
        """Go without a word: only its own thread may close it, and Python 3.13 warns where another collects it."""


class SQLiteStore:
    """SQLite with a write-ahead log that is synced at every commit; one connection a thread.

    SQLite lets one writer in at a time and is not fair about whom: a writer waits in short random sleeps, and after
    ``timeout`` seconds gives up with an error.
    """

    def __init__(self, path: Path, *, timeout: float) -> None:
        self._path = path
        self._timeout = timeout
        self._connections: ThreadConnections[_Connection] = ThreadConnections(self._connect)

    def transaction(self) -> AbstractContextManager[_SQLiteTransaction]:
        """Begin as the only writer, commit at the end, roll back on any error."""
        return self._within("BEGIN IMMEDIATE")

    def snapshot(self) -> AbstractContextManager[_SQLiteTransaction]:
        """Begin as a reader: the write-ahead log lets it see one state while others write."""
        return self._within("BEGIN")

    @contextmanager
    def _within(self, begin: str) -> Iterator[_SQLiteTransaction]:
        try:
            connection = self._connections.get()
            self._check_place(connection)
            self._run_patiently(connection, begin)
        except sqlite3.DatabaseError as error:
            raise _explained(self._path, error) from None
        try:
            yield _SQLiteTransaction(self, connection, self._path)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        try:
            connection.execute("COMMIT")
        except BaseException as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.DatabaseError):
                raise _explained(self._path, error) from None
            raise

    def _check_place(self, connection: _Connection) -> None:
        """Refuse to go on in a file that has lost its name: what is written into it would go with this process."""
        try:
            found = os.stat(self._path)  # quicker, and every transaction passes
        except OSError:
            found = None
        if found is None or (found.st_dev, found.st_ino) != connection.file:
            raise LedgerUnavailable(
                f"{self._path.name} is not where it was: it was moved, removed or replaced, or its disk is away. Put "
                "it back, or start anew; nothing was spent"
            )

    def set_aside(self, connection: sqlite3.Connection, size: int) -> None:
        """Have the log hold so many bytes more than it does, in a transaction that has written nothing yet.

        A commit writes the log alone. Its room is blocks of a file, so whatever may keep it from growing shows here:
        a full disk, a quota, a limit on the size of files.
        """
        log = self._path.with_name(f"{self._path.name}-wal")
        if allocate_log(log, size):
            return
        connection.execute("ROLLBACK")
        with suppress(sqlite3.DatabaseError):  # somebody reads, or the file cannot grow either
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # it begins anew once the file holds all of it
        self._run_patiently(connection, "BEGIN IMMEDIATE")
        if not allocate_log(log, size):
            raise LedgerUnavailable(
                f"{log.name} cannot grow by the {size / 1e6:,.1f} MB that a debit and its release may take: the disk "
                "or a quota is full, or a limit on the size of files is reached; nothing was spent"
            )

    def room(self) -> int | None:
        """Return what the file can grow by: the log holds everything once, until the file does."""
        return shutil.disk_usage(self._path.parent).free // 2

    def close(self) -> None:
        """Close this thread's connection."""
        connection = self._connections.take()
        if connection is not None:
            connection.close()

    def _connect(self) -> _Connection:
        if not self._path.parent.is_dir():
            raise LedgerUnavailable(f"the folder of {self._path.name} does not exist")
        self._keep_private()
        # SQLite does not wait: it gives up at once where two change the journal of a new file, and is unfair elsewhere.
        connection = sqlite3.connect(self._path, timeout=0.0, isolation_level=None, factory=_Connection)
        try:
            self._run_patiently(connection, "PRAGMA journal_mode = WAL")
            # NORMAL may lose a committed debit when the power fails.
            connection.execute("PRAGMA synchronous = FULL")
            found = self._path.stat()
            connection.file = (found.st_dev, found.st_ino)
        except BaseException:
            connection.close()
            raise
        return connection

    def _keep_private(self) -> None:
        """Make the file, or tighten it; SQLite gives its log and its index the rights of the file."""
        with suppress(OSError):  # no file, or a place that cannot be written: the database says what it is
            create_private(self._path)
            for part in ("-wal", "-shm"):
                tighten(self._path.with_name(self._path.name + part))

    def _run_patiently(self, connection: sqlite3.Connection, sql: str) -> None:
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                connection.execute(sql)
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

    def __init__(self, store: SQLiteStore, connection: sqlite3.Connection, path: Path) -> None:
        self._store, self._connection = store, connection
        self._path = path

    def run(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Run one statement."""
        try:
            return self._connection.execute(sql, tuple(parameters)).fetchall()
        except sqlite3.DatabaseError as error:
            raise _explained(self._path, error) from None

    def set_aside(self, size: int) -> None:
        """Set room aside in the log."""
        try:
            self._store.set_aside(self._connection, size)
        except sqlite3.DatabaseError as error:
            raise _explained(self._path, error) from None

    def alone(self) -> None:
        """Nothing to do: every transaction is SQLite's only writer."""


def _explained(path: Path, error: sqlite3.DatabaseError) -> Exception:
    """Return the database's error as one of ours, if it is one that happens; what was not committed did not happen."""
    reasons = {
        sqlite3.SQLITE_READONLY: "cannot be written: it or its folder is read-only",
        sqlite3.SQLITE_CANTOPEN: "cannot be opened: it is no file, or may not be read",
        sqlite3.SQLITE_FULL: "cannot grow: the disk is full",
        sqlite3.SQLITE_IOERR: "cannot be read or written: the disk fails",
        sqlite3.SQLITE_NOTADB: "is not a ledger: it is another kind of file",
        sqlite3.SQLITE_CORRUPT: "is damaged",
        sqlite3.SQLITE_BUSY: "is locked by another program",
        sqlite3.SQLITE_TOOBIG: "takes no more than 10^9 bytes at once: give fewer keys, or fewer steps at a time",
    }
    reason = reasons.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    return error if reason is None else LedgerUnavailable(f"{path.name} {reason}; nothing was spent")
