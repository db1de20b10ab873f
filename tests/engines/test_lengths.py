"""Whole series scaled to a length: the same from every engine, never longer, and what neighbours do to it."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
import pytest

from chronodp.engines import (
    DuckDB,
    Question,
    Record,
    find_source,
    reference_losses,
    reference_missing,
    reference_totals,
)
from chronodp.engines.lengths import scaled_cell
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Grid, User, Window, of_scaled
from tests.conftest import SCALE, Trials
from tests.engines.finding import CALENDAR, crowd
from tests.engines.lengths import asked_lengths, asked_missing, asked_scaled, largest
from tests.engines.worlds import to_arrow

DAYS = Calendar("1D", "2026-01-01", "2026-01-04")
Cells = tuple[int, ...]


def scaled(cells: Cells, norm: int) -> Cells:
    squares = sum(cell**2 for cell in cells)
    return tuple(scaled_cell(cell, squares, norm) for cell in cells)


def nearest(cells: Cells, norm: int) -> Cells:
    """Mutant: rounds to the nearest and not towards zero."""
    length = math.sqrt(sum(cell**2 for cell in cells))
    return cells if length <= norm else tuple(math.floor(cell * norm / length + 0.5) for cell in cells)


_Asked = TypeVar("_Asked")


def few(asked: Iterable[_Asked], many: int, *, seed: int) -> list[_Asked]:
    """Return all at stated counts, and otherwise so many: a sample in which every grid, length and cap is met."""
    every = list(asked)
    return every if SCALE >= 1 else random.Random(seed).sample(every, many)


@pytest.mark.slow
def test_duckdb_scales_as_the_reference_does(trials: Trials) -> None:
    records = [*crowd(random.Random(4), trials(2000, least=100)), *largest()]
    source, duckdb = find_source(to_arrow(records, ["region"])), DuckDB(threads=2)
    seen, some = set(), few(asked_scaled(), 6, seed=8)
    for question in some:
        found, expected = duckdb.totals(source, question, key="k"), reference_totals(records, question, key="k")
        assert np.array_equal(found.sums, expected.sums)
        assert np.array_equal(found.people, expected.people)
        seen.add(expected.sums.tobytes())
    assert len(seen) > len(some) * 2 // 3
    for asked in few(asked_missing(), 6, seed=8):
        assert duckdb.missing(source, asked, key="k") == reference_missing(records, asked, key="k")
    for losses in few(asked_lengths(), 3, seed=3):
        assert duckdb.losses(source, losses) == reference_losses(records, losses)


@pytest.mark.slow
def test_nobody_and_nothing_have_an_answer() -> None:
    table = to_arrow([Record("ann", int(CALENDAR.edges[0]), 0.0, ("north",))], ["region"])
    for records in (table, table.slice(0, 0)):
        for question in few(asked_scaled(), 6, seed=8):
            assert not DuckDB().totals(find_source(records), question, key="k").sums.any()
        for losses in few(asked_lengths(), 3, seed=3):
            assert not any(DuckDB().losses(find_source(records), losses))


def test_the_owner_sees_who_was_scaled() -> None:
    held = {"ann": (3.0, 4.0), "bo": (1.0, 0.0), "cy": (0.0, -2.0)}
    records = [Record(who, int(DAYS.edges[day]), own[day]) for who, own in held.items() for day in (0, 1)]
    question = Question(DAYS, "at", "who", "number", Grid(1.0), (-100, 100), norm=2)
    told = DuckDB().tally(find_source(to_arrow(records)), question, key="k")
    assert (told.people, told.people_over, told.cells, told.cells_kept) == (3, 1, 6, 6)
    assert (told.before, told.clipped, told.kept) == (6.0, 6.0, 1.0)  # 3 and 4 of length 5 become 1 and 1


def test_what_is_kept_is_never_longer(trials: Trials) -> None:
    chance = random.Random(6)
    for _ in range(trials(100_000, least=5000)):
        bits = chance.randrange(1, 32)
        cells = tuple(chance.randrange(-(2**bits), 2**bits + 1) for _ in range(chance.randrange(1, 6)))
        norm = chance.randrange(2**31)
        kept = scaled(cells, norm)
        assert sum(cell**2 for cell in kept) <= norm**2
        assert all(own * cell >= 0 and abs(own) <= abs(cell) for own, cell in zip(kept, cells, strict=True))


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.parametrize("cells", [1, 2, 3])
def test_all_neighbours_stay_within_the_stated_change_and_attain_it(relation: Any, signed: bool, cells: int) -> None:
    least = -5 if signed else 0
    for norm in (1, 2, 4):
        kept = {scaled(own, norm) for own in itertools.product(range(least, 6), repeat=cells)}
        others = {(0,) * cells} if relation == "add_remove" else kept
        changes = [[a - b for a, b in zip(one, other, strict=True)] for one in kept for other in others]
        stated = of_scaled(User(relation=relation), cells, float(norm), signed=signed)
        assert max(sum(map(abs, change)) for change in changes) <= stated.l1
        assert math.sqrt(max(sum(part**2 for part in change) for change in changes)) == stated.l2


def test_numbers_of_the_reference(golden: Any) -> None:
    known = golden("bounds/norm.json")
    norm = round(8 * known["norm_r"])  # a grid of 1/8
    series = [own for own in itertools.product(range(0, 30, 2), repeat=3) if sum(cell**2 for cell in own) > norm**2]
    kept = {scaled(own, norm) for own in [*series, (norm + 1, 0, 0), (0, norm + 1, 0)]}
    assert max(math.dist(own, (0, 0, 0)) for own in kept) / 8 == known["norm_floor_add_remove"]
    apart = max(math.dist(one, other) for one, other in itertools.combinations(kept, 2)) / 8
    assert apart == pytest.approx(known["norm_floor_replace_nonnegative"], abs=1e-12)
    # Towards zero 1, 10, 13 of length 16.4 stays below 16 steps; to the nearest it does not.
    assert math.dist(scaled((1, 10, 13), norm), (0, 0, 0)) / 8 <= known["norm_r"]
    assert math.dist(nearest((1, 10, 13), norm), (0, 0, 0)) / 8 == pytest.approx(known["norm_nearest_add_remove"])


def test_a_whole_history_under_a_window_is_noticed() -> None:
    with pytest.raises(InvalidArgument, match="whole history"):
        of_scaled(Window(1), 3, 2.0, signed=True)
    # The last day alone goes, and the first two come back: √2 of what a day that owns its numbers would move.
    before, after = scaled((100, 0, 9000), 100), scaled((100, 0, 0), 100)
    assert math.dist(before, after) > 1.4 * 100


@pytest.mark.parametrize(
    "changes", [{"user": None}, {"max_periods": 2}, {"max_places": 1}, {"squares": 3}, {"norm": 2**32}], ids=str
)
def test_what_no_length_can_stand_beside_is_refused(changes: dict[str, Any]) -> None:
    given: dict[str, Any] = {"user": "who", "norm": 5} | changes
    with pytest.raises(InvalidArgument, match="norm"):
        Question(DAYS, "at", value="number", grid=Grid(1.0), clip=(-9, 9), **given)
