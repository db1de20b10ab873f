"""At what price a guarantee for one unit is also a guarantee for another.

The price is a number of steps: any two datasets that differ in the wanted unit are joined by that many changes
of the held unit, so group privacy (`chronodp.accounting.enlarge`) turns the held cost into the wanted one.
"""

from __future__ import annotations

from chronodp.privacy.parameters import check_whole
from chronodp.privacy.periods import parse_every, width_of
from chronodp.privacy.stretches import Touch, touching
from chronodp.privacy.units import Event, History, Report, Swap, Unit, User, UserPeriod, Window, check_unit

__all__ = ["price"]

_MONTHS = {"mo": 1, "Y": 12}
_DAYS = {"D": 1, "W": 7}
_QUARTER = 900_000_000  # microseconds; zones have differed from UTC by whole quarters of an hour since 1972


def price(
    held: Unit,
    wanted: Unit,
    *,
    max_rows: int | None = None,
    horizon: int | None = None,
    span: int | None = None,
) -> int | None:
    """Return how many changes of ``held`` one change of ``wanted`` amounts to, or None if no number suffices.

    Windows of a stated length and calendar periods of a stated zone are compared on the clock, for the years 1973 to
    2100. Where both leave the length or the zone unsaid they are taken to mean the same one; where only one does, and
    it matters, nothing is said.

    Args:
        held: the unit a guarantee was given for.
        wanted: the unit it shall be read for.
        max_rows: at most this many rows belong to one person (prices anything from `Event`).
        horizon: periods in the whole series (prices `User` from `Window`), or reports of one device in all (prices
            `History` from `Report`).
        span: periods of the grid in the longest calendar period wanted (prices `UserPeriod` from a `Window` whose
            length is not stated).

    >>> price(User(), User(relation="replace"))      # remove one person, add another
    2
    >>> price(User(relation="replace"), Event())     # one row less is another set of rows
    1
    >>> price(Event(), User()) is None               # no limit on a person's rows was given
    True
    >>> day, tokyo = (UserPeriod("1D", relation="replace", timezone=zone) for zone in ("UTC", "Asia/Tokyo"))
    >>> price(tokyo, day)                            # a day of UTC touches two of Tokyo
    2
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
    if isinstance(held, UserPeriod | Window) and isinstance(wanted, UserPeriod | Window):
        touch = _touch(held, wanted, span)
        return None if touch is None else _covering(held, wanted, touch)
    extents = _extents(held, wanted, horizon)
    if extents is None:
        return None
    if held.relation == "replace":
        # The list of people is public under `replace`: nothing is said of who is on it.
        return None if wanted == User(relation="add_remove") else extents
    return extents if _whole_extents(held, wanted) else 2 * extents


def _covering(held: UserPeriod | Window, wanted: UserPeriod | Window, touch: Touch) -> int:
    """Return the steps that cover a wanted stretch with held ones, given how many held periods it touches."""
    periods = held.periods if isinstance(held, Window) else 1
    extents = -(-touch.most // periods)
    if held.relation == "replace":
        return extents
    if wanted.relation == "replace" or not touch.aligned:
        return 2 * extents
    # Stretches that cut no period are removed by held ones inside them, which may overlap; shorter ones are a part.
    return max(extents if touch.most >= periods else 0, 2 if touch.least < periods else 0)


def _touch(held: UserPeriod | Window, wanted: UserPeriod | Window, span: int | None) -> Touch | None:
    """Return how many periods of the held unit's grid a wanted stretch touches; None if that is not known."""
    if held.stretches is not None and wanted.stretches is not None:
        return touching(held.stretches, wanted.stretches)
    if isinstance(held, Window) and isinstance(wanted, Window):
        same = (held.every, held.timezone, held.begins) == (wanted.every, wanted.timezone, wanted.begins)
        return Touch(wanted.periods, wanted.periods, aligned=True) if same else None
    if isinstance(held, Window):
        return Touch(1, span, aligned=False) if held.every is None and span is not None else None
    if isinstance(wanted, Window) or held.timezone != wanted.timezone or not _nests(wanted.every, held.every):
        return None
    return Touch(1, 1, aligned=held.every == wanted.every)


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


def _extents(held: User | UserPeriod | Window, wanted: Unit, horizon: int | None) -> int | None:
    """How many extents of the held unit together hold all that a wanted unit without a clock can change."""
    if isinstance(held, User):
        return 1
    if isinstance(wanted, Event):
        return 1 if wanted.relation == "add_remove" else 2  # a replaced row may move to another time
    if isinstance(held, UserPeriod):
        return None
    if isinstance(wanted, User):
        return None if horizon is None else -(-horizon // held.periods)
    if not isinstance(wanted, Swap) or held.every is not None:  # a block has periods of a length that is not stated
        return None
    return 1 if wanted.block <= held.periods else 2


def _whole_extents(held: User | UserPeriod | Window, wanted: Unit) -> bool:
    """Whether adding or removing the wanted unit only ever adds or removes whole extents of the held one."""
    return wanted.relation == "add_remove" and isinstance(wanted, User) and isinstance(held, User | Window)


def _nests(inner: str, outer: str) -> bool:
    """Whether every calendar period ``inner`` lies inside one period ``outer`` of a zone that nobody stated."""
    inner_count, inner_letter = parse_every(inner)
    outer_count, outer_letter = parse_every(outer)
    width = width_of(inner)
    if inner == outer:
        return True
    if width is not None:
        return _QUARTER % width == 0  # these are UTC's
    if inner_letter in _DAYS:
        if inner_letter == outer_letter:
            return outer_count % inner_count == 0
        return inner == "1D" and width_of(outer) is None
    if outer_letter in _MONTHS:
        return outer_count * _MONTHS[outer_letter] % (inner_count * _MONTHS[inner_letter]) == 0
    return False
