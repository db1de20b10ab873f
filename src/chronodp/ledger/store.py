"""Where a ledger is kept: one interface, two databases."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

__all__ = ["Parameters", "Row", "Store", "Transaction"]

Row: TypeAlias = tuple[Any, ...]
Parameters: TypeAlias = Sequence[str | int | bytes | None]


class Transaction(Protocol):
    """Statements that happen all or not at all. SQL is written with ``?`` for parameters."""

    def run(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Run one statement and return the rows it gives."""
        ...

    def set_aside(self, size: int) -> None:
        """Set so many bytes aside for what this transaction writes and what has to follow it, or raise.

        To be called before anything is written: the transaction may begin anew. A server has nothing to set aside.
        """
        ...

    def alone(self) -> None:
        """Wait until no other process is in a transaction that asked to be alone."""
        ...


class Store(Protocol):
    """A database that commits durably before a transaction's block ends."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """Begin; commit at the end of the block; roll back if it raises."""
        ...

    def snapshot(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that only reads, and keeps no writer waiting."""
        ...

    def room(self) -> int | None:
        """Return how many bytes more it can hold; None if nobody here knows."""
        ...

    def close(self) -> None:
        """Let go of every connection."""
        ...
