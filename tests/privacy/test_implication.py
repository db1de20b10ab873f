"""Prices against a breadth-first search through all small tables of one person."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from tests.privacy.walking import Pairs, alike_outside, mask, most_steps, tables

from chronodp.errors import InvalidArgument
from chronodp.privacy import Event, History, Relation, Report, Swap, Unit, User, UserPeriod, Window, price

PERIODS = 4
HALVES = {"1h": 1, "1D": 2}  # periods of the grid in a calendar period of this toy calendar
VALUES = 2
RELATIONS: tuple[Relation, ...] = ("add_remove", "replace")
ROWS = [(period, value) for period in range(PERIODS) for value in range(VALUES)]


def stretches(unit: Unit) -> list[range]:
    match unit:
        case User():
            return [range(PERIODS)]
        case UserPeriod(every):
            length = HALVES[every]
            return [range(start, start + length) for start in range(0, PERIODS, length)]
        case Window(periods):
            return [range(start, start + periods) for start in range(PERIODS - periods + 1)]
    raise AssertionError


@cache
def neighbours(unit: Unit) -> Pairs:
    """All pairs of tables of one person that the unit tells apart no more than it may."""
    before, after = tables(len(ROWS))[:, None], tables(len(ROWS))
    if isinstance(unit, Event):
        differing, size = np.bitwise_count(before ^ after), np.bitwise_count(after)
        if unit.relation == "add_remove":
            return np.asarray(differing == 1)
        return np.asarray((differing == 2) & (size == size[:, None]))
    if isinstance(unit, Swap):
        found = np.zeros((len(after), len(after)), dtype=np.bool_)
        for start in range(0, PERIODS, unit.block):
            for one, two in combinations(range(start, min(start + unit.block, PERIODS)), 2):
                moved = {one: two, two: one}
                places = [ROWS.index((moved.get(period, period), value)) for period, value in ROWS]
                found[after, sum((after >> row & 1) << place for row, place in enumerate(places))] = True
        np.fill_diagonal(found, val=False)
        return found
    masks = [mask(row for row, (period, _) in enumerate(ROWS) if period in stretch) for stretch in stretches(unit)]
    return alike_outside(len(ROWS), masks, unit.relation)


def farthest(held: Unit, wanted: Unit, limit: int) -> int:
    """The most steps of ``held`` that one step of ``wanted`` takes; above ``limit`` if some takes more."""
    return most_steps(neighbours(held), neighbours(wanted), limit)


UNITS: list[Unit] = [
    *(Event(relation) for relation in RELATIONS),
    *(User(relation) for relation in RELATIONS),
    *(UserPeriod(every, relation) for every in HALVES for relation in RELATIONS),
    *(Window(periods, relation) for periods in (1, 2, 3) for relation in RELATIONS),
    Swap(2),
    Swap(4),
]


@pytest.mark.slow
def test_no_two_neighbours_are_farther_apart_than_the_price(subtests: pytest.Subtests) -> None:
    for held in UNITS:
        with subtests.test(held=held):
            tight = 0
            for wanted in UNITS:
                span = HALVES[wanted.every] if isinstance(wanted, UserPeriod) else None
                stated = price(held, wanted, max_rows=len(ROWS), horizon=PERIODS, span=span)
                if stated is None:
                    continue
                found = farthest(held, wanted, stated)
                assert found <= stated, (held, wanted)
                tight += found == stated
            assert tight >= 1


def test_prices_people_ask_for(subtests: pytest.Subtests) -> None:
    for held, wanted, steps in [
        (User(), User(relation="replace"), 2),
        (User(relation="replace"), User(), None),
        (User(), Event(), 2),
        (User(relation="replace"), Event(relation="replace"), 1),
        (User(relation="replace"), Window(7), 1),
        (Event(), User(), None),
        (Event(relation="replace"), Event(), None),
        (Window(24), User(), None),
        (UserPeriod("1D"), UserPeriod("15min"), 2),
        (UserPeriod("1D", "replace"), UserPeriod("15min"), 1),
        (UserPeriod("1h"), UserPeriod("1D"), None),
        (UserPeriod("1D"), UserPeriod("7h"), None),
        (UserPeriod("1mo", "replace"), UserPeriod("1D"), 1),
        (UserPeriod("1Y", "replace"), UserPeriod("3mo"), 1),
        (UserPeriod("1mo"), UserPeriod("1W"), None),
        (UserPeriod("1D"), User(), None),
        (Swap(8), Swap(4), 1),
        (Swap(8), Swap(3), None),
        (Swap(8), Event(), None),
        (Report(), Report(), 1),
        (Report(), User(), None),
        (User(), Report(), None),
        (History(), History("same"), 1),
        (History("same"), History(), None),
        (History("same"), History("crossing"), 1),
        (History("crossing"), History("same"), None),
        (History(), Report(), 1),
        (History("same"), Report(), None),
        (Report(), History(), None),
        (History(), User("replace"), None),
        (User("replace"), History(), None),
    ]:
        with subtests.test(held=held, wanted=wanted, steps=steps):
            assert price(held, wanted) == steps


def alike(unit: Unit, history: tuple[int, ...]) -> frozenset[tuple[int, ...]]:
    """Histories that differ from one of three reports on three values in one unit."""
    found = set()
    for other in product(range(3), repeat=3):
        pattern = [other.index(value) for value in other] == [history.index(value) for value in history]
        match unit:
            case Report():
                near = sum(one != two for one, two in zip(history, other, strict=True)) == 1
            case History("same"):
                near = pattern
            case History("crossing"):
                near = all(
                    sides(history, level) in (sides(other, level), sides(other, level)[::-1]) for level in range(1, 3)
                )
            case _:
                near = True
        if near and other != history:
            found.add(other)
    return frozenset(found)


def sides(history: tuple[int, ...], level: int) -> tuple[frozenset[int], frozenset[int]]:
    below = frozenset(place for place, value in enumerate(history) if value < level)
    return below, frozenset(range(len(history))) - below


DEVICES: list[Unit] = [Report(), History(), History("same"), History("crossing")]


def test_prices_of_devices_against_every_small_history(subtests: pytest.Subtests) -> None:
    for wanted, held in product(DEVICES, DEVICES):
        with subtests.test(wanted=wanted, held=held):
            stated = price(held, wanted, horizon=3)
            worst = 0
            for history in product(range(3), repeat=3):
                reached, steps = {history}, 0
                targets = alike(wanted, history)
                while not targets <= reached and steps < 9:
                    reached |= {after for before in reached for after in alike(held, before)}
                    steps += 1
                worst = max(worst, steps)
            assert worst == (stated if stated is not None else 9)


def test_a_longer_stretch_is_covered_by_windows() -> None:
    assert price(Window(24), User(), horizon=100) == 5
    assert price(Window(24, "replace"), Window(25)) == 2
    assert price(Event(), User("replace"), max_rows=10) == 20
    with pytest.raises(InvalidArgument, match="held must be a unit"):
        price("user", User())  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="horizon"):
        price(Window(24), User(), horizon=0)
