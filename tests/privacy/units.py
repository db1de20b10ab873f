"""One of every unit of privacy."""

from __future__ import annotations

from chronodp.privacy import Event, History, Report, Swap, Unit, User, UserPeriod, Window

__all__ = ["EVERY_UNIT"]

EVERY_UNIT: list[Unit] = [
    Event(),
    User(),
    UserPeriod("1D"),
    Window(24),
    Swap(8),
    Report(),
    History(),
    History("same"),
    History("crossing"),
]
