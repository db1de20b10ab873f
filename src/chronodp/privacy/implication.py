"""At what price a guarantee for one unit is also a guarantee for another.

The price is a number of steps: any two datasets that differ in the wanted unit are joined by that many changes
of the held unit, so group privacy (`chronodp.accounting.enlarge`) turns the held cost into the wanted one. Each unit
knows its own prices; the lemmas stand in ``docs/explanation/proofs/units.md``, of which this is the claim.
"""

from __future__ import annotations

from chronodp.privacy.parameters import check_whole
from chronodp.privacy.units import Facts, Unit, check_unit, uncalled

__all__ = ["price"]


def price(
    held: Unit, wanted: Unit, *, max_rows: int | None = None, horizon: int | None = None, span: int | None = None
) -> int | None:
    """Return how many changes of ``held`` one change of ``wanted`` amounts to, or None if no number suffices.

    Windows of a stated length and calendar periods of a stated zone are compared on the clock, for the years 1973 to
    2100. Where both leave the length or the zone unsaid they are taken to mean the same one; where only one does, and
    it matters, nothing is said. What those protected are called plays no part.

    Args:
        held: the unit a guarantee was given for.
        wanted: the unit it shall be read for.
        max_rows: at most this many rows belong to one person (prices anything from `Event`).
        horizon: periods in the whole series (prices `User` from `Window`), or reports of one device in all (prices
            `History` from `Report`).
        span: periods of the grid in the longest calendar period wanted (prices `UserPeriod` from a `Window` whose
            length is not stated).

    >>> from chronodp.privacy import Event, User, UserPeriod
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
    held, wanted = uncalled(check_unit("held", held)), uncalled(check_unit("wanted", wanted))
    for name, value in (("max_rows", max_rows), ("horizon", horizon), ("span", span)):
        if value is not None:
            check_whole(name, value)
    return 1 if held == wanted else held.price_of(wanted, Facts(max_rows, horizon, span))
