"""Who was active lately: how many numbers one unit moves, against every pair of neighbours of a short series."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Event, User, UserPeriod, Window, most_stays, presence_of, times_as_long
from chronodp.privacy.units import RecordUnit

GOLDEN = Path(__file__).parents[1] / "golden" / "published" / "active_people.json"
Active = frozenset[int]  # numbered from -(w - 1), so that released periods begin at 0


@functools.cache  # pairs are made of the same sets again and again
def present(active: Active, horizon: int, window: int) -> tuple[int, ...]:
    return tuple(int(any(at - window < one <= at for one in active)) for at in range(horizon))


def all_sets(places: range, most: int | None = None) -> Iterator[Active]:
    for size in range((len(places) if most is None else most) + 1):
        yield from map(frozenset, itertools.combinations(places, size))


def worst(pairs: Iterator[tuple[Active, Active]], horizon: int, window: int) -> int:
    return max(
        sum(a != b for a, b in zip(present(one, horizon, window), present(other, horizon, window), strict=True))
        for one, other in pairs
    )


def runs_of(changes: tuple[int, ...]) -> int:
    return sum(1 for before, now in itertools.pairwise((0, *changes)) if now and now != before)


def in_stretches(read: range, length: int, *, replaced: bool) -> Iterator[tuple[Active, Active]]:
    for first in range(read.start, read.stop - length + 1):
        stretch = range(first, first + length)
        outside = [one for one in read if one not in stretch]
        for size in range(len(outside) + 1):
            for others in map(frozenset, itertools.combinations(outside, size)):
                for inside in all_sets(stretch):
                    for instead in all_sets(stretch) if replaced else (frozenset[int](),):
                        yield others | inside, others | instead


@pytest.mark.slow
@pytest.mark.parametrize("horizon", [3, 6])
@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_no_neighbours_differ_by_more_and_some_differ_by_as_much(horizon: int, window: int) -> None:
    read = range(-(window - 1), horizon)
    for most in (1, 2, len(read)):
        alone = worst(((one, frozenset()) for one in all_sets(read, most)), horizon, window)
        assert presence_of(User(), horizon=horizon, window=window, max_periods=most).cells == alone
        histories = [present(one, horizon, window) for one in all_sets(read, most)]
        pairs = itertools.product(set(histories), repeat=2)
        both = max(sum(a != b for a, b in zip(one, other, strict=True)) for one, other in pairs)
        # Two histories may be unable to fill all of a short series between them.
        bound = presence_of(User("replace"), horizon=horizon, window=window, max_periods=most).cells
        assert both <= bound
        if bound < horizon or most == len(read):
            assert both == bound
    for length in (1, 2, 3):
        for relation in ("add_remove", "replace"):
            found = worst(in_stretches(read, length, replaced=relation == "replace"), horizon, window)
            assert presence_of(Window(length, relation), horizon=horizon, window=window).cells == found
    moved = ((one | {a}, one | {b}) for one in all_sets(read, 3) for a in read for b in read)
    found, bound = worst(moved, horizon, window), presence_of(Event("replace"), horizon=horizon, window=window).cells
    assert found == bound
    days = Calendar("1D", "2026-01-10", f"2026-01-{10 + horizon}").earlier(window - 1)
    for unit in (Event(), UserPeriod("1D"), UserPeriod("1D", "replace")):
        one = presence_of(unit, horizon=horizon, window=window, calendar=days)
        assert one.cells == min(horizon, window)
        assert (one.runs, one.sides) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("window", [1, 2, 3])
def test_a_stretch_moves_no_more_runs_than_are_said(window: int) -> None:
    horizon, read = 7, range(-(window - 1), 7)
    for length in (1, 2, 3, 4, 5):
        most, longest = 0, 0
        for one, other in in_stretches(read, length, replaced=False):
            changes = tuple(
                a - b for a, b in zip(present(one, horizon, window), present(other, horizon, window), strict=True)
            )
            assert min(changes) >= 0
            most, longest = max(most, runs_of(changes)), max(longest, sum(changes))
        said = presence_of(Window(length), horizon=horizon, window=window)
        assert (most, longest) == (said.runs, said.length)


@pytest.mark.parametrize("window", [1, 2, 3, 5])
def test_nobody_has_more_stays_than_fit(window: int) -> None:
    for horizon in range(1, 9):
        read = range(-(window - 1), horizon)
        most = max(runs_of(present(one, horizon, window)) for one in all_sets(read))
        assert most == most_stays(horizon, window)


def in_places(cells: frozenset[tuple[int, int]], horizon: int, window: int) -> frozenset[tuple[int, int]]:
    return frozenset((at, place) for one, place in cells for at in range(max(0, one), min(horizon, one + window)))


@pytest.mark.parametrize("window", [1, 2])
@pytest.mark.parametrize("most", [1, 2])
def test_several_places_are_counted_too(window: int, most: int) -> None:
    horizon, places, read = 3, 2, range(-(window - 1), 3)
    spots = list(itertools.product(read, range(places)))
    tables = [
        frozenset(held)
        for size in range(len(spots) + 1)
        for held in itertools.combinations(spots, size)
        if all(sum(one == at for one, _ in held) <= most for at in read)
    ]
    seen = {in_places(table, horizon, window) for table in tables}
    person = presence_of(User(), horizon=horizon, window=window, places=places, max_places=most)
    assert max(map(len, seen)) <= person.cells
    replaced = presence_of(User("replace"), horizon=horizon, window=window, places=places, max_places=most)
    assert max(len(one ^ other) for one in seen for other in seen) <= replaced.cells
    units = [Window(1), Window(2), Window(1, "replace"), Window(2, "replace")]
    for unit in units:
        length, relation = unit.periods, unit.relation
        bound = presence_of(unit, horizon=horizon, window=window, places=places, max_places=most)
        for first in range(read.start, read.stop - length + 1):
            stretch = range(first, first + length)
            by_rest: dict[frozenset[tuple[int, int]], list[frozenset[tuple[int, int]]]] = {}
            for table in tables:
                rest = frozenset(cell for cell in table if cell[0] not in stretch)
                by_rest.setdefault(rest, []).append(in_places(table, horizon, window))
            for rest, alike in by_rest.items():
                against = alike if relation == "replace" else [in_places(rest, horizon, window)]
                assert max(len(one ^ other) for one in alike for other in against) <= bound.cells


def test_an_independent_table_says_the_same() -> None:
    relations = {"add/remove": "add_remove", "replace": "replace"}
    rows: list[dict[str, Any]] = json.loads(GOLDEN.read_text(encoding="utf-8"))["exact"]
    for row in rows:
        sizes = {"horizon": row["T"], "window": row["w"]}
        kind, *rest = str(row["unit"]).split(" ")
        if kind == "User":
            unit = User(relations[rest[0]])  # type: ignore[arg-type]  # a relation's word
            assert presence_of(unit, **sizes, max_periods=row["k"]).cells == row["l1"]
        elif kind == "UserPeriod":
            assert presence_of(Window(1), **sizes).cells == row["l1"]
        else:
            length = int(kind.removeprefix("Window(").removesuffix(")"))
            for relation in relations.values():
                one: RecordUnit = Window(length, relation)  # type: ignore[arg-type]  # a relation's word
                assert presence_of(one, **sizes).cells == row[f"l1_{relation}"]
            assert presence_of(Window(length), **sizes).runs == row["runs_formula"] == row["most_runs"]


def test_stays_are_cut_of_whole_people_only() -> None:
    for unit in (Event(), Window(2)):
        with pytest.raises(InvalidArgument, match="max_stays"):
            presence_of(unit, horizon=5, window=2, max_stays=1)
    with pytest.raises(InvalidArgument, match="max_periods"):
        presence_of(Event(), horizon=5, window=2, max_periods=1)


def test_periods_before_a_calendar_are_those_of_its_grid() -> None:
    spring = Calendar("1D", "2026-03-30", "2026-04-02", "Europe/Berlin")  # the clocks went forward the day before
    longer = spring.earlier(6)
    assert longer.start.startswith("2026-03-24")
    assert (longer.edges[6:] == spring.edges).all()
    assert Calendar("1mo", "2026-01-01", "2026-03-01").earlier(2).start.startswith("2025-11-01")
    assert Calendar("1h", "2026-01-01", "2026-01-02").earlier(0).start.startswith("2026-01-01")
    with pytest.raises(InvalidArgument, match="start"):
        Calendar("1Y", "0002-01-01", "0004-01-01").earlier(3)
    assert times_as_long("28D", "1D") == 28
    assert times_as_long("7D", "2D") is times_as_long("1h", "1D") is times_as_long("1D", "1W") is None
