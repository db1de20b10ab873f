"""Reading takes as long as it takes; what follows from it happens only at times that do not tell.

A job's reading begins at t. Whenever it ends, or fails, the job goes on at t + floor, or, if that has passed, at the
first t + floor + k · quantum with whole k. Debit, noise, signature and answer come after that moment, so no time stamp
and no answer shows more of the reading than k.

Section 3 of ``docs/explanation/proofs/curator.md``, "When a job ends": floor is its F, quantum its Q.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chronodp.engines import BoundsReport, HeldKeys, Progress, ReadingCheck, Sizes
from chronodp.owner import owner_warned_early
from chronodp.series import Design, DiscoverDesign, FindingOrigin, KeysOrigin, Origin, Quanta, Table
from chronodp.series.finding import Joint, Scale, Typical

__all__ = ["Pace", "Paced", "PacedFinding", "PacedKeys", "Paces", "Unpaced"]


@dataclass(frozen=True, slots=True)
class Pace:
    """When what was read may be used.

    Attributes:
        floor: seconds after the beginning, at the earliest.
        quantum: seconds in whole numbers of which it may be later.
        clock: tells the time in seconds; a monotonic one.
        sleep: waits so many seconds.
    """

    floor: float
    quantum: float
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    sleep: Callable[[float], object] = field(default=time.sleep, repr=False)

    def due(self, began: float, ended: float) -> float:
        """Return the first allowed moment that is not before ``ended``.

        >>> Pace(1.0, 0.5).due(10.0, 10.2), Pace(1.0, 0.5).due(10.0, 11.2)
        (11.0, 11.5)
        """
        # k is rounded up: a job that read longer than the floor waits for the next allowed moment.
        late = ended - began - self.floor
        return began + self.floor + max(0, math.ceil(late / self.quantum)) * self.quantum

    def hold(self, began: float) -> None:
        """Wait until the first allowed moment."""
        moment = self.due(began, self.clock())
        while (left := moment - self.clock()) > 0:
            self.sleep(left)


@dataclass(frozen=True, slots=True)
class Unpaced:
    """No waiting at all: what a curator must not do. For rehearsals, and for tests that must notice it."""

    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    def hold(self, began: float) -> None:
        """Go on at once."""


Paces = Pace | Unpaced


@dataclass(frozen=True, slots=True)
class Paced:
    """An origin whose numbers are handed on, and whose failures are told, at allowed moments only."""

    origin: Origin
    pace: Paces

    def __str__(self) -> str:
        return "a curator's data"  # the origin's own name looks for its files, before any pacing

    def numbers(self, design: Design, *, key: str, progress: Progress) -> tuple[Quanta, ...]:
        """Return the exact numbers, at an allowed moment."""
        began = self.pace.clock()
        try:
            with owner_warned_early():
                return self.origin.numbers(design, key=key, progress=progress)
        finally:
            self.pace.hold(began)

    def missing(self, design: Design, *, key: str) -> Quanta:
        """Return what bounds take away, at an allowed moment."""
        began = self.pace.clock()
        try:
            return self.origin.missing(design, key=key)
        finally:
            self.pace.hold(began)

    def look(self, design: Design) -> ReadingCheck:
        """Return how the data is read, for the owner only."""
        return self.origin.look(design)

    def tally(self, design: Design, *, key: str, progress: Progress) -> BoundsReport:
        """Return what the bounds take away, for the owner only."""
        return self.origin.tally(design, key=key, progress=progress)

    def moved(self, data: object, table: Table, *, start: Any, end: Any) -> tuple[Origin, Table]:
        """Return the same question about other data."""
        origin, moved = self.origin.moved(data, table, start=start, end=end)
        return Paced(origin, self.pace), moved


@dataclass(frozen=True, slots=True)
class PacedFinding(Paced):
    """The same of an origin that bounds are found for: each of its readings begins and ends at moments of its own."""

    origin: FindingOrigin

    def sizes(self, scale: Scale | Typical) -> Sizes:
        """Return how much voters hold, at an allowed moment."""
        began = self.pace.clock()
        try:
            with owner_warned_early():
                return self.origin.sizes(scale)
        finally:
            self.pace.hold(began)

    def losses(self, joint: Joint) -> tuple[int, ...]:
        """Return what each candidate would take away, at an allowed moment."""
        began = self.pace.clock()
        try:
            return self.origin.losses(joint)
        finally:
            self.pace.hold(began)

    def moved(self, data: object, table: Table, *, start: Any, end: Any) -> tuple[PacedFinding, Table]:
        """Return the same question about other data."""
        origin, moved = self.origin.moved(data, table, start=start, end=end)
        return PacedFinding(origin, self.pace), moved


@dataclass(frozen=True, slots=True)
class PacedKeys(Paced):
    """The same of an origin that keys are found in: looking who holds which begins and ends at moments of its own."""

    origin: KeysOrigin

    def held_keys(self, design: DiscoverDesign, *, key: str) -> HeldKeys:
        """Return who holds which key, at an allowed moment."""
        began = self.pace.clock()
        try:
            with owner_warned_early():
                return self.origin.held_keys(design, key=key)
        finally:
            self.pace.hold(began)

    def moved(self, data: object, table: Table, *, start: Any, end: Any) -> tuple[PacedKeys, Table]:
        """Return the same question about other data."""
        origin, moved = self.origin.moved(data, table, start=start, end=end)
        return PacedKeys(origin, self.pace), moved
