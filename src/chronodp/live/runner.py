"""The live stream: reads, counts, closes windows by the clock, releases, hands on; goes on after any crash.

Marks of step 1 of "What is computed", and "Once, and in order", in ``docs/explanation/proofs/live.md``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from chronodp.ledger import Gap, Ledger
from chronodp.live.agreement import check_agreement
from chronodp.live.clock_guard import ClockGuard, Look
from chronodp.live.clocks import Clock, SystemClock
from chronodp.live.contribution import Limits
from chronodp.live.key_limits import KeyLimits
from chronodp.live.notices import Notices
from chronodp.live.progress import Progress
from chronodp.live.releasing import Releases
from chronodp.live.sinks import Sink
from chronodp.live.sources import Source
from chronodp.live.state import State
from chronodp.live.streams import TotalsStream
from chronodp.live.warming import collecting_later, import_for_releases
from chronodp.live.window_counts import WindowCounts
from chronodp.live.window_keys import KeysClosing, WindowKeys
from chronodp.live.window_totals import Closing, Part, Tally, WindowTotals
from chronodp.privacy import moment_at
from chronodp.series import Row

__all__ = ["Live"]

_MOST = 20_000  # messages read at once
_WAIT = 0.05  # seconds to wait for the first of them
_COMMIT = 0.5  # seconds after which counts are put on disk
_GAPS = 20  # gaps that are remembered
_AT_ONCE = 256  # windows closed in one go after a pause


class Live:
    """Counts what a source brings into windows and releases each when the clock closes it.

    Guarantee: that of the streams and alerts it feeds, for the unit of ``limits``: what one unit changes is bounded
    here, whatever records come, in whatever order, late, twice or forged. Every window is released once, also when the
    process is killed at any moment. The argument stands in ``docs/explanation/proofs/live.md``.

    Args:
        limits: who is protected, the windows, and how far one person reaches; `KeyLimits` where keys are found.
        source: where records come from.
        streams: what is released of the totals; opened before, with ``state`` agreed on the same terms.
        state: what must not be lost.
        key: of the hash that takes the place of people's names, and of digests of what was read.
        ledger: of the streams.
        dataset: whose budget has paid.
        level: how often intervals hold the value before noise.
        sinks: where releases go.
        clock: what closes windows; the machine's unless a rehearsal says otherwise.
        jump: the largest change of the clock that is believed at once; after a larger one windows wait.
        tell: called with the rows of each released window.
        say: called with sentences for the owner.
        reached: called with the name of each gap that a crash could fall into; for tests of crashes.
    """

    def __init__(
        self,
        limits: Limits | KeyLimits,
        *,
        source: Source,
        streams: Sequence[TotalsStream],
        state: State,
        key: bytes,
        ledger: Ledger,
        dataset: str,
        level: float = 0.95,
        sinks: Sequence[Sink] = (),
        clock: Clock | None = None,
        jump: str = "10s",
        tell: Callable[[list[Row]], None] = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
        reached: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.progress = Progress()
        self._limits, self._source, self._streams, self._state = limits, source, tuple(streams), state
        self._ledger, self._dataset, self._key = ledger, dataset, key
        self._clock_written = state.fact("clock") or ""
        self._guard = ClockGuard(clock or SystemClock(), jump=jump, known=self._clock_written)
        self._notices, self._reached = Notices(say), reached
        self._tally: Tally = WindowKeys(limits, key) if isinstance(limits, KeyLimits) else WindowTotals(limits, key)
        self._pending: list[Part] = []
        self._counted = False
        self._committed = time.monotonic()
        self._due: int | None = None
        check_agreement(state, self._streams)
        import_for_releases()
        self._first = max([state.settled, *(stream.period for stream in self._streams)])
        self._releases = Releases(
            limits, streams, state=state, level=level, sinks=sinks, progress=self.progress, tell=tell
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a released row."""
        return self._releases.columns

    @property
    def entries(self) -> int:
        """How many numbers are kept for open windows."""
        return self._tally.entries

    def believe_clock(self) -> None:
        """Take what the clock shows now for right, also if it was set: its owner says so."""
        self._guard.believe()

    def run(
        self,
        *,
        windows: int | None = None,
        until: int | None = None,
        stop: Callable[[], bool] = lambda: False,
        each: Callable[[], None] = lambda: None,
    ) -> None:
        """Go on until told to stop, or nothing is left to release.

        Args:
            windows: stop after closing so many windows, or more where several are due at once.
            until: stop when the clock shows this, in microseconds since 1970, UTC.
            stop: asked between batches; True ends the run with everything on disk and windows left open.
            each: called between batches.
        """
        try:
            self._begin()
            while not stop() and not self._over(windows, until):
                self._read()
                if self._source.prompt or time.monotonic() - self._committed >= _COMMIT:
                    self._commit()
                if self._due is not None and self._source.at_mark:
                    self._close_windows(self._due)
                    self._due = None
                    self._source.unmark()
                self._releases.attempt(self._notices)
                each()
            self._commit()
        finally:
            self._releases.close()
            self._source.close()

    def _begin(self) -> None:
        for part in self._state.parts():
            self._tally.restore(part)
        self.progress.owner.gaps = self._state.gaps
        released = self._state.settled
        self._releases.catch_up(released)
        self.progress.share = self._ledger.status(self._dataset).share
        # A window that was stepped by some and not by others takes no more records: the rest gets the same totals.
        if self._first > released:
            self._close_windows(self._first)
        self.progress.next_window = self._first
        self._source.begin(self._state.positions, key=self._key)
        if not self._source.prompt:  # a sender that calls us has not had the time
            self._notices.notice("source", self._source.trouble, "")

    def _over(self, windows: int | None, until: int | None) -> bool:
        done = windows is not None and self.progress.closed >= windows
        past = until is not None and self._guard.look().closing >= until
        ended = self._first >= self._limits.windows.length
        return done or past or ended or self._releases.finished

    def _read(self) -> None:
        """Count one batch; first fix what belongs to windows that the clock has closed."""
        now = self._look_at_clock()
        due = self._limits.windows.due(now.closing)
        if self._due is None and due > self._first and self._source.mark():
            self._due = due
        self.progress.held_up = self._due is None and due > self._first
        with collecting_later():
            batch = self._source.read(_MOST, wait=_WAIT)
        self.progress.polled = time.monotonic()
        self._notices.notice("source", self._source.trouble, "the source is there again")
        self.progress.reachable = not self._source.trouble
        self._report_gaps(now)
        if not len(batch) and not batch.malformed:
            return
        # A clock that is ahead and may be right closes nothing yet; what is dated by it waits in its windows.
        doubted = 0 if now.doubted is None else self._limits.windows.due(now.doubted)
        last = self._limits.windows.last_open(max(self._first, (self._due or 0) - 1, doubted - 1))
        counted, parts = self._tally.add(batch, first=self._first, last=last)
        self._pending += parts
        self._counted = True
        figures = self.progress.owner
        figures.counted += counted.taken
        figures.late += counted.late
        figures.future += counted.future
        figures.elsewhere += counted.elsewhere
        figures.malformed += batch.malformed
        figures.waiting = self._source.waiting
        self._notices.notice_strangers(len(batch), batch.malformed)
        self._reached("counted")

    def _look_at_clock(self) -> Look:
        """Return what the clock says; whether it is doubted is on disk before anything is done by it."""
        now, fact = self._guard.look(), self._guard.fact
        if fact != self._clock_written:
            self._state.write(clock=fact)
            self._clock_written = fact
            self._reached("clock written")
        self.progress.doubted = self._guard.wait
        self._notices.wait("clock", self._guard.wait, "it is believed again")
        return now

    def _report_gaps(self, now: Look) -> None:
        """Tell the owner where records may be missing; it is on disk with the place from which reading goes on."""
        for gap in self._source.take_gaps():
            self._notices.say(gap)
            figures = self.progress.owner
            figures.gaps = [*figures.gaps, Gap(moment_at(now.closing).isoformat(timespec="seconds"), gap)][-_GAPS:]
            figures.missing += 1
            self._counted = True

    def _commit(self, closing: int | None = None) -> None:
        self._committed = time.monotonic()
        if self._counted or closing is not None:
            self._state.commit(
                self._pending, positions=self._source.positions, closing=closing, gaps=self.progress.owner.gaps
            )
            self._reached("state committed")
            self._pending, self._counted = [], False
            self._source.confirm()
            self._reached("source confirmed")

    def _close_windows(self, end: int) -> None:
        begin = self._state.settled
        while begin < end and not self._releases.finished:
            until = min(end, begin + _AT_ONCE)
            self._close_some(begin, until)
            begin = until

    def _close_some(self, begin: int, end: int) -> None:
        # All counts are on disk before a step is taken: who is in it must be known to have counted, whatever dies next.
        closing = self._state.closing
        self._commit(closing=end if end > closing else None)
        closings = self._closings(begin, end)
        rows = self._releases.step(begin, end, self._tally.values(closings))
        self._reached("stepped")
        self._state.settle((closing.people for closing in closings), settled=end)
        self._reached("settled")
        self._tally.forget(end)
        self._first = max(self._first, end)
        self._releases.hand_on(self._first, rows)
        self._reached("told")

    def _closings(self, begin: int, end: int) -> list[Closing | KeysClosing]:
        """Return what windows hold; who counts in one of them has counted in it when the next is looked at."""
        since = WindowCounts()
        closings: list[Closing | KeysClosing] = []
        for window in range(begin, end):
            closing = self._tally.closing(window, lambda people: self._state.used(people) + since.of(people))
            if window + 1 < end:
                since.add(closing.people)
            closings.append(closing)
        return closings
