"""Keys that nobody declared, in a live stream: who is protected, the windows, and how many keys of one person count.

"What is counted" and "In a live stream" in ``docs/explanation/proofs/key-streams.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from chronodp.errors import InvalidArgument, MissingBound
from chronodp.live.windows import Windows
from chronodp.privacy import LONGEST, Calendar, check_kind
from chronodp.privacy.units import RecordUnit, check_record_unit
from chronodp.series.key_streams import LONGEST_KEY, KeyStreamDesign, design_key_stream

__all__ = ["KeyLimits"]


@dataclass(frozen=True)
class KeyLimits:
    """Who is protected, and how many keys of one person count.

    Args:
        unit: who is protected, as it was written.
        windows: the grid of time; their number must be known.
        max_keys: under `User`, how many keys of one person count: the first ones.
        max_groups: under `UserPeriod`, how many keys of one person count in a window.
        looks: after how many of the windows something is told, evenly over all; 12 unless told otherwise.
        longest: bytes of a key's text, in UTF-8; longer keys are left out.

    >>> from chronodp.privacy import User
    >>> KeyLimits(User(), Windows("1D", "2026-01-01", count=365), max_keys=10).design(epsilon=1.0, delta=1e-6).looks
    12
    """

    unit: RecordUnit
    windows: Windows
    max_keys: int | None = None
    max_groups: int | None = None
    looks: int | None = None
    longest: int = LONGEST_KEY

    def __post_init__(self) -> None:
        check_record_unit("unit", self.unit)
        check_kind("windows", self.windows, Windows, "Windows")
        if self.windows.count is None:
            raise MissingBound("horizon", "say how many windows there are: looks for keys are spread over them")
        self.design(epsilon=1.0, delta=1e-6)

    @property
    def groups(self) -> tuple[str, ...]:
        """No key is declared."""
        return ()

    @property
    def columns(self) -> int:
        """How many rows a window has that tells nothing."""
        return 0

    @cached_property
    def claimed(self) -> RecordUnit:
        """The unit as the windows give it a meaning: what is claimed, charged and certified."""
        windows = self.windows
        return self.unit.on(Calendar.from_length(windows.every, windows.start, 1, windows.timezone))

    @cached_property
    def touched(self) -> int | None:
        """How many windows one calendar period touches, for units that are one."""
        if self.unit.whole_person or not self.unit.limited:
            return None
        windows, count = self.windows, self.windows.count or 0
        if count > LONGEST:
            raise InvalidArgument(
                "horizon", count, f"at most {LONGEST:,}: windows of {self.unit} are counted one by one"
            )
        calendar = Calendar.from_length(windows.every, windows.start, count, windows.timezone)
        if self.unit.cuts(calendar):
            # The rest of a window would stay when a part of it leaves, and with it another choice of keys.
            allowed = f"such that none lies across borders of {self.unit}: keys are chosen in each"
            raise InvalidArgument("every", windows.every, allowed)
        return self.unit.periods_touched(None, horizon=windows.length, calendar=calendar)

    def design(self, *, epsilon: float, delta: float, key_delta: float | None = None) -> KeyStreamDesign:
        """Return the stream of keys that fits. Nothing is spent."""
        return design_key_stream(
            unit=self.claimed,
            horizon=self.windows.count or 0,
            looks=self.looks,
            max_keys=self.max_keys,
            max_groups=self.max_groups,
            max_periods=self.touched,
            longest=self.longest,
            epsilon=epsilon,
            delta=delta,
            key_delta=key_delta,
        )
