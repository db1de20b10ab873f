"""Who is protected: the units of privacy, each with its neighbouring relation.

A unit fixes which two datasets must look alike. It says nothing about bounds: how many periods of one person
count, or how far a value may reach, belongs to the query (`Bounds`), and budgets are compared without it.

Two relations are offered. ``add_remove``: the unit is present in one dataset and absent from the other.
``replace``: the people on the list are public and stay the same; what the unit holds is replaced by anything
else that the unit could hold, nothing included.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from chronodp.errors import InvalidArgument
from chronodp.privacy.documents import document
from chronodp.privacy.parameters import check_whole

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

_PERIOD = re.compile(r"[1-9][0-9]{0,5}(s|min|h|D|W|mo|Y)")


@document("event")
@dataclass(frozen=True, slots=True)
class Event:
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
class User:
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

    >>> print(UserPeriod("1D"))
    everything of one person in one calendar period (1D), there or not
    """

    every: str
    relation: Relation = "add_remove"
    protects: ClassVar[str] = "everything about any one person within one calendar period"
    does_not_protect: ClassVar[str] = "what repeats over several periods, such as a weekly habit or a lasting change"

    def __post_init__(self) -> None:
        _check_relation(self.relation)
        if not isinstance(self.every, str) or not _PERIOD.fullmatch(self.every):
            raise InvalidArgument(
                "every", self.every, "a calendar period such as '15min', '1h', '1D', '1W', '1mo' or '1Y'"
            )

    def __str__(self) -> str:
        return f"everything of one person in one calendar period ({self.every}), {_words(self.relation)}"


@document("window")
@dataclass(frozen=True, slots=True)
class Window:
    """Everything of one person in any ``periods`` consecutive periods of the grid (w-event privacy).

    >>> print(Window(24))
    everything of one person in any 24 consecutive periods, there or not
    """

    periods: int
    relation: Relation = "add_remove"
    protects: ClassVar[str] = "everything about any one person within any stretch of that many periods"
    does_not_protect: ClassVar[str] = "what a person does over longer times than the window"

    def __post_init__(self) -> None:
        _check_relation(self.relation)
        check_whole("periods", self.periods)

    def __str__(self) -> str:
        return f"everything of one person in any {self.periods} consecutive periods, {_words(self.relation)}"


@document("swap")
@dataclass(frozen=True, slots=True)
class Swap:
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
class Report:
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
class History:
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
        if self.changes not in get_args(Changes):
            raise InvalidArgument("changes", self.changes, "'any', 'same' or 'crossing'")

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


def _check_relation(relation: str) -> None:
    if relation not in get_args(Relation):
        raise InvalidArgument("relation", relation, "'add_remove' or 'replace'")


def _words(relation: Relation) -> str:
    return "there or not" if relation == "add_remove" else "replaced by anything else"
