"""One connection to a database a thread, which no forked child shares with its parent."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from chronodp.randomness import Lineage

__all__ = ["ThreadConnections"]


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
