"""From declared numbers to noise: sensitivities by hand, costs by the accountants and a ledger, grids by arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from chronodp import Event, Ledger, User, UserPeriod, Window
from chronodp.accounting import basic, gaussian
from chronodp.dataset import Records
from chronodp.engines import Grouping
from chronodp.errors import BudgetExhausted, InvalidArgument, MissingBound
from chronodp.ledger import Budget
from chronodp.privacy import Calendar, GaussianCost, LaplaceCost, PureCost, Report, SequenceCost, Swap, Unit, dump, load
from chronodp.privacy.calendar import LONGEST
from chronodp.series import Count, Design, EachPeriod, Histogram, Mean, Measure, PanelMean, Sum, Table, Total
from chronodp.series.planner import design_release
from chronodp.series.tails import Law

DELTA = 1e-6
LAWS: tuple[Law, ...] = ("laplace", "gaussian")
THREE_DAYS = Calendar("1h", "2026-01-01", "2026-01-04")
HALF_PAST = Calendar("1h", "2026-01-01T00:30", "2026-01-04T00:30")
REGIONS = (Grouping("region", ("north", "south", "west")),)
Norms = tuple[float, float]  # l1 and l2


def designs(released: Table, *, epsilon: float = 1.0, delta: float = DELTA) -> tuple[Design, ...]:
    return design_release(released, epsilon=epsilon, delta=delta, tuned_for=EachPeriod())


def of_law(released: Table, law: Law, *, epsilon: float = 1.0, delta: float = DELTA) -> Design:
    return next(design for design in designs(released, epsilon=epsilon, delta=delta) if design.law == law)


def table(measure: Measure, unit: Unit, periods: int | None = None, **more: Any) -> Table:
    return Table(measure, unit, 72, THREE_DAYS, max_periods=periods, **more)


def spread(one: float, many: int) -> Norms:
    """Many cells that change by the same."""
    return one * many, one * math.sqrt(many)


COUNT, ROWS, TOTALS = Count(), Count(at_most=3), Sum("kwh", (-2.0, 7.0))
MEAN, BINS = Mean("kwh", (0.0, 10.0)), Histogram("age", (0.0, 18.0, 40.0, 65.0, 120.0), at_most=2)
PANEL = PanelMean("kwh", (0.0, 10.0), 50)
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


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("released", "expected"), BY_HAND)
def test_sensitivities_reach_the_cost(released: Table, expected: list[Norms], law: Law) -> None:
    design = of_law(released, law)
    norm = LAWS.index(law)
    assert [noise.sensitivity for noise in design.noises] == pytest.approx([part[norm] for part in expected], rel=1e-14)
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


@pytest.mark.parametrize(("released", "_expected"), BY_HAND)
def test_pure_when_there_is_no_delta(released: Table, _expected: list[Norms]) -> None:
    (design,) = designs(released, delta=0.0)
    assert (design.law, design.delta, design.epsilon) == ("laplace", 0.0, 1.0)
    assert basic.epsilon(design.cost, 0.0) <= 1.0
    assert of_law(released, "laplace").delta == 0.0
    assert of_law(released, "gaussian").delta == DELTA


def feasible(released: Table, epsilon: float, delta: float) -> tuple[Design, ...]:
    """The designs; none where noise is refused because it drowns what one person adds a million times."""
    try:
        return designs(released, epsilon=epsilon, delta=delta)
    except InvalidArgument as refused:
        reaches = [
            1.0 if index or isinstance(released.measure, Histogram) else width(released.measure) for index in (0, 1)
        ]
        kinds = released.sensitivities()
        drowned = [
            len(kinds) * part.l1 / epsilon > 2.0**20 * reach for part, reach in zip(kinds, reaches, strict=False)
        ]
        if refused.name != "epsilon" or not any(drowned):
            raise
        return ()


def width(measure: Measure) -> float:
    return measure.clip[1] - measure.clip[0] if isinstance(measure, Mean) else min(measure.reach, 2.0**10)


EPSILONS = st.floats(-4.0, 6.0).map(lambda power: 10.0**power)
DELTAS = st.floats(-12.0, -1.0).map(lambda power: 10.0**power)
CLIPS = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-2, 1e6)).map(lambda ends: (ends[0], ends[0] + ends[1]))
WIDE_CLIPS = CLIPS.filter(lambda clip: max(map(abs, clip)) <= 2**20 * (clip[1] - clip[0]))
MEASURES: st.SearchStrategy[Measure] = st.one_of(
    st.builds(Count, st.integers(1, 2**30)),
    st.builds(Sum, st.just("kwh"), CLIPS),
    st.builds(Mean, st.just("kwh"), WIDE_CLIPS),
    st.builds(lambda bins: Histogram("age", tuple(range(bins + 1))), st.integers(1, 30)),
    st.builds(Total, st.floats(1e-9, 1e9)),
)
UNITS: st.SearchStrategy[tuple[Unit, int | None]] = st.sampled_from(
    [
        (Event(), None),
        (Event("replace"), None),
        (User(), 1),
        (User(), 72),
        (User("replace"), 30),
        (UserPeriod("1D"), None),
        (UserPeriod("7h"), None),
        (Window(3), None),
        (Window(24, "replace"), None),
    ]
)
TABLES = st.builds(lambda measure, who: table(measure, *who), MEASURES, UNITS)


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
            # A mean's numbers stand in half steps of the grid on which its values were rounded.
            step = 2 * noise.step if isinstance(measure, Mean) else noise.step
            assert 2**6 <= measure.reach / step <= 2**30
            assert step <= max(measure.reach * 2**-29, noise.scale * 2**-25 * (1 + 1e-9))


@given(
    low=st.floats(-1e9, 1e9).filter(lambda low: abs(low) > 1e-30),
    share=st.floats(-12.0, 0.0).map(lambda power: 10.0**power),
    epsilon=st.floats(-6.0, 3.0).map(lambda power: 10.0**power),
    kind=st.sampled_from([Sum, Mean]),
)
@example(low=-0.1, share=1e-18, epsilon=1.0, kind=Sum)
@example(low=-1.00002, share=1e-5, epsilon=1e-6, kind=Sum)
@example(low=1767225600.3, share=3.4e-10, epsilon=1.0, kind=Mean)
def test_a_clip_on_the_grid_is_never_wider_than_it_was(
    low: float, share: float, epsilon: float, kind: type[Sum] | type[Mean]
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
    added = [2 * end - least - most for end in (least, most)] if kind is Mean else [least, most]
    assert max(map(abs, added)) * Fraction(noise.step) <= Fraction(noise.sensitivity)


@given(TABLES, EPSILONS, DELTAS)
def test_json_and_back(released: Table, epsilon: float, delta: float) -> None:
    for design in feasible(released, epsilon, delta):
        again = load(dump(design), Design)
        assert again == design
        assert dump(again) == dump(design)
        assert again.cost == design.cost


@pytest.mark.parametrize("epsilon", [1e-6, 1e6])
@pytest.mark.parametrize("clip", [(0.0, 1e30), (-1e30, 1e30), (0.0, 1e-30), (0.0, 1.0)])
def test_small_and_large_numbers(epsilon: float, clip: tuple[float, float]) -> None:
    measures: list[Measure] = [Sum("kwh", clip), Mean("kwh", clip), Total(clip[1]), Count(at_most=2**30)]
    for measure in measures:
        for design in designs(table(measure, Event()), epsilon=epsilon):
            assert design.epsilon_of(1, DELTA) <= epsilon
            for noise in design.noises:
                assert 2.0**-30 <= noise.scale / noise.step <= 2.0**30
                assert math.isfinite(noise.deviation)


@pytest.mark.parametrize("measure", [COUNT, TOTALS, MEAN, BINS, Total(1.0)], ids=str)
def test_an_epsilon_that_drowns_everything_is_refused(measure: Measure) -> None:
    with pytest.raises(
        InvalidArgument,
        match=r"epsilon must be larger: noise of scale .* would drown what one person can add; got 1e-12",
    ):
        designs(table(measure, Event()), epsilon=1e-12, delta=0.0)


def test_an_epsilon_too_small_for_laplace_noise_leaves_the_gaussian() -> None:
    assert gaussian.sigma(1e-12, DELTA) < 1e6
    assert designs(table(COUNT, Event()), epsilon=1e-12)[0].law == "gaussian"


@pytest.mark.parametrize(
    ("measure", "epsilon"),
    [
        (COUNT, 1e18),
        (TOTALS, 1e30),
        (Mean("kwh", (0.0, 1.0)), 1.3e-7),
        (COUNT, 0.9e-9),
    ],
)
def test_noise_that_cannot_be_drawn_is_never_designed(measure: Measure, epsilon: float) -> None:
    with pytest.raises(InvalidArgument, match="epsilon must be"):
        designs(table(measure, Event()), epsilon=epsilon, delta=0.0)


@pytest.mark.parametrize(
    "clip",
    [
        (0.0, 1e70),
        (0.0, 1e-70),
        (-1e308, 1e308),
        (0.0, 1e-170),
    ],
)
def test_a_clip_beyond_all_bounds_is_refused_by_name(clip: tuple[float, float]) -> None:
    with pytest.raises(InvalidArgument, match=r"^clip must be"):
        _ = designs(table(Sum("kwh", clip), Event()))[0].cost


def open_and_spend(ledger: Ledger, design: Design, *, delta: float) -> None:
    unit = design.table.unit
    name = f"{design.law} {design.table.measure} {design.epsilon}"[:100]
    ledger.open(name, unit=unit, epsilon=design.epsilon, delta=delta)
    ledger.spend(name, design.cost, unit=unit)
    with pytest.raises(BudgetExhausted):
        ledger.spend(name, PureCost(1e-3 * design.epsilon), unit=unit)


@pytest.mark.parametrize("measure", [COUNT, TOTALS, MEAN, BINS, Total(5.0)], ids=str)
def test_a_plan_fits_the_budget_of_its_own_size(measure: Measure, tmp_path: Path) -> None:
    released = table(measure, User(), 8)
    with Ledger(tmp_path / "budget.db") as ledger:
        for epsilon in (0.1, 0.125, 0.3, 0.7, 1.0, 3.0):
            open_and_spend(ledger, of_law(released, "gaussian", epsilon=epsilon), delta=DELTA)
        for epsilon in (0.125, 0.5, 1.0):
            if not isinstance(measure, Total):
                open_and_spend(ledger, of_law(released, "laplace", epsilon=epsilon, delta=0.0), delta=0.0)


@given(TABLES, EPSILONS, DELTAS)
def test_gaussian_plans_fit_budgets_of_their_own_size(released: Table, epsilon: float, delta: float) -> None:
    for design in feasible(released, epsilon, delta):
        if design.law == "gaussian":
            rule = Budget(released.unit, epsilon, delta).filter
            assert rule.fits((0,) * len(rule.ceilings), design.cost)
            assert not rule.fits((0,) * len(rule.ceilings), SequenceCost((design.cost, PureCost(1e-3 * epsilon))))


@pytest.mark.parametrize("measure", [COUNT, TOTALS, MEAN, Sum("kwh", (0.0, 3.3)), Total(5.0)], ids=str)
def test_laplace_plans_fit_budgets_of_their_own_size(measure: Measure) -> None:
    for tenths in range(1, 31):
        epsilon = tenths / 10
        design = of_law(table(measure, User(), 8), "laplace", epsilon=epsilon, delta=0.0)
        rule = Budget(User(), epsilon).filter
        assert rule.fits((0,) * len(rule.ceilings), design.cost), epsilon


def test_whatever_noise_is_chosen_fits_the_budget_of_its_own_size(tmp_path: Path) -> None:
    design = designs(table(COUNT, Event()))[0]
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=Event(), epsilon=1.0, delta=DELTA)
        ledger.spend("meters", design.cost, unit=Event())


def test_many_releases_cost_what_the_accountants_say() -> None:
    laplace, normal = (of_law(table(COUNT, User(), 72), law) for law in LAWS)
    assert laplace.epsilon_of(30, 0.0) == pytest.approx(30.0)
    assert laplace.epsilon_of(30, DELTA) < 30.0
    mu = gaussian.mu_for(1.0, DELTA)
    assert normal.epsilon_of(30, DELTA) == pytest.approx(gaussian.epsilon_of(mu * math.sqrt(30), DELTA), rel=1e-9)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Table(COUNT, Event(), 0), "horizon"),
        (lambda: Table(COUNT, Event(), LONGEST + 1), "horizon"),
        (lambda: Table(COUNT, Event(), 1.0), "horizon"),  # type: ignore[arg-type]
        (lambda: Table(COUNT, Event(), 24, THREE_DAYS), "horizon"),
        (lambda: Table(COUNT, Swap(4), 24), "unit"),
        (lambda: Table(COUNT, Report(), 24), "unit"),
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
        (lambda: Table(BINS, Event(), LONGEST), "groups"),
        (lambda: Table(COUNT, Event(), LONGEST // 3 + 1, groupings=REGIONS), "groups"),
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
    ],
)
def test_refusals_name_the_argument(make: Callable[[], object], name: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        make()
    assert caught.value.name == name
    assert str(caught.value).startswith(name)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1", True, None, 1e61])
def test_refuses_what_is_no_epsilon(epsilon: Any) -> None:
    with pytest.raises(InvalidArgument, match="epsilon must be a"):
        designs(table(COUNT, Event()), epsilon=epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1, math.nan, "0", None])
def test_refuses_what_is_no_delta(delta: Any) -> None:
    with pytest.raises(InvalidArgument, match="delta must be a number from 0"):
        designs(table(COUNT, Event()), delta=delta)


def test_what_is_missing_and_what_is_too_much_is_told() -> None:
    with pytest.raises(
        MissingBound, match=r"max_periods is missing: say how many periods of one person count \(1 to 72\)"
    ):
        table(COUNT, User())
    with pytest.raises(
        InvalidArgument, match="left out: for one row of the table, there or not no periods of a person"
    ):
        table(COUNT, Event(), 3)
    with pytest.raises(InvalidArgument, match=r"when people come and go .* their number is no public fact"):
        table(PANEL, User(), 4)
    with pytest.raises(InvalidArgument, match="at most 16,777,216 cells"):
        Table(BINS, Event(), LONGEST)
    with pytest.raises(MissingBound, match="how many periods of the grid one calendar period holds"):
        designs(Table(Total(1.0), UserPeriod("1D"), 72))
    assert of_law(Table(Total(1.0), UserPeriod("1D"), 72, max_periods=24), "laplace").noises[0].sensitivity > 24
    largest = Table(COUNT, Event(), LONGEST // 3, groupings=REGIONS)
    assert largest.horizon * largest.places <= LONGEST
    assert replace(largest, groupings=()).places == 1
