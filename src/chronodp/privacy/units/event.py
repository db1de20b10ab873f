"""One row of the table.

Its steps in ``docs/explanation/proofs/units.md``: a part of what a person holds, and "a replaced row may move".
"""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.privacy.calendar import Calendar
from chronodp.privacy.documents import document
from chronodp.privacy.units.base import Facts, RecordUnit, Relation, StretchUnit, Unit, check_relation, in_words

__all__ = ["Event"]


@document("event")
@dataclass(frozen=True, slots=True)
class Event(RecordUnit):
    """One row of the table.

    Under ``replace`` the row becomes any other row of the same person, at any time.

    >>> print(Event())
    one row of the table, added or removed
    """

    relation: Relation = "add_remove"
    of_rows = True

    def __post_init__(self) -> None:
        check_relation(self.relation)

    @property
    def protects(self) -> str:
        """What is protected."""
        return "whether any single row of the table is there and what it says"

    @property
    def does_not_protect(self) -> str:
        """What stays open."""
        return "a person with many rows: what they show together, a habit or an absence"

    def periods_touched(self, max_periods: int | None, *, horizon: int | None, calendar: Calendar | None = None) -> int:
        """Return one: a row lies in one period. A replaced row may also enter another."""
        del horizon, calendar
        self.refuse(max_periods)
        return 1

    def reach(self, periods: int, *, horizon: int) -> str:
        """Return in words where one row counts."""
        del periods, horizon
        return "one row touches 1 period" if self.relation == "add_remove" else "one row touches at most 2 periods"

    def price_of(self, wanted: Unit, facts: Facts) -> int | None:
        """Return the rows that one change of another unit takes away and brings."""
        rows = wanted.most_rows(facts)
        if rows is None or self.relation == "replace":
            return None
        return rows if wanted.relation == "add_remove" else 2 * rows

    def most_rows(self, facts: Facts) -> int | None:
        """Return one."""
        del facts
        return 1

    def stretches_over(self, held: StretchUnit, facts: Facts) -> int | None:
        """Return one stretch, or two: a replaced row may move to another time."""
        del held, facts
        return 1 if self.relation == "add_remove" else 2

    def __str__(self) -> str:
        return f"one row of the table, {in_words(self.relation)}"
