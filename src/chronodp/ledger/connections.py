"""One database connection a thread, and none that a forked child shares with its parent."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from chronodp.randomness.keystream import Lineage

__all__ = ["ThreadConnections"]

Connection = TypeVar("Connection")


class ThreadConnections(Generic[Connection]):
    """Connections by thread, made when first asked for.

    A child that used, or even closed, a connection it inherited would break the parent's. It is put aside instead, and
    kept, so that not even the collector closes it.
    """

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connect = connect
        self._local = threading.local()
        self._inherited: list[Connection] = []

    def get(self) -> Connection:
        """Return this thread's connection."""
        local = self._local
        if getattr(local, "generation", None) != Lineage.generation:
            inherited = self.take()
            if inherited is not None:
                self._inherited.append(inherited)
        if not hasattr(local, "connection"):
            local.connection = self._connect()
            local.generation = Lineage.generation
        current: Connection = local.connection
        return current

    def take(self) -> Connection | None:
        """Return this thread's connection, if it has one, and forget it."""
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            del self._local.connection
        return connection
