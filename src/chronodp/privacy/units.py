"""Who is protected: the units of privacy, each with its neighbouring relation.

A unit fixes which two datasets must look alike. It says nothing about bounds: how many periods of one person
count, or how far a value may reach, belongs to the query (`Bounds`), and budgets are compared without it.

Two relations are offered. ``add_remove``: the unit is present in one dataset and absent from the other.
``replace``: the people on the list are public and stay the same; what the unit holds is replaced by anything
else that the unit could hold, nothing included.

Units of time have a meaning on a clock: how long the periods of a `Window` are, in which zone a `UserPeriod` is a day.
They may be written without it. ``unit.on(calendar)`` is the unit as a grid gives it its meaning, and that is what is
claimed, charged and certified; what is said of no grid stays unsaid, and budgets do not mix the two.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self, TypeAlias, get_args

from chronodp.errors import InvalidArgument
from chronodp.privacy.calendar import Calendar
from chronodp.privacy.clock import check_zone
from chronodp.privacy.documents import LATER, document
from chronodp.privacy.parameters import check_whole, check_word
from chronodp.privacy.periods import first_begin, parse_every, width_of, words_of
from chronodp.privacy.stretches import Stretches

__all__ = [
    "Changes",
    "Event",
    "History",
    "Relation",
    "Report",
    "Swap",
    "Unit",
    "User",
    "UserPeriod",
    "Window",
    "check_unit",
]

Relation: TypeAlias = Literal["add_remove", "replace"]
Changes: TypeAlias = Literal["any", "same", "crossing"]


class _Timeless:
    """A unit that means the same on every grid."""

    __slots__ = ()

    @property
    def said(self) -> bool:
        """Whether nothing about its meaning is left to a grid."""
        return True

    def on(self, calendar: Calendar | None) -> Self:  # noqa: ARG002  # as of units that need it
        """Return the unit as a grid gives it its meaning: the same."""
        return self

    def unsaid(self) -> Self:
        """Return the unit without its meaning: the same."""
        return self

    def meant_by(self, charged: object) -> Self | None:  # noqa: ARG002  # as of units that need it
        """Return the unit with the meaning that a charge for another one shows; None if it shows none."""
        return None


@document("event")
@dataclass(frozen=True, slots=True)
class Event(_Timeless):
    """One row of the table.

    Under ``replace`` the row becomes any other row of the same person, at any time.

    >>> print(Event())
    one row of the table, there or not
    """

    relation: Relation = "add_remove"
    protects: ClassVar[str] = "whether any single row of the table is there and what it says"
    does_not_protect: ClassVar[str] = "a person with many rows: what they show together, a habit or an absence"

    def __post_init__(self) -> None:
        _check_relation(self.relation)

    def __str__(self) -> str:
        return f"one row of the table, {_words(self.relation)}"


@document("user")
@dataclass(frozen=True, slots=True)
class User(_Timeless):
    """Everything of one person, however long the series.

    >>> print(User(relation="replace"))
    everything of one person, replaced by anything else
    """

    relation: Relation = "add_remove"
    protects: ClassVar[str] = "everything about any one person over the whole series"
    does_not_protect: ClassVar[str] = "a household or group as a whole, or what is true of people in general"

    def __post_init__(self) -> None:
        _check_relation(self.relation)

    def __str__(self) -> str:
        return f"everything of one person, {_words(self.relation)}"


@document("user_period")
@dataclass(frozen=True, slots=True)
class UserPeriod:
    """Everything of one person in one calendar period, such as a day (``"1D"``).

    Days and longer are those of a zone's civil calendar. Seconds, minutes and hours are UTC's and need no zone.

    >>> print(UserPeriod("1D"))
    everything of one person in one calendar period (1D), there or not
    >>> print(UserPeriod("1D", timezone="Asia/Tokyo"))
    everything of one person in one calendar day in Asia/Tokyo, there or not
    """

    every: str
    relation: Relation = "add_remove"
    timezone: str | None = field(default=None, kw_only=True, metadata=LATER)
    protects: ClassVar[str] = "everything about any one person within one calendar period"
    does_not_protect: ClassVar[str] = "what repeats over several periods, such as a weekly habit or a lasting change"

    def __post_init__(self) -> None:
        _check_relation(self.relation)
        parse_every(self.every)
        _check_timezone(self.every, self.timezone)

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

    def within(self, calendar: Calendar) -> tuple[int, bool]:
        """Return how many periods of a grid one calendar period can touch, and whether each lies inside one."""
        return calendar.most_within(self.every, self.timezone)

    def unsaid(self) -> Self:
        """Return the unit without its zone."""
        return replace(self, timezone=None)

    def meant_by(self, charged: object) -> Self | None:
        """Return the unit in the zone that a charge shows, in none if it says none; None if it shows nothing."""
        if self.said or not isinstance(charged, UserPeriod) or width_of(charged.every) is not None:
            return None
        return replace(self, timezone=charged.timezone)

    def __str__(self) -> str:
        which = f"period ({self.every})" if self.timezone is None else f"{words_of(self.every)} in {self.timezone}"
        return f"everything of one person in one calendar {which}, {_words(self.relation)}"


@document("window")
@dataclass(frozen=True, slots=True)
class Window:
    """Everything of one person in any ``periods`` consecutive periods of the grid (w-event privacy).

    Where ``every`` is not said the periods are those of the stream or series, whose length nobody stated.

    Args:
        periods: how many.
        relation: of neighbouring datasets.
        every: how long one is.
        timezone: whose clocks days and longer follow; none for seconds to hours.
        begins: a moment at which one begins, on these clocks (UTC's for seconds to hours), where periods are not those
            of the civil calendar: weeks from a Thursday, days from six o'clock.

    >>> print(Window(24))
    everything of one person in any 24 consecutive periods, there or not
    >>> print(Window(24, every="1h"))
    everything of one person in any 24 consecutive hours, there or not
    """

    periods: int
    relation: Relation = "add_remove"
    every: str | None = field(default=None, kw_only=True, metadata=LATER)
    timezone: str | None = field(default=None, kw_only=True, metadata=LATER)
    begins: str | None = field(default=None, kw_only=True, metadata=LATER)
    protects: ClassVar[str] = "everything about any one person within any stretch of that many periods"
    does_not_protect: ClassVar[str] = "what a person does over longer times than the window"

    def __post_init__(self) -> None:
        _check_relation(self.relation)
        check_whole("periods", self.periods)
        if self.every is None:
            for name in ("timezone", "begins"):
                if getattr(self, name) is not None:
                    raise InvalidArgument(name, getattr(self, name), "left out, or given with every=, a length")
            return
        parse_every(self.every)
        _check_timezone(self.every, self.timezone)
        if self.begins is not None:
            object.__setattr__(self, "begins", _check_begins(self.every, self.begins))

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

    def __str__(self) -> str:
        if self.every is None:
            stretch = f"{self.periods} consecutive periods"
        else:
            stretch = words_of(self.every, self.periods).replace(" ", " consecutive ", self.periods > 1)
            stretch += f" in {self.timezone}" if self.timezone else ""
            stretch += f", counted from {self.begins}" if self.begins else ""
        return f"everything of one person in any {stretch}, {_words(self.relation)}"


@document("swap")
@dataclass(frozen=True, slots=True)
class Swap(_Timeless):
    """The order of two values inside one block of one person's series.

    >>> print(Swap(16))
    which of two values came first inside a block of 16 periods
    """

    block: int
    relation: ClassVar[Relation] = "replace"
    protects: ClassVar[str] = "when, within its block of time, a person's value occurred"
    does_not_protect: ClassVar[str] = "which values occurred, how often, and in which block"

    def __post_init__(self) -> None:
        check_whole("block", self.block, least=2)

    def __str__(self) -> str:
        return f"which of two values came first inside a block of {self.block} periods"


@document("report")
@dataclass(frozen=True, slots=True)
class Report(_Timeless):
    """The true value behind one report of one device, against everyone including the collector.

    >>> print(Report())
    the true value behind one report of one device
    """

    relation: ClassVar[Relation] = "replace"
    protects: ClassVar[str] = "the value behind any single report, even from whoever collects it"
    does_not_protect: ClassVar[str] = "that a report was sent, and what many reports of one device show together"

    def __str__(self) -> str:
        return "the true value behind one report of one device"


@document("history")
@dataclass(frozen=True, slots=True)
class History(_Timeless):
    """All values that one device ever reports on, against everyone including the collector.

    With ``changes="same"`` only histories that hold equal values at the same times are alike: when values change and
    return is then not protected. That is all that repeating an answer for a repeated value can promise. With
    ``changes="crossing"`` they must also cross every level at the same times: all that repeating an answer for either
    side of a secret level can promise.

    >>> print(History())
    all values one device ever reports on, replaced by any others
    """

    changes: Changes = "any"
    relation: ClassVar[Relation] = "replace"
    protects: ClassVar[str] = "everything one device ever reports on, even from whoever collects it"

    def __post_init__(self) -> None:
        check_word("changes", self.changes, get_args(Changes))

    @property
    def does_not_protect(self) -> str:
        """What stays open."""
        known = "that the device takes part, and other devices of the same person"
        open_ = {"any": "", "same": "when its values change and return; ", "crossing": "when they cross any level; "}
        return open_[self.changes] + known

    def __str__(self) -> str:
        others = {
            "any": "any others",
            "same": "others that change and return at the same times",
            "crossing": "others that cross every level at the same times",
        }
        return f"all values one device ever reports on, replaced by {others[self.changes]}"


Unit: TypeAlias = Event | User | UserPeriod | Window | Swap | Report | History


def check_unit(name: str, value: object) -> Unit:
    """Return ``value`` if it is a unit of privacy."""
    if not isinstance(value, Unit):
        raise InvalidArgument(name, value, "a unit such as User(), Event(), UserPeriod('1D') or Window(24)")
    return value


def _check_timezone(every: str, timezone: str | None) -> None:
    if timezone is None:
        return
    if width_of(every) is not None:
        raise InvalidArgument("timezone", timezone, f"left out: periods of {every} are the same in every zone")
    check_zone(timezone)


def _check_begins(every: str, begins: object) -> str | None:
    allowed = "a date or time without an offset at which a period begins, such as '2026-01-01' or '2026-01-01T06:00'"
    try:
        wall = dt.datetime.fromisoformat(begins) if isinstance(begins, str) else None
    except ValueError:
        wall = None
    if wall is None or wall.tzinfo is not None or not 1 < wall.year < 9999:
        raise InvalidArgument("begins", begins, allowed)
    if every.endswith(("mo", "Y")) and wall.day > 28:
        raise InvalidArgument("begins", begins, f"on day 1 to 28 for periods of {every}")
    return first_begin(every, wall)


def _check_relation(relation: str) -> None:
    check_word("relation", relation, get_args(Relation))


def _words(relation: Relation) -> str:
    return "there or not" if relation == "add_remove" else "replaced by anything else"
