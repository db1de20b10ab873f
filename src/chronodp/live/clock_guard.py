"""Whether the clock may be believed: one that jumps ahead closes no window until it has stayed there, or is confirmed.

A window that was closed stays closed, so a clock that is wrong for a moment would lose what comes for it. What shows
that a clock was set is a second one, which nobody can set. The rule reads these two clocks and nothing else: "Clocks
that jump" in ``docs/explanation/proofs/live.md``.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from chronodp.live.clocks import Clock
from chronodp.live.windows import parse_duration

__all__ = ["ClockGuard", "Look"]

_UNITS = ((86_400_000_000, "days"), (3_600_000_000, "h"), (60_000_000, "min"), (1_000_000, "s"), (1_000, "ms"))


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the clock says.

    Attributes:
        closing: the moment up to which windows may close, in microseconds since 1970, UTC.
        doubted: what the clock shows, where it is ahead and not believed; None where it is.
    """

    closing: int
    doubted: int | None = None


@dataclass(frozen=True, slots=True)
class _Doubt:
    """A difference between both clocks that is not believed yet, and the steady moment at which it was first seen."""

    offset: int
    since: int


class ClockGuard:
    """Looks at a clock that may be set, beside one that may not.

    Both run alike, so their difference changes only when the clock is set. A change of at most ``jump`` is believed at
    once. A larger one is believed when it has lasted as long as it is large. Until then windows close at the pace of
    the steady clock if the other went ahead, and when the clock shows their end if it went back. A machine that
    started anew has no steady clock in common with the time before: its clock is believed, unless it was doubted.

    Args:
        clock: both clocks.
        jump: the largest change that is believed at once, such as '10s'.
        known: `fact` of the process before; empty if there was none.
    """

    def __init__(self, clock: Clock, *, jump: str = "10s", known: str = "") -> None:
        self._clock, self._jump = clock, parse_duration("jump", jump)
        steady = clock.steady()
        self._base = clock.now() - steady
        self._doubt: _Doubt | None = None
        if known:
            self._recall(json.loads(known), steady)

    @property
    def fact(self) -> str:
        """What the next process must know, as text; it changes only when the clock is set, doubted or believed."""
        doubt = None if self._doubt is None else asdict(self._doubt)
        return json.dumps({"boot": self._clock.boot, "base": self._base, "doubt": doubt})

    @property
    def wait(self) -> str:
        """Why windows wait for the clock, in plain words; empty if they do not."""
        doubt = self._doubt
        if doubt is None:
            return ""
        change = doubt.offset - self._base
        if change > 0:
            return (
                f"the clock went ahead by {_about(change)}: windows close as if it had not, until it has stayed there "
                f"for {_about(change)}; start again with --clock-is-right if it is right"
            )
        return f"the clock went back by {_about(-change)}: no window is opened again, the next ones wait for the clock"

    def look(self) -> Look:
        """Return what the clock says now."""
        # The steady clock is read last: if the process is stopped in between, the other seems late, never ahead.
        now, steady = self._clock.now(), self._clock.steady()
        offset = now - steady
        self._judge(offset, steady)
        if offset - self._base <= self._jump:
            return Look(now)
        return Look(steady + self._base, now)

    def believe(self) -> None:
        """Take what the clock shows now for right: its owner says so."""
        self._base, self._doubt = self._clock.now() - self._clock.steady(), None

    def _judge(self, offset: int, steady: int) -> None:
        if abs(offset - self._base) <= self._jump:
            self._doubt = None
        elif self._doubt is None or abs(offset - self._doubt.offset) > self._jump:
            self._doubt = _Doubt(offset, steady)
        elif steady - self._doubt.since >= abs(self._doubt.offset - self._base):
            self._base, self._doubt = self._doubt.offset, None

    def _recall(self, known: dict[str, object], steady: int) -> None:
        base, doubt = known["base"], known["doubt"]
        assert isinstance(base, int)
        doubted = _Doubt(**doubt) if isinstance(doubt, dict) else None
        if known["boot"] and known["boot"] == self._clock.boot:
            self._base, self._doubt = base, doubted
        elif doubted is not None and doubted.offset > base:  # starting the machine anew answers no doubt
            self._doubt = _Doubt(self._base, steady)
            self._base -= doubted.offset - base


def _about(duration: int) -> str:
    """Return a stretch of time, rounded, in the largest unit that it fills twice.

    >>> _about(599_999_000), _about(90_000_000)
    ('10 min', '90 s')
    """
    size, unit = next((one for one in _UNITS if duration >= 2 * one[0]), _UNITS[-1])
    return f"{(duration + size // 2) // size:,} {unit}"
