"""Prices of a life in whole numbers: K full periods fit exactly, and no more."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from chronodp.errors import InvalidArgument
from chronodp.lifetime import LifetimeDesign
from chronodp.lifetime.shares import MOST_PERIODS, life_of, quanta_of, takes_of, whole_price
from chronodp.privacy import User
from chronodp.series import Count, Measure, RunningTotal, Sum, Table
from chronodp.series.shapes import SquareRoot
from tests.lifetime.lives import series


def table(measure: Measure, *, relation: Any = "add_remove", max_groups: int = 1) -> Table:
    return series(unit=User(relation=relation)).ask(measure).by(group=["a", "b", "c"], max_groups=max_groups).table


def life(
    measure: Measure, periods: int = 120, *, delta: float = 1e-6, relation: Any = "add_remove", max_groups: int = 1
) -> LifetimeDesign:
    asked = series(unit=User(relation=relation)).ask(measure).by(group=["a", "b", "c"], max_groups=max_groups)
    return asked.lifetime(epsilon=1.0, delta=delta, max_periods=periods).design


def test_exactly_k_full_periods_fit_a_life() -> None:
    for delta in [0.0, 1e-6]:
        for measure in [Count(), Count(5), Sum("x", (0.0, 3.0)), Sum("x", (-1.0, 0.7))]:
            design = life(measure, 7, delta=delta, max_groups=2)
            full = takes_of(design.base, design.base.table)
            assert full == 2 * quanta_of(design.base.law), (measure, delta)
            assert design.life == 7 * full, (measure, delta)
            prices = whole_price(full, 12).prices
            assert [price <= design.life for price in prices] == [True] * 7 + [False] * 5, (measure, delta)


def test_another_clip_takes_as_much_more_as_it_moves() -> None:
    """Squares under Gaussian noise and sizes under Laplace; of someone replaced, from one side of 0 to the other."""
    cases: list[tuple[tuple[float, float], float, str, Fraction]] = [
        ((0.0, 5.0), 1e-6, "add_remove", Fraction(25, 9)),
        ((0.0, 1.5), 1e-6, "add_remove", Fraction(1, 4)),
        ((-6.0, 3.0), 1e-6, "add_remove", Fraction(4)),
        ((0.0, 6.0), 0.0, "add_remove", Fraction(2)),
        ((-3.0, 3.0), 1e-6, "replace", Fraction(2)),
    ]
    for clip, delta, relation, taken in cases:
        design = life(Sum("x", (0.0, 3.0)), delta=delta, relation=relation)
        other = design.issue("load", start="2026-03-01", end="2026-04-01", clip=clip)
        assert other.life is not None
        assert other.life.takes == math.ceil(design.life // design.max_periods * taken), (clip, delta, relation)
        assert other.life.taken == f"{float(taken):.3g}", (clip, delta, relation)
        assert other.noises == design.base.noises, (clip, delta, relation)


def test_lives_that_no_number_holds_are_refused() -> None:
    wide = table(Count(), max_groups=3)
    with pytest.raises(InvalidArgument, match="max_periods must be at most 357,913,941"):
        life_of(wide, "gaussian", MOST_PERIODS)
    assert life_of(wide, "gaussian", MOST_PERIODS // 3) <= 2**62
    with pytest.raises(InvalidArgument, match="end must be earlier"):
        whole_price(2**60, 10)
    design = life(Sum("x", (0.0, 3.0)))
    with pytest.raises(InvalidArgument, match="end must be earlier"):
        design.issue("load", start="2026-03-01", end="2026-04-01", clip=(0.0, 1e9))


def test_a_design_that_promises_more_than_its_noise_hides_is_refused() -> None:
    design = life(Count())
    with pytest.raises(InvalidArgument, match="noise for 121 periods"):
        replace(design, max_periods=121, life=design.life // 120 * 121)
    with pytest.raises(InvalidArgument, match="life must be that of 120 periods"):
        replace(design, life=design.life + 1)
    with pytest.raises(InvalidArgument, match="white noise"):
        replace(design, base=replace(design.base, shape=SquareRoot(RunningTotal())))
