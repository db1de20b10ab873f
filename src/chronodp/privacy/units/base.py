"""What every unit of privacy decides for itself.

A unit fixes which two datasets must look alike. All that depends on which unit it is stands in its own file: how many
periods of a grid it touches and whether that must be said, which other units it implies and at what price, what it
means on a clock, its words. The rest of the library asks the unit. A new one is one file here, its lemma in
``docs/explanation/proofs/units.md`` and a mutant that the auditor catches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument, MissingBound
from chronodp.privacy.calendar import Calendar
from chronodp.privacy.parameters import check_whole, check_word
from chronodp.privacy.stretches import Stretches, Touch, touching

__all__ = [
    "Facts",
    "KeyBlocks",
    "PeriodBlocks",
    "RecordUnit",
    "Relation",
    "StretchUnit",
    "Unit",
    "check_relation",
    "in_words",
]

Relation: TypeAlias = Literal["add_remove", "replace"]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is publicly known when one unit is priced from another.

    Attributes:
        max_rows: at most so many rows belong to one person.
        horizon: periods in the whole series, or reports of one device in all.
        span: periods of the grid in the longest calendar period.
    """

    max_rows: int | None = None
    horizon: int | None = None
    span: int | None = None


@dataclass(frozen=True, slots=True)
class PeriodBlocks:
    """Longer periods that a grid's periods fill: each from its start up to its stop, which is not in it.

    Attributes:
        starts: the first period of each.
        stops: the first period after each.
        horizon: periods of the grid in all, those after the last block included.
        calendar: the blocks as a grid of their own.
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    horizon: int
    calendar: Calendar


@dataclass(frozen=True, slots=True)
class KeyBlocks:
    """The parts of a person's series in which their weight is shared among the keys that they hold there.

    Attributes:
        of_periods: the block of each period of the grid; None where the whole series is one.
        touched: how many blocks one unit can change.
        periods: periods of the grid in the longest block.
    """

    of_periods: tuple[int, ...] | None
    touched: int
    periods: int


class Unit(ABC):
    """Who or what is protected, with its neighbouring relation.

    ``add_remove``: the unit is in one dataset and not in the other. ``replace``: the people on the list are public and
    stay the same; what the unit holds is replaced by anything else that it could hold, nothing included.
    """

    __slots__ = ()

    fields_in_text: ClassVar[tuple[str, ...]] = ()
    """What follows the kind in a unit's text, ``window:24@1h``, in this order."""

    of_a_person: ClassVar[bool] = True
    """Whether it is part of what one person holds; a device is no person, who may have several."""

    whole_person: ClassVar[bool] = False
    """Whether what is protected may lie anywhere in time.

    Only then may periods be chosen out of a person's: otherwise one row, or one stretch of time, could move the choice
    through the whole history. What other units hold stays in its stretch of time.
    """

    @property
    @abstractmethod
    def relation(self) -> Relation:
        """How neighbouring datasets differ."""

    @property
    @abstractmethod
    def protects(self) -> str:
        """What is protected, in plain words."""

    @property
    @abstractmethod
    def does_not_protect(self) -> str:
        """What stays open, in plain words."""

    @property
    def called(self) -> str | None:
        """What one of those protected is called, where that is no person."""
        return None

    @property
    def said(self) -> bool:
        """Whether nothing about its meaning is left to a grid."""
        return True

    @property
    def stretches(self) -> Stretches | None:
        """The stretches of time that it speaks of, if it speaks of any and its meaning is known."""
        return None

    def on(self, calendar: Calendar | None) -> Self:  # noqa: ARG002  # as of units that need it
        """Return the unit as a grid gives it its meaning."""
        return self

    def unsaid(self) -> Self:
        """Return the unit without its meaning."""
        return self

    def meant_by(self, charged: object) -> Self | None:  # noqa: ARG002  # as of units that need it
        """Return the unit with the meaning that a charge for another one shows; None if it shows none."""
        return None

    @abstractmethod
    def price_of(self, wanted: Unit, facts: Facts) -> int | None:
        """Return how many changes of this unit one change of another amounts to; None if no number suffices."""

    def most_rows(self, facts: Facts) -> int | None:  # noqa: ARG002  # as of units that need it
        """Return how many rows one unit holds at most; None if that is not known, or it is not made of rows."""
        return None

    def stretches_over(self, held: StretchUnit, facts: Facts) -> int | None:  # noqa: ARG002  # as of others
        """Return how many stretches of a held unit hold all that one of this can change; None if that is not known."""
        return None


