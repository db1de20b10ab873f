"""From declared numbers to noise that fits its budget: by hand, by accountants, by arithmetic."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, example, given, strategies as st
from tests.series.designs import DELTA, DELTAS, EPSILONS, TABLES, THREE_DAYS, designs, feasible, of_law, table, width
from tests.series.misses import LAWS

from chronodp import Event, User, UserPeriod, Window
from chronodp.accounting import basic, gaussian
from chronodp.dataset import Records
from chronodp.engines import Grouping
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.ledger import Budget
from chronodp.privacy import Calendar, Cost, GaussianCost, LaplaceCost, Report, SequenceCost, Swap, dump, load
from chronodp.privacy.calendar import LONGEST
from chronodp.series import Count, Design, Histogram, Mean, Measure, PanelMean, RowMean, Sum, Table, Total, Variance

COUNT, ROWS, TOTALS = Count(), Count(at_most=3), Sum("kwh", (-2.0, 7.0))
MEAN, BINS = Mean("kwh", (0.0, 10.0)), Histogram("age", (0.0, 18.0, 40.0, 65.0, 120.0), at_most=2)
PANEL = PanelMean("kwh", (0.0, 10.0), 50)
REGIONS = (Grouping("region", ("north", "south", "west")),)
HALF_PAST = Calendar("1h", "2026-01-01T00:30", "2026-01-04T00:30")
Norms = tuple[float, float]  # l1 and l2


def spread(one: float, many: int) -> Norms:
    """Many cells that change by the same."""
    return one * many, one * math.sqrt(many)


BY_HAND: list[tuple[Table, list[Norms]]] = [
    (table(COUNT, Event()), [spread(1, 1)]),
    (table(COUNT, Event("replace")), [spread(1, 2)]),
    (table(COUNT, User(), 4), [spread(1, 4)]),
    (table(COUNT, User("replace"), 4), [spread(1, 8)]),
    (table(COUNT, UserPeriod("1D")), [spread(1, 24)]),
    (table(COUNT, UserPeriod("1D", "replace")), [spread(1, 24)]),
    (table(COUNT, UserPeriod("1h")), [spread(1, 1)]),
    (table(COUNT, UserPeriod("1Y")), [spread(1, 72)]),
    (table(COUNT, Window(5)), [spread(1, 5)]),
    (table(COUNT, Window(5, "replace")), [spread(1, 5)]),
    (table(ROWS, Event()), [spread(1, 1)]),
    (table(ROWS, User(), 4), [spread(3, 4)]),
    (table(ROWS, Window(5)), [spread(3, 5)]),
    (table(TOTALS, Event()), [spread(9, 1)]),
    (table(TOTALS, Event("replace")), [spread(9, 2)]),
    (table(TOTALS, Event(), single_rows=True), [spread(7, 1)]),
    (table(TOTALS, Event("replace"), single_rows=True), [spread(7, 2)]),
    (table(TOTALS, User(), 4), [spread(7, 4)]),
    (table(TOTALS, User("replace"), 4), [spread(7, 8)]),
    (table(TOTALS, User("replace"), 72), [spread(9, 72)]),
    (table(TOTALS, UserPeriod("1D")), [spread(7, 24)]),
    (table(TOTALS, UserPeriod("1D", "replace")), [spread(9, 24)]),
    (table(TOTALS, Window(5)), [spread(7, 5)]),
    (table(TOTALS, Window(5, "replace")), [spread(9, 5)]),
    (table(MEAN, Event()), [spread(10, 1), spread(1, 1)]),
    (table(MEAN, User(), 4), [spread(5, 4), spread(1, 4)]),
    (table(MEAN, User("replace"), 4), [spread(10, 4), spread(1, 8)]),
    (table(PANEL, User("replace"), 4), [spread(10, 8)]),
    (table(PANEL, Event("replace")), [spread(10, 2)]),
    (table(BINS, Event()), [spread(1, 1)]),
    (table(BINS, Event("replace")), [spread(1, 2)]),
    (table(BINS, User(), 4), [spread(1, 8)]),
    (table(BINS, User("replace"), 4), [spread(1, 16)]),
    (table(BINS, Window(5)), [spread(1, 10)]),
    (table(COUNT, User(), 4, groupings=REGIONS), [spread(1, 4)]),
    (table(COUNT, User(), 4, groupings=REGIONS, max_groups=2), [spread(1, 8)]),
    (table(BINS, User(), 4, groupings=REGIONS, max_groups=3), [spread(1, 24)]),
    (table(COUNT, Event("replace"), groupings=REGIONS), [spread(1, 2)]),
]


def test_sensitivities_reach_the_cost(subtests: pytest.Subtests) -> None:
    for law, (released, expected) in itertools.product(LAWS, BY_HAND):
        with subtests.test(law=law, released=released, expected=expected):
            design = of_law(released, law)
            norm = LAWS.index(law)
            assert [noise.sensitivity for noise in design.noises] == pytest.approx(
                [part[norm] for part in expected], rel=1e-14
            )
            costs = design.cost.costs if isinstance(design.cost, SequenceCost) else (design.cost,)
            assert costs == tuple(noise.cost for noise in design.noises)
            assert all(isinstance(cost, LaplaceCost if law == "laplace" else GaussianCost) for cost in costs)
            assert design.table.unit == released.unit


def test_a_day_that_cuts_hours_in_two_is_bounded_as_if_replaced() -> None:
    for unit in (UserPeriod("1D"), UserPeriod("1D", "replace")):
        released = Table(TOTALS, unit, 72, HALF_PAST)
        assert of_law(released, "laplace").noises[0].sensitivity == 25 * 9
        assert of_law(released, "gaussian").noises[0].sensitivity == pytest.approx(5 * 9)
        assert of_law(released, "laplace").table.unit == unit
    autumn = Calendar("1h", "2026-10-24", "2026-10-27", "Europe/Berlin")
    assert of_law(Table(TOTALS, UserPeriod("1D"), 73, autumn), "laplace").noises[0].sensitivity == 25 * 7
    india = Calendar("1h", "2026-01-01", "2026-01-02", "Asia/Kolkata")
    assert of_law(Table(TOTALS, UserPeriod("1h"), 24, india), "laplace").noises[0].sensitivity == 2 * 9


def test_rounding_finished_totals_is_paid_for() -> None:
    for law in LAWS:
        for unit, periods, cells in ((Event(), None, 1), (User(), 9, 9), (Window(4), None, 4)):
            design = of_law(Table(Total(5.0), unit, 72, max_periods=periods), law)
            (noise,) = design.noises
            expected = spread(5.0 + noise.step, cells)[LAWS.index(law)]
            assert noise.sensitivity == pytest.approx(expected, rel=1e-15)
            assert noise.sensitivity > spread(5.0, cells)[LAWS.index(law)]


def test_the_noise_with_the_least_error_is_chosen() -> None:
    assert [design.law for design in designs(table(COUNT, Event()))] == ["laplace", "gaussian"]
    assert [design.law for design in designs(table(COUNT, User(), 72))] == ["gaussian", "laplace"]
    for released, _ in BY_HAND:
        both = designs(released)
        assert {design.law for design in both} == set(LAWS)
        assert both[0].noises[0].deviation <= both[1].noises[0].deviation
    laplace, normal = (of_law(table(COUNT, User(), 4), law).noises[0] for law in LAWS)
    assert laplace.deviation == pytest.approx(math.sqrt(2) * 4)
    assert normal.deviation == normal.scale == pytest.approx(gaussian.sigma(1.0, DELTA, sensitivity=2.0))


def test_pure_when_there_is_no_delta(subtests: pytest.Subtests) -> None:
    for released, _expected in BY_HAND:
        with subtests.test(released=released):
            (design,) = designs(released, delta=0.0)
            assert (design.law, design.delta, design.epsilon) == ("laplace", 0.0, 1.0)
            assert basic.epsilon(design.cost, 0.0) <= 1.0
            assert of_law(released, "laplace").delta == 0.0
            assert of_law(released, "gaussian").delta == DELTA


@pytest.mark.slow
@given(TABLES, EPSILONS, DELTAS)
def test_the_cost_stays_within_what_was_asked(released: Table, epsilon: float, delta: float) -> None:
    for design in feasible(released, epsilon, delta):
        spent = basic.epsilon(design.cost, 0.0) if design.law == "laplace" else gaussian.epsilon(design.cost, delta)
        assert epsilon * (1 - 1e-6) <= spent <= epsilon
        assert design.epsilon_of(1, delta) <= epsilon
        assert design.epsilon_of(3, 0.99 if 3 * delta >= 1 else 3 * delta) <= 3 * epsilon * (1 + 1e-9)


@given(TABLES, EPSILONS, DELTAS)
def test_numbers_and_noise_lie_on_a_grid_that_the_sampler_reaches(
    released: Table, epsilon: float, delta: float
) -> None:
    measure = released.measure
    for design in feasible(released, epsilon, delta):
        for index, noise in enumerate(design.noises):
            assert math.frexp(noise.step)[0] == 0.5
            assert 2.0**-30 <= noise.scale / noise.step <= 2.0**30
            if isinstance(measure, Count | Histogram) or index == 1:
                most = measure.at_most if isinstance(measure, Count) else 1
                assert (1 / noise.step).is_integer()
                assert most / noise.step <= 2**30
                continue
            # A mean's and a variance's numbers stand in half steps of the grid on which they were rounded.
            step = 2 * noise.step if isinstance(measure, Mean | Variance) else noise.step
            reach = width(measure) ** 2 / 4 if index == 2 else measure.reach
            if isinstance(measure, RowMean):  # a row itself lies on the grid, however far from 0 its clip is
                reach = max(reach, *map(abs, measure.clip))
            assert 2**6 <= reach / step <= 2**30
            assert step <= max(reach * 2**-29, noise.scale * 2**-25 * (1 + 1e-9))


@given(
    low=st.floats(-1e9, 1e9).filter(lambda low: abs(low) > 1e-30),
    share=st.floats(-12.0, 0.0).map(lambda power: 10.0**power),
    epsilon=st.floats(-6.0, 3.0).map(lambda power: 10.0**power),
    kind=st.sampled_from([Sum, Mean, Variance]),
)
@example(low=-0.1, share=1e-18, epsilon=1.0, kind=Sum)
@example(low=-1.00002, share=1e-5, epsilon=1e-6, kind=Sum)
@example(low=1767225600.3, share=3.4e-10, epsilon=1.0, kind=Mean)
@example(low=1e6, share=1.1e-6, epsilon=1e3, kind=Variance)
def test_a_clip_on_the_grid_is_never_wider_than_it_was(
    low: float, share: float, epsilon: float, kind: type[Sum] | type[Mean] | type[Variance]
) -> None:
    clip = (low, low + abs(low) * share)
    assume(clip[0] < clip[1] or kind is Sum)
    try:
        design = of_law(table(kind("kwh", clip), User(), 1), "laplace", epsilon=epsilon, delta=0.0)
    except InvalidArgument as refused:
        assume(refused.name not in ("clip", "epsilon"))  # too narrow for a mean, or noise that drowns it
        raise
    question = Records(None, "time", "meter").question(design)
    least, most = question.clip
    step = Fraction(question.grid.step)
    exact = [Fraction(end) for end in clip]
    assert least <= most
    assert max(abs(least), abs(most)) * step <= max(map(abs, exact))
    assert (most - least) * step <= exact[1] - exact[0]
    # What one person adds, wherever their total lies, stays within what is paid for.
    noise = design.noises[0]
    added = [least, most] if kind is Sum else [2 * end - least - most for end in (least, most)]
    assert max(map(abs, added)) * Fraction(noise.step) <= Fraction(noise.sensitivity)


@given(TABLES, EPSILONS, DELTAS)
def test_json_and_back(released: Table, epsilon: float, delta: float) -> None:
    for design in feasible(released, epsilon, delta):
        again = load(dump(design), Design)
        assert again == design
        assert dump(again) == dump(design)
        assert again.cost == design.cost


def test_small_and_large_numbers(subtests: pytest.Subtests) -> None:
    for epsilon, clip in itertools.product([1e-6, 1e6], [(0.0, 1e30), (-1e30, 1e30), (0.0, 1e-30), (0.0, 1.0)]):
        with subtests.test(epsilon=epsilon, clip=clip):
            measures: list[Measure] = [Sum("kwh", clip), Mean("kwh", clip), Total(clip[1]), Count(at_most=2**30)]
            apart = clip[1] - clip[0]
            measures.append(Variance("kwh", (0.0, min(max(apart, 1e-20), 1e20))))
            for measure in measures:
                for design in designs(table(measure, Event()), epsilon=epsilon):
                    assert design.epsilon_of(1, DELTA) <= epsilon
                    for noise in design.noises:
                        assert 2.0**-30 <= noise.scale / noise.step <= 2.0**30
                        assert math.isfinite(noise.deviation)


def test_an_epsilon_that_drowns_everything_is_refused(subtests: pytest.Subtests) -> None:
    for measure in [COUNT, TOTALS, MEAN, BINS, Total(1.0)]:
        with (
            subtests.test(measure=measure),
            pytest.raises(
                InvalidArgument,
                match=r"epsilon must be larger: noise of scale .* would drown what one person can add; got 1e-12",
            ),
        ):
            designs(table(measure, Event()), epsilon=1e-12, delta=0.0)


def test_an_epsilon_too_small_for_laplace_noise_leaves_the_gaussian() -> None:
    assert gaussian.sigma(1e-12, DELTA) < 1e6
    assert designs(table(COUNT, Event()), epsilon=1e-12)[0].law == "gaussian"


def test_what_cannot_be_drawn_or_counted_is_refused_by_name(subtests: pytest.Subtests) -> None:
    prices: list[tuple[Measure, float]] = [
        (COUNT, 1e18), (TOTALS, 1e30), (Mean("kwh", (0.0, 1.0)), 1.3e-7), (COUNT, 9e-10),
    ]  # fmt: skip
    for measure, epsilon in prices:
        with subtests.test(measure=measure, epsilon=epsilon), pytest.raises(InvalidArgument, match="epsilon must be"):
            designs(table(measure, Event()), epsilon=epsilon, delta=0.0)
    for clip in [(0.0, 1e70), (0.0, 1e-70), (-1e308, 1e308), (0.0, 1e-170)]:
        with subtests.test(clip=clip), pytest.raises(InvalidArgument, match=r"^clip must be"):
            _ = designs(table(Sum("kwh", clip), Event()))[0].cost


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
