"""Small random tables and their neighbours, for every unit and relation."""

from __future__ import annotations

import bisect
import random
from collections.abc import Callable

from chronodp.engines import Record
from chronodp.privacy import Calendar, Unit, User, UserPeriod, Window
from chronodp.privacy.units import Event

PEOPLE = ("ann", "bo", "cy")
REGIONS = ("north", "south", "elsewhere")
_NUMBERS = (-1e300, -7.0, -2.0, -0.3, 0.0, 0.1, 1.0, 2.0, 3.0, 7.0, 1e300, float("inf"), float("nan"), None)


def random_world(chance: random.Random, calendar: Calendar, *, most: int = 24) -> list[Record]:
    """Return rows of a few people, many of them at the ends of what is allowed."""
    return [_row(chance, calendar, chance.choice(PEOPLE)) for _ in range(chance.randrange(most))]


def neighbour(chance: random.Random, world: list[Record], calendar: Calendar, unit: Unit) -> list[Record]:
    """Return a table that differs in one unit."""
    person = chance.choice(PEOPLE)
    replaces = unit.relation == "replace"
    if isinstance(unit, Event):
        if not world:
            return [] if replaces else [_row(chance, calendar, person)]
        index = chance.randrange(len(world))
        owner = world[index].person
        new = [_row(chance, calendar, owner)] if replaces else []
        return [*world[:index], *new, *world[index + 1 :]]
    inside = stretch(chance, calendar, unit)
    kept = [row for row in world if row.person != person or not inside(row.instant)]
    if not replaces:
        return kept
    drawn = [_row(chance, calendar, person) for _ in range(chance.randrange(24))]
    return kept + [row for row in drawn if inside(row.instant)]


def _row(chance: random.Random, calendar: Calendar, person: str | None) -> Record:
    first, last = int(calendar.edges[0]), int(calendar.edges[-1])
    instant = chance.randrange(first, last) if chance.random() < 0.95 else chance.choice([first - 1, last, None])
    number = chance.choice(_NUMBERS) if chance.random() < 0.8 else chance.uniform(-4.0, 4.0)
    return Record(person, instant, number, (chance.choice(REGIONS),))


def stretch(chance: random.Random, calendar: Calendar, unit: Unit) -> Callable[[int | None], bool]:
    """Return whether an instant belongs to the stretch of time that is one unit of a person."""
    if isinstance(unit, User):
        return lambda _: True
    if isinstance(unit, Window):
        first = chance.randrange(len(calendar) - unit.periods + 1)
        low, high = int(calendar.edges[first]), int(calendar.edges[first + unit.periods])
        return lambda instant: instant is not None and low <= instant < high
    if not isinstance(unit, UserPeriod):
        raise TypeError(unit)
    edges = list(calendar.civil_edges(unit.every))
    wanted = chance.randrange(len(edges) - 1)
    return lambda instant: instant is not None and bisect.bisect_right(edges, instant) - 1 == wanted
