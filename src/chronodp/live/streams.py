"""What is released of the totals of windows: a stream of answers, an alert, or both; each window once.

The number of a window is the number of its step. The ledger knows which steps were taken, so after a crash a window
whose step is on disk is not stepped again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, TypeAlias

from chronodp.alerts import Alert, AlertDesign, design_alert
from chronodp.errors import InvalidArgument, StreamConflict, UnknownDocument, UnknownStream
from chronodp.ledger import Ledger, check_ledger
from chronodp.live.contribution import Limits
from chronodp.privacy import Certificate, SequenceCost, Window, check_kind, check_table
from chronodp.series import CausalFilter, EachPeriod, Row, Stream, StreamDesign, design_stream
from chronodp.series.key_streams import KeyStream, KeyStreamDesign
from chronodp.series.windowed import WindowedDesign, WindowedMechanism, WindowedStream, design_windowed

__all__ = ["Row", "TotalsStream", "alert_design", "open_streams", "stream_design"]

Design: TypeAlias = StreamDesign | WindowedDesign | KeyStreamDesign | AlertDesign

_KINDS: dict[type, Any] = {
    StreamDesign: Stream,
    WindowedDesign: WindowedStream,
    KeyStreamDesign: KeyStream,
    AlertDesign: Alert,
}


class TotalsStream(Protocol):
    """A stream that takes what windows hold in order: `Stream`, `WindowedStream`, `KeyStream` or `Alert`."""

    columns: ClassVar[tuple[str, ...]]

    @property
    def period(self) -> int:
        """The next window to release."""
        ...

    @property
    def finished(self) -> bool:
        """Whether no further window can be released."""
        ...

    @property
    def certificate(self) -> Certificate:
        """What is promised."""
        ...

    def release_windows(self, first: int, totals: Any, *, level: float) -> list[list[Row]]:
        """Release windows from ``first`` on; what is returned is on disk: rows by window, one a group.

        ``totals`` are windows by groups, of a `KeyStream` the pairs of people and keys of each window.
        """
        ...

    def released_windows(self, first: int, end: int, *, level: float) -> list[list[Row]]:
        """Return what was released of windows before, as `release_windows` did."""
        ...


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


def open_streams(designs: Mapping[str, Design], *, ledger: Ledger, dataset: str) -> list[TotalsStream]:
    """Go on with the streams and alerts of these names, or open them: they pay then, and none before all fit.

    Args:
        designs: what is released, made for the limits of the live stream, by the names of streams.
        ledger: what pays.
        dataset: whose budget pays.
    """
    check_ledger(ledger)
    for design in check_table("designs", designs, "designs by the names of their streams").values():
        if type(design) not in _KINDS:
            raise InvalidArgument("designs", design, "what stream_design(...) and alert_design(...) return, by name")
    known = {stream.name for stream in ledger.stored.streams()}
    fresh = [design for name, design in designs.items() if name not in known]
    if fresh:
        ledger.check_fits(dataset, SequenceCost(tuple(design.cost for design in fresh)), unit=fresh[0].unit)
    return [_open_or_resume(design, ledger, dataset, name) for name, design in designs.items()]


def _open_or_resume(design: Any, ledger: Ledger, dataset: str, name: str) -> TotalsStream:
    """Resume the stream of that name if it has the wanted terms; open it if there is none."""
    kind = _KINDS[type(design)]
    try:
        found = kind.resume(ledger, name)
    except UnknownDocument:
        raise StreamConflict(f"{name!r} is the name of another kind of stream: choose another") from None
    except UnknownStream:
        opened: TotalsStream = kind.open(design, ledger=ledger, dataset=dataset, name=name)
        return opened
    if found.design != design:
        raise StreamConflict(f"stream {name!r} was opened with other terms: put them back, or choose another name")
    resumed: TotalsStream = found
    return resumed
