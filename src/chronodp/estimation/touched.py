"""Which periods of a series one unit changes: how many, and whether they lie together."""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.errors import InvalidArgument, MissingBound
from chronodp.privacy import Event, Unit, User, UserPeriod, Window
from chronodp.privacy.parameters import check_whole
from chronodp.privacy.units import check_unit

__all__ = ["Touched", "touched_periods"]


@dataclass(frozen=True, slots=True)
class Touched:
    """The periods that one unit changes.

    Attributes:
        periods: the most of them.
        together: whether they lie within a stretch of so many; otherwise anywhere.
    """

    periods: int
    together: bool


def touched_periods(unit: Unit, *, horizon: int, max_periods: int | None) -> Touched:
    """Return the periods that one unit changes where every period is a number it changes by at most so much.

    An event lies in one period, and under ``replace`` may move to another. A person is in at most ``max_periods``, and
    under ``replace`` may leave these and enter as many others. What lies in a stretch of time stays there.

    >>> touched_periods(User(relation="replace"), horizon=24, max_periods=5)
    Touched(periods=10, together=False)
    """
    check_unit("unit", unit)
    moved = 2 if unit.relation == "replace" else 1
    match unit:
        case Event():
            _refuse_limit(unit, max_periods)
            return Touched(min(moved, horizon), together=moved == 1)
        case Window():
            _refuse_limit(unit, max_periods)
            return Touched(check_whole("periods of the Window", unit.periods, most=horizon), together=True)
        case User() | UserPeriod():
            if max_periods is None:
                why = "say how many periods of one person count" if isinstance(unit, User) else "say how many it holds"
                raise MissingBound("max_periods", f"{why} (1 to {horizon})")
            most = check_whole("max_periods", max_periods, most=horizon)
            if isinstance(unit, UserPeriod):
                return Touched(most, together=True)
            return Touched(min(moved * most, horizon), together=False)
    raise InvalidArgument("unit", str(unit), "Event, User, UserPeriod or Window")


def _refuse_limit(unit: Unit, max_periods: int | None) -> None:
    if max_periods is not None:
        raise InvalidArgument("max_periods", max_periods, f"left out for {unit}")
