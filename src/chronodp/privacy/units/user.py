"""Everything of one person, however long the series.

Its steps in ``docs/explanation/proofs/units.md``: "removing a part" costs 2 under ``add_remove``, and under ``replace``
nothing is said of who is on the list.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from chronodp.privacy.calendar import Calendar
from chronodp.privacy.documents import LATER, document
from chronodp.privacy.printing import counted
from chronodp.privacy.units.base import (
    Facts,
    KeyBlocks,
    RecordUnit,
    Relation,
    StretchUnit,
    Unit,
    check_relation,
    in_words,
)
from chronodp.privacy.units.called import PERSON, check_called

__all__ = ["User"]


@document("user")
@dataclass(frozen=True, slots=True)
class User(RecordUnit):
    """Everything of one person, however long the series.

    Args:
        relation: of neighbouring datasets.
        called: what one is called where it is no person: an aircraft, a household.

    >>> print(User(relation="replace"))
    everything of one person, replaced by anything else
    >>> print(User(called="aircraft"))
    everything of one aircraft, added or removed
    """

    relation: Relation = "add_remove"
    called: str | None = field(default=None, kw_only=True, metadata=LATER)
    whole_person = True
    limited = True

    def __post_init__(self) -> None:
        check_relation(self.relation)
        check_called(self.called)

    @property
    def protects(self) -> str:
        """What is protected."""
        return f"everything about any one {self.called or PERSON} over the whole series"

    @property
    def does_not_protect(self) -> str:
        """What stays open."""
        if self.called is not None:
            return f"a group of several as a whole, or what is true of every {self.called} in general"
        return "a household or group as a whole, or what is true of people in general"

    def periods_touched(self, max_periods: int | None, *, horizon: int | None, calendar: Calendar | None = None) -> int:
        """Return the limit, which must be given: a person may be anywhere."""
        del calendar
        return self.needed(max_periods, horizon, f"say how many periods of one {self.called or PERSON} count")

    def key_blocks(self, calendar: Calendar) -> KeyBlocks:
        """Return the whole series."""
        del calendar
        return KeyBlocks(None, 1, 1)

    def reach(self, periods: int, *, horizon: int) -> str:
        """Return in words where one person counts."""
        return f"one {self.called or PERSON} counts in at most {periods:,} of {counted(horizon, 'period')}"

    def extents_of(self, wanted: Unit, facts: Facts) -> int | None:
        """Return one: a person holds all that any part of them can change."""
        del wanted, facts
        return 1

    def stretches_over(self, held: StretchUnit, facts: Facts) -> int | None:
        """Return the stretches that the whole series is made of."""
        if facts.horizon is None or held.grid_periods is None:
            return None
        return -(-facts.horizon // held.grid_periods)

    def __str__(self) -> str:
        return f"everything of one {self.called or PERSON}, {in_words(self.relation)}"
