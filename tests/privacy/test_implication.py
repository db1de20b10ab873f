"""Prices against a search through all small tables of one person, and stretches of time laid out one by one."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise, product
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from tests.conftest import SCALE

from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    Calendar,
    Event,
    History,
    Relation,
    Report,
    Swap,
    Unit,
    User,
    UserPeriod,
    Window,
    dump,
    load,
    price,
)
from chronodp.privacy.clock import instant_of
from chronodp.privacy.stretches import Stretches, touching
from chronodp.privacy.unit_text import parse_unit

RELATIONS: tuple[Relation, ...] = ("add_remove", "replace")
PERIODS = 4
HALVES = {"1h": 1, "1D": 2}  # periods of the grid in a calendar period of this toy calendar
VALUES = 2
ROWS = [(period, value) for period in range(PERIODS) for value in range(VALUES)]
# A table of one person is a number whose bits are the rows that it holds; neighbours are pairs of tables.
Pairs = NDArray[np.bool_]


def tables(rows: int) -> NDArray[np.int64]:
    return np.arange(2**rows)


def mask(rows: Iterable[int]) -> int:
    return sum(1 << row for row in rows)


def alike_outside(rows: int, stretches: Sequence[int], relation: str) -> Pairs:
    """Tables that differ within one stretch (a mask) alone; without replacing, one of the two holds nothing there."""
    before, after = tables(rows)[:, None], tables(rows)
    found = np.zeros((2**rows, 2**rows), dtype=np.bool_)
    for stretch in stretches:
        near = (before ^ after) & ~stretch == 0
        found |= near if relation == "replace" else near & ((before & stretch == 0) | (after & stretch == 0))
    np.fill_diagonal(found, val=False)
    return found


def most_steps(near: Pairs, wanted: Pairs, limit: int) -> int:
    """The most steps to neighbours in ``near`` that a pair of ``wanted`` takes; above ``limit`` if some takes more."""
    links = near.astype(np.float32)
    reached, frontier, left = np.eye(len(near), dtype=np.bool_) | near, near, wanted
    if not left.any() or not limit:
        return limit + 1 if left.any() else 0
    most = 1 if (left & near).any() else 0
    for step in range(2, limit + 1):
        far = (left & ~reached).any(axis=1)
        if not far.any():
            return most
        reached, frontier, left = reached[far], frontier[far], left[far] & ~reached[far]
        frontier = (frontier.astype(np.float32) @ links > 0) & ~reached
        reached = reached | frontier
        if (left & frontier).any():
            most = step
    return limit + 1 if (left & ~reached).any() else most


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
    told = """
        user user/replace 2        user/replace user -        user event 2        user/replace event/replace 1
        user/replace window:7 1    event user -               event/replace event -               window:24 user -
        user_period:1D user_period:15min 2                    user_period:1D/replace user_period:15min 1
        user_period:1h user_period:1D -    user_period:1D user_period:7h -    user_period:1mo/replace user_period:1D 1
        user_period:1Y/replace user_period:3mo 1    user_period:1mo user_period:1W -    user_period:1D user -
        swap:8 swap:4 1    swap:8 swap:3 -    swap:8 event -    report report 1    report user -    user report -
        history history:same 1    history:same history -    history:same history:crossing 1
        history:crossing history:same -    history report 1    history:same report -
        report history -    history user/replace -    user/replace history -
    """
    check_prices(told, subtests)


def check_prices(told: str, subtests: pytest.Subtests) -> None:
    """Compare prices with a table in words: what is held, what is wanted, and how many steps, or a dash for none."""
    words = iter(told.split())
    for held, wanted, steps in zip(words, words, words, strict=True):
        with subtests.test(held=held, wanted=wanted, steps=steps):
            assert price(parse_unit(held), parse_unit(wanted)) == (None if steps == "-" else int(steps))


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


QUARTER = 900_000_000
ZONES = [
    "UTC",
    "Asia/Tokyo",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Adelaide",
    "Australia/Brisbane",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Pacific/Kiritimati",
    "Pacific/Apia",
]
DAYS = [dt.date(2026, 1, 3), dt.date(2026, 3, 28), dt.date(2026, 4, 4), dt.date(2026, 10, 24), dt.date(2026, 10, 31)]
DAYS += [dt.date(2011, 12, 29)]  # Samoa left out the next one


@cache
def days(zone: str, around: dt.date) -> list[tuple[int, int]]:
    """Civil days about a date, in microseconds, laid out by the plainest arithmetic; those left out are left out."""
    midnights = [dt.datetime.combine(around + dt.timedelta(days=offset), dt.time()) for offset in range(-3, 5)]
    edges = [instant_of(wall, ZoneInfo(zone)) for wall in midnights]
    return [(first, end) for first, end in pairwise(edges) if end > first]


# A zone with itself, and two neighbours in the list: each zone stands on both sides of others.
@pytest.mark.slow
def test_no_day_touches_more_days_of_another_zone_than_is_counted(subtests: pytest.Subtests) -> None:
    for wanted, held in [
        (wanted, held)
        for (place, wanted), (other, held) in product(enumerate(ZONES), repeat=2)
        if SCALE >= 1 or (other - place) % len(ZONES) in (0, 1, 3)
    ]:
        with subtests.test(wanted=wanted, held=held):
            found = touching(Stretches(1, "1D", held, None), Stretches(1, "1D", wanted, None))
            assert found is not None
            for around in DAYS:
                others = days(held, around)
                for first, end in days(wanted, around)[1:-1]:
                    touched = sum(one < end and first < other for one, other in others)
                    assert 1 <= touched <= found.most
                    whole = {first, end} <= {edge for one in others for edge in one}
                    assert whole or not found.aligned


@pytest.mark.slow
def test_a_day_of_25_hours_can_touch_three_days_elsewhere() -> None:
    # Adelaide's last day of summer runs from 13:30 to 14:30 UTC; Brisbane's days begin at 14:00.
    found = touching(Stretches(1, "1D", "Australia/Brisbane", None), Stretches(1, "1D", "Australia/Adelaide", None))
    assert found is not None
    assert found.most == 3
    tokyo = touching(Stretches(1, "1D", "Asia/Tokyo", None), Stretches(1, "1D", "UTC", None))
    assert tokyo is not None
    assert (tokyo.least, tokyo.most, tokyo.aligned) == (2, 2, False)


@given(
    st.sampled_from(["1min", "7min", "15min", "1h", "2h", "5h", "24h"]),
    st.sampled_from(["1min", "10min", "15min", "1h", "3h", "24h"]),
    st.integers(1, 9),
    st.integers(0, 100),
    st.integers(0, 100),
)
def test_fixed_lengths_against_every_place_of_a_stretch(
    held: str, wanted: str, periods: int, early: int, late: int
) -> None:
    def minutes(every: str) -> int:
        return int(every.rstrip("minh")) * (60 if every.endswith("h") else 1)

    width, length = minutes(held), minutes(wanted)
    phases = [(early % width, width), (late % length, length)]
    begins = [
        Window(1, every=f"{size}min", begins=(dt.datetime(1970, 1, 1) + dt.timedelta(minutes=phase)).isoformat()).begins
        for phase, size in phases
    ]
    found = touching(Stretches(1, f"{width}min", None, begins[0]), Stretches(periods, f"{length}min", None, begins[1]))
    assert found is not None
    counts, whole = [], []
    for place in range(width):  # the pattern repeats after width stretches
        start = phases[1][0] + place * length - phases[0][0]
        end = start + periods * length
        counts.append((end - 1) // width - start // width + 1)
        whole.append(start % width == 0 and end % width == 0)
    assert (found.least, found.most, found.aligned) == (min(counts), max(counts), all(whole))


@pytest.mark.slow
def test_windows_of_hours_against_days_one_by_one(subtests: pytest.Subtests) -> None:
    for periods, every, zone in product(
        [1, 4, 25], ["15min", "30min", "1h", "6h"], ["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu"]
    ):
        with subtests.test(periods=periods, every=every, zone=zone):
            hours, day = Stretches(periods, every, None, None), Stretches(1, "1D", zone, None)
            width = {"15min": 1, "30min": 2, "1h": 4, "6h": 24}[every] * QUARTER
            within, across = touching(hours, day), touching(day, hours)
            assert within is not None
            assert across is not None
            seen = set()
            for around in DAYS:
                civil = days(zone, around)
                for first, end in civil[2:-2]:
                    touched = (end - 1) // width - first // width + 1
                    assert within.least <= touched <= within.most
                    assert not within.aligned or (first % width == 0 and end % width == 0)
                start = (civil[2][0] // width - 30) * width
                for place in range(60):
                    begin = start + place * width
                    stop = begin + periods * width
                    seen.add(sum(one < stop and begin < other for one, other in civil if one))
            assert max(seen) <= across.most


QUARTERS = range(6)  # six quarters of an hour; the grids below cut them like days of zones cut each other


def steps_between(held: list[range], wanted: list[range], held_relation: str, wanted_relation: str, limit: int) -> int:
    """The most steps of held stretches that one change of a wanted stretch takes, by breadth-first search."""
    near, far = (
        alike_outside(len(QUARTERS), [mask(stretch) for stretch in stretches], relation)
        for stretches, relation in ((held, held_relation), (wanted, wanted_relation))
    )
    return most_steps(near, far, limit)


def test_no_change_on_the_clock_takes_more_steps_than_its_price(subtests: pytest.Subtests) -> None:
    pairs: list[tuple[UserPeriod | Window, UserPeriod | Window]] = [
        (UserPeriod("45min"), Window(1, every="45min", begins="1970-01-01T00:15")),  # as days of two zones
        (UserPeriod("45min"), Window(1, every="30min")),
        (UserPeriod("30min"), UserPeriod("90min")),
        (UserPeriod("15min"), UserPeriod("45min")),
        (Window(2, every="15min"), UserPeriod("45min")),
        (Window(3, every="15min"), UserPeriod("30min")),
        (Window(2, every="30min"), Window(3, every="15min")),
        (Window(2, every="30min"), Window(2, every="30min", begins="1970-01-01T00:15")),
    ]
    for (held, wanted), relations in product(pairs, list(product(RELATIONS, RELATIONS))):
        with subtests.test(held=held, wanted=wanted, relations=relations):
            one, other = replace(held, relation=relations[0]), replace(wanted, relation=relations[1])
            stated = price(one, other)
            assert stated is not None
            found = steps_between(laid_out(one), laid_out(other), *relations, limit=stated)
            assert found <= stated


def laid_out(unit: UserPeriod | Window) -> list[range]:
    """The stretches of a unit that lie within the rows or across their ends."""
    stretches = unit.stretches
    assert stretches is not None
    size = int(stretches.every.removesuffix("min")) // 15
    first = stretches.phase // QUARTER - 4 * size
    found = [range(start, start + stretches.periods * size) for start in range(first, len(QUARTERS), size)]
    return [range(max(0, one.start), min(len(QUARTERS), one.stop)) for one in found if one.stop > 0]


def day(zone: str, relation: Relation = "add_remove") -> UserPeriod:
    return UserPeriod("1D", relation, timezone=zone)


@pytest.mark.slow
def test_prices_across_lengths_and_zones(subtests: pytest.Subtests) -> None:
    told = """
        user_period:1D@Asia/Tokyo         user_period:1D@UTC  4
        user_period:1D@Asia/Tokyo/replace user_period:1D@UTC  2
        user_period:1D@Asia/Kolkata       user_period:1D@Asia/Calcutta  1
        user_period:1D@Australia/Brisbane/replace user_period:1D@Australia/Adelaide/replace  3
        user_period:1h user_period:1D@Europe/Berlin 25    user_period:1h user_period:1D@UTC 24
        user_period:1h/replace user_period:1D@Asia/Kolkata 25    user_period:1D@Asia/Tokyo/replace user_period:15min 1
        user_period:1mo@Asia/Tokyo/replace user_period:1D@Asia/Tokyo 1
        user_period:1mo@UTC/replace user_period:1D@Asia/Tokyo 2
        window:24@1min window:24@1D@UTC 1440    window:24@1D@UTC window:24@1min 2    window:24@1h window:1440@1min 4
        window:1440@1min window:24@1h 1    window:24@1h window:24@60min 1    window:24@1h user_period:1D@UTC 1
        window:24@1h user_period:1D@Europe/Berlin 2    window:25@1h/replace user_period:1D@Europe/Berlin 1
        window:24 window:24@1h -    window:24@1h window:24 -    window:7@1D window:7@1D 1
        window:7@1D window:7@1D@UTC -    user_period:1D user_period:1D@UTC -    user_period:1D@UTC user_period:1D -
        window:24@1h user_period:1D -    window:24@1h swap:16 -    window:24 swap:16 2    window:24@1h event 2
        user window:24@1h 2    user_period:9000Y@UTC user_period:1D@Asia/Tokyo -
    """
    assert price(Window(24, every="1h"), Window(24, every="1h", begins="2026-01-01T00:30")) == 4
    check_prices(told, subtests)


def test_a_grid_gives_a_unit_its_meaning() -> None:
    hours = Calendar("1h", "2026-01-01", "2026-01-03", "Europe/Berlin")
    assert Window(24).on(hours) == Window(24, every="1h")
    assert Window(24, every="1h").on(hours) == Window(24, every="1h")
    assert UserPeriod("1D").on(hours) == day("Europe/Berlin")
    assert day("Asia/Tokyo").on(hours) == day("Asia/Tokyo")
    assert UserPeriod("15min").on(hours) == UserPeriod("15min")
    for unit in (Event(), User(), Swap(4)):
        assert unit.on(hours) == unit
    weeks = Calendar("1W", "2026-01-01", "2026-01-29")
    assert Window(2, every="1W", timezone="UTC", begins="1970-01-01") == Window(2).on(weeks)
    assert Window(2).on(None) == Window(2)
    assert Window(24).on(Calendar("1h", "2026-01-01", "2026-01-03", "Asia/Kolkata")).begins == "1970-01-01T00:30:00"
    assert Window(3).on(Calendar("1mo", "2026-02-15", "2026-08-15")).begins == "1970-01-15"
    assert Window(2).on(Calendar("1Y", "2026-04-01", "2030-04-01")).begins == "1970-04-01"
    with pytest.raises(InvalidArgument, match=r"unit must be of periods of this grid, .* 24 consecutive hours"):
        Window(24, every="1D", timezone="UTC").on(hours)


def test_grids_that_begin_together_are_the_same_grid(subtests: pytest.Subtests) -> None:
    for zone, every in product(
        ["UTC", "Europe/Berlin", "Asia/Kolkata"], ["1s", "15min", "1h", "5h", "1D", "2D", "1W", "1mo", "5mo", "1Y"]
    ):
        with subtests.test(zone=zone, every=every):
            first = Calendar.from_length(every, "2026-01-05T06:00", 7, zone)
            later = Calendar.from_length(every, first.starts()[3], 3, zone)
            assert first.begins == later.begins
            assert Window(2).on(first) == Window(2).on(later)
            assert load(dump(Window(2).on(first)), Unit) == Window(2).on(first)


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (Window(24, every="1h"), "any 24 consecutive hours, added"),
        (Window(1, every="1h"), "any hour, added"),
        (Window(4, every="15min"), "any 4 consecutive periods of 15 minutes, added"),
        (Window(7, every="1D", timezone="Europe/Berlin"), "any 7 consecutive days in Europe/Berlin, added"),
        (Window(4, every="1W", timezone="UTC", begins="2026-01-01"), "weeks in UTC, counted from 1970-01-01, added"),
        (day("Asia/Tokyo"), "in one calendar day in Asia/Tokyo, added"),
        (UserPeriod("2W", timezone="UTC"), "in one calendar period of 2 weeks in UTC, added"),
    ],
)
def test_words_say_how_long_and_where(unit: Unit, words: str) -> None:
    assert words in str(unit)


def test_texts_name_units_with_their_meaning() -> None:
    for text, unit in [
        ("window:24@1h", Window(24, every="1h")),
        ("window:24@1h/replace", Window(24, "replace", every="1h")),
        ("window:7@1D@Europe/Berlin/replace", Window(7, "replace", every="1D", timezone="Europe/Berlin")),
        ("window:4@1W@UTC@2026-01-01", Window(4, every="1W", timezone="UTC", begins="1970-01-01")),
        ("user_period:1D@Asia/Tokyo", day("Asia/Tokyo")),
        ("user_period:1D@America/Argentina/Ushuaia/add_remove", day("America/Argentina/Ushuaia")),
        ("user_period:1D/replace", UserPeriod("1D", "replace")),
    ]:
        assert parse_unit(text) == unit, text
    for text, why in [
        ("window:24@", "every must be"),
        ("window:24@1x", "every must be"),
        ("window:24@1h@UTC", "timezone must be left out"),
        ("user_period:1h@Asia/Tokyo", "timezone must be left out"),
        ("user_period:1D@Asia/Nowhere", "timezone must be the name"),
        ("window:7@1D@UTC@yesterday", "begins must be a date or time"),
        ("window:3@1mo@UTC@2026-01-31", "begins must be on day 1 to 28"),
        ("window:²@1h", "periods must be|periods"),
    ]:
        with pytest.raises(InvalidArgument, match=why):
            parse_unit(text)
    with pytest.raises(InvalidArgument, match="timezone must be left out, or given with every="):
        Window(24, timezone="UTC")
    with pytest.raises(InvalidArgument, match="begins must be left out, or given with every="):
        Window(24, begins="2026-01-01")


def charged_alike(held: Unit, wanted: Unit) -> int | None:
    """A comparison that sees neither lengths nor zones."""
    return price(held.unsaid(), wanted.unsaid())


def test_a_comparison_that_sees_neither_lengths_nor_zones_is_caught() -> None:
    """Days of two zones as one: two steps are needed where it says one."""
    held, wanted = day("Asia/Tokyo", "replace"), day("UTC", "replace")
    cut: list[UserPeriod | Window] = [
        UserPeriod("45min", "replace"),
        Window(1, "replace", every="45min", begins="1970-01-01T00:15"),
    ]
    needed = steps_between(laid_out(cut[0]), laid_out(cut[1]), "replace", "replace", limit=9)
    said = charged_alike(held, wanted)
    assert said is not None
    assert said < needed == price(held, wanted)
    minutes, long = Window(24, every="1min"), Window(24, every="1D", timezone="UTC")
    assert charged_alike(minutes, long) == 1
    assert price(minutes, long) == 24 * 60
