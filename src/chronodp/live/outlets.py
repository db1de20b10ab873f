"""What is made of the totals of windows: a stream of answers, an alert, or both; each window once.

The number of a window is the number of its step. The ledger knows which steps were taken, so after a crash a window
whose step is on disk is not stepped again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from chronodp.alerts import Alert
from chronodp.alerts.design import AlertDesign, design_alert
from chronodp.errors import InvalidArgument, StreamConflict, UnknownDocument, UnknownStream
from chronodp.ledger import Ledger
from chronodp.live.contribution import Limits
from chronodp.privacy import Certificate, SequenceCost, Window
from chronodp.privacy.parameters import check_fraction, check_kind
from chronodp.series import EachPeriod, Stream
from chronodp.series.stream_design import StreamDesign, design_stream
from chronodp.series.windowed import WindowedDesign, WindowedMechanism, WindowedStream, design_windowed
from chronodp.series.workloads import CausalFilter

__all__ = [
    "AlertOutlet",
    "Outlet",
    "Row",
    "StreamOutlet",
    "WindowedOutlet",
    "alert_design",
    "open_outlets",
    "stream_design",
]

Row: TypeAlias = dict[str, Any]
Totals: TypeAlias = NDArray[np.float64]
Design: TypeAlias = StreamDesign | WindowedDesign | AlertDesign


class Outlet(Protocol):
    """Takes totals of windows in order and tells what is released of them."""

    columns: tuple[str, ...]

    @property
    def period(self) -> int:
        """The next window to step."""
        ...

    @property
    def finished(self) -> bool:
        """Whether no further window can be stepped."""
        ...

    @property
    def certificate(self) -> Certificate:
        """What is promised."""
        ...

    def step(self, first: int, totals: Totals) -> list[list[Row]]:
        """Release windows from ``first`` on; what is returned is on disk: rows by window, one a group."""
        ...

    def history(self, first: int, end: int) -> list[list[Row]]:
        """Return what was released of windows before, as `step` did."""
        ...


@dataclass
class StreamOutlet:
    """Answers with intervals, by `Stream`."""

    stream: Stream
    level: float = 0.95
    columns: tuple[str, ...] = ("value", "lower", "upper")

    @property
    def period(self) -> int:
        """The next window."""
        return self.stream.period

    @property
    def finished(self) -> bool:
        """Whether the horizon is reached."""
        return self.stream.finished

    @property
    def certificate(self) -> Certificate:
        """The stream's."""
        return self.stream.certificate

    def step(self, first: int, totals: Totals) -> list[list[Row]]:
        """Release windows in one transaction."""
        values = totals[:, 0] if self.stream.design.keys == 1 else totals
        made = self.stream.steps(values, first=first, level=self.level)
        return _rows(len(totals), value=made.value, lower=made.lower, upper=made.upper)

    def history(self, first: int, end: int) -> list[list[Row]]:
        """Return answers of before."""
        made = self.stream.released(level=self.level)
        return _rows(end - first, value=made.value[first:end], lower=made.lower[first:end], upper=made.upper[first:end])


@dataclass
class WindowedOutlet:
    """Releases without end, by `WindowedStream`."""

    stream: WindowedStream
    columns: tuple[str, ...] = ("value",)

    @property
    def period(self) -> int:
        """The next window."""
        return self.stream.period

    @property
    def finished(self) -> bool:
        """Never: it has no end."""
        return False

    @property
    def certificate(self) -> Certificate:
        """The stream's."""
        return self.stream.certificate

    def step(self, first: int, totals: Totals) -> list[list[Row]]:
        """Release windows one after another."""
        if first != self.stream.period:
            raise StreamConflict(f"window {first} is not the next one, {self.stream.period}")
        return _rows(len(totals), value=np.array([self.stream.step(row).value for row in totals]))

    def history(self, first: int, end: int) -> list[list[Row]]:
        """Return releases of before."""
        return _rows(end - first, value=self.stream.released()[first:end])


@dataclass
class AlertOutlet:
    """Alarms, by `Alert`; windows after the last alert that is paid for are not asked."""

    alert: Alert
    columns: tuple[str, ...] = ("alert", "alert_value")

    @property
    def period(self) -> int:
        """The next window."""
        return self.alert.period

    @property
    def finished(self) -> bool:
        """Whether the last alert was told."""
        return self.alert.halted

    @property
    def certificate(self) -> Certificate:
        """The alert's."""
        return self.alert.certificate

    def step(self, first: int, totals: Totals) -> list[list[Row]]:
        """Ask for windows one after another; how many were asked is on disk before any answer is told."""
        if first != self.alert.period:
            raise StreamConflict(f"window {first} is not the next one, {self.alert.period}")
        made = self.alert.steps(totals[:, 0])
        if not self.alert.halted:
            self.alert.save()
        values = [float(value) if np.isfinite(value) else None for value in made.value]
        told = [[{"alert": bool(fired), "alert_value": value}] for fired, value in zip(made.fired, values, strict=True)]
        return told + [_silent() for _ in range(len(totals) - len(told))]

    def history(self, first: int, end: int) -> list[list[Row]]:
        """Return alarms of before: windows without one were quiet."""
        fired = {one.period: one.value for one in self.alert.history}
        rows = [[{"alert": window in fired, "alert_value": fired.get(window)}] for window in range(first, end)]
        last = max(fired, default=-1) if self.alert.halted else end
        return [row if first + at <= last else _silent() for at, row in enumerate(rows)]


