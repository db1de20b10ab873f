"""Everything of one person in one calendar period.

Its steps in ``docs/explanation/proofs/units.md``: "hours nest in days", and "On the clock" where its zone is said.
`UserPeriod.summed_on` is the case of ``docs/explanation/proofs/bounding.md`` in which civil periods cut grid periods.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

from chronodp.privacy.calendar import Calendar
from chronodp.privacy.documents import LATER, document
from chronodp.privacy.periods import parse_every, width_of, words_of
from chronodp.privacy.stretches import Stretches, Touch
from chronodp.privacy.units.base import Facts, KeyBlocks, PeriodBlocks, Relation, StretchUnit, check_relation, in_words
from chronodp.privacy.units.called import PERSON, check_called
from chronodp.privacy.units.clocks import check_timezone, nests

__all__ = ["UserPeriod"]


@document("user_period")
@dataclass(frozen=True, slots=True)
class UserPeriod(StretchUnit):
    """Everything of one person in one calendar period, such as a day (``"1D"``).

    Days and longer are those of a zone's civil calendar. Seconds, minutes and hours are UTC's and need no zone.

    >>> print(UserPeriod("1D"))
    everything of one person in one calendar period (1D), added or removed
    >>> print(UserPeriod("1D", timezone="Asia/Tokyo"))
    everything of one person in one calendar day in Asia/Tokyo, added or removed
    """

    every: str
    relation: Relation = "add_remove"
    timezone: str | None = field(default=None, kw_only=True, metadata=LATER)
    called: str | None = field(default=None, kw_only=True, metadata=LATER)
    limited = True
    fields_in_text = ("every", "timezone")

    def __post_init__(self) -> None:
        check_relation(self.relation)
        parse_every(self.every)
        check_timezone(self.every, self.timezone)
        check_called(self.called)

    @property
    def protects(self) -> str:
        """What is protected."""
        return f"everything about any one {self.called or PERSON} within one calendar period"

    @property
    def does_not_protect(self) -> str:
        """What stays open."""
        return "what repeats over several periods, such as a weekly habit or a lasting change"

    @property
    def length(self) -> int:
        """One."""
        return 1

    @property
    def grid_periods(self) -> int | None:
        """Not known: calendar periods are measured by the calendar."""
        return None

    @property
    def said(self) -> bool:
        """Whether its zone is known, or plays no part."""
        return self.stretches is not None

    @property
    def stretches(self) -> Stretches | None:
        """The stretches of time that it speaks of; None while its zone is not known."""
        if self.timezone is None and width_of(self.every) is None:
            return None
        return Stretches(1, self.every, self.timezone, None)

    def on(self, calendar: Calendar | None) -> Self:
        """Return the unit in its own zone or, where none was said, in the grid's."""
        return self if self.said or calendar is None else replace(self, timezone=calendar.timezone)

    def unsaid(self) -> Self:
        """Return the unit without its zone."""
        return replace(self, timezone=None)

    def meant_by(self, charged: object) -> Self | None:
        """Return the unit in the zone that a charge shows, in none if it says none; None if it shows nothing."""
        if self.said or not isinstance(charged, UserPeriod) or width_of(charged.every) is not None:
            return None
        return replace(self, timezone=charged.timezone)

    def periods_touched(self, max_periods: int | None, *, horizon: int | None, calendar: Calendar | None = None) -> int:
        """Return how many periods of the grid one calendar period can touch, as counted where they have dates."""
        if calendar is None:
            return self.needed(max_periods, horizon, "say how many periods of the grid one calendar period holds")
        self.refuse(max_periods, "the calendar says how many it touches")
        return self._within(calendar)[0]

    def reach(self, periods: int, *, horizon: int) -> str:
        """Return in words where one calendar period of a person counts."""
        del horizon
        several = "periods" if periods > 1 else "period"
        return f"one {self.called or PERSON}'s {self.every} touches at most {periods} {several}"

    def cuts(self, calendar: Calendar) -> bool:
        """Return whether a border of calendar periods lies inside a period of the grid."""
        return not self._within(calendar)[1]

    def summed_on(self, calendar: Calendar | None) -> Self:
        """Return the unit as sensitivities read it.

        Where calendar periods cut the grid's, the rest of what the person holds in a period stays when one calendar
        period of theirs goes: the change is then a replacement.
        """
        cut = calendar is not None and self.cuts(calendar)
        return replace(self, relation="replace") if cut else self

    def blocks_touched(self, blocks: PeriodBlocks) -> int:
        """Return in how many blocks one calendar period can be."""
        return max(1, min(len(blocks.starts), self._within(blocks.calendar)[0]))

    def key_blocks(self, calendar: Calendar) -> KeyBlocks:
        """Return calendar periods, of which one unit is one; where they cut periods of the grid, these."""
        touched, inside = self._within(calendar)
        if not inside:
            return KeyBlocks(tuple(range(len(calendar))), touched, 1)
        return KeyBlocks(calendar.civil_blocks(self.every, self.timezone), 1, touched)

    def touched_by_unsaid(self, wanted: StretchUnit, facts: Facts) -> Touch | None:
        """Return one period where the wanted ones lie inside these, in one zone whichever it is."""
        del facts
        if not isinstance(wanted, UserPeriod) or self.timezone != wanted.timezone:
            return None
        return Touch(1, 1, aligned=self.every == wanted.every) if nests(wanted.every, self.every) else None

    def _within(self, calendar: Calendar) -> tuple[int, bool]:
        """Return how many periods of a grid one calendar period can touch, and whether each lies inside one."""
        return calendar.most_within(self.every, self.timezone)

    def __str__(self) -> str:
        which = f"period ({self.every})" if self.timezone is None else f"{words_of(self.every)} in {self.timezone}"
        return f"everything of one {self.called or PERSON} in one calendar {which}, {in_words(self.relation)}"
