"""Votes and losses, by which bounds are found: the same to the last digit from every engine, and what they say."""

from __future__ import annotations

import random

import numpy as np

from chronodp.engines import (
    VOTE,
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
from tests.conftest import Trials
from tests.engines.finding import asked_losses, asked_sizes, crowd
from tests.engines.worlds import to_arrow

DAYS = Calendar("1D", "2026-01-01", "2026-01-05")


def same(one: Sizes, other: Sizes) -> bool:
    return np.array_equal(one.above, other.above) and one.voters == other.voters


def test_duckdb_takes_the_votes_of_the_reference(trials: Trials) -> None:
    records = crowd(random.Random(1), trials(2000, least=100))
    source = find_source(to_arrow(records, ["region"]))
    for asked in asked_sizes():
        expected = reference_sizes(records, asked)
        assert expected.voters > 100
        assert same(DuckDB(threads=2).sizes(source, asked), expected)


def test_duckdb_finds_the_losses_of_the_reference(trials: Trials) -> None:
    records = crowd(random.Random(2), trials(2000, least=100))
    source = find_source(to_arrow(records, ["region"]))
    for asked in asked_losses():
        expected = reference_losses(records, asked)
        assert len(set(expected)) > 2 or asked.cap == 1
        assert DuckDB(threads=2).losses(source, asked) == expected


def test_nobody_and_nothing_have_an_answer() -> None:
    table = to_arrow([Record("ann", int(DAYS.edges[0]), 0.0)])
    for records in (table, table.slice(0, 0)):
        question = Question(DAYS, "at", "who", "number", Grid(1.0), (0, 1))
        votes = DuckDB().sizes(find_source(records), SizesQuestion(question, (1, 2, 4), whole_person=True))
        assert votes.above.tolist() == [0, 0, 0]
        assert votes.voters == 0
        losses = DuckDB().losses(find_source(records), LossesQuestion(question, (1, 2), (1, 4), (1,), 3, True))
        assert losses == (0, 0, 0, 0)


def test_one_person_has_one_vote_and_is_capped_once() -> None:
    held = [1.0, 2.0, 4.0]
    records = [Record("ann", int(DAYS.edges[day]), value) for day, value in enumerate(held)]
    question = Question(DAYS, "at", "who", "number", Grid(1.0), (0, 1))
    votes = DuckDB().sizes(find_source(to_arrow(records)), SizesQuestion(question, (1, 2, 4), whole_person=True))
    assert votes.above.tolist() == [VOTE * 2 // 3, VOTE // 3, 0]
    assert votes.voters == 1
    by_period = DuckDB().sizes(find_source(to_arrow(records)), SizesQuestion(question, (1, 2, 4), whole_person=False))
    assert by_period.above.tolist() == [2 * VOTE, VOTE, 0]
    assert by_period.voters == 3
    # 7 in all; clip 2: 1 + 2 + 2 = 5 of three days, 5 * 2 // 3 = 3 of two.
    asked = LossesQuestion(question, (2, 4), (2, 4), (1,), 100, whole_person=True)
    assert DuckDB().losses(find_source(to_arrow(records)), asked) == (7 - 3, 7 - 5, 7 - 14 // 3, 0)