def stream_design(
    limits: Limits,
    *,
    workload: CausalFilter,
    share: WindowedMechanism | None = None,
    epsilon: float,
    delta: float = 0.0,
) -> StreamDesign | WindowedDesign:
    """Return the stream that fits the limits: what one unit changes comes from there. Nothing is spent."""
    check_kind("limits", limits, Limits, "Limits")
    if share is None:
        return design_stream(
            workload,
            unit=limits.claimed,
            change=limits.change,
            horizon=limits.windows.count,
            max_periods=limits.touched,
            keys=limits.columns,
            max_groups=limits.max_groups,
            epsilon=epsilon,
            delta=delta,
        )
    if not isinstance(limits.claimed, Window) or workload != EachPeriod():
        raise InvalidArgument("share", str(share), "left out, or the unit a window and the workload each_period")
    return design_windowed(
        share,
        unit=limits.claimed,
        change=limits.change,
        columns=limits.columns,
        max_groups=limits.max_groups,
        epsilon=epsilon,
        delta=delta,
    )


def alert_design(limits: Limits, **terms: Any) -> AlertDesign:
    """Return the alert that fits the limits. Nothing is spent."""
    if check_kind("limits", limits, Limits, "Limits").columns > 1:
        raise InvalidArgument("alert", f"of {limits.columns} groups", "left out where there are groups")
    return design_alert(change=limits.change, unit=limits.claimed, **terms)


def open_outlets(designs: Mapping[str, Design], *, ledger: Ledger, dataset: str, level: float = 0.95) -> list[Outlet]:
    """Go on with the streams and alerts of these names, or open them: they pay then, and none before all fit.

    Args:
        designs: what is released, made for the limits of the live stream, by the names of streams.
        ledger: what pays.
        dataset: whose budget pays.
        level: how often intervals hold the value before noise.
    """
    check_fraction("level", level)
    for design in designs.values():
        if not isinstance(design, Design):
            raise InvalidArgument("designs", design, "what stream_design(...) and alert_design(...) return, by name")
    known = {stream.name for stream in ledger.stored.streams()}
    fresh = [design for name, design in designs.items() if name not in known]
    if fresh:
        ledger.check_fits(dataset, SequenceCost(tuple(design.cost for design in fresh)), unit=fresh[0].unit)
    return [_outlet(design, ledger, dataset, name, level) for name, design in designs.items()]


def _outlet(design: Design, ledger: Ledger, dataset: str, name: str, level: float) -> Outlet:
    match design:
        case AlertDesign():
            return AlertOutlet(_go_on(Alert, design, ledger, dataset, name))
        case WindowedDesign():
            return WindowedOutlet(_go_on(WindowedStream, design, ledger, dataset, name))
        case StreamDesign():
            return StreamOutlet(_go_on(Stream, design, ledger, dataset, name), level)
        case never:
            assert_never(never)


def _go_on(kind: Any, design: Any, ledger: Ledger, dataset: str, name: str) -> Any:
    """Resume the stream of that name if it has the wanted terms; open it if there is none."""
    try:
        found = kind.resume(ledger, name)
    except UnknownDocument:
        raise StreamConflict(f"{name!r} is the name of another kind of stream: choose another") from None
    except UnknownStream:
        return kind.open(design, ledger=ledger, dataset=dataset, name=name)
    # A stream that 0.1.0 opened does not say what its unit means: its windows do.
    if found.design not in (design, replace(design, unit=design.unit.unsaid())):
        raise StreamConflict(f"stream {name!r} was opened with other terms: put them back, or choose another name")
    return found


def _silent() -> list[Row]:
    return [{"alert": None, "alert_value": None}]


def _rows(count: int, **columns: Any) -> list[list[Row]]:
    """Return rows by window from arrays of windows, or of windows by groups."""
    tables = {
        name: np.asarray(values, dtype=np.float64).reshape(count, -1).tolist() for name, values in columns.items()
    }
    groups = len(next(iter(tables.values()))[0]) if count else 0
    return [
        [{name: table[window][group] for name, table in tables.items()} for group in range(groups)]
        for window in range(count)
    ]
