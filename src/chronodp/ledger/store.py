"""Where a ledger is kept: one interface, two databases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from chronodp.errors import InvalidArgument, LedgerUnavailable
from chronodp.ledger.migrations import MIGRATIONS

__all__ = ["Parameters", "Row", "Store", "Transaction", "open_store"]

Row: TypeAlias = tuple[Any, ...]
Parameters: TypeAlias = Sequence[str | int | None]


class Transaction(Protocol):
    """Statements that happen all or not at all. SQL is written with ``?`` for parameters."""

    def run(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Run one statement and return the rows it gives."""
        ...

    def alone(self) -> None:
        """Wait until no other process is in a transaction that asked to be alone."""
        ...


class Store(Protocol):
    """A database that commits durably before a transaction's block ends."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin; commit at the end of the block; roll back if it raises."""
        ...

    def close(self) -> None:
        """Let go of every connection."""
        ...


def open_store(address: str, *, timeout: float) -> Store:
    """Return the store at a path or at a ``postgresql://`` address, its tables brought up to date."""
    if re.match(r"postgres(ql)?://", address):
        from chronodp.ledger.postgres import PostgresStore

        store: Store = PostgresStore(address, timeout=timeout)
    elif "://" in address:
        raise InvalidArgument("address", address.partition("://")[0] + "://...", "a file's path or postgresql://...")
    else:
        from chronodp.ledger.sqlite import SQLiteStore

        store = SQLiteStore(Path(address), timeout=timeout)
    try:
        _migrate(store)
    except BaseException:
        store.close()
        raise
    return store


def _migrate(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.alone()
        transaction.run("CREATE TABLE IF NOT EXISTS ledger_version (version BIGINT NOT NULL)")
        rows = transaction.run("SELECT MAX(version) FROM ledger_version")
        version = int(rows[0][0] or 0)
        if version > len(MIGRATIONS):
            raise LedgerUnavailable(
                f"this ledger has version {version} and this chronodp knows {len(MIGRATIONS)}: install a newer chronodp"
            )
        for number in range(version, len(MIGRATIONS)):
            for statement in MIGRATIONS[number]:
                transaction.run(statement)
            transaction.run("INSERT INTO ledger_version (version) VALUES (?)", (number + 1,))
