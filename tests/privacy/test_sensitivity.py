"""Sensitivities against the textbook, and against every pair of small neighbouring tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from tests.privacy.changes import RELATIONS, Cells, changes, row_changes

from chronodp.errors import InvalidArgument, MissingBound
from chronodp.privacy import (
    Bounds,
    Contribution,
    Event,
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
