"""Whether what a unit adds has one sign decides how far it moves: every table against its rows, enumerated."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.series.shapes.matrices import lower

from chronodp.privacy import Event, RecordUnit, Relation, User
from chronodp.series import Count, Measure, RunningTotal, Sum, Table, Total
from chronodp.series.shapes.toeplitz import SquareRoot

HORIZON = 3
SHAPE = SquareRoot(RunningTotal())
Row = tuple[int, float]  # period, value
Floats = NDArray[np.float64]


def totals(measure: Measure, rows: tuple[Row, ...]) -> Floats:
    """One person's totals by period, as an engine bounds them."""
    sums = np.zeros(HORIZON)
    for period, value in rows:
        sums[period] += 1.0 if isinstance(measure, Count) else value
    if isinstance(measure, Count):
        return np.minimum(sums, measure.at_most)
    assert isinstance(measure, Sum)
    held = np.isin(np.arange(HORIZON), [period for period, _ in rows])
    return np.where(held, np.clip(sums, *measure.clip), 0.0)


def changes_of_a_row(measure: Measure, relation: Relation) -> Iterator[Floats]:
    """What one row of a person changes, whatever the others of the same person are."""
    rows = [(period, value) for period in range(HORIZON) for value in (-2.0, 1.0, 2.0)]
    for others in itertools.chain([()], itertools.combinations(rows, 1), itertools.combinations(rows, 2)):
        for row in rows:
            with_row = totals(measure, (*others, row))
            if relation == "add_remove":
                yield with_row - totals(measure, others)
            else:
                yield from (with_row - totals(measure, (*others, other)) for other in rows)


def changes_of_a_person(measure: Measure, relation: Relation) -> Iterator[Floats]:
    """What a person who is in one period at most changes; finished totals change as their owner said."""
    if isinstance(measure, Total):
        ends, most = (-measure.change, 0.0, measure.change), 1 if relation == "add_remove" else 2
        for change in itertools.product(ends, repeat=HORIZON):
            if np.count_nonzero(change) <= most:
                yield np.array(change)
        return
    rows = [()] + [((period, value),) for period in range(HORIZON) for value in (-2.0, 1.0, 2.0)]
    held = [totals(measure, one) for one in rows]
    for one in held:
        yield from (one - other for other in (held if relation == "replace" else held[:1]))


MEASURES = (Count(), Count(2), Sum("kwh", (0.0, 2.0)), Sum("kwh", (-1.0, 2.0)), Sum("kwh", (-2.0, 0.0)))
RELATIONS: tuple[Relation, ...] = ("add_remove", "replace")
CASES: list[tuple[Measure, RecordUnit]] = [
    *((measure, Event(relation=relation)) for measure in MEASURES for relation in RELATIONS),
    *((measure, User(relation=relation)) for measure in (*MEASURES, Total(2.0)) for relation in RELATIONS),
]


@pytest.mark.slow
def test_no_unit_changes_a_shaped_series_by_more_than_its_table_says(subtests: pytest.Subtests) -> None:
    for measure, unit in CASES:
        with subtests.test(measure=measure, unit=unit):
            table = Table(measure, unit, HORIZON, max_periods=1 if unit.whole_person else None)
            (stated,) = table.sensitivities(SHAPE)
            shape = lower(SHAPE.coefficients(HORIZON))
            changes = (changes_of_a_row if unit.of_rows else changes_of_a_person)(measure, unit.relation)
            seen = [shape @ change for change in changes]
            assert max(float(np.linalg.norm(change)) for change in seen) <= stated.l2
            assert max(float(np.abs(change).sum()) for change in seen) <= stated.l1
