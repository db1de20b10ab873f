"""Votes and losses, by which bounds are found: the same to the last digit from every engine, and what they say."""

from __future__ import annotations

import random

import pytest

from chronodp.engines import (
    DuckDB,
    LossesQuestion,
    Question,
    Record,
    Sizes,
    SizesQuestion,
    find_source,
    reference_losses,
    reference_sizes,
)
from chronodp.privacy import Calendar, Grid
from tests.conftest import SCALE, Trials
from tests.engines.finding import asked_losses, asked_sizes, crowd
from tests.engines.worlds import to_arrow

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


def test_nobody_and_nothing_have_an_answer() -> None:
    table = to_arrow([Record("ann", int(DAYS.edges[0]), 0.0)])
    for records in (table, table.slice(0, 0)):
        question = Question(DAYS, "at", "who", "number", Grid(1.0), (0, 1))
        counts = DuckDB().sizes(find_source(records), SizesQuestion(question, (1, 2, 4), 9, whole_person=True))
        assert counts == Sizes((0, 0, 0), 0)
        asked = LossesQuestion(question, (1, 2), (1, 4), (1,), 9, 3, whole_person=True)
        assert DuckDB().losses(find_source(records), asked) == (0, 0, 0, 0)


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
