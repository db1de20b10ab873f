"""A ledger in PostgreSQL, for many writers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from chronodp.errors import LedgerUnavailable
from chronodp.extras import check_extra
from chronodp.ledger.sqlite import ThreadConnections
from chronodp.ledger.store import Parameters, Row

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresStore"]


class PostgresStore:
    """PostgreSQL through psycopg; one connection a thread, made anew after it was lost."""

    def __init__(self, address: str, *, timeout: float) -> None:
        check_extra("postgres", "psycopg")
        import psycopg

        self._psycopg = psycopg
        self._address = address
        self._timeout = timeout
        self._connections = ThreadConnections(self._connect)

    @contextmanager
    def transaction(self) -> Iterator[_PostgresTransaction]:
        """Begin, commit at the end, roll back on any error. A lost connection is an error and nothing was spent."""
        connection = self._connected()
        try:
            # In a pipeline, statements whose rows nobody waits for travel with the next one: half the round trips, and
            # the row of a busy account is locked for half as long.
            with self._translated(), connection.pipeline(), connection.transaction():
                yield _PostgresTransaction(connection)
        finally:
            if connection.closed:
                self._connections.take()

    def snapshot(self) -> AbstractContextManager[_PostgresTransaction]:
        """Readers keep no writer waiting here: the same as a transaction."""
        return self.transaction()

    def room(self) -> int | None:
        """Return None: the disk is the server's."""
        return None

    def close(self) -> None:
        """Close this thread's connection."""
        connection = self._connections.take()
        if connection is not None:
            connection.close()

    def _connected(self) -> psycopg.Connection[Any]:
        """Return this thread's connection, a new one if the server ended it while nothing was under way."""
        connection = self._connections.get()
        try:
            # A server that restarts says so before it hangs up: the first call reads the words, the second the end.
            connection.pgconn.consume_input()
            connection.pgconn.consume_input()
        except self._psycopg.OperationalError:
            self.close()
            return self._connections.get()
        return connection

    def _place(self) -> str:
        """Return where the server is looked for; nothing where the address does not say."""
        try:
            told = self._psycopg.conninfo.conninfo_to_dict(self._address)
        except self._psycopg.ProgrammingError:
            return ""
        return f" at {told['host']}:{told.get('port', 5432)}" if told.get("host") else ""

    def _connect(self) -> psycopg.Connection[Any]:
        options = f"-c lock_timeout={int(self._timeout * 1000)} -c synchronous_commit=on"
        try:
            return self._psycopg.connect(
                self._address, autocommit=True, connect_timeout=max(2, int(self._timeout)), options=options
            )
        except self._psycopg.OperationalError as error:
            # An earlier transaction of the same call may have been committed.
            mend = "a request that was under way is asked again under its id"
            raise LedgerUnavailable(f"cannot reach PostgreSQL{self._place()}{_why(error)}; {mend}") from None
        except self._psycopg.ProgrammingError:  # it repeats the address, or a part of it
            raise LedgerUnavailable("the ledger's address is none that PostgreSQL can read") from None

    @contextmanager
    def _translated(self) -> Iterator[None]:
        errors = self._psycopg.errors
        try:
            yield
        except errors.LockNotAvailable:
            raise LedgerUnavailable(f"the ledger was locked for {self._timeout:g} s; nothing was spent") from None
        except errors.ReadOnlySqlTransaction:
            raise LedgerUnavailable("the ledger's database is read-only; nothing was spent") from None
        except errors.DiskFull:
            raise LedgerUnavailable("the ledger's disk is full; nothing was spent") from None
        except errors.InsufficientPrivilege:
            raise LedgerUnavailable("this user may not write the ledger; nothing was spent") from None
        except self._psycopg.OperationalError:
            # The message may hold the address with its password: it is not repeated.
            raise LedgerUnavailable(
                "the connection to the ledger failed or was lost; a debit under way may or may not have been "
                "committed: ask again with the same request id"
            ) from None


def _why(error: Exception) -> str:
    """Return why nobody answered, in words of ours: the message may hold the address with its password."""
    said = str(error).lower()
    reasons = ("connection refused", "password authentication failed", "timeout expired", "host name")
    return next((f": {reason}" for reason in reasons if reason in said), "")


class _PostgresTransaction:
    """Statements of one PostgreSQL transaction."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def run(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Run one statement."""
        cursor = self._connection.execute(sql.replace("?", "%s"), tuple(parameters))
        return cursor.fetchall() if sql.startswith("SELECT") or "RETURNING" in sql else []

    def set_aside(self, size: int) -> None:
        """Do nothing: the disk is the server's."""

    def alone(self) -> None:
        """Take the advisory lock that all who ask to be alone share."""
        self._connection.execute("SELECT pg_advisory_xact_lock(7262348713)")
