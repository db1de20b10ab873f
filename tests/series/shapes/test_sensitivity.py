"""Sensitivities of shaped releases against every pair of small neighbouring tables, and the traps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from tests.conftest import SCALE
from tests.privacy.changes import RELATIONS, changes, row_changes
from tests.series.shapes.matrices import lower, matrix_of

from chronodp.errors import InvalidArgument, MissingBound
from chronodp.privacy import Event, RecordUnit, Relation, User, UserPeriod, Window
from chronodp.privacy.sensitivity import Bounds, Contribution, Sensitivity, per_period, running_total
from chronodp.series import Count, Measure, RunningTotal, Sum, Table, Total
from chronodp.series.shapes import BufferedLinear, FilterReach, Reach, SquareRoot, Tree, TreeReach, shape_sensitivity
from chronodp.series.workloads import Rolling

Matrix = NDArray[np.float64]

COLUMNS = {
    "root": SquareRoot(RunningTotal()).coefficients(4),
    "totals": np.ones(4),
    "buffers": BufferedLinear((0.9, 0.5), (0.2, 0.4)).coefficients(4),
    "white": np.array([2.0, 0.0, 0.0, 0.0]),
    "rising": np.array([1.0, 2.0, 0.5, 0.25]),
    "rolling root": SquareRoot(Rolling(2)).coefficients(4),
    "alternating": np.array([1.0, -1.0, 1.0, -1.0]),
    "late": np.array([1.0, 0.0, 0.0, -2.0]),
    "echo": np.array([1.0, 0.0, 0.0, 1.0]),
}
CASES = [
    (User, Bounds(horizon=3, max_periods=1)), (User, Bounds(horizon=3, max_periods=2)),
    (User, Bounds(horizon=4, max_periods=1)), (User, Bounds(horizon=4, max_periods=2)),
    (User, Bounds(horizon=4, max_periods=4)), (User, Bounds(horizon=2, max_periods=1, groups=2)),
    (User, Bounds(horizon=2, max_periods=2, groups=2, max_groups=2)), (UserPeriod, Bounds(horizon=4, max_periods=2)),
    (UserPeriod, Bounds(horizon=2, max_periods=1, groups=2)), (Window, Bounds(horizon=4, max_periods=2)),
    (Window, Bounds(horizon=4, max_periods=3)), (Window, Bounds(horizon=2, max_periods=2, groups=2)),
]  # fmt: skip


def unit_of(kind: type, relation: Relation, periods: int) -> RecordUnit:
    units: dict[type, RecordUnit] = {
        User: User(relation),
        UserPeriod: UserPeriod("1D", relation),
        Window: Window(periods, relation),
    }
    return units[kind]


def reaches(horizon: int) -> dict[str, tuple[Reach, Matrix]]:
    """Every shape cut to the horizon, with its matrix."""
    found: dict[str, tuple[Reach, Matrix]] = {
        name: (FilterReach(column[:horizon]), lower(column[:horizon])) for name, column in COLUMNS.items()
    }
    tree = Tree(3)
    found["tree"] = TreeReach(3, tree.levels(horizon), horizon), matrix_of(tree, horizon)
    return found


def largest(matrix: Matrix, changed: Matrix) -> Sensitivity:
    """The most that any of the changes (change, period, place) makes of the shaped series."""
    shaped = np.einsum("rt,ctp->crp", matrix, changed).reshape(len(changed), -1)
    return Sensitivity(float(np.abs(shaped).sum(axis=1).max()), float(np.sqrt((shaped**2).sum(axis=1)).max()))


def against(contribution: Contribution) -> float:
    """How far clipped totals go against the sign of the largest."""
    return float(contribution.exchange - contribution.presence)


CLIPS = ((0.0, 1.0), (-1.0, 3.0), (-2.0, 2.0), (2.0, 3.0), (-3.0, -1.0))


SOME = [  # all at stated counts; otherwise every bounds and clip, each with one relation in turn
    (kind, bounds, relation, clip)
    for place, (kind, bounds) in enumerate(CASES)
    for turn, (clip, relation) in enumerate(itertools.product(CLIPS, RELATIONS))
    if SCALE >= 1 or (turn // 2 + turn + place) % 2 == 0
]


@pytest.mark.slow
def test_every_change_of_a_person_stays_within(subtests: pytest.Subtests) -> None:
    for kind, bounds, relation, clip in SOME:
        with subtests.test(kind=kind, bounds=bounds, relation=relation, clip=clip):
            unit = unit_of(kind, relation, bounds.max_periods or 1)
            contribution = Contribution.total(clip=clip)
            changed = np.array(list(changes(unit, bounds, *clip)))
            for name, (reach, matrix) in reaches(bounds.horizon).items():
                found = largest(matrix, changed)
                stated = shape_sensitivity(reach, unit, bounds, contribution, opposite=against(contribution))
                anything = shape_sensitivity(reach, unit, bounds, contribution)
                assert found.l1 <= stated.l1 * (1 + 1e-14) <= anything.l1 * (1 + 1e-13), name
                assert found.l2 <= stated.l2 * (1 + 1e-14) <= anything.l2 * (1 + 1e-13), name
                if bounds.groups > 1:
                    continue
                # Attained, so no smaller number would be true.
                stays = relation == "add_remove" or kind is not User or clip == (-2.0, 2.0)
                falling = isinstance(reach, FilterReach) and reach.falling
                if isinstance(reach, TreeReach):  # running totals need no block that begins too late
                    falling = bounds.max_periods != bounds.horizon
                if stays and falling:
                    assert found.l2 == pytest.approx(stated.l2, rel=1e-12), name
                if relation == "add_remove" and bounds.max_periods == 1:
                    assert found.l2 == pytest.approx(stated.l2, rel=1e-11), name
                if stays and reach.aligned and isinstance(reach, FilterReach):
                    assert found.l1 == pytest.approx(stated.l1, rel=1e-12), name


def test_every_change_of_a_row_stays_within(subtests: pytest.Subtests) -> None:
    for clip, relation, bounds in itertools.product(
        [(0.0, 5.0), (-5.0, 5.0), (2.0, 3.0)],
        [*RELATIONS],
        [Bounds(horizon=1), Bounds(horizon=2), Bounds(horizon=1, groups=2)],
    ):
        with subtests.test(clip=clip, relation=relation, bounds=bounds):
            changed = np.unique(np.array(list(row_changes(bounds, relation, clip))), axis=0)
            for name, (reach, matrix) in reaches(bounds.horizon).items():
                found = largest(matrix, changed)
                stated = shape_sensitivity(reach, Event(relation), bounds, Contribution.total(clip=clip))
                assert found.l1 <= stated.l1 * (1 + 1e-14), name
                assert found.l2 <= stated.l2 * (1 + 1e-14), name
                if relation == "add_remove" and clip[0] <= 0 and bounds.groups == 1 and isinstance(reach, FilterReach):
                    assert found.l1 == pytest.approx(stated.l1), name
                    assert found.l2 == pytest.approx(stated.l2), name


def test_counts_whose_rows_move(subtests: pytest.Subtests) -> None:
    for relation, horizon in itertools.product([*RELATIONS], [1, 2, 3, 4]):
        with subtests.test(relation=relation, horizon=horizon):
            unit = np.eye(horizon)
            if relation == "add_remove":
                moved = [unit[s] for s in range(horizon)]
            else:
                moved = [unit[s] - unit[t] for s in range(horizon) for t in range(horizon)]
            changed = np.array(moved)[:, :, None]
            for name, (reach, matrix) in reaches(horizon).items():
                found = largest(matrix, changed)
                stated = shape_sensitivity(reach, Event(relation), Bounds(horizon), Contribution.count(), opposite=0)
                assert found.l2 <= stated.l2 * (1 + 1e-14), name
                assert found.l1 <= stated.l1 * (1 + 1e-14), name
                if reach.aligned and relation == "replace" and horizon > 1:
                    assert stated.l2 == pytest.approx(math.sqrt(2) * reach.l2(1, together=True), rel=1e-12)


@given(
    horizon=st.integers(1, 7),
    numbers=st.lists(st.floats(-2.0, 2.0), min_size=7, max_size=7),
    periods=st.integers(1, 7),
    falling=st.booleans(),
)
def test_the_reach_is_never_exceeded(horizon: int, numbers: list[float], periods: int, falling: bool) -> None:
    column = np.array([1.0, *numbers])[:horizon]
    if falling:
        column = np.sort(np.abs(column))[::-1].copy()
    reach, matrix = FilterReach(column), lower(column)
    periods = min(periods, horizon)
    signs = np.array(list(itertools.product((-1.0, 1.0), repeat=periods)))
    for together in (True, False):
        chosen = (
            [tuple(range(start, start + periods)) for start in range(horizon - periods + 1)]
            if together
            else list(itertools.combinations(range(horizon), periods))
        )
        true = max(float(np.linalg.norm(matrix[:, list(places)] @ signs.T, axis=0).max()) for places in chosen)
        bound = reach.l2(periods, together=together)
        assert true <= bound
        if falling or periods == 1:
            assert true == pytest.approx(bound, rel=1e-12)


def test_the_plain_formula_understates_what_does_not_fall(golden: Any) -> None:
    horizon = 24
    column = SquareRoot(Rolling(6)).coefficients(horizon) / math.sqrt(6)
    matrix = lower(column)
    reach = FilterReach(column)
    assert not reach.aligned
    understated = 0
    for name, published in golden("continual/trap_nonmonotone_sensitivity.json").items():
        count, apart = (int(part[1:]) for part in name.split("_"))
        plain = float(np.linalg.norm(sum(matrix[:, index * apart] for index in range(count))))
        assert plain == pytest.approx(published["spacing_b_signed"], rel=1e-9)
        true = max(
            float(np.linalg.norm(matrix[:, list(places)] @ np.array((1.0, *signs))))
            for places in itertools.combinations(range(horizon), count)
            if all(b - a >= apart for a, b in itertools.pairwise(places))
            for signs in itertools.product((-1.0, 1.0), repeat=count - 1)
        )
        assert true == pytest.approx(published["true"], rel=1e-9)
        assert reach.l2(count, together=False) >= true
        understated += plain < 0.99 * true
    assert understated == 2
    # The same trap without any spacing: two periods that cancel when they are neighbours.
    cancelling = np.array([1.0, -1.0, 0.0, 0.0])
    assert np.linalg.norm(lower(cancelling)[:, :2].sum(axis=1)) < 1.5
    assert FilterReach(cancelling).l2(2, together=False) >= 2


def test_reaches_much_closer_than_the_majorant() -> None:
    column = SquareRoot(Rolling(30)).coefficients(4096)
    majorant = np.maximum.accumulate(np.abs(column)[::-1])[::-1]
    assert FilterReach(column).l2(7, together=False) < 0.52 * FilterReach(majorant).l2(7, together=False)


def test_agrees_with_what_is_known_without_shapes(subtests: pytest.Subtests) -> None:
    for relation, (kind, bounds) in itertools.product([*RELATIONS], [*CASES, (Event, Bounds(5, groups=2))]):
        with subtests.test(relation=relation, kind=kind, bounds=bounds):
            unit = Event(relation) if kind is Event else unit_of(kind, relation, bounds.max_periods or 1)
            contribution = Contribution.total(clip=(-1.0, 3.0))
            column = np.zeros(bounds.horizon)
            column[0] = 1.0
            assert shape_sensitivity(FilterReach(column), unit, bounds, contribution) == per_period(
                unit, bounds, contribution
            )
            totals = shape_sensitivity(FilterReach(np.ones(bounds.horizon)), unit, bounds, contribution)
            known = running_total(unit, bounds, contribution)
            if kind is not User or relation == "add_remove":
                assert totals.l2 == pytest.approx(known.l2, rel=1e-12) or kind is Event
            assert totals.l1 >= known.l1 * (1 - 1e-12)


def test_places_side_by_side_multiply() -> None:
    column = COLUMNS["root"]
    one = shape_sensitivity(FilterReach(column), User(), Bounds(4, max_periods=2), Contribution.count())
    nine = shape_sensitivity(
        FilterReach(column), User(), Bounds(4, max_periods=2, groups=20, max_groups=9), Contribution.count()
    )
    assert nine.l2 == pytest.approx(3 * one.l2)
    assert nine.l1 == pytest.approx(9 * one.l1)


def test_a_tree_costs_one_sum_a_level() -> None:
    reach = TreeReach(19, Tree(19).levels(2**20), 2**20)
    found = shape_sensitivity(reach, User(), Bounds(2**20, max_periods=7), Contribution.count())
    assert found.l1 == pytest.approx(7 * 5, rel=1e-12)
    one = shape_sensitivity(reach, Event(), Bounds(2**20), Contribution.count())
    assert (one.l1, one.l2) == pytest.approx((5, math.sqrt(5)), rel=1e-12)


def test_refuses_what_does_not_fit() -> None:
    column, count = COLUMNS["root"], Contribution.count()
    with pytest.raises(InvalidArgument, match="horizon must be the 4 periods of the shape"):
        shape_sensitivity(FilterReach(column), Event(), Bounds(5), count)
    with pytest.raises(MissingBound, match="max_periods"):
        shape_sensitivity(FilterReach(column), User(), Bounds(4), count)
    with pytest.raises(InvalidArgument, match="opposite must be a finite number of at least 0"):
        shape_sensitivity(FilterReach(column), Event(), Bounds(4), count, opposite=-1.0)
    for bad in (np.zeros(4), np.array([1.0, math.nan]), np.ones((2, 2))):
        with pytest.raises(InvalidArgument, match="coefficients"):
            FilterReach(bad)
    mean = Contribution.mean(clip=(0.0, 5.0), people=200)
    with pytest.raises(InvalidArgument, match="release a sum and a count"):
        shape_sensitivity(FilterReach(column), User(), Bounds(4, max_periods=1), mean)
    assert shape_sensitivity(FilterReach(column), User("replace"), Bounds(4, max_periods=1), mean).l2 > 0


HORIZON = 3
SHAPE = SquareRoot(RunningTotal())
Row = tuple[int, float]  # period, value
Floats = NDArray[np.float64]


def totals_of(measure: Measure, rows: tuple[Row, ...]) -> Floats:
    """One person's totals_of by period, as an engine bounds them."""
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
            with_row = totals_of(measure, (*others, row))
            if relation == "add_remove":
                yield with_row - totals_of(measure, others)
            else:
                yield from (with_row - totals_of(measure, (*others, other)) for other in rows)


