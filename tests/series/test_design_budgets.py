"""A design fits the budget of its own size, and what cannot be designed is refused by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from tests.series.designs import (
    BINS,
    COUNT,
    DELTA,
    DELTAS,
    EPSILONS,
    LAWS,
    MEAN,
    PANEL,
    REGIONS,
    TABLES,
    THREE_DAYS,
    TOTALS,
    designs,
    feasible,
    of_law,
    table,
)

from chronodp import Event, User, UserPeriod, Window
from chronodp.accounting import gaussian
from chronodp.engines import Grouping
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.ledger import Budget
from chronodp.privacy import Cost, GaussianCost, Report, SequenceCost, Swap
from chronodp.privacy.calendar import LONGEST
from chronodp.series import Count, Histogram, Mean, Measure, PanelMean, Sum, Table, Total


def with_less_noise(cost: Cost) -> Cost:
    match cost:
        case GaussianCost(sensitivity, sigma):
            return GaussianCost(sensitivity, sigma * (1 - 1e-6))
        case SequenceCost(costs):
            return SequenceCost(tuple(map(with_less_noise, costs)))
        case _:
            raise TypeError(cost)


@given(TABLES, EPSILONS, DELTAS)
def test_gaussian_plans_fit_budgets_of_their_own_size(released: Table, epsilon: float, delta: float) -> None:
    for design in feasible(released, epsilon, delta):
        if design.law == "gaussian":
            rule = Budget(released.unit, epsilon, delta).filter
            assert rule.fits((0,) * len(rule.ceilings), design.cost)
            # A little less noise does not fit. A little more pure ε might: where δ is large it moves nothing.
            assert not rule.fits((0,) * len(rule.ceilings), with_less_noise(design.cost))


@pytest.mark.parametrize("measure", [COUNT, TOTALS, MEAN, Sum("kwh", (0.0, 3.3)), Total(5.0)], ids=str)
def test_laplace_plans_fit_budgets_of_their_own_size(measure: Measure) -> None:
    for tenths in range(1, 31):
        epsilon = tenths / 10
        design = of_law(table(measure, User(), 8), "laplace", epsilon=epsilon, delta=0.0)
        rule = Budget(User(), epsilon).filter
        assert rule.fits((0,) * len(rule.ceilings), design.cost), epsilon


def test_many_releases_cost_what_the_accountants_say() -> None:
    laplace, normal = (of_law(table(COUNT, User(), 72), law) for law in LAWS)
    assert laplace.epsilon_of(30, 0.0) == pytest.approx(30.0)
    assert laplace.epsilon_of(30, DELTA) < 30.0
    mu = gaussian.mu_for(1.0, DELTA)
    assert normal.epsilon_of(30, DELTA) == pytest.approx(gaussian.epsilon_of(mu * math.sqrt(30), DELTA), rel=1e-9)


def test_refusals_name_the_argument(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: Table(COUNT, Event(), 0), "horizon"),
        (lambda: Table(COUNT, Event(), LONGEST + 1), "horizon"),
        (lambda: Table(COUNT, Event(), 1.0), "horizon"),  # type: ignore[arg-type]
        (lambda: Table(COUNT, Event(), 24, THREE_DAYS), "horizon"),
        (lambda: Table(COUNT, Swap(4), 24), "unit"),  # type: ignore[arg-type]
        (lambda: Table(COUNT, Report(), 24), "unit"),  # type: ignore[arg-type]
        (lambda: table(COUNT, User()), "max_periods"),
        (lambda: table(COUNT, User(), 0), "max_periods"),
        (lambda: table(COUNT, User(), 73), "max_periods"),
        (lambda: table(COUNT, User(), True), "max_periods"),
        (lambda: table(COUNT, Event(), 4), "max_periods"),
        (lambda: table(COUNT, Window(4), 4), "max_periods"),
        (lambda: table(COUNT, UserPeriod("1D"), 24), "max_periods"),
        (lambda: table(COUNT, Window(73)), "periods of the Window"),
        (lambda: table(COUNT, User(), 4, max_groups=2), "max_groups"),
        (lambda: table(COUNT, User(), 4, groupings=REGIONS, max_groups=4), "max_groups"),
        (lambda: table(COUNT, User(), 4, groupings=REGIONS, max_groups=0), "max_groups"),
        (lambda: table(PANEL, User(), 4), "people"),
        (lambda: table(PANEL, Event()), "people"),
        (lambda: Table(BINS, Event(), LONGEST, groupings=REGIONS), "groups"),
        (lambda: Table(COUNT, Event(), LONGEST, groupings=(*REGIONS, Grouping("age", tuple("abc")))), "groups"),
        (lambda: Count(0), "at_most"),
        (lambda: Count(2**30 + 1), "at_most"),
        (lambda: Count(1.5), "at_most"),  # type: ignore[arg-type]
        (lambda: Sum("kwh", (5.0, 0.0)), "clip"),
        (lambda: Sum("kwh", (0.0, 0.0)), "clip"),
        (lambda: Sum("kwh", (0.0, math.inf)), "clip"),
        (lambda: Sum("kwh", (math.nan, 1.0)), "clip"),
        (lambda: Sum("kwh", 5.0), "clip"),  # type: ignore[arg-type]
        (lambda: Sum("kwh", (1.0,)), "clip"),  # type: ignore[arg-type]
        (lambda: Mean("kwh", (1.0, 1.0)), "clip"),
        (lambda: PanelMean("kwh", (0.0, 1.0), 0), "people"),
        (lambda: PanelMean("kwh", (0.0, 1.0), 2.5), "people"),  # type: ignore[arg-type]
        (lambda: Histogram("age", (0.0,)), "edges"),
        (lambda: Histogram("age", (0.0, 0.0, 1.0)), "edges"),
        (lambda: Histogram("age", (0.0, math.nan)), "edges"),
        (lambda: Histogram("age", tuple(range(10_003))), "edges"),
        (lambda: Histogram("age", "012"), "edges"),  # type: ignore[arg-type]
        (lambda: Histogram("age", (0.0, 1.0), at_most=2), "at_most"),
        (lambda: Total(0.0), "change"),
        (lambda: Total(-1.0), "change"),
        (lambda: Total(math.inf), "change"),
    ]
    for make, name in cases:
        with subtests.test(make=make, name=name):
            with pytest.raises(InvalidArgument) as caught:
                make()
            assert caught.value.name == name
            assert str(caught.value).startswith(name)


def test_refuses_what_is_no_price(subtests: pytest.Subtests) -> None:
    epsilons: list[Any] = [0, -1, math.nan, math.inf, "1", True, None, 1e61]
    for epsilon in epsilons:
        with subtests.test(epsilon=epsilon), pytest.raises(InvalidArgument, match="epsilon must be a"):
            designs(table(COUNT, Event()), epsilon=epsilon)
    deltas: list[Any] = [-1e-9, 1, math.nan, "0", None]
    for delta in deltas:
        with subtests.test(delta=delta), pytest.raises(InvalidArgument, match="delta must be a number from 0"):
            designs(table(COUNT, Event()), delta=delta)


def test_days_of_a_grid_without_dates_need_their_length_and_the_largest_table_is_taken() -> None:
    with pytest.raises(MissingBound, match="how many periods of the grid one calendar period holds"):
        designs(Table(Total(1.0), UserPeriod("1D"), 72))
    assert of_law(Table(Total(1.0), UserPeriod("1D"), 72, max_periods=24), "laplace").noises[0].sensitivity > 24
    largest = Table(COUNT, Event(), LONGEST, groupings=REGIONS)
    assert largest.cells == largest.horizon * largest.places
    assert replace(largest, groupings=()).places == 1
