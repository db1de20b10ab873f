"""What bounds people and what finds bounds: the same to the last digit from every engine, and what neighbours do."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from chronodp.engines import (
    DuckDB,
    Grouping,
    LossesQuestion,
    MissingQuestion,
    Question,
    Record,
    Sizes,
    SizesQuestion,
    find_source,
    reference_losses,
    reference_missing,
    reference_sizes,
    reference_totals,
)
from chronodp.engines.attach import attached
from chronodp.engines.lengths import scaled_cell
from chronodp.engines.session import Session
from chronodp.engines.statement import statement, tally_statement
from chronodp.engines.totals import Totals
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Event, Grid, User, UserPeriod, Window, of_scaled, presence_of
from chronodp.privacy.units import RecordUnit
from tests.conftest import SCALE, Trials
from tests.engines.neighbours import neighbour, random_world
from tests.engines.worlds import to_arrow

CALENDAR = Calendar("1D", "2026-10-23", "2026-10-28", "Europe/Berlin")
REGION = Grouping("region", ("north", "south"))
_NORTH = (Grouping("region", ("north",)),)
_SUMMED = Question(CALENDAR, "at", "who", "number", Grid(2.0**-20), (0, 1), (REGION,))
_SIZES = tuple(round(2.0 ** (index / 2 + 20)) for index in range(-30, 60))


def crowd(chance: random.Random, worlds: int) -> list[Record]:
    """Return many small tables as one, the people of each named apart."""
    return [
        replace(record, person=record.person and f"{record.person} {number}")
        for number in range(worlds)
        for record in random_world(chance, CALENDAR, most=30)
    ]


def asked_sizes() -> Iterator[SizesQuestion]:
    """Return questions of votes: of people and of periods, with rows that reach far, of counts, of rows alone."""
    wide = replace(_SUMMED, row_limit=2**62)
    for question in (wide, replace(wide, groupings=_NORTH), replace(_SUMMED, value=None), replace(wide, user=None)):
        for whole_person in (True, False):
            for top in (2**19, 2**61):
                for means in (False, True):
                    yield SizesQuestion(question, _SIZES, top, whole_person, means=means)
                yield SizesQuestion(question, _SIZES, top, whole_person, rows=True)


def asked_losses() -> Iterator[LossesQuestion]:
    """Return questions of losses: of people and of periods, in groups or not, of rows alone."""
    sizes = (2**18, 2**20, 3 * 2**19, 2**22, 2**24)
    for question in (_SUMMED, replace(_SUMMED, groupings=_NORTH), replace(_SUMMED, user=None)):
        for whole_person in (True, False):
            for cap in (1, 2**20, 2**30):
                groups = (1, 2) if question.places > 1 else (1,)
                for means in (False, True):
                    yield LossesQuestion(question, sizes, (1, 2, 3, 5), groups, 2**25, cap, whole_person, means=means)


# Questions of who was active lately.


def asked_stays() -> Iterator[Question]:
    """Return questions with windows of two periods and of more than there are, with and without each limit."""
    groupings = ((Grouping("region", ("north",)),), (REGION,))
    for window, stays, periods, by in itertools.product((2, 9), (None, 1), (None, 2), groupings):
        for places in (None, 1) if by == (REGION,) else (None,):
            yield Question(
                CALENDAR, "at", "who", None, Grid(0.25), (0, 4), by, max_periods=periods, max_places=places,
                window=window, max_stays=stays,
            )  # fmt: skip


# Questions whose whole series are scaled to a length, and random tables for them.


_MOST = 2**31


def asked_scaled() -> Iterator[Question]:
    """Return questions from no length at all to the longest, on coarse and fine grids, of both signs or one."""
    for step, low in ((0.125, -_MOST), (2.0**-20, -_MOST), (2.0**-28, 0)):
        for norm in (0, 1, 17, 2**20 + 1, 2**30, _MOST):
            yield Question(CALENDAR, "at", "who", "number", Grid(step), (low, _MOST), (REGION,), norm=norm)


def asked_missing() -> Iterator[MissingQuestion]:
    """Return questions of what scaling takes away."""
    for question in asked_scaled():
        norm = question.norm or 1
        yield MissingQuestion(question, top=16 * norm, cap=4 * norm, whole_person=True, beyond=True)


def asked_lengths() -> Iterator[LossesQuestion]:
    """Return questions of losses by candidates for the length."""
    norms = (1, 17, 2**20, 2**25 + 1, 2**30, _MOST)
    for step, row_limit in ((0.125, 2**62), (2.0**-20, 2**62), (2.0**-28, 2**31 - 1)):
        question = Question(CALENDAR, "at", "who", "number", Grid(step), (0, 1), (REGION,), row_limit=row_limit)
        for cap in (10, 2**20, 2**30):
            yield LossesQuestion(question, norms, (5,), (2,), _MOST, cap, whole_person=True, whole_series=True)


def largest() -> list[Record]:
    """Return one person with more than any cell may hold, of both signs, in every cell."""
    days = [int(edge) for edge in CALENDAR.edges[:-1]]
    return [
        Record("ann", day, sign * 1e300, (key,)) for day in days for key, sign in (("north", 1.0), ("south", -1.0))
    ] * 2


DAYS = Calendar("1D", "2026-01-01", "2026-01-05")


# Samples below are such that every two options meet.
@pytest.mark.slow
def test_duckdb_takes_the_votes_of_the_reference(trials: Trials) -> None:
    records = crowd(random.Random(1), trials(2000, least=100))
    source = find_source(to_arrow(records, ["region"]))
    for asked in random.Random(189).sample(list(asked_sizes()), 48 if SCALE >= 1 else 15):
        expected = reference_sizes(records, asked)
        assert expected.voters > 100
        assert DuckDB(threads=2).sizes(source, asked) == expected


@pytest.mark.slow
def test_duckdb_finds_the_losses_of_the_reference(trials: Trials) -> None:
    records = crowd(random.Random(2), trials(2000, least=100))
    source = find_source(to_arrow(records, ["region"]))
    for asked in random.Random(46).sample(list(asked_losses()), 36 if SCALE >= 1 else 11):
        expected = reference_losses(records, asked)
        assert len(set(expected)) > 2 or asked.cap == 1
        assert DuckDB(threads=2).losses(source, asked) == expected


def test_a_voter_is_as_large_as_the_mean_of_its_rows_that_are_not_0() -> None:
    # On the first day 3 and -5 do not cancel, and 0 does not count; on the second one row is cut at the top.
    values = [(0, 3.0), (0, -5.0), (0, 0.0), (1, 1000.0), (2, 0.0)]
    records = [Record("ann", int(DAYS.edges[day]), value) for day, value in values]
    question = Question(DAYS, "at", "who", "number", Grid(1.0), (0, 1))
    source, sizes = find_source(to_arrow(records)), (3, 4, 16, 17, 99, 100)
    person = SizesQuestion(question, sizes, 100, whole_person=True, rows=True)
    assert DuckDB().sizes(source, person) == Sizes((1, 1, 1, 1, 0, 0), 1)  # (3 + 5 + 100) // 3 = 36
    days = SizesQuestion(question, sizes, 100, whole_person=False, rows=True)
    assert DuckDB().sizes(source, days) == Sizes((2, 1, 1, 1, 1, 0), 2)


def test_one_person_is_counted_once_and_capped_once() -> None:
    records = [Record("ann", int(DAYS.edges[day]), value) for day, value in enumerate([1.0, 2.0, 4.0])]
    source = find_source(to_arrow(records))
    question = Question(DAYS, "at", "who", "number", Grid(1.0), (0, 1))
    assert DuckDB().sizes(source, SizesQuestion(question, (1, 6, 7), 9, whole_person=True)) == Sizes((1, 1, 0), 1)
    assert DuckDB().sizes(source, SizesQuestion(question, (1, 2, 4), 9, whole_person=False)) == Sizes((2, 1, 0), 3)
    # 7 in all; clip 2: 1 + 2 + 2 = 5 of three days, 5 * 2 // 3 = 3 of two; all of it as it is below a tenth of the cap.
    asked = LossesQuestion(question, (2, 4), (2, 4), (1,), 9, 1000, whole_person=True)
    assert DuckDB().losses(source, asked) == (7 - 3, 7 - 14 // 3, 7 - 5, 0)
    # Beyond a tenth of the cap a loss counts four times, and never more than the cap.
    steep = LossesQuestion(question, (2, 4), (2, 4), (1,), 9, 10, whole_person=True)
    assert DuckDB().losses(source, steep) == (10, 3 + 3 * 2, 2 + 3 * 1, 0)


# Who was active lately: the same from every engine, and what neighbours do to it.


TWELVE_DAYS = Calendar("1D", "2026-01-01", "2026-01-13")


def visits(*days: int, who: str = "ann") -> list[Record]:
    return [Record(who, int(TWELVE_DAYS.edges[day])) for day in days]


def asked(window: int, max_stays: int | None = None) -> Question:
    return Question(TWELVE_DAYS, "at", "who", None, Grid(1.0), (0, 1), window=window, max_stays=max_stays)


def test_a_day_counts_for_the_window_and_stays_join() -> None:
    found = reference_totals(visits(1, 4), asked(3), key="").people.tolist()
    assert found == [0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]  # one stay: the second day follows without a gap
    found = reference_totals(visits(1, 5), asked(3), key="").people.tolist()
    assert found == [0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0]
    found = reference_totals(visits(1, 5, 11), asked(3, 1), key="").people.tolist()
    assert found == [0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0]  # the first in time counts, whatever the key
    both = [*visits(1, 5, 11), *visits(0, 2, 4, 6, 8, 10, who="bo")]
    assert reference_totals(both, asked(3, 1), key="").people.tolist() == [1, 2, 2, 2] + [1] * 8


@pytest.mark.slow
def test_every_engine_has_the_same_integers(trials: Trials) -> None:
    records = crowd(random.Random(6), trials(1500, least=80))
    source, duckdb = find_source(to_arrow(records, ["region"])), DuckDB(threads=2)
    seen, some = (
        set(),
        random.Random(216).sample(list(asked_stays()), 24 if SCALE >= 1 else 6),
    )  # every two options meet
    for question in some:
        expected = reference_totals(records, question, key="k")

        def ask(session: Session, question: Question = question) -> tuple[Totals, tuple[int, ...]]:
            session.add_keys(question.groupings)
            columns = session.columns(statement(question, session.parts, key="k"))
            return Totals.of_cells(question, columns), session.row(tally_statement(question, session.parts, key="k"))

        with attached(source, question.wanted, question.reading, memory=2**28) as session:
            written, told = ask(session)
        for found in (duckdb.totals(source, question, key="k"), written):
            assert np.array_equal(found.sums, expected.sums)
            assert np.array_equal(found.people, expected.people)
        report = duckdb.tally(source, question, key="k")
        assert (report.people, report.people_over, report.cells, report.cells_kept) == told[:4]
        seen.add(expected.sums.tobytes())
    assert len(seen) > len(some) // 3


UNITS: list[RecordUnit] = [
    User(), User("replace"), Event(), Event("replace"), Window(1, "replace"), Window(2), Window(2, "replace"),
    UserPeriod("1D", timezone="Europe/Berlin"), UserPeriod("1W", "replace", timezone="Europe/Berlin"),
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_neighbours_move_no_more_numbers_than_are_paid_for(unit: RecordUnit, trials: Trials) -> None:
    chance = random.Random(7)
    for _ in range(trials(3000, least=150)):
        window, periods, stays = chance.choice((1, 2, 3)), chance.choice((None, 1, 2)), chance.choice((None, 1, 2))
        whole = unit.whole_person
        most = chance.choice((1, 2))
        question = Question(
            CALENDAR, "at", "who", None, Grid(1.0), (0, 1), (REGION,), max_periods=periods if whole else None,
            max_places=None if unit.of_rows else most, window=window, max_stays=stays if whole else None,
        )  # fmt: skip
        world = random_world(chance, CALENDAR)
        other = neighbour(chance, world, CALENDAR, unit)
        one, two = (reference_totals(rows, question, key="k").people for rows in (world, other))
        lead = window - 1
        moved = (one - two).reshape(len(CALENDAR), 2)[lead:]
        bound = presence_of(
            unit, horizon=len(CALENDAR) - lead, window=window, calendar=CALENDAR, max_periods=question.max_periods,
            max_stays=question.max_stays, places=2, max_places=most,
        )  # fmt: skip
        assert np.abs(moved).sum() <= bound.cells
        assert np.abs(moved).max(initial=0) <= 1
        # Each run of one sign has a beginning: no more of them than are said.
        sides = ((moved > 0).astype(int), (moved < 0).astype(int))
        runs = sum(int((np.diff(side, axis=0, prepend=0) > 0).sum()) for side in sides)
        assert runs <= bound.sides * bound.runs


def test_who_is_present_is_asked_of_people_alone() -> None:
    question = asked(3)
    for changes in ({"user": None}, {"clip": (0, 2)}, {"rows": 1}, {"window": 0}, {"squares": 1}):
        with pytest.raises(InvalidArgument):
            replace(question, **changes)
    with pytest.raises(InvalidArgument, match="max_stays"):
        replace(question, window=None, max_stays=1)


# Whole series scaled to a length: the same from every engine, never longer, and what neighbours do to it.


THREE_DAYS = Calendar("1D", "2026-01-01", "2026-01-04")
Cells = tuple[int, ...]


def scaled(cells: Cells, norm: int) -> Cells:
    squares = sum(cell**2 for cell in cells)
    return tuple(scaled_cell(cell, squares, norm) for cell in cells)


def nearest(cells: Cells, norm: int) -> Cells:
    """Mutant: rounds to the nearest and not towards zero."""
    length = math.sqrt(sum(cell**2 for cell in cells))
    return cells if length <= norm else tuple(math.floor(cell * norm / length + 0.5) for cell in cells)


def few(asked: Iterable[Any], many: int, *, seed: int) -> list[Any]:
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


def test_the_owner_sees_who_was_scaled() -> None:
    held = {"ann": (3.0, 4.0), "bo": (1.0, 0.0), "cy": (0.0, -2.0)}
    records = [Record(who, int(THREE_DAYS.edges[day]), own[day]) for who, own in held.items() for day in (0, 1)]
    question = Question(THREE_DAYS, "at", "who", "number", Grid(1.0), (-100, 100), norm=2)
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
        Question(THREE_DAYS, "at", value="number", grid=Grid(1.0), clip=(-9, 9), **given)