def changes_of_a_person(measure: Measure, relation: Relation) -> Iterator[Floats]:
    """What a person who is in one period at most changes; finished totals_of change as their owner said."""
    if isinstance(measure, Total):
        ends, most = (-measure.change, 0.0, measure.change), 1 if relation == "add_remove" else 2
        for change in itertools.product(ends, repeat=HORIZON):
            if np.count_nonzero(change) <= most:
                yield np.array(change)
        return
    rows = [()] + [((period, value),) for period in range(HORIZON) for value in (-2.0, 1.0, 2.0)]
    held = [totals_of(measure, one) for one in rows]
    for one in held:
        yield from (one - other for other in (held if relation == "replace" else held[:1]))


MEASURES = (Count(), Count(2), Sum("kwh", (0.0, 2.0)), Sum("kwh", (-1.0, 2.0)), Sum("kwh", (-2.0, 0.0)))
BOTH: tuple[Relation, ...] = ("add_remove", "replace")
SIGNED: list[tuple[Measure, RecordUnit]] = [
    *((measure, Event(relation=relation)) for measure in MEASURES for relation in BOTH),
    *((measure, User(relation=relation)) for measure in (*MEASURES, Total(2.0)) for relation in BOTH),
]


@pytest.mark.slow
def test_no_unit_changes_a_shaped_series_by_more_than_its_table_says(subtests: pytest.Subtests) -> None:
    for measure, unit in SIGNED:
        with subtests.test(measure=measure, unit=unit):
            table = Table(measure, unit, HORIZON, max_periods=1 if unit.whole_person else None)
            (stated,) = table.sensitivities(SHAPE)
            shape = lower(SHAPE.coefficients(HORIZON))
            changes = (changes_of_a_row if unit.of_rows else changes_of_a_person)(measure, unit.relation)
            seen = [shape @ change for change in changes]
            assert max(float(np.linalg.norm(change)) for change in seen) <= stated.l2
            assert max(float(np.abs(change).sum()) for change in seen) <= stated.l1
