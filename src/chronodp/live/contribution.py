"""What one person may put into a window, and so what one unit can change: public numbers only.

M, R, k and *How far f_p reaches* under "Why one unit changes no more than is stated" in
``docs/explanation/proofs/live.md``.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from functools import cached_property

from chronodp.errors import InvalidArgument, MissingBound
from chronodp.live.key_limits import KeyLimits
from chronodp.live.windows import Windows
from chronodp.privacy import (
    LONGEST,
    Calendar,
    Contribution,
    Grid,
    check_clip,
    check_flag,
    check_kind,
    check_listed,
    check_text,
    check_whole,
    settle,
    to_document,
)
from chronodp.privacy.units import RecordUnit, check_record_unit

__all__ = ["MOST_GROUPS", "Limits", "terms_of"]

MOST_GROUPS = 10_000
_FINE = 24  # a person's largest total spans about so many powers of two


@dataclass(frozen=True)
class Limits:
    """Who is protected, what is added up and how far one person reaches.

    Args:
        unit: who is protected, as it was written.
        windows: the grid of time.
        clip: the range of a person's total in a window (and group), for sums.
        at_most: most records of one person that are counted in a window (and group), for counts.
        max_periods: under `User`, in how many windows one person counts: the first ones.
        groups: public keys of groups, released side by side; none if empty.
        max_groups: in how many groups one person counts within a window.
        people: whether records name a person.
        ids: whether records carry an id that tells repeats apart.

    >>> from chronodp.privacy import Event, User
    >>> hours = Windows("1h", "2026-01-01", count=24)
    >>> Limits(User(), hours, clip=(-1.0, 5.0), max_periods=3).change
    5.0
    >>> Limits(Event(), hours, clip=(-1.0, 5.0)).change        # other records share the person's clipped total
    6.0
    """

    unit: RecordUnit
    windows: Windows
    clip: tuple[float, float] | None = None
    at_most: int | None = None
    max_periods: int | None = None
    groups: tuple[str, ...] = ()
    max_groups: int = 1
    people: bool = True
    ids: bool = False

    def __post_init__(self) -> None:
        check_record_unit("unit", self.unit)
        check_kind("windows", self.windows, Windows, "Windows")
        check_listed("groups", self.groups, str, "a list of public keys")
        check_flag("people", self.people)
        check_flag("ids", self.ids)
        if (self.clip is None) == (self.at_most is None):
            raise InvalidArgument("measure", None, "either `clip` of a sum or `at_most` of a count")
        if self.clip is not None:
            settle(self, clip=check_clip(self.clip))
        else:
            check_whole("at_most", self.at_most, most=2**30)
        if not self.people and not self.unit.of_rows:
            raise MissingBound(
                "user",
                f"name the field with the {self.unit.called or 'person'}: {self.unit} cannot be told apart without it",
            )
        _ = self.claimed, self._periods
        if len(set(self.groups)) != len(self.groups) or len(self.groups) > MOST_GROUPS:
            raise InvalidArgument("groups", f"{len(self.groups)} keys", f"at most {MOST_GROUPS:,} different keys")
        check_whole("max_groups", self.max_groups, most=max(1, len(self.groups)))
        if self.unit.of_rows and self.max_groups != 1:
            raise InvalidArgument("max_groups", self.max_groups, "left out for event: no groups are chosen there")
        if self.range[0] > self.range[1]:
            raise InvalidArgument("clip", self.clip, f"wider: it holds no multiple of {self.grid.step:g}")
        if self.max_groups < self.columns and self._cut:
            # The rest of a window would stay when a part of it leaves, and with it another choice of groups.
            allowed = f"{self.columns}, all of them: windows of {self.windows.every} lie across borders of {self.unit}"
            raise InvalidArgument("max_groups", self.max_groups, allowed)

    @cached_property
    def claimed(self) -> RecordUnit:
        """The unit as the windows give it a meaning: what is claimed, charged and certified."""
        windows = self.windows
        return self.unit.on(Calendar.from_length(windows.every, windows.start, 1, windows.timezone))

    @property
    def columns(self) -> int:
        """How many numbers a window has."""
        return max(1, len(self.groups))

    @cached_property
    def grid(self) -> Grid:
        """The grid on which values are added up: whole numbers for counts."""
        if self.clip is None:
            return Grid(1.0)
        return Grid(math.ldexp(1.0, math.frexp(max(abs(end) for end in self.clip))[1] - _FINE))

    @cached_property
    def range(self) -> tuple[int, int]:
        """The range of a person's total, in steps of the grid, rounded inwards."""
        if self.clip is None:
            return 0, int(self.at_most or 0)
        # Exact: the step is a power of two.
        return math.ceil(self.clip[0] / self.grid.step), math.floor(self.clip[1] / self.grid.step)

    @property
    def first_windows(self) -> int | None:
        """In how many windows one person counts, if any are chosen: under `User` alone.

        Under other units a choice would let one record, or one stretch of time, move a person's whole history.
        """
        return self.max_periods if self.unit.whole_person else None

    @property
    def chosen_groups(self) -> int | None:
        """In how many groups a person counts within a window, if any are chosen."""
        return self.max_groups if self.groups and not self.unit.of_rows else None

    @cached_property
    def touched(self) -> int | None:
        """How many windows one unit changes, where a stream must be told."""
        return self._periods if self.unit.limited else None

    @cached_property
    def change(self) -> float:
        """The most that one unit changes one number of one window."""
        part = Contribution.total(clip=self.clip) if self.clip else Contribution.count(at_most=self.at_most or 1)
        if self.unit.of_rows:
            if not self.people:
                # A record stands for itself; but where one with its id leaves, another may take its place.
                most = part.exchange if self.ids or self.unit.relation == "replace" else part.presence
            else:
                most = max(part.row, part.rewrite)
        elif self.unit.relation == "replace" or self._cut:
            most = part.exchange
        else:
            most = part.presence
        return float(most)

    @cached_property
    def _periods(self) -> int:
        """In how many windows one unit can be; refuses a limit that is missing or has no place."""
        return self.unit.periods_touched(self.max_periods, horizon=self.windows.length, calendar=self._calendar)

    @property
    def _cut(self) -> bool:
        """Whether one unit can hold a part of a window whose rest stays."""
        return self._calendar is not None and self.unit.cuts(self._calendar)

    @cached_property
    def _calendar(self) -> Calendar | None:
        """The windows on the real calendar, for units whose periods are counted there."""
        if self.unit.whole_person or not self.unit.limited:
            return None
        windows = self.windows
        if windows.count is None or windows.count > LONGEST:
            why = f"say how many windows there are (at most {LONGEST:,}), so that those of {self.unit} are"
            raise MissingBound("horizon", f"{why} counted on the real calendar")
        return Calendar.from_length(windows.every, windows.start, windows.count, windows.timezone)


def terms_of(limits: Limits | KeyLimits, **more: str | None) -> str:
    """Return the public terms that a live stream is opened with, as text."""
    for name, value in more.items():
        if value is not None:
            check_text(name, value)
    if not isinstance(limits, KeyLimits):
        check_kind("limits", limits, Limits, "Limits, or KeyLimits")
    limited = asdict(limits)
    parts = {name: value for name, value in limited.items() if name not in ("unit", "windows")}
    unit, windows = to_document(limits.unit), asdict(limits.windows)
    return json.dumps({"unit": unit, **windows, **parts, **more}, sort_keys=True)
