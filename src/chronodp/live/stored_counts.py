"""In how many windows people have counted, in the file of a live stream: a delta for each closing, and all at times.

Deltas are kept until they would take more room than everything does; then everything is written and they are dropped.
So a closing writes what it changes, and a person takes at most some 60 bytes, however many windows there are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from chronodp.ledger import Keys
from chronodp.live.hash_table import Hashes, Numbers
from chronodp.live.window_counts import MOST_IN_DELTA, WindowCounts

__all__ = ["StoredCounts"]

_TABLES = (
    "CREATE TABLE people (block INTEGER PRIMARY KEY, sealed TEXT NOT NULL)",
    "CREATE TABLE closings (delta INTEGER PRIMARY KEY, sealed TEXT NOT NULL)",
)
_ROOM = 2**20  # bytes of deltas that are kept however few people there are


class StoredCounts:
    """Everyone who has counted, in memory and on disk. Whoever calls what writes has begun a transaction.

    Args:
        database: of the live stream.
        keys: the ledger's.
        name: of the stream.
    """

    def __init__(self, database: sqlite3.Connection, *, keys: Keys, name: str) -> None:
        self._database, self._keys, self._name = database, keys, name
        self._counts = WindowCounts()
        self._deltas = self._bytes = 0

    def make(self) -> None:
        """Make the tables."""
        for table in _TABLES:
            self._database.execute(table)

    def load(self) -> None:
        """Read everything."""
        self._counts = WindowCounts()
        for block, sealed in self._database.execute("SELECT block, sealed FROM people ORDER BY block"):
            self._counts.load(self._keys.unseal(sealed, self._block(block)))
        self._deltas = self._bytes = 0
        for delta, sealed in self._database.execute("SELECT delta, sealed FROM closings ORDER BY delta"):
            self._apply(self._keys.unseal(sealed, self._delta(delta)))

    def of(self, people: Hashes) -> Numbers:
        """Return in how many settled windows people have counted."""
        return self._counts.of(people)

    def add(self, windows: Iterable[Hashes]) -> None:
        """Write who has counted in windows, each named once in each."""
        for people in windows:
            for begin in range(0, len(people), MOST_IN_DELTA):
                content = self._counts.delta(people[begin : begin + MOST_IN_DELTA])
                sealed = self._keys.seal(content, self._delta(self._deltas))
                self._database.execute("INSERT INTO closings (delta, sealed) VALUES (?, ?)", (self._deltas, sealed))
                self._apply(content)
        if self._bytes > self._counts.size + _ROOM:
            self._write_all()

    def _apply(self, content: bytes) -> None:
        self._counts.apply(content)
        self._deltas += 1
        self._bytes += len(content)

    def _write_all(self) -> None:
        for table in ("people", "closings"):
            self._database.execute(f"DELETE FROM {table}")
        self._deltas = self._bytes = 0
        self._database.executemany(
            "INSERT INTO people (block, sealed) VALUES (?, ?)",
            ((at, self._keys.seal(block, self._block(at))) for at, block in enumerate(self._counts.blocks())),
        )

    def _block(self, block: int) -> str:
        return f"people of {self._name}, block {block}"

    def _delta(self, delta: int) -> str:
        return f"people of {self._name}, closing {delta}"
