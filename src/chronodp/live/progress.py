"""How a live stream is doing: what anyone may know, and what is for the owner alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from chronodp.ledger import Gap

__all__ = ["OwnerFigures", "Progress"]


@dataclass
class OwnerFigures:
    """Counts that depend on the data. Showing them to others would be a release that nobody paid for.

    Attributes:
        counted: records that count.
        late: records of windows that were closed.
        future: records dated too far ahead.
        elsewhere: records of no group on the list, or after the last window.
        malformed: records that could not be read.
        waiting: messages known to wait at the source.
        missing: how many gaps this process has noticed in what the source brought.
        gaps: the last ones, also of processes before.
    """

    counted: int = 0
    late: int = 0
    future: int = 0
    elsewhere: int = 0
    malformed: int = 0
    waiting: int | None = None
    missing: int = 0
    gaps: list[Gap] = field(default_factory=list)

    @property
    def records(self) -> int:
        """All records that came."""
        return self.counted + self.late + self.future + self.elsewhere + self.malformed


@dataclass
class Progress:
    """Public figures: each follows from the clock, the settings and what was released.

    Attributes:
        next_window: the next window to close.
        closed: windows closed by this process.
        releases: rows released by this process, one a window and group.
        alerts: alerts told by this process.
        share: how much of the budget is spent, from 0 to 1.
        reachable: whether the source could be reached.
        held_up: whether windows that are due wait for the source.
        doubted: why windows wait for the clock, in plain words; empty if they do not.
        polled: when the source was last asked, in seconds of a steady clock.
        owner: what is not public.
    """

    next_window: int = 0
    closed: int = 0
    releases: int = 0
    alerts: int = 0
    share: float = 0.0
    reachable: bool = False
    held_up: bool = False
    doubted: str = ""
    polled: float = 0.0
    owner: OwnerFigures = field(default_factory=OwnerFigures)

    @property
    def waits(self) -> tuple[str, ...]:
        """What windows wait for, in plain words: nothing of it depends on a record."""
        source = ("the source cannot be reached",) if self.held_up else ()
        return (*source, *((self.doubted,) if self.doubted else ()))
