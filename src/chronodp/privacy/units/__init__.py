"""Who is protected: the units of privacy, each with its neighbouring relation.

A unit fixes which two datasets must look alike. It says nothing about bounds: how many periods of one person
count, or how far a value may reach, belongs to the query (`Bounds`), and budgets are compared without it.

Units of time have a meaning on a clock: how long the periods of a `Window` are, in which zone a `UserPeriod` is a day.
They may be written without it. ``unit.on(calendar)`` is the unit as a grid gives it its meaning, and that is what is
claimed, charged and certified; what is said of no grid stays unsaid, and budgets do not mix the two.
"""

from __future__ import annotations

from chronodp.errors import InvalidArgument
from chronodp.privacy.units.base import Facts, KeyBlocks, PeriodBlocks, RecordUnit, Relation, StretchUnit, Unit
from chronodp.privacy.units.called import uncalled
from chronodp.privacy.units.devices import Changes, History, Report
from chronodp.privacy.units.event import Event
from chronodp.privacy.units.swap import Swap
from chronodp.privacy.units.user import User
from chronodp.privacy.units.user_period import UserPeriod
from chronodp.privacy.units.window import Window

__all__ = [
    "Changes",
    "Event",
    "Facts",
    "History",
    "KeyBlocks",
    "PeriodBlocks",
    "RecordUnit",
    "Relation",
    "Report",
    "StretchUnit",
    "Swap",
    "Unit",
    "User",
    "UserPeriod",
    "Window",
    "check_record_unit",
    "check_unit",
    "uncalled",
]


def check_unit(name: str, value: object) -> Unit:
    """Return ``value`` if it is a unit of privacy."""
    if not isinstance(value, Unit):
        raise InvalidArgument(name, value, "a unit such as User(), Event(), UserPeriod('1D') or Window(24)")
    return value


def check_record_unit(name: str, value: object) -> RecordUnit:
    """Return ``value`` if it is a unit of tables of records and of streams made of one."""
    if not isinstance(value, RecordUnit):
        shown = str(value) if isinstance(value, Unit) else value
        raise InvalidArgument(name, shown, "Event, User, UserPeriod or Window")
    return value
