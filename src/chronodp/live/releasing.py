"""What becomes of closed windows: streams step them, rows get their labels and are handed on.

The last part of "Once, and in order" in ``docs/explanation/proofs/live.md``: a window that a stream has stepped is
returned as it was released, never stepped again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chronodp.live.contribution import Limits
from chronodp.live.delivery import Delivery
from chronodp.live.key_limits import KeyLimits
from chronodp.live.labels import columns_of, label_rows
from chronodp.live.notices import Notices
from chronodp.live.progress import Progress
from chronodp.live.sinks import Sink
from chronodp.live.state import State
from chronodp.live.streams import TotalsStream
from chronodp.privacy import check_fraction
from chronodp.series import Row

__all__ = ["Releases"]


class Releases:
    """Steps the streams of closed windows and hands on what they release.

    Args:
        limits: whose windows these are.
        streams: what is released of them.
        state: which windows sinks have.
        level: how often intervals hold the value before noise.
        sinks: where releases go.
        progress: what is told of them.
        tell: called with the rows of each released window.
    """

    def __init__(
        self,
        limits: Limits | KeyLimits,
        streams: Sequence[TotalsStream],
        *,
        state: State,
        level: float,
        sinks: Sequence[Sink],
        progress: Progress,
        tell: Callable[[list[Row]], None],
    ) -> None:
        self._limits, self._streams = limits, tuple(streams)
        self._level = check_fraction("level", level)
        self._progress, self._tell = progress, tell
        self.columns = columns_of(limits, self._streams)
        self._deliveries = [Delivery(sink, state=state, columns=self.columns) for sink in sinks]

    @property
    def finished(self) -> bool:
        """Whether no stream can release a further window."""
        return all(stream.finished for stream in self._streams)

    def catch_up(self, released: int) -> None:
        """Hand on what was released before this process."""
        for delivery in self._deliveries:
            delivery.catch_up(released, self._history)

    def step(self, begin: int, end: int, held: Any) -> list[list[Row]]:
        """Release windows that hold so much, those that were not; return the rows of all, by window."""
        return label_rows(self._limits, begin, [self._step(stream, begin, end, held) for stream in self._streams])

    def hand_on(self, end: int, rows: Sequence[list[Row]]) -> None:
        """Tell the rows of windows up to ``end``, which are on disk."""
        progress = self._progress
        progress.next_window = max(progress.next_window, end)
        progress.closed += len(rows)
        progress.releases += sum(map(len, rows))
        progress.alerts += sum(bool(row.get("alert")) for window in rows for row in window)
        for delivery in self._deliveries:
            delivery.add(rows)
        for window in filter(None, rows):  # where keys are found, a window may tell nothing
            self._tell(window)

    def attempt(self, notices: Notices) -> None:
        """Write to sinks what waits for them."""
        for delivery in self._deliveries:
            delivery.attempt()
            notices.notice(delivery.sink.name, delivery.trouble, "takes releases again")

    def close(self) -> None:
        """Let go of all sinks."""
        for delivery in self._deliveries:
            delivery.close()

    def _step(self, stream: TotalsStream, begin: int, end: int, held: Any) -> list[list[Row]]:
        """Release windows that the stream has not released; return again what it has."""
        place = min(max(begin, stream.period), end)
        told = stream.released_windows(begin, place, level=self._level) if place > begin else []
        if place == end:
            return told
        if stream.finished:
            return told + [[dict.fromkeys(stream.columns)] * self._limits.columns for _ in range(place, end)]
        return told + stream.release_windows(place, held[place - begin :], level=self._level)

    def _history(self, begin: int, end: int) -> list[list[Row]]:
        told = [stream.released_windows(begin, end, level=self._level) for stream in self._streams]
        return label_rows(self._limits, begin, told)
