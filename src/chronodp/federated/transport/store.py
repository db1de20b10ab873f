"""The server's state on disk: where the run stands, and every message of the attempt under way."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import FederationError, RoundConflict
from chronodp.federated.aggregation import Phase

__all__ = ["RoundState", "Store"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS run (terms BLOB NOT NULL, round INTEGER NOT NULL, attempt INTEGER NOT NULL,
                                phase INTEGER NOT NULL, parameters BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS messages (phase INTEGER NOT NULL, sender TEXT NOT NULL, message BLOB NOT NULL,
                                     PRIMARY KEY (phase, sender));
CREATE TABLE IF NOT EXISTS done (round INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, survivors TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class RoundState:
    """Where a run stands.

    Attributes:
        round_number: the round under way, from 1; one more than there are when all are done.
        attempt: at it.
        phase: what is waited for.
        parameters: from which holders start in this round.
    """

    round_number: int
    attempt: int
    phase: Phase
    parameters: NDArray[np.float32]


class Store:
    """One SQLite file, used by one server at a time. What was accepted is on disk before the sender is told so."""

    def __init__(self, path: Path, terms: bytes, start: NDArray[np.float32]) -> None:
        try:
            self._base = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=1.0)
            try:
                found = self._prepare(terms, start)
            except BaseException:
                self._base.close()
                raise
        except sqlite3.Error as error:
            raise FederationError(f"the server's state {path.name} cannot be used: {error}") from None
        if found is not None and found[0] != terms:
            self.close()
            raise RoundConflict(f"{path.name} is the state of a run with other terms: choose another file")

    def _prepare(self, terms: bytes, start: NDArray[np.float32]) -> tuple[bytes] | None:
        """Lay out the file, and return the terms that stood in it before."""
        self._base.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = FULL")
        self._base.executescript(_SCHEMA)
        with self._transaction():
            found: tuple[bytes] | None = self._base.execute("SELECT terms FROM run").fetchone()
            if found is None:
                first = (terms, 1, 0, int(Phase.ADVERTISE), start.astype("<f4").tobytes())
                self._base.execute("INSERT INTO run VALUES (?, ?, ?, ?, ?)", first)
        return found

    def standing(self) -> RoundState:
        """Return where the run stands."""
        ((number, attempt, phase, parameters),) = self._read("SELECT round, attempt, phase, parameters FROM run")
        return RoundState(number, attempt, Phase(phase), np.frombuffer(parameters, "<f4").astype(np.float32))

    def messages(self, phase: Phase) -> Iterator[bytes]:
        """Yield the messages of a phase of this attempt, one at a time: together they may not fit into memory."""
        for (sender,) in self._read("SELECT sender FROM messages WHERE phase = ?", int(phase)):
            ((message,),) = self._read(
                "SELECT message FROM messages WHERE phase = ? AND sender = ?", int(phase), sender
            )
            yield message

    def keep(self, phase: Phase, sender: str, message: bytes) -> None:
        """Keep a message; the same once more changes nothing."""
        with self._transaction():
            self._base.execute("INSERT OR IGNORE INTO messages VALUES (?, ?, ?)", (int(phase), sender, message))

    def enter(self, phase: Phase) -> None:
        """Note that a phase has begun."""
        with self._transaction():
            self._base.execute("UPDATE run SET phase = ?", (int(phase),))

    def retry(self) -> None:
        """Begin another attempt at the round; the messages of the last one are gone."""
        with self._transaction():
            self._base.execute("DELETE FROM messages")
            self._base.execute("UPDATE run SET attempt = attempt + 1, phase = ?", (int(Phase.ADVERTISE),))

    def finish(self, survivors: tuple[str, ...], parameters: NDArray[np.float32]) -> None:
        """End the round with new parameters; its messages are gone."""
        with self._transaction():
            self._base.execute("INSERT INTO done SELECT round, attempt, ? FROM run", (json.dumps(survivors),))
            self._base.execute("DELETE FROM messages")
            self._base.execute(
                "UPDATE run SET round = round + 1, attempt = 0, phase = ?, parameters = ?",
                (int(Phase.ADVERTISE), parameters.astype("<f4").tobytes()),
            )

    def history(self) -> list[tuple[int, int, list[str]]]:
        """Return, for each round done, its number, the attempt that succeeded, and the survivors."""
        rows = self._read("SELECT round, attempt, survivors FROM done ORDER BY round")
        return [(number, attempt, json.loads(survivors)) for number, attempt, survivors in rows]

    def close(self) -> None:
        """Let the file go."""
        self._base.close()

    def _read(self, statement: str, *values: int | str) -> list[tuple[Any, ...]]:
        try:
            return self._base.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise FederationError(f"the server's state cannot be read: {error}") from None

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._base.execute("BEGIN IMMEDIATE")
            with self._base:  # commits, or rolls back
                yield
        except sqlite3.Error as error:
            raise FederationError(f"the server's state cannot be written: {error}") from None
