"""How many people were active in the last few periods: daily, weekly and monthly active people.

``docs/explanation/proofs/active-people.md``. A person who was active in any of the periods of a window that ends with a
period is present in it, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Contribution, check_whole, document, parse_every, times_as_long
from chronodp.series.measures.asking import Argument, Asking
from chronodp.series.measures.base import Measure

__all__ = ["ACTIVE", "Active"]

_MOST_STAYS = 2**30


@document("active")
@dataclass(frozen=True, slots=True)
class Active(Measure):
    """How many people have a row in the last ``window``, at every period.

    Attributes:
        window: how long a row makes its person present, its own period included; a whole number of periods.
        max_stays: for `User`, how many stays of one person count, the first ones. A stay is a run of periods in which
            the person is present without a gap. None where nobody's stays are cut.
    """

    window: str
    max_stays: int | None = None
    whole = True
    averages = True
    noun = "rolling count"

    def __post_init__(self) -> None:
        _parsed(self.window)
        if self.max_stays is not None:
            check_whole("max_stays", self.max_stays, most=_MOST_STAYS)

    @property
    def presence(self) -> Active | None:
        """The measure itself."""
        return self

    def periods_on(self, calendar: Calendar) -> int:
        """Return how many periods of a grid the window has."""
        periods = times_as_long(self.window, calendar.every)
        if periods is None:
            allowed = (
                f"a whole number of periods of {calendar.every}, the same everywhere, such as {_such_as(calendar)!r}"
            )
            raise InvalidArgument("window", self.window, allowed)
        return periods

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return "people"

    def label_for(self, called: str | None) -> str:
        """Return what the numbers are, in a word."""
        return self.label if called is None else "count"

    @property
    def reach(self) -> float:
        """One: a person counts once."""
        return 1.0

    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to each number; to how many, `Table.presence` says."""
        del rounding
        return (Contribution.count(),)

    def opposite(self, part: Contribution) -> Fraction | None:
        """Return 0: who is counted only ever adds."""
        del part
        return Fraction(0)

    def clip_in_quanta(self, step: float) -> tuple[int, int]:
        """Return none to one."""
        return 0, round(1 / step)

    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""
        stays = {} if self.max_stays is None else {"max_stays": self.max_stays}
        return {"kind": "active", "window": self.window, **stays}

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        stays = "" if self.max_stays is None else f", of one {called or 'person'} the first {self.max_stays} stays"
        who = "people" if called is None else f"count, each {called} once, of those"
        return f"{who} active in the last {self.window}{stays}"

    @property
    def note(self) -> str:
        """What a reader should know of how it is made."""
        return (
            f"a row makes its person present for {self.window}; rows from so long before the start are read and paid "
            "for too, so that a period near a border of two releases is paid for in both"
        )


def _such_as(calendar: Calendar) -> str:
    count, letter = parse_every(calendar.every)
    return f"{7 * count}{letter}"


def _parsed(window: object) -> None:
    try:
        parse_every(window)
    except InvalidArgument as error:
        raise error.renamed("window") from None


ACTIVE = Asking(
    "active",
    "how many were active lately",
    "How many people have a row in the last days, at every period: daily, weekly or monthly active people.",
    (
        Argument("window", "length", "How long a row makes its person present, such as 7D."),
        Argument(
            "max_stays",
            "whole",
            "Most stays of one person that count, the first ones; a stay is a run of periods without a gap.",
            needed=False,
        ),
    ),
    Active,
)
