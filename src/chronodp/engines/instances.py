"""Databases of DuckDB that are kept for the next question: opening one takes longer than most questions do.

Nothing passes from one question to the next. Each has a database in memory of its own, attached and detached again, and
a connection of its own, with which what was registered and set goes. One question at a time has an instance, so that
its memory is that question's; one in which a question failed, or that wrote to its temporary folder, is closed.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb

__all__ = ["opened"]

_MOST = 4  # instances that wait for a question; of more, those that have waited longest are closed

_Options = tuple[tuple[str, Any], ...]
_waiting: list[tuple[_Options, duckdb.DuckDBPyConnection]] = []
_lock = threading.Lock()
_inherited: list[
    Any
] = []  # of a process that was forked: its threads are not here, so it can be neither used nor closed


@contextlib.contextmanager
def opened(place: str, **options: Any) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection to an empty database of its own, which uses a folder for what does not fit its memory."""
    key = tuple(sorted(options.items()))
    instance = _taken(key, place)
    try:
        with instance.cursor() as connection:
            connection.execute("ATTACH ':memory:' AS question")
            connection.execute("USE question")
            yield connection
            whole = _emptied(connection)
    except BaseException:
        instance.close()
        raise
    spare = [instance]
    if whole:
        with _lock:
            _waiting.append((key, instance))
            spare = [waiting for _, waiting in _waiting[:-_MOST]]
            del _waiting[:-_MOST]
    for one in spare:
        one.close()


def _emptied(connection: duckdb.DuckDBPyConnection) -> bool:
    """Throw a question's database away, and return whether that worked: it does not while an answer is being read."""
    import duckdb

    try:
        connection.execute("USE memory")
        connection.execute("DETACH question")
    except duckdb.Error:
        return False
    return True


def _taken(key: _Options, place: str) -> duckdb.DuckDBPyConnection:
    """Return an instance that nobody uses."""
    import duckdb

    quoted = place.replace("'", "''")
    while (waiting := _pop(key)) is not None:
        try:
            waiting.execute(f"SET temp_directory = '{quoted}'")
        except duckdb.Error:  # it has written to another folder, which is gone
            waiting.close()
        else:
            return waiting
    return duckdb.connect(":memory:", config={**dict(key), "temp_directory": place})


def _pop(key: _Options) -> duckdb.DuckDBPyConnection | None:
    with _lock:
        for index, (known, _) in enumerate(_waiting):
            if known == key:
                return _waiting.pop(index)[1]
    return None


def _forget() -> None:
    global _lock  # noqa: PLW0603  # a thread that is not here may hold it
    _lock = threading.Lock()
    _inherited.extend(_waiting)
    _waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
