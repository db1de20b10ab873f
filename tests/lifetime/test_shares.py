"""Prices of a life in whole numbers: K full periods fit exactly, and no more."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.lifetime import LifetimeDesign
from chronodp.lifetime.shares import (
    MOST_PERIODS,
    has_both_signs,
    life_of,
    life_sensitivities,
    own_costs_the_same,
    own_price,
    pays_own,
    quanta_of,
    takes_of,
    whole_price,
)
from chronodp.privacy import User
from chronodp.series import Count, Histogram, Mean, Measure, Sum, Table, Variance
from tests.lifetime.lives import series


def table(measure: Measure, *, relation: Any = "add_remove", max_groups: int = 1) -> Table:
    return series(unit=User(relation=relation)).ask(measure).by(group=["a", "b", "c"], max_groups=max_groups).table


def life(
    measure: Measure,
    periods: int = 120,
    *,
    delta: float = 1e-6,
    pays: Any = None,
    relation: Any = "add_remove",
    max_groups: int = 1,
) -> LifetimeDesign:
    asked = series(unit=User(relation=relation)).ask(measure).by(group=["a", "b", "c"], max_groups=max_groups)
    return asked.lifetime(epsilon=1.0, delta=delta, max_periods=periods, pays=pays).design


@pytest.mark.parametrize("measure", [Count(), Count(5), Sum("x", (0.0, 3.0)), Sum("x", (-1.0, 0.7))])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("pays", ["own", "share"])
def test_exactly_k_full_periods_fit_a_life(measure: Measure, delta: float, pays: str) -> None:
    design = life(measure, 7, delta=delta, max_groups=2, pays=pays)
    full = takes_of(design.base, design.base.table, design.pays)
    assert full == 2 * quanta_of(design.base.law)
    assert design.life == 7 * full
    if pays == "share":
        prices = whole_price(full, 12).prices
        assert [price <= design.life for price in prices] == [True] * 7 + [False] * 5


def test_a_total_at_the_clip_pays_a_full_period_and_less_pays_its_square() -> None:
    design = life(Sum("x", (0.0, 3.0)))
    price = own_price(design.base)
    reach = price.over
    assert price.squared
    assert int(price.of(_word(reach))) == 2**32
    assert int(price.of(_word(0))) == 0
    assert 2**30 <= int(price.of(_word(-(-reach // 2)))) <= 2**30 + 2**17  # a quarter, rounded up
    pure = own_price(life(Sum("x", (0.0, 3.0)), delta=0.0).base)
    assert not pure.squared
    assert int(pure.of(_word(pure.over))) == 2**31


def _word(number: int) -> NDArray[np.int64]:
    return np.array(number, np.int64)


@given(st.lists(st.integers(-(2**20), 2**20), max_size=200))
@settings(max_examples=60, deadline=None)
def test_what_is_paid_is_at_least_what_is_added(totals: list[int]) -> None:
    """Σ f² is at most Σ price · (M / 2^16)²: a life pays for no more than K full periods, exactly."""
    price = own_price(life(Sum("x", (-3.0, 3.0))).base)
    paid = sum(int(one) for one in price.of(np.array(totals, np.int64)))
    assert Fraction(sum(total**2 for total in totals)) <= paid * Fraction(price.over, price.times) ** 2


@pytest.mark.parametrize(("clip", "taken"), [((0.0, 5.0), 25 / 9), ((0.0, 1.5), 1 / 4), ((-6.0, 3.0), 4.0)])
def test_another_clip_takes_the_square_of_its_size(clip: tuple[float, float], taken: float) -> None:
    for pays in ("own", "share"):
        design = life(Sum("x", (0.0, 3.0)), pays=pays)
        other = design.issue("load", start="2026-03-01", end="2026-04-01", clip=clip)
        assert other.life is not None
        full = design.life // design.max_periods
        assert other.life.takes / full == pytest.approx(taken, rel=1e-4)
        assert other.noises == design.base.noises
        if pays == "share":
            assert other.life.takes == math.ceil(full * Fraction(max(map(abs, clip))) ** 2 / 9)


def test_laplace_noise_is_paid_by_size_and_not_by_its_square() -> None:
    design = life(Sum("x", (0.0, 3.0)), delta=0.0, pays="share")
    other = design.issue("load", start="2026-03-01", end="2026-04-01", clip=(0.0, 6.0))
    assert other.life is not None
    assert other.life.takes == 2 * (design.life // design.max_periods)
    assert other.life.taken == "2"


@pytest.mark.parametrize("measure", [Mean("x", (0.0, 3.0)), Variance("x", (0.0, 3.0))])
def test_measures_of_several_numbers_pay_whole_shares(measure: Measure) -> None:
    assert not pays_own(table(measure))
    assert life(measure).pays == "share"
    with pytest.raises(InvalidArgument, match="only counts, sums and histograms are paid by size"):
        life(measure, pays="own")


def test_who_pays_what_if_nobody_says() -> None:
    alone = series(every="1D", max_periods=31)
    assert alone.count().lifetime(epsilon=1.0, max_periods=9).design.pays == "share"
    assert alone.count(at_most=2).lifetime(epsilon=1.0, max_periods=9).design.pays == "own"
    assert life(Sum("x", (0.0, 1.0))).pays == "own"
    assert life(Histogram("x", (0.0, 1.0, 2.0), 2)).pays == "own"
    assert life(Sum("x", (-1.0, 3.0)), relation="replace").pays == "share"


def test_replaced_people_with_totals_of_both_signs_cost_more_where_each_pays_for_what_they_add() -> None:
    """Small totals of the one sign lie in more periods than full ones: 4 K M², not K max(2 M², (hi - lo)²)."""
    signed = table(Sum("x", (-1.0, 3.0)), relation="replace")
    assert has_both_signs(signed)
    assert not own_costs_the_same(signed)
    assert life_sensitivities(signed, 5, "own")[0].l2 == pytest.approx(math.sqrt(4 * 5 * 9))
    assert life_sensitivities(signed, 5, "share")[0].l2 == pytest.approx(math.sqrt(5 * 18))
    for clip in ((0.0, 3.0), (-3.0, 0.0), (1.0, 3.0), (-3.0, 3.0)):
        assert own_costs_the_same(table(Sum("x", clip), relation="replace")), clip
    assert life_sensitivities(signed, 5, "own")[0].l1 == life_sensitivities(signed, 5, "share")[0].l1 == 30


def test_a_clip_of_both_signs_is_refused_where_one_sign_was_bought_for_people_replaced() -> None:
    design = life(Sum("x", (0.0, 3.0)), relation="replace", pays="own")
    with pytest.raises(InvalidArgument, match="on one side of 0"):
        design.issue("load", start="2026-03-01", end="2026-04-01", clip=(-1.0, 3.0))
    assert design.issue("load", start="2026-03-01", end="2026-04-01", clip=(-5.0, 0.0)).life is not None
    shared = life(Sum("x", (0.0, 3.0)), relation="replace", pays="share")
    other = shared.issue("load", start="2026-03-01", end="2026-04-01", clip=(-3.0, 3.0))
    assert other.life is not None
    assert other.life.taken == "2"


def test_lives_that_no_number_holds_are_refused() -> None:
    wide = table(Count(), max_groups=3)
    with pytest.raises(InvalidArgument, match="max_periods must be at most 357,913,941"):
        life_of(wide, "gaussian", MOST_PERIODS)
    assert life_of(wide, "gaussian", MOST_PERIODS // 3) <= 2**62
    with pytest.raises(InvalidArgument, match="end must be earlier"):
        whole_price(2**60, 10)
    design = life(Sum("x", (0.0, 3.0)))
    with pytest.raises(InvalidArgument, match="on the grid of this series' noise"):
        design.issue("load", start="2026-03-01", end="2026-04-01", clip=(0.0, 1e9))


def test_a_design_that_promises_more_than_its_noise_hides_is_refused() -> None:
    design = life(Count())
    with pytest.raises(InvalidArgument, match="noise for 121 periods"):
        replace(design, max_periods=121, life=design.life // 120 * 121)
    with pytest.raises(InvalidArgument, match="life must be that of 120 periods"):
        replace(design, life=design.life + 1)
    with pytest.raises(InvalidArgument, match="reissues"):
        replace(life(Sum("x", (0.0, 3.0))), reissues=1)
