"""At what price a guarantee for one unit is also a guarantee for another.

The price is a number of steps: any two datasets that differ in the wanted unit are joined by that many changes
of the held unit, so group privacy (`chronodp.accounting.enlarge`) turns the held cost into the wanted one.
"""

from __future__ import annotations

import re

from chronodp.privacy.parameters import check_whole
from chronodp.privacy.units import Event, History, Report, Swap, Unit, User, UserPeriod, Window, check_unit

__all__ = ["price"]

_SECONDS = {"s": 1, "min": 60, "h": 3600}
_MONTHS = {"mo": 1, "Y": 12}
_DAYS = {"D": 1, "W": 7}


def price(
    held: Unit,
    wanted: Unit,
    *,
    max_rows: int | None = None,
    horizon: int | None = None,
    span: int | None = None,
) -> int | None:
    """Return how many changes of ``held`` one change of ``wanted`` amounts to, or None if no number suffices.

    Args:
        held: the unit a guarantee was given for.
        wanted: the unit it shall be read for.
        max_rows: at most this many rows belong to one person (prices anything from `Event`).
        horizon: periods in the whole series (prices `User` from `Window`), or reports of one device in all (prices
            `History` from `Report`).
        span: periods of the grid in the longest calendar period wanted (prices `UserPeriod` from `Window`).

    >>> price(User(), User(relation="replace"))      # remove one person, add another
    2
    >>> price(User(relation="replace"), Event())     # one row less is another set of rows
    1
    >>> price(Event(), User()) is None               # no limit on a person's rows was given
    True
    """
    check_unit("held", held)
    check_unit("wanted", wanted)
    for name, value in (("max_rows", max_rows), ("horizon", horizon), ("span", span)):
        if value is not None:
            check_whole(name, value)
    if held == wanted:
        return 1
    if isinstance(held, Report | History) or isinstance(wanted, Report | History):
        return _of_devices(held, wanted, horizon)
    if isinstance(held, Swap):
        return 1 if isinstance(wanted, Swap) and held.block % wanted.block == 0 else None
    if isinstance(held, Event):
        return _from_event(held, wanted, max_rows)
    extents = _extents(held, wanted, horizon, span)
    if extents is None:
        return None
    if held.relation == "replace":
        # The list of people is public under `replace`: nothing is said of who is on it.
        return None if wanted == User(relation="add_remove") else extents
    return extents if _whole_extents(held, wanted) else 2 * extents


def _of_devices(held: Unit, wanted: Unit, horizon: int | None) -> int | None:
    """Price what is said of devices; a device is no person, who may have several, and the other way round."""
    if held == History("any") and isinstance(wanted, Report | History):
        return 1
    if held == History("same") and wanted == History("crossing"):
        return 1  # equal values lie on one side of every level
    if isinstance(held, Report) and isinstance(wanted, History):
        return horizon
    return None


def _from_event(held: Event, wanted: Unit, max_rows: int | None) -> int | None:
    if held.relation == "replace" or isinstance(wanted, Swap):
        return None
    rows = 1 if isinstance(wanted, Event) else max_rows
    if rows is None:
        return None
    return rows if wanted.relation == "add_remove" else 2 * rows


def _extents(held: User | UserPeriod | Window, wanted: Unit, horizon: int | None, span: int | None) -> int | None:
    """How many extents of the held unit together hold all that the wanted unit can change."""
    if isinstance(held, User):
        return 1
    if isinstance(wanted, Event):
        return 1 if wanted.relation == "add_remove" else 2  # a replaced row may move to another time
    if isinstance(held, UserPeriod):
        return 1 if isinstance(wanted, UserPeriod) and _nests(wanted.every, held.every) else None
    match wanted:
        case Window(periods=periods):
            stretch: int | None = periods
        case UserPeriod():
            stretch = span
        case User():
            stretch = horizon
        case _:
            return 1 if isinstance(wanted, Swap) and wanted.block <= held.periods else 2
    return None if stretch is None else -(-stretch // held.periods)


def _whole_extents(held: User | UserPeriod | Window, wanted: Unit) -> bool:
    """Whether adding or removing the wanted unit only ever adds or removes whole extents of the held one."""
    if wanted.relation == "replace":
        return False
    if isinstance(held, Window):
        return isinstance(wanted, User) or (isinstance(wanted, Window) and wanted.periods >= held.periods)
    return isinstance(wanted, type(held)) and held == wanted


def _nests(inner: str, outer: str) -> bool:
    """Whether every calendar period ``inner`` lies inside one period ``outer``, across clock changes too."""
    inner_count, inner_letter = _parse(inner)
    outer_count, outer_letter = _parse(outer)
    if inner == outer:
        return True
    if inner_letter in _SECONDS:
        seconds = inner_count * _SECONDS[inner_letter]
        if outer_letter in _SECONDS:
            return outer_count * _SECONDS[outer_letter] % seconds == 0
        return 900 % seconds == 0  # hours are UTC's, and zones differ from it by whole quarters of an hour
    if inner_letter in _DAYS:
        if inner_letter == outer_letter:
            return outer_count % inner_count == 0
        return inner == "1D" and outer_letter not in _SECONDS
    if outer_letter in _MONTHS:
        return outer_count * _MONTHS[outer_letter] % (inner_count * _MONTHS[inner_letter]) == 0
    return False


def _parse(every: str) -> tuple[int, str]:
    count, letter = re.fullmatch(r"(\d+)(\D+)", every).groups()  # type: ignore[union-attr]  # checked by UserPeriod
    return int(count), letter
