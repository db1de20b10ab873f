"""Sensitivities against the textbook and every pair of small neighbouring tables; and the grid that noise lies on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from tests.privacy.changes import RELATIONS, Cells, changes, row_changes

from chronodp.errors import InvalidArgument, MissingBound
from chronodp.privacy import (
    Bounds,
    Contribution,
    Event,
    Grid,
    Report,
    Sensitivity,
    Swap,
    Unit,
    User,
    UserPeriod,
    Window,
    per_period,
    running_total,
)
from chronodp.privacy.sensitivity import exact_sensitivity


@pytest.mark.parametrize("horizon", [1, 2, 24, 1440])
def test_the_textbooks_cases(horizon: int) -> None:
    bounds = Bounds(horizon=horizon, max_periods=horizon)
    assert per_period(Event(), bounds, Contribution.count()).l1 == 1
    assert per_period(User(), bounds, Contribution.count()).l1 == horizon
    everything = running_total(User(), bounds, Contribution.count())
    assert everything.l1 == horizon * (horizon + 1) / 2
    assert everything.l2 == pytest.approx(math.sqrt(horizon * (horizon + 1) * (2 * horizon + 1) / 6), rel=1e-15)


def test_means_divide_by_a_public_number_and_need_replace() -> None:
    mean = Contribution.mean(clip=(0.0, 5.0), people=200)
    bounds = Bounds(horizon=24, max_periods=2)
    assert per_period(User(relation="replace"), bounds, mean).l1 == pytest.approx(2 * 2 * 5 / 200, rel=1e-15)
    with pytest.raises(InvalidArgument, match="release a sum and a count"):
        per_period(User(), bounds, mean)


def worst(changed: Iterator[Cells]) -> tuple[Sensitivity, Sensitivity]:
    every = np.stack(list(changed))  # changes × periods × groups
    periods, totals = (numbers.reshape(len(every), -1) for numbers in (every, np.cumsum(every, axis=1)))
    return largest(periods), largest(totals)


def largest(numbers: Cells) -> Sensitivity:
    return Sensitivity(float(np.abs(numbers).sum(axis=1).max()), float(np.sqrt((numbers**2).sum(axis=1)).max()))


@pytest.mark.slow
def test_every_change_of_a_person_stays_within(subtests: pytest.Subtests) -> None:
    for (unit, bounds), relation, clip in product(
        [
            (User, Bounds(horizon=3, max_periods=1)),
            (User, Bounds(horizon=3, max_periods=2)),
            (User, Bounds(horizon=4, max_periods=4)),
            (User, Bounds(horizon=2, max_periods=1, groups=2)),
            (User, Bounds(horizon=2, max_periods=2, groups=2, max_groups=2)),
            (UserPeriod, Bounds(horizon=4, max_periods=2)),
            (UserPeriod, Bounds(horizon=2, max_periods=1, groups=2)),
            (Window, Bounds(horizon=4, max_periods=2)),
            (Window, Bounds(horizon=2, max_periods=2, groups=2)),
        ],
        RELATIONS,
        [(0.0, 1.0), (-1.0, 3.0), (-2.0, 2.0), (2.0, 3.0), (-3.0, -1.0)],
    ):
        with subtests.test(unit=unit, bounds=bounds, relation=relation, clip=clip):
            units: dict[type, Unit] = {
                User: User(relation),
                UserPeriod: UserPeriod("1D", relation),
                Window: Window(bounds.max_periods or 1, relation),
            }
            who = units[unit]
            periods, totals = worst(changes(who, bounds, *clip))
            contribution = Contribution.total(clip=clip)
            for found, stated in (
                (periods, per_period(who, bounds, contribution)),
                (totals, running_total(who, bounds, contribution)),
            ):
                assert found.l1 <= stated.l1
                assert found.l2 <= stated.l2 * (1 + 1e-15)
                if bounds.groups == 1:  # attained, so no smaller number would be true
                    assert found.l1 == pytest.approx(stated.l1)
                    assert found.l2 == pytest.approx(stated.l2)


def test_every_change_of_a_row_stays_within(subtests: pytest.Subtests) -> None:
    for bounds, relation, clip in product(
        [Bounds(horizon=1), Bounds(horizon=2), Bounds(horizon=1, groups=2)],
        RELATIONS,
        [(0.0, 5.0), (-5.0, 5.0), (-1.0, 4.0), (2.0, 3.0)],
    ):
        with subtests.test(bounds=bounds, relation=relation, clip=clip):
            periods, totals = worst(row_changes(bounds, relation, clip))
            contribution = Contribution.total(clip=clip)
            for found, stated in (
                (periods, per_period(Event(relation), bounds, contribution)),
                (totals, running_total(Event(relation), bounds, contribution)),
            ):
                assert found.l1 <= stated.l1
                assert found.l2 <= stated.l2 * (1 + 1e-15)
                if clip[0] <= 0:  # attained; a total that cannot be 0 moves less when its row only changes
                    assert found.l1 == pytest.approx(stated.l1)
                    assert found.l2 == pytest.approx(stated.l2)


def test_names_the_bound_that_is_missing() -> None:
    with pytest.raises(
        MissingBound, match=r"max_periods is missing: say how many periods of one person count \(1 to 9\)"
    ):
        per_period(User(), Bounds(horizon=9), Contribution.count())
    with pytest.raises(MissingBound, match="one calendar period holds"):
        per_period(UserPeriod("1D"), Bounds(horizon=9), Contribution.count())


def test_refuses_bad_bounds() -> None:
    with pytest.raises(InvalidArgument, match="horizon must be a whole number of at least 1"):
        Bounds(horizon=0)
    with pytest.raises(InvalidArgument, match="max_periods must be a whole number from 1 to 3"):
        Bounds(horizon=3, max_periods=4)
    with pytest.raises(InvalidArgument, match="max_groups"):
        Bounds(horizon=3, groups=2, max_groups=3)
    with pytest.raises(InvalidArgument, match="periods of the Window must be a whole number from 1 to 3"):
        per_period(Window(4), Bounds(horizon=3), Contribution.count())
    for unit in (Swap(4), Report(), "user"):
        with pytest.raises(InvalidArgument, match="unit must be Event, User"):
            per_period(unit, Bounds(horizon=3), Contribution.count())  # type: ignore[arg-type]
    for clip in [(1.0, 0.0), (0.0, 0.0), (0.0, math.inf), (math.nan, 1.0), (0.0,), None, "01", (True, 2.0)]:
        with pytest.raises(InvalidArgument, match="clip must be a pair"):
            Contribution.total(clip=clip)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="at_most"):
        Contribution.count(at_most=0)
    with pytest.raises(InvalidArgument, match="people"):
        Contribution.mean(clip=(0.0, 1.0), people=0)


@given(st.fractions(min_value=Fraction(1, 10**30 + 1), max_value=10**30 + 1) | st.integers(1, 200).map(Fraction))
@example(Fraction(1, 3))
@example(Fraction(1, 10**30 + 1))
@example(Fraction(10**30 + 1))
@example(Fraction(4))
def test_roots_are_rounded_up_to_the_next_float(square: Fraction) -> None:
    root = exact_sensitivity(square, square).l2
    assert Fraction(math.nextafter(root, 0.0)) ** 2 < square <= Fraction(root) ** 2


@given(st.floats(1e-50, 1e50))
def test_a_grid_for_noise_is_a_power_of_two_a_million_times_finer(scale: float) -> None:
    ratio = scale / Grid.for_scale(scale).step
    assert 2**20 <= ratio < 2**21


@given(st.lists(st.integers(-(2**52), 2**52), max_size=20), st.integers(-40, 40))
def test_steps_survive_the_way_to_floats_and_back(steps: list[int], exponent: int) -> None:
    grid = Grid(2.0**exponent)
    numbers = np.array(steps, dtype=np.int64)
    assert np.array_equal(grid.to_quanta(grid.to_values(numbers)), numbers)


def test_refuses_steps_that_are_no_power_of_two_and_values_off_the_line_without_showing_them() -> None:
    step: Any
    for step in (0, -1.0, 3.0, 0.1, math.nan, math.inf, None):
        with pytest.raises(InvalidArgument, match="step"):
            Grid(step)
    values: Any
    for values in ([math.nan], [math.inf], ["a"], [None], [[True]], [[1.0], [2.0, 3.0]]):
        with pytest.raises(InvalidArgument, match="values must be") as caught:
            Grid(1.0).to_quanta(values)
        assert "nan" not in str(caught.value)
    with pytest.raises(InvalidArgument, match=r"got a float$"):
        Grid(1.0).to_quanta(math.nan)


def test_no_value_is_too_large() -> None:
    assert Grid(0.5).to_quanta([1e300, -1e308, 1e-308, 2.0**60]).tolist() == [2**52, -(2**52), 0, 2**52]


@given(st.floats(-1e9, 1e9), st.integers(0, 1000), st.integers(-30, 10))
def test_a_change_stays_within_its_steps(value: float, steps: int, exponent: int) -> None:
    """Rounding is exact, so that it commutes with whole steps: halves go up, and so does the last bit below them."""
    grid = Grid(2.0**exponent)
    exact = math.floor(Fraction(value) / Fraction(grid.step) + Fraction(1, 2))
    assert int(grid.to_quanta(value)) == max(-(2**52), min(2**52, exact))
    change = float(steps) * grid.step * 0.9
    moved = int(grid.to_quanta(value + change)) - int(grid.to_quanta(value))
    assert moved <= grid.reach(change) + (Fraction(value + change) != Fraction(value) + Fraction(change))