class RecordUnit(Unit):
    """A unit of tables of records, and of streams that are made of one."""

    __slots__ = ()

    of_rows: ClassVar[bool] = False
    """Whether single rows are protected, and not people: a row shares its person's clipped total with others."""

    limited: ClassVar[bool] = False
    """Whether ``max_periods`` says in how many periods one can be, where no calendar does."""

    @abstractmethod
    def periods_touched(self, max_periods: int | None, *, horizon: int | None, calendar: Calendar | None = None) -> int:
        """Return in how many periods one unit can be; refuse a limit that is missing, or has no place here.

        Args:
            max_periods: the limit that was given, if any.
            horizon: periods in all; None where there is no end.
            calendar: the periods themselves, if they have dates.
        """

    def cuts(self, calendar: Calendar) -> bool:  # noqa: ARG002  # as of units that need it
        """Return whether one unit can hold a part of a period whose rest stays: its leaving is then a replacement."""
        return False

    def summed_on(self, calendar: Calendar | None) -> Self:  # noqa: ARG002  # as of units that need it
        """Return the unit as sensitivities of sums over a grid's periods read it."""
        return self

    @abstractmethod
    def reach(self, periods: int, *, horizon: int) -> str:
        """Return in words where one unit counts, given in how many of all periods it can be."""

    def blocks_touched(self, blocks: PeriodBlocks) -> int:
        """Return in how many blocks one unit can be."""
        return len(blocks.starts)

    def key_blocks(self, calendar: Calendar) -> KeyBlocks:
        """Return the parts of a person's series in which their weight is shared among keys, and how many one touches.

        "Units" of ``docs/explanation/proofs/keys.md``. Here each period of the grid is one.
        """
        touched = self.periods_touched(None, horizon=len(calendar), calendar=calendar)
        return KeyBlocks(tuple(range(len(calendar))), touched, 1)

    def price_of(self, wanted: Unit, facts: Facts) -> int | None:
        """Return how many changes of this unit one change of another amounts to; None if no number suffices."""
        extents = self.extents_of(wanted, facts) if wanted.of_a_person else None
        if extents is None:
            return None
        # "Removing a part of what a person holds is not removing the person": all goes out, the rest comes in again.
        if self.relation == "replace":
            # The list of people is public under `replace`: nothing is said of who is on it.
            return None if wanted.relation == "add_remove" and wanted.whole_person else extents
        return extents if wanted.relation == "add_remove" and wanted.whole_person else 2 * extents

    def extents_of(self, wanted: Unit, facts: Facts) -> int | None:
        """Return how many extents of this unit together hold all that another can change; None if not known."""
        raise NotImplementedError

    def most_rows(self, facts: Facts) -> int | None:
        """Return how many rows one unit holds at most, if that is known."""
        return facts.max_rows

    def needed(self, max_periods: int | None, horizon: int | None, why: str) -> int:
        """Return a limit that must be given."""
        if max_periods is None:
            end = f" (1 to {horizon:,})" if horizon is not None else ""
            raise MissingBound("max_periods", f"{why}{end}: without a limit no noise is enough")
        return check_whole("max_periods", max_periods, most=horizon)

    def refuse(self, max_periods: int | None, why: str = "no periods of a person are chosen there") -> None:
        """Refuse a limit that has no place here."""
        if max_periods is not None:
            raise InvalidArgument("max_periods", max_periods, f"left out for {self}: {why}")


class StretchUnit(RecordUnit):
    """Everything of one person within a stretch of time."""

    __slots__ = ()

    @property
    @abstractmethod
    def length(self) -> int:
        """How many periods of its own grid a stretch has."""

    @property
    @abstractmethod
    def grid_periods(self) -> int | None:
        """How many periods of the series a stretch has; None where it is measured by another clock."""

    def price_of(self, wanted: Unit, facts: Facts) -> int | None:
        """Return how many changes of this unit one change of another amounts to; None if no number suffices."""
        if not isinstance(wanted, StretchUnit):
            return RecordUnit.price_of(self, wanted, facts)
        touch = self.touched_by(wanted, facts)
        return None if touch is None else self._covering(wanted, touch)

    def extents_of(self, wanted: Unit, facts: Facts) -> int | None:
        """Return how many stretches together hold all that a unit without a clock can change."""
        return wanted.stretches_over(self, facts)

    def touched_by(self, wanted: StretchUnit, facts: Facts) -> Touch | None:
        """Return how many periods of this unit's grid a wanted stretch touches; None if that is not known."""
        if self.stretches is not None and wanted.stretches is not None:
            return touching(self.stretches, wanted.stretches)
        return self.touched_by_unsaid(wanted, facts)

    @abstractmethod
    def touched_by_unsaid(self, wanted: StretchUnit, facts: Facts) -> Touch | None:
        """Return the same where one of the two leaves its length or zone to a grid that is not there."""

    def _covering(self, wanted: StretchUnit, touch: Touch) -> int:
        """Return the steps that cover a wanted stretch with these, given how many of their periods it touches."""
        extents = -(-touch.most // self.length)  # the table under "On the clock" of the proof page, row by row
        if self.relation == "replace":
            return extents
        if wanted.relation == "replace" or not touch.aligned:
            return 2 * extents
        # Stretches that cut no period are removed by those inside them, which may overlap; shorter ones are a part.
        return max(extents if touch.most >= self.length else 0, 2 if touch.least < self.length else 0)


def check_relation(relation: str) -> None:
    """Refuse what is no relation."""
    check_word("relation", relation, get_args(Relation))


def in_words(relation: Relation) -> str:
    """Return a relation in plain words."""
    return "added or removed" if relation == "add_remove" else "replaced by anything else"
