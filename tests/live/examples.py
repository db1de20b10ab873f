"""Live streams small enough to check by hand: a growing file, a clock that is set, a real ledger and state."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from chronodp import EachPeriod, Ledger
from chronodp.live import Fields, Limits, Live, Reader, State, open_streams, stream_design, terms_of
from chronodp.live.sinks import Sink
from chronodp.live.sources import FileSource, Source
from chronodp.series.windowed import WindowedMechanism

NAME = "door"


class SetClock:
    """A public clock that shows the right time, to which it is set, or is wrong by so much."""

    def __init__(self, moment: int, *, error: int = 0) -> None:
        self.moment, self.error = moment, error
        self.boot = "the first"

    def now(self) -> int:
        return self.moment + self.error

    def steady(self) -> int:
        return self.moment


def at(limits: Limits, window: int, *, offset: float = 0.5) -> float:
    """Return a moment within a window, in seconds since 1970."""
    begin, end = limits.windows.begins(window), limits.windows.ends(window)
    return (begin + offset * (end - begin)) / 1e6


def write(path: Path, *records: object) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)


def fields_of(limits: Limits) -> Fields:
    return Fields(
        "at",
        user="who" if limits.people else None,
        value="value" if limits.clip else None,
        group="place" if limits.groups else None,
        id="id" if limits.ids else None,
    )


class Bench:
    """One live stream on a file, restarted as often as wanted; noise so small that totals can be read off."""

    def __init__(
        self,
        folder: Path,
        limits: Limits,
        *,
        alert: dict[str, Any] | None = None,
        share: WindowedMechanism | None = None,
        patience: float = 10.0,
    ) -> None:
        self.folder, self.limits, self.alert, self.share = folder, limits, alert, share
        self.patience = patience
        self.path = folder / "in.jsonl"
        self.clock = SetClock(limits.windows.begins(0))
        self.said: list[str] = []
        self.rows: list[dict[str, Any]] = []
        self.running: Live | None = None

    def start(
        self,
        *,
        sinks: Sequence[Sink] = (),
        source: Source | None = None,
        reached: Callable[[str], None] = lambda _: None,
    ) -> tuple[Live, State, Ledger]:
        ledger = Ledger(self.folder / "budget.db", timeout=self.patience)
        ledger.open("visits", unit=self.limits.unit, epsilon=1e9)
        state = State(self.folder / "live.db", keys=ledger.keys, name=NAME)
        try:
            self.running = self._live(ledger, state, sinks, source, reached)
        except BaseException:
            state.close()
            ledger.close_connection()
            raise
        return self.running, state, ledger

    def _live(
        self, ledger: Ledger, state: State, sinks: Sequence[Sink], source: Source | None, reached: Callable[[str], None]
    ) -> Live:
        from chronodp.live import alert_design

        state.check_terms(terms_of(self.limits))
        designs: dict[str, Any] = {
            NAME: stream_design(self.limits, workload=EachPeriod(), share=self.share, epsilon=1e6)
        }
        if self.alert is not None:
            designs[f"{NAME}.alert"] = alert_design(self.limits, **self.alert)
        streams = open_streams(designs, ledger=ledger, dataset="visits")
        state.write(terms=terms_of(self.limits))
        reader = Reader(fields_of(self.limits), groups=self.limits.groups)
        return Live(
            self.limits,
            source=source or FileSource(self.path, reader=reader),
            streams=streams,
            state=state,
            key=ledger.keys.derive("live", "visits", NAME),
            ledger=ledger,
            dataset="visits",
            sinks=sinks,
            clock=self.clock,
            tell=self.rows.extend,
            say=self.said.append,
            reached=reached,
        )

    def run_to(self, window: int, **options: Any) -> Live:
        """Start, let the clock close all windows before one, stop."""
        live, state, ledger = self.start(**options)
        self.clock.moment = self.limits.windows.closes(window - 1) if window else self.limits.windows.begins(0)
        rounds = 0

        def stop() -> bool:
            nonlocal rounds
            rounds += 1
            return live.progress.next_window >= window and rounds > 2

        try:
            live.run(stop=stop)
        finally:
            state.close()
            ledger.close_connection()
        return live

    def totals(self) -> list[float]:
        """Return released values, without their noise: it is far below half a step."""
        return [round(row["value"], 1) for row in self.rows]
