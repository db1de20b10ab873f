"""Handing released windows to sinks: in order, at least once, without keeping a release waiting."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence

from chronodp.errors import StreamConflict
from chronodp.live.sinks import Sink
from chronodp.live.state import State
from chronodp.live.streams import Row

__all__ = ["Delivery"]

_SHORTEST, _LONGEST = 1.0, 60.0  # seconds between attempts
_AT_ONCE = 200


class Delivery:
    """The windows that one sink has not taken yet.

    A sink that fails is tried again later; meanwhile its windows wait here, and after a restart they are read from the
    ledger.
    """

    def __init__(self, sink: Sink, *, state: State, columns: Sequence[str]) -> None:
        self.sink = sink
        self.trouble = ""
        self._state = state
        known = state.fact(f"sink {sink.name}")
        self.wanted = sink.begin(columns, None if known is None else int(known))
        self._rows: deque[list[Row]] = deque()
        self._pause, self._next_try = _SHORTEST, 0.0

    def catch_up(self, end: int, history: Callable[[int, int], list[list[Row]]]) -> None:
        """Take over the windows that were released before this process, up to ``end``."""
        if self.wanted > end:
            raise StreamConflict(f"{self.sink.name} holds windows that were not released yet: it is of another stream")
        if self.wanted < end:
            self.add(history(self.wanted, end))

    def add(self, windows: Sequence[list[Row]]) -> None:
        """Take over windows that were just released; those that the sink has, or that tell nothing, are left out."""
        self._rows += [rows for rows in windows if rows and rows[0]["window"] >= self.wanted]

    def attempt(self) -> None:
        """Write what waits, unless the sink failed a moment ago."""
        if not self._rows or time.monotonic() < self._next_try:
            return
        while self._rows:
            some = [self._rows[at] for at in range(min(_AT_ONCE, len(self._rows)))]
            try:
                self.sink.write(some)
            except OSError:
                self.trouble = f"{self.sink.name} takes nothing"
                self._next_try = time.monotonic() + self._pause
                self._pause = min(2 * self._pause, _LONGEST)
                return
            for _ in some:
                self._rows.popleft()
            self.wanted = int(some[-1][0]["window"]) + 1
            self._pause, self.trouble = _SHORTEST, ""
        if not self.sink.remembers:
            self._state.write(**{f"sink {self.sink.name}": str(self.wanted)})

    def close(self) -> None:
        """Try once more, and let go."""
        self._next_try = 0.0
        self.attempt()
        self.sink.close()
