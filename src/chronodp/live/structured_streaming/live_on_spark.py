"""The live stream on Spark: read and counted on many machines, released by one process, as `Live` does on one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from chronodp.errors import StreamConflict
from chronodp.extras import check_extra
from chronodp.ledger import Ledger
from chronodp.live.agreement import check_agreement
from chronodp.live.clock_guard import ClockGuard
from chronodp.live.clocks import Clock, SystemClock
from chronodp.live.contribution import Limits
from chronodp.live.key_limits import KeyLimits
from chronodp.live.notices import Notices
from chronodp.live.progress import Progress
from chronodp.live.records import Fields
from chronodp.live.releasing import Releases
from chronodp.live.sinks import Sink
from chronodp.live.state import State
from chronodp.live.streams import TotalsStream
from chronodp.live.structured_streaming.closer import Closer
from chronodp.live.structured_streaming.frames import check_messages
from chronodp.live.structured_streaming.query import Told, collect, windows_of
from chronodp.live.structured_streaming.shares import Terms
from chronodp.live.structured_streaming.ticks import Ticks
from chronodp.live.structured_streaming.turns import Turns
from chronodp.live.windows import parse_duration
from chronodp.privacy import check_kind, check_text, check_whole
from chronodp.series import Row

__all__ = ["LiveOnSpark"]

_WAIT = 0.05  # seconds to wait for a batch
_FAILURES = 5  # of queries in a row, before a batch is made
_SHARES = 4  # of a partition: Spark spreads them unevenly
_PARTITIONS = "spark.sql.shuffle.partitions"


class LiveOnSpark:
    """Counts a stream of Spark into windows and releases each when the clock closes it, as `Live` does.

    Records are read, bounded and added up by Spark's tasks, what must not be lost of them lies in its checkpoint; the
    streams, their noise and their budget are the driver's. What is released is what `Live` would release of the same
    records at the same looks at the clock, to the last digit.

    Guarantee: that of the streams and alerts it feeds, for the unit of ``limits``, as with `Live`. Every window is
    released once, also when driver or executors are killed at any moment. The argument stands in
    ``docs/explanation/proofs/live.md``.

    Args:
        limits: who is protected, the windows, and how far one person reaches; `KeyLimits` where keys are found.
        messages: a stream with one column, of JSON messages: bytes or texts. It may select and filter, and no more;
            and it may not limit what a batch reads.
        fields: which fields of a record say what.
        checkpoint: the folder of Spark's checkpoint, which all machines reach.
        streams: what is released of the totals; opened before, with ``state`` agreed on the same terms.
        state: what the driver must not lose.
        key: of the hash that takes the place of people's names; executors get it.
        ledger: of the streams.
        dataset: whose budget has paid.
        partitions: how many tasks share the people; it cannot change later.
        level: how often intervals hold the value before noise.
        sinks: where releases go.
        clock: what closes windows; the driver's unless a rehearsal says otherwise.
        jump: the largest change of the clock that is believed at once; after a larger one windows wait.
        tell: called with the rows of each released window.
        say: called with sentences for the owner.
        reached: called with the name of each gap that a crash could fall into; for tests of crashes.
    """

    def __init__(
        self,
        limits: Limits | KeyLimits,
        *,
        messages: Any,
        fields: Fields,
        checkpoint: str,
        streams: Sequence[TotalsStream],
        state: State,
        key: bytes,
        ledger: Ledger,
        dataset: str,
        partitions: int = 8,
        level: float = 0.95,
        sinks: Sequence[Sink] = (),
        clock: Clock | None = None,
        jump: str = "10s",
        tell: Callable[[list[Row]], None] = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
        reached: Callable[[str], None] = lambda _: None,
    ) -> None:
        check_extra("spark", "pyspark")
        check_messages(messages)
        self.progress = Progress()
        check_kind("fields", fields, Fields, "Fields")
        self._terms = Terms(limits, fields, key, shares=_SHARES * check_whole("partitions", partitions))
        self._messages, self._checkpoint, self._partitions = messages, check_text("checkpoint", checkpoint), partitions
        self._state, self._ledger, self._dataset = state, ledger, dataset
        self._guard = ClockGuard(clock or SystemClock(), jump=jump, known=state.fact("clock") or "")
        self._ticks = Ticks(
            messages.sparkSession, f"{checkpoint}/ticks", windows=limits.windows, guard=self._guard, state=state
        )
        self._notices, self._newest = Notices(say), -1
        check_agreement(state, streams, partitions=partitions)
        self._releases = Releases(
            limits, streams, state=state, level=level, sinks=sinks, progress=self.progress, tell=tell
        )
        self._closer = Closer(limits, releases=self._releases, state=state, key=key, reached=reached)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a released row."""
        return self._releases.columns

    def believe_clock(self) -> None:
        """Take what the clock shows now for right, also if it was set: its owner says so."""
        self._guard.believe()

    def run(
        self,
        *,
        every: str = "1s",
        windows: int | None = None,
        until: int | None = None,
        stop: Callable[[], bool] = lambda: False,
        each: Callable[[], None] = lambda: None,
    ) -> None:
        """Go on until told to stop, or nothing is left to release.

        Args:
            every: how often Spark is to ask for records and due windows.
            windows: stop after closing so many windows, or more where several are due at once.
            until: stop when the clock shows this, in microseconds since 1970, UTC.
            stop: asked between batches; True ends the run, and Spark's checkpoint keeps what came for open windows.
            each: called between batches.
        """
        self._releases.catch_up(self._state.settled)
        self.progress.next_window = self._state.settled
        self.progress.share = self._ledger.status(self._dataset).share
        failed = 0
        try:
            while not stop() and not self._over(windows, until):
                failed = self._follow(every, failed, lambda: stop() or self._over(windows, until), each)
        finally:
            self._releases.close()

    def _follow(self, every: str, failed: int, enough: Callable[[], bool], each: Callable[[], None]) -> int:
        """Run one query until it is enough or it fails; return how many failed in a row, none of which made a batch.

        A query that fails, for an executor too many or a process too slow to start, begins again where its checkpoint
        says: as safe as after a kill.
        """
        turns = Turns()
        query = self._start(every, turns)
        try:
            while not enough():
                self._look_at_clock()
                if turns.serve(self._take, wait=_WAIT):
                    failed = 0
                    self._notices.notice("Spark", "", "its query goes on")
                elif not query.isActive:
                    if failed == _FAILURES:
                        raise query.exception() or StreamConflict("the query of Spark was stopped by others")
                    self._notices.notice("Spark", "the query of Spark has failed", "")
                    return failed + 1
                self.progress.polled, self.progress.reachable = time.monotonic(), query.isActive
                self._releases.attempt(self._notices)
                each()
            return failed
        finally:
            turns.end()
            query.stop()

    def _over(self, windows: int | None, until: int | None) -> bool:
        done = windows is not None and self.progress.closed >= windows
        past = until is not None and self._guard.look().closing >= until
        ended = self.progress.next_window >= self._terms.limits.windows.length
        return done or past or ended or self._releases.finished

    def _start(self, every: str, turns: Turns) -> Any:
        pace = f"{max(1, parse_duration('every', every) // 1_000)} milliseconds"
        session = self._messages.sparkSession
        told = windows_of(self._messages, self._ticks.stream(), self._terms)

        def hand_over(batch: Any, number: int) -> None:
            turns.ask(number, collect(batch))

        writer = told.writeStream.foreachBatch(hand_over).option("checkpointLocation", f"{self._checkpoint}/query")
        before = session.conf.get(_PARTITIONS)
        session.conf.set(_PARTITIONS, self._partitions)  # a query keeps what it finds when it starts
        try:
            return writer.trigger(processingTime=pace).start()
        finally:
            session.conf.set(_PARTITIONS, before)

    def _look_at_clock(self) -> None:
        self._ticks.look()
        self.progress.doubted = self._guard.wait
        self._notices.wait("clock", self.progress.doubted, "it is believed again")

    def _take(self, number: int, told: Told | None) -> None:
        if told is None:
            return
        if number > self._newest:  # else it runs again
            self._newest = number
            self._report(told)
        self._closer.close(number, told)

    def _report(self, told: Told) -> None:
        """Tell the owner what became of the records of a batch."""
        figures = self.progress.owner
        counted, late, ahead, elsewhere, malformed = told.figures.tolist()
        figures.counted += counted
        figures.late += late
        figures.future += ahead
        figures.elsewhere += elsewhere
        figures.malformed += malformed
        self._notices.notice_strangers(counted + late + ahead + elsewhere, malformed)
