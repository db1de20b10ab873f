"""Everything of one person in any so many consecutive periods.

Its steps in ``docs/explanation/proofs/units.md``: "windows may overlap", and "On the clock" where its length is said.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.privacy.calendar import Calendar
from chronodp.privacy.documents import LATER, document
from chronodp.privacy.fields import settle
from chronodp.privacy.parameters import check_whole
from chronodp.privacy.periods import parse_every, width_of, words_of
from chronodp.privacy.printing import counted
from chronodp.privacy.stretches import Stretches, Touch
from chronodp.privacy.units.base import Facts, PeriodBlocks, Relation, StretchUnit, check_relation, in_words
from chronodp.privacy.units.called import PERSON, check_called
from chronodp.privacy.units.clocks import check_begins, check_timezone

__all__ = ["Window"]


@document("window")
@dataclass(frozen=True, slots=True)
class Window(StretchUnit):
    """Everything of one person in any ``periods`` consecutive periods of the grid (w-event privacy).

    Where ``every`` is not said the periods are those of the stream or series, whose length nobody stated.

    Args:
        periods: how many.
        relation: of neighbouring datasets.
        every: how long one is.
        timezone: whose clocks days and longer follow; none for seconds to hours.
        begins: a moment at which one begins, on these clocks (UTC's for seconds to hours), where periods are not those
            of the civil calendar: weeks from a Thursday, days from six o'clock.
        called: what one of those protected is called, where that is no person.

    >>> print(Window(24))
    everything of one person in any 24 consecutive periods, added or removed
    >>> print(Window(24, every="1h"))
    everything of one person in any 24 consecutive hours, added or removed
    """

    periods: int
    relation: Relation = "add_remove"
    every: str | None = field(default=None, kw_only=True, metadata=LATER)
    timezone: str | None = field(default=None, kw_only=True, metadata=LATER)
    begins: str | None = field(default=None, kw_only=True, metadata=LATER)
    called: str | None = field(default=None, kw_only=True, metadata=LATER)
    fields_in_text = ("periods", "every", "timezone", "begins")

    def __post_init__(self) -> None:
        check_relation(self.relation)
        check_whole("periods", self.periods)
        check_called(self.called)
        if self.every is None:
            for name in ("timezone", "begins"):
                if getattr(self, name) is not None:
                    raise InvalidArgument(name, getattr(self, name), "left out, or given with every=, a length")
            return
        parse_every(self.every)
        check_timezone(self.every, self.timezone)
        if self.begins is not None:
            settle(self, begins=check_begins(self.every, self.begins))

    @property
    def protects(self) -> str:
        """What is protected."""
        return f"everything about any one {self.called or PERSON} within any stretch of that many periods"

    @property
    def does_not_protect(self) -> str:
        """What stays open."""
        whoever = "a person" if self.called is None else f"one {self.called}"
        return f"what {whoever} does over longer times than the window"

    @property
    def length(self) -> int:
        """How many periods a window has."""
        return self.periods

    @property
    def grid_periods(self) -> int | None:
        """How many periods a window has."""
        return self.periods

    @property
    def said(self) -> bool:
        """Whether the length of its periods, and the zone if it matters, are known."""
        return self.stretches is not None

    @property
    def stretches(self) -> Stretches | None:
        """The stretches of time that it speaks of; None while the length of a period, or its zone, is not known."""
        if self.every is None or (self.timezone is None and width_of(self.every) is None):
            return None
        return Stretches(self.periods, self.every, self.timezone, self.begins)

    def on(self, calendar: Calendar | None) -> Self:
        """Return the unit of a grid's periods; refuse one that says other periods."""
        if calendar is None:
            return self
        zone = None if width_of(calendar.every) is not None else calendar.timezone
        meant = replace(self, every=calendar.every, timezone=zone, begins=calendar.begins)
        if self.every is not None and replace(self, timezone=self.timezone or zone) != meant:
            allowed = f"of periods of this grid, {meant}: leave every=, timezone= and begins= to the grid"
            raise InvalidArgument("unit", str(self), allowed)
        return meant

    def unsaid(self) -> Self:
        """Return the unit without the length of its periods."""
        return replace(self, every=None, timezone=None, begins=None)

    def meant_by(self, charged: object) -> Self | None:
        """Return the unit of the periods that a charge shows, of none if it says none; None if it shows nothing."""
        if self.said or not isinstance(charged, Window) or self.every not in (None, charged.every):
            return None
        return replace(self, every=charged.every, timezone=charged.timezone, begins=charged.begins)

    def periods_touched(self, max_periods: int | None, *, horizon: int | None, calendar: Calendar | None = None) -> int:
        """Return how many periods the window has: a person may be in all of them."""
        del calendar
        self.refuse(max_periods)
        return check_whole("periods of the Window", self.periods, most=horizon)

    def reach(self, periods: int, *, horizon: int) -> str:
        """Return in words where one window of a person counts."""
        del horizon
        return f"one {self.called or PERSON} counts in {counted(periods, 'period')}{' in a row' if periods > 1 else ''}"

    def blocks_touched(self, blocks: PeriodBlocks) -> int:
        """Return in how many blocks one window can be."""
        # A window may begin at 0 … horizon - w and holds first … first + w - 1, both ends included.
        first = np.arange(blocks.horizon - self.periods + 1)
        last = first + self.periods - 1
        # What lies after the last block touches none.
        within = np.searchsorted(blocks.starts, np.minimum(last, blocks.stops[-1] - 1), side="right")
        return max(1, int((within - np.searchsorted(blocks.stops, first, side="right")).max()))

    def touched_by_unsaid(self, wanted: StretchUnit, facts: Facts) -> Touch | None:
        """Return the periods of a window of the same grid, or so many as a calendar period is said to span."""
        if isinstance(wanted, Window):
            same = (self.every, self.timezone, self.begins) == (wanted.every, wanted.timezone, wanted.begins)
            return Touch(wanted.periods, wanted.periods, aligned=True) if same else None
        return Touch(1, facts.span, aligned=False) if self.every is None and facts.span is not None else None

    def __str__(self) -> str:
        if self.every is None:
            stretch = f"{self.periods} consecutive periods"
        else:
            stretch = words_of(self.every, self.periods).replace(" ", " consecutive ", self.periods > 1)
            stretch += f" in {self.timezone}" if self.timezone else ""
            stretch += f", counted from {self.begins}" if self.begins else ""
        return f"everything of one {self.called or PERSON} in any {stretch}, {in_words(self.relation)}"
