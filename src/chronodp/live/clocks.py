"""Clocks that close windows: what they show depends on no record."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from chronodp.privacy import check_positive

__all__ = ["Clock", "ScaledClock", "SystemClock"]

_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Clock(Protocol):
    """A public clock: what it shows depends on no record."""

    @property
    def boot(self) -> str:
        """What names the start of the machine that `steady` counts from; empty if nothing does."""
        ...

    def now(self) -> int:
        """Return the time in microseconds since 1970, UTC."""
        ...

    def steady(self) -> int:
        """Return microseconds since some moment, which nobody can set."""
        ...


class SystemClock:
    """The clock of the machine."""

    @property
    def boot(self) -> str:
        """The kernel's name for this start of the machine, where it has one."""
        return _boot()

    def now(self) -> int:
        """Return the time in microseconds since 1970, UTC."""
        return time.time_ns() // 1_000

    def steady(self) -> int:
        """Return microseconds since the machine started, those it slept included where the system counts them."""
        if hasattr(time, "CLOCK_BOOTTIME"):
            return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000
        return time.monotonic_ns() // 1_000


@dataclass(frozen=True, slots=True)
class ScaledClock:
    """A clock that shows ``start`` when the machine's shows ``begun``, and runs ``speed`` times as fast.

    For rehearsals and benchmarks: ten minutes of event time in one.

    >>> ScaledClock(start=0, speed=60.0, begun=0).now() > 0
    True
    """

    start: int
    speed: float
    begun: int = field(default_factory=lambda: SystemClock().now())

    def __post_init__(self) -> None:
        check_positive("speed", self.speed)

    @property
    def boot(self) -> str:
        """The machine's."""
        return SystemClock().boot

    def now(self) -> int:
        """Return the time in microseconds since 1970, UTC."""
        return self.start + int((SystemClock().now() - self.begun) * self.speed)

    def steady(self) -> int:
        """Return the machine's steady time, as much faster."""
        return int(SystemClock().steady() * self.speed)


@cache
def _boot() -> str:
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
