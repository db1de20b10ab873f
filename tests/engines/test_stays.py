"""Who was active lately: the same from every engine, and what neighbours do to it."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from chronodp.engines import DuckDB, Question, Record, find_source, reference_totals
from chronodp.engines.attach import attached
from chronodp.engines.session import Session
from chronodp.engines.statement import statement, tally_statement
from chronodp.engines.totals import Totals
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, Event, Grid, User, UserPeriod, Window, presence_of
from chronodp.privacy.units import RecordUnit
from tests.conftest import SCALE, Trials
from tests.engines.finding import CALENDAR, REGION, crowd
from tests.engines.neighbours import neighbour, random_world
from tests.engines.stays import asked_stays
from tests.engines.worlds import to_arrow

DAYS = Calendar("1D", "2026-01-01", "2026-01-13")


def visits(*days: int, who: str = "ann") -> list[Record]:
    return [Record(who, int(DAYS.edges[day])) for day in days]


def asked(window: int, max_stays: int | None = None) -> Question:
    return Question(DAYS, "at", "who", None, Grid(1.0), (0, 1), window=window, max_stays=max_stays)


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
    User(),
    User("replace"),
    Event(),
    Event("replace"),
    Window(1, "replace"),
    Window(2),
    Window(2, "replace"),
    UserPeriod("1D", timezone="Europe/Berlin"),
    UserPeriod("1W", "replace", timezone="Europe/Berlin"),
]


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_neighbours_move_no_more_numbers_than_are_paid_for(unit: RecordUnit, trials: Trials) -> None:
    chance = random.Random(7)
    for _ in range(trials(3000, least=150)):
        window, periods, stays = chance.choice((1, 2, 3)), chance.choice((None, 1, 2)), chance.choice((None, 1, 2))
        whole = unit.whole_person
        most = chance.choice((1, 2))
        question = Question(
            CALENDAR,
            "at",
            "who",
            None,
            Grid(1.0),
            (0, 1),
            (REGION,),
            max_periods=periods if whole else None,
            max_places=None if unit.of_rows else most,
            window=window,
            max_stays=stays if whole else None,
        )
        world = random_world(chance, CALENDAR)
        other = neighbour(chance, world, CALENDAR, unit)
        one, two = (reference_totals(rows, question, key="k").people for rows in (world, other))
        lead = window - 1
        moved = (one - two).reshape(len(CALENDAR), 2)[lead:]
        bound = presence_of(
            unit,
            horizon=len(CALENDAR) - lead,
            window=window,
            calendar=CALENDAR,
            max_periods=question.max_periods,
            max_stays=question.max_stays,
            places=2,
            max_places=most,
        )
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
