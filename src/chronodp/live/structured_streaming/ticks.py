"""Looks at the public clock as a stream of Spark: a small file each, in a folder beside the checkpoint.

The driver looks, and writes what it saw; only then can a batch hold the tick, so the records of that batch are those
that had come at a later moment: the mark of step 1 in ``docs/explanation/proofs/live.md``. Spark writes down which
files a batch holds before it begins: a batch that runs again has the same tick, and closes what it closed before.
"""

from __future__ import annotations

import json
from typing import Any

from chronodp.live.clock_guard import ClockGuard
from chronodp.live.state import State
from chronodp.live.structured_streaming.shares import Tick
from chronodp.live.windows import Windows

__all__ = ["Ticks"]

_COLUMNS = "number BIGINT, due BIGINT, doubted BIGINT"


class Ticks:
    """Looks at the clock, and tells Spark what is new.

    Args:
        session: of Spark.
        folder: of the ticks; all machines reach it.
        windows: what is due.
        guard: of the clock.
        state: where the number of ticks, and whether the clock is doubted, are on disk before anything is done by them.
    """

    def __init__(self, session: Any, folder: str, *, windows: Windows, guard: ClockGuard, state: State) -> None:
        self._session, self._folder = session, folder
        self._windows, self._guard, self._state = windows, guard, state
        self._newest: Tick | None = None  # of this process: the last tick of one before may not have been written

    def stream(self) -> Any:
        """Return the stream of ticks; Spark deletes those of batches that are done."""
        self._files.mkdirs(self._path(""))
        reader = self._session.readStream.schema(_COLUMNS).option("cleanSource", "delete")
        return reader.json(self._folder)

    def look(self) -> None:
        """Look at the clock, and write a tick if it says something new; what was due stays due."""
        now, fact = self._guard.look(), self._guard.fact
        if fact != self._state.fact("clock"):
            self._state.write(clock=fact)
        doubted = 0 if now.doubted is None else self._windows.due(now.doubted)
        due = max(self._windows.due(now.closing), 0 if self._newest is None else self._newest.due)
        if Tick(due, doubted) != self._newest:
            self._newest = Tick(due, doubted)
            self._write(self._newest)

    def _write(self, tick: Tick) -> None:
        number = int(self._state.fact("ticks") or 0) + 1
        self._state.write(ticks=str(number))
        text = json.dumps({"number": number, "due": tick.due, "doubted": tick.doubted})
        # Spark passes over names that begin so: it sees the file when it is whole.
        begun, whole = self._path(f"_{number:012}"), self._path(f"{number:012}.json")
        file = self._files.create(begun, True)
        file.write(bytearray(text.encode()))
        file.close()
        self._files.rename(begun, whole)

    @property
    def _files(self) -> Any:
        """The file system of the folder."""
        return self._path("").getFileSystem(self._session._jsc.hadoopConfiguration())

    def _path(self, name: str) -> Any:
        return self._session._jvm.org.apache.hadoop.fs.Path(f"{self._folder}/{name}")
