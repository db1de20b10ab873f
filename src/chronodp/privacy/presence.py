"""How much one unit can change who is present: people who were active in the last few periods.

A person is present in a period if any of their active periods lies in the ``window`` periods that end with it. So one
active period makes them present in as many periods as the window has, and their presence is a union of *stays*: runs of
periods, each at least as long as the window where nothing cuts it. Proofs of every line, and which are attained, stand
in ``docs/explanation/proofs/active-people.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from chronodp.errors import InvalidArgument
from chronodp.privacy.calendar import Calendar
from chronodp.privacy.parameters import check_whole
from chronodp.privacy.sensitivity import Sensitivity, exact_sensitivity
from chronodp.privacy.units import RecordUnit

__all__ = ["Presence", "most_stays", "presence_of"]


@dataclass(frozen=True, slots=True)
class Presence:
    """What one unit can change of who is present, over all released periods and places.

    Attributes:
        cells: how many numbers change, each by 1.
        runs: how many runs of periods, each of one sign in one place, they are made of on each side.
        length: how many numbers the runs of one side have together.
        sides: 1, or 2 where some runs are taken away and others are added.
        places: in how many places anything changes.
    """

    cells: int
    runs: int
    length: int
    sides: int
    places: int

    @property
    def sensitivity(self) -> Sensitivity:
        """The most that the numbers change together: each changed one by 1."""
        return exact_sensitivity(Fraction(self.cells), Fraction(self.cells))


def most_stays(horizon: int, window: int) -> int:
    """Return how many stays anyone can have in a place within so many released periods.

    Stays begin more than ``window`` periods apart, and the first may begin ``window - 1`` before the first period.

    >>> most_stays(365, 28), most_stays(365, 7)
    (14, 47)
    """
    return -(-(horizon + window - 1) // (window + 1))


def presence_of(
    unit: RecordUnit,
    *,
    horizon: int,
    window: int,
    calendar: Calendar | None = None,
    max_periods: int | None = None,
    max_stays: int | None = None,
    places: int = 1,
    max_places: int = 1,
) -> Presence:
    """Return what one unit can change of who is present.

    Args:
        unit: who is protected.
        horizon: periods that are released.
        window: periods for which an active one makes a person present, itself included.
        calendar: the periods that are read: those released and ``window - 1`` before them; None if only numbered.
        max_periods: for `User`, how many active periods of a person count; None for all.
        max_stays: for `User`, how many stays of a person count over all places, the first ones; None for all.
        places: how many numbers a period has.
        max_places: in how many places of one period a person's rows count.

    >>> from chronodp.privacy import Event, User, Window
    >>> presence_of(User(), horizon=365, window=7, max_periods=10).cells
    70
    >>> presence_of(Window(3), horizon=365, window=7).cells, presence_of(Event("replace"), horizon=365, window=7).cells
    (9, 14)
    """
    check_whole("horizon", horizon)
    check_whole("window", window)
    read = horizon + window - 1
    check_whole("max_places", max_places, most=places)
    if unit.whole_person:
        return _of_person(unit, horizon, window, max_periods, max_stays, places, max_places)
    if max_stays is not None:
        allowed = f"left out for {unit}: what one such unit holds could move which stays of the person count"
        raise InvalidArgument("max_stays", max_stays, allowed)
    if unit.limited and calendar is None:
        touched = unit.periods_touched(max_periods, horizon=read)
    else:
        touched = unit.periods_touched(max_periods, horizon=read, calendar=calendar)
    moves = unit.summed_on(calendar).relation == "replace"
    if unit.of_rows:  # one row is in one cell, whatever else its person holds; replaced, it leaves one and enters one
        length = min(horizon, window)
        return Presence(min(horizon * places, (1 + moves) * length), 1, length, 1 + moves, min(places, 1 + moves))
    return _of_stretch(touched, moves, horizon, window, places, max_places)


def _of_person(
    unit: RecordUnit,
    horizon: int,
    window: int,
    max_periods: int | None,
    max_stays: int | None,
    places: int,
    max_places: int,
) -> Presence:
    active = horizon + window - 1
    if max_periods is not None:
        active = min(active, check_whole("max_periods", max_periods))
    held = max_places * active  # cells in which the person is active
    at_once = min(places, max_places * min(window, active))  # places in which the person is present in one period
    runs = min(min(places, held) * most_stays(horizon, window), held)
    length = min(horizon * at_once, held * window)
    if max_stays is not None:
        runs = min(runs, check_whole("max_stays", max_stays))
        length = min(length, runs * horizon)
    sides = 2 if unit.relation == "replace" else 1
    return Presence(min(horizon * places, sides * length), runs, length, sides, min(places, sides * held))


def _of_stretch(touched: int, moves: bool, horizon: int, window: int, places: int, max_places: int) -> Presence:
    """What a stretch of so many consecutive periods of one person changes."""
    reached = min(horizon, touched + window - 1)
    held = max_places * touched
    if touched == 1 and moves:
        # In a place where the person is active on both sides nothing changes; else one run comes, or one goes.
        changed = min(places, 2 * max_places)
        return Presence(changed * reached, changed, changed * reached, 1, changed)
    runs = min(min(places, held) * -(-touched // (window + 1)), held)
    length = min(reached * min(places, max_places * min(touched, window)), held * window)
    sides = 2 if moves else 1
    return Presence(min(reached * places, sides * length), runs, length, sides, min(places, sides * held))
