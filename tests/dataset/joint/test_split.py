"""Shares of a budget: reference values, and never worse than a numerical search."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from tests.conftest import Trials
from tests.dataset.joint.queries import load_of, month

import chronodp as cdp
from chronodp.accounting import gaussian
from chronodp.alerts import design_alert
from chronodp.dataset.joint import PlanTogether, Strategy, best_shares, equal_shares, terms_of
from chronodp.dataset.joint.quantiles import QuantilePart
from chronodp.dataset.joint.series import SharedSeries
from chronodp.dataset.joint.split import squared_error
from chronodp.errors import InvalidArgument
from chronodp.ledger.filters import Filter
from chronodp.postprocess.tails import Law
from chronodp.privacy import RecordUnit
from chronodp.spectrum import Lowest, Spectrum

UNITS: dict[str, cdp.privacy.Unit] = {
    "event_level": cdp.Event(), "user_level": cdp.User(), "day_level": cdp.UserPeriod("1D"),
}  # fmt: skip


def month_of(level: str, weights: Any, *, delta: float = 1e-6) -> PlanTogether:
    load = load_of(month(UNITS[level]))
    queries = {"hourly": load, "peak": load.peak(every="1D"), "total": load.total(every="1D")}
    return cdp.plan_together(queries, epsilon=1.0, delta=delta, weights=weights)


def strategy(plan: PlanTogether, name: str, law: Law) -> Strategy:
    return next(one for one in (plan.chosen, *plan.others) if (one.name, one.law) == (name, law))


def test_the_smart_grid_month_has_its_reference_shares(golden: Any, subtests: pytest.Subtests) -> None:
    for kind, level in itertools.product(["unit", "relative"], UNITS):
        with subtests.test(kind=kind, level=level):
            known = golden("applications/budget.json")[f"{level}/{kind}"]
            plan = month_of(level, known["w"])
            touched = dict(zip(("hourly", "peak", "total"), known["m"], strict=True))
            best = strategy(plan, "optimal", "laplace")
            assert [best.shares[name] / m for name, m in touched.items()] == pytest.approx(
                known["laplace"]["eps_i"], rel=1e-9
            )
            assert best.error == pytest.approx(known["laplace"]["objective"], rel=1e-9)
            scales = [best.rmse[name] / math.sqrt(2) for name in touched]
            assert scales == pytest.approx(known["laplace"]["noise_scale_b"], rel=1e-9)
            equal = strategy(plan, "equal", "laplace")
            assert equal.error == pytest.approx(known["laplace"]["equal_split_objective"], rel=1e-9)
            gauss = strategy(plan, "optimal", "gaussian")
            rhos = [gauss.shares[name] ** 2 / 2 / m for name, m in touched.items()]
            assert rhos == pytest.approx(known["gaussian"]["rho_i"], rel=1e-9)
            assert [gauss.rmse[name] for name in touched] == pytest.approx(known["gaussian"]["sigma_i"], rel=1e-9)
            assert gauss.error == pytest.approx(known["gaussian"]["objective"], rel=1e-9)


def test_a_total_beside_its_hours_costs_nothing(golden: Any) -> None:
    known = golden("applications/budget.json")
    load = load_of(month(cdp.User()))
    queries = {"hourly": load, "total": load.total(every="1D")}
    plan = cdp.plan_together(queries, epsilon=1.0, delta=1e-6, weights=(1.0, 1.0))
    pair = known["user_level_two_types_hourly_total_unit"]
    assert strategy(plan, "optimal", "laplace").error == pytest.approx(pair["objective"], rel=1e-9)
    shared = strategy(plan, "shared release", "laplace")
    assert shared.error == pytest.approx(pair["hourly_only_postprocess_objective"], rel=1e-9)
    assert shared.sources == {"total": "hourly"}
    assert shared.shares["hourly"] == pytest.approx(1.0, rel=1e-9)
    best = known["gaussian_user_hourly_only"]
    assert plan.chosen.law == "gaussian"
    assert plan.chosen.name == "shared release"
    assert plan.chosen.error == pytest.approx(best["objective_hourly_plus_total"], rel=1e-9)
    assert strategy(plan, "optimal", "gaussian").error == pytest.approx(2 * plan.chosen.error, rel=1e-9)
    alone = cdp.plan_together([load], epsilon=1.0, delta=1e-6)
    assert plan.cost == alone.cost, "the total is free"


def test_a_total_is_not_read_from_hours_where_that_is_worse() -> None:
    """One row changes one hour: the month's total by itself is known far better than as a sum of 720 noisy hours."""
    load = load_of(month(cdp.Event()))
    plan = cdp.plan_together({"load": load, "month": load.total(every="30D")}, epsilon=1.0, weights=(1e-9, 1.0))
    assert plan.chosen.name == "optimal"
    assert not plan.chosen.sources


def searched(errors: list[float], law: Law, whole: float) -> float:
    """The least error that a numerical optimiser finds, from three starts."""

    def of(logs: Any) -> float:
        parts = np.exp(logs - logs.max())
        parts = parts / parts.sum()
        shares = whole * (parts if law == "laplace" else np.sqrt(parts))
        return math.log(squared_error(errors, shares.tolist()))

    start = np.random.default_rng(7).normal(size=(3, len(errors)))
    return math.exp(min(minimize(of, one, method="BFGS", options={"gtol": 1e-10}).fun for one in start))


@pytest.mark.slow
def test_no_search_finds_a_better_split(trials: Trials) -> None:
    chance = np.random.default_rng(2026)
    for _ in trials.some(range(500), 40):
        count = int(chance.integers(1, 9))
        errors = np.exp(chance.normal(scale=4.0, size=count)).tolist()
        whole = float(np.exp(chance.normal()))
        for law in ("laplace", "gaussian"):
            best = squared_error(errors, best_shares(errors, law=law, whole=whole))
            assert best <= searched(errors, law, whole) * (1 + 1e-6)
            assert best <= squared_error(errors, equal_shares(count, law=law, whole=whole)) * (1 + 1e-12)
            # The shares one would have with the other law's formula are worse: the check can fail.
            if count > 1 and max(errors) > 10 * min(errors):
                roots = [math.sqrt(error) if law == "laplace" else math.cbrt(error) for error in errors]
                wrong = [root / sum(roots) for root in roots]
                wrong = [whole * (part if law == "laplace" else math.sqrt(part)) for part in wrong]
                assert squared_error(errors, wrong) > best * (1 + 1e-6)


@given(
    st.lists(st.floats(1e-100, 1e100), min_size=1, max_size=8),
    st.floats(1e-6, 1e3),
    st.sampled_from(["laplace", "gaussian"]),
)
def test_shares_are_the_whole(errors: list[float], whole: float, law: Law) -> None:
    shares = best_shares(errors, law=law, whole=whole)
    total = sum(shares) if law == "laplace" else math.sqrt(sum(share**2 for share in shares))
    assert total == pytest.approx(whole, rel=1e-12)


def test_a_gaussian_share_is_worth_its_pair() -> None:
    for mu in np.geomspace(1e-6, 1e3, 200):
        epsilon, delta = terms_of("gaussian", float(mu))
        assert gaussian.mu_for(epsilon, delta) == pytest.approx(mu, rel=5e-13)


def test_an_alert_in_a_gaussian_plan_is_never_charged_too_little() -> None:
    for epsilon in np.geomspace(1e-9, 1e3, 400):
        assert gaussian.mu_of_bounded(float(epsilon)) <= math.sqrt(math.pi / 2) * epsilon * (1 + 1e-12)


# Plans of several queries: what is refused, what follows from what, and that nothing better was overlooked.


LOAD = load_of(month(cdp.User()))
DAY = cdp.UserPeriod("1D")
EVERY_UNIT: tuple[RecordUnit, ...] = (cdp.Event(), cdp.User(), DAY, cdp.Window(5), cdp.User("replace"))


def shared(query: Any) -> SharedSeries:
    return SharedSeries(query.table, query.records)


_together: Any = cdp.plan_together  # of arguments of no type that it takes
REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("at least one query", lambda: cdp.plan_together([], epsilon=1.0)),
    ("a list of queries", lambda: _together(LOAD, epsilon=1.0)),
    ("a list of queries", lambda: _together("load", epsilon=1.0)),
    ("query 'x'", lambda: _together({"x": 3}, epsilon=1.0)),
    ("query '1'", lambda: _together([LOAD.plan(epsilon=1.0)], epsilon=1.0)),
    ("name", lambda: cdp.plan_together({"": LOAD}, epsilon=1.0)),
    (
        "unit of query 'b'.*one price can protect one unit only",
        lambda: cdp.plan_together({"a": LOAD, "b": load_of(month(DAY))}, epsilon=1.0),
    ),
    (
        "one price can protect one unit only",
        lambda: cdp.plan_together([LOAD, load_of(month(cdp.User("replace")))], epsilon=1.0),
    ),
    ("not all 0", lambda: cdp.plan_together([LOAD, LOAD], epsilon=1.0, weights=(0, 0))),
    ("from 0 on", lambda: cdp.plan_together([LOAD], epsilon=1.0, weights=(-1,))),
    ("from 0 on", lambda: cdp.plan_together([LOAD], epsilon=1.0, weights=(float("nan"),))),
    ("for each of 1, 2", lambda: cdp.plan_together([LOAD, LOAD], epsilon=1.0, weights=(1,))),
    ("for each of a", lambda: cdp.plan_together({"a": LOAD}, epsilon=1.0, weights={"b": 1.0})),
    ("above 0 for '2'", lambda: cdp.plan_together([LOAD, LOAD.peak(every="1D")], epsilon=1.0, weights=(1, 0))),
    ("epsilon", lambda: cdp.plan_together([LOAD], epsilon=0.0)),
    ("delta", lambda: cdp.plan_together([LOAD], epsilon=1.0, delta=1.0)),
    ("epsilon", lambda: cdp.plan_together([LOAD], epsilon=1e-12)),
    ("a count, or with a sum", lambda: month(cdp.User()).variance("kwh", clip=(0, 5)).peak(every="1D")),
    ("a count, or with a sum", lambda: month(cdp.User()).mean("kwh", clip=(0, 5), of="people").peak(every="1D")),
    ("a count, or with a sum", lambda: LOAD.peak(every="1D").peak(every="1W")),
    ("fill without rest", lambda: LOAD.peak(every="90min")),
    ("no longer than the series", lambda: LOAD.peak(every="1Y")),
    ("every", lambda: LOAD.total(every="day")),
    ("EachPeriod", lambda: LOAD.peak(every="1D").plan(epsilon=1.0, tuned_for=cdp.RunningTotal())),
]


def test_what_cannot_be_planned_is_refused_in_words(subtests: pytest.Subtests) -> None:
    for number, (said, ask) in enumerate(REFUSED):
        with subtests.test(number=number), pytest.raises(InvalidArgument, match=said):
            ask()


def test_what_follows_from_what() -> None:
    days, weeks, month_ = (LOAD.total(every=every) for every in ("1D", "1W", "30D"))
    assert shared(days).follows_from(shared(LOAD)) is not None
    for query, source, factor in ((days, LOAD, 24.0), (weeks, LOAD, 168.0), (weeks, days, 7.0), (month_, days, 30.0)):
        how = shared(query).follows_from(shared(source))
        assert how is not None
        assert how.factor == factor
    for query, source in (
        (LOAD, days), (days, weeks), (month_, weeks), (LOAD.peak(every="1D"), LOAD), (days, LOAD.peak(every="1D")),
        (days, month(cdp.User()).sum("kwh", clip=(0.0, 4.0))), (days, load_of(month(cdp.User(), "other.parquet"))),
        (month(cdp.User()).count().total(every="1D"), LOAD),
        (month(cdp.User(), every="1D", max_periods=30).sum("kwh", clip=(0.0, 120.0)), LOAD),
        (month(cdp.User(), every="1D", max_periods=30).count(), month(cdp.User()).count()),
    ):  # fmt: skip
        assert shared(query).follows_from(shared(source)) is None


def test_a_query_of_no_weight_is_told_where_it_is_free() -> None:
    plan = cdp.plan_together({"load": LOAD, "total": LOAD.total(every="1D")}, epsilon=1.0, weights=(1, 0))
    assert plan.chosen.sources == {"total": "load"}
    assert plan.chosen.shares["load"] == pytest.approx(1.0)
    assert plan.shares["answered_from"].tolist() == ["", "load"]
    assert plan.strategies["error"].is_monotonic_increasing
    assert "read from load" in str(plan)


def test_no_way_of_answering_is_better(subtests: pytest.Subtests) -> None:
    """Every way to answer four totals from each other, each with its best shares, written out."""
    for unit, delta in itertools.product([cdp.Event(), cdp.User(), DAY], [0.0, 1e-6]):
        with subtests.test(unit=unit, delta=delta):
            load = load_of(month(unit))
            queries = [load, *(load.total(every=every) for every in ("1D", "6D", "30D"))]
            plan = cdp.plan_together(queries, epsilon=1.0, delta=delta, weights=(1.0, 0.3, 0.02, 5.0))
            law = plan.chosen.law
            whole = 1.0 if law == "laplace" else float(np.hypot.reduce(list(plan.chosen.shares.values())))
            single = [one.query.at(law, 1.0).rmse ** 2 for one in plan.asked]  # type: ignore[union-attr]
            periods = (1, 24, 144, 720)
            best = np.inf
            for sources in itertools.product(range(4), repeat=4):
                released = {place for place in range(4) if sources[place] == place}
                if not all(source in released and source <= place for place, source in enumerate(sources)):
                    continue
                errors = dict.fromkeys(sorted(released), 0.0)
                for place, source in enumerate(sources):
                    one = plan.asked[place]
                    errors[source] += one.weight * one.query.numbers * periods[place] / periods[source] * single[source]
                listed = list(errors.values())
                best = min(best, squared_error(listed, best_shares(listed, law=law, whole=whole)))
            assert plan.chosen.error == pytest.approx(best, rel=1e-9)
            assert all(plan.chosen.error <= other.error for other in plan.others)


def test_plans_fit_their_budget_and_have_the_error_they_say(trials: Trials) -> None:
    chance = np.random.default_rng(3)
    for _ in range(trials(200, least=12)):
        unit = EVERY_UNIT[int(chance.integers(len(EVERY_UNIT)))]
        hours = month(unit, days=6)
        load, people = load_of(hours), hours.count()
        alarm = design_alert(above=1.0, change=5.0, unit=unit, max_alerts=3, epsilon=1.0)
        all_of_them: list[Any] = [
            load, people, load.peak(every="1D"), people.trough(every="12h"), load.total(every="2D"),
            hours.mean("kwh", clip=(0.0, 5.0), of="people"), hours.mean("kwh", clip=(0.0, 5.0), of="totals"),
            hours.histogram("kwh", edges=(0.0, 1.0, 2.0)), load.by(region=["north", "south"]).peak(every="3D"),
            hours.quantiles("kwh", [0.5], edges=[0.1 * edge for edge in range(51)]),
            hours.quantiles("kwh", [0.1, 0.5, 0.9], edges=(0.0, 1.0, 2.0, 5.0), of="rows"), alarm,
        ]  # fmt: skip
        chosen = chance.choice(len(all_of_them), size=int(chance.integers(1, 6)), replace=False)
        weights = np.exp(chance.normal(size=len(chosen))).tolist()
        epsilon, delta = float(np.exp(chance.normal())), float(chance.choice([0.0, 1e-6]))
        plan = cdp.plan_together([all_of_them[one] for one in chosen], epsilon=epsilon, delta=delta, weights=weights)
        rule = Filter("gaussian" if plan.delta else "pure", epsilon, plan.delta, 0.0)
        nothing = (0,) * len(rule.ceilings)
        assert rule.fits(nothing, plan.cost)
        for name, part in plan.parts.items():
            assert part.rmse == pytest.approx(plan.chosen.rmse[name], rel=1e-4)
        drawn = any(isinstance(part, QuantilePart) and part.drawn for part in plan.parts.values())
        if not (drawn and plan.delta) and not any(isinstance(all_of_them[one], type(alarm)) for one in chosen):
            hair = 1e-5 if drawn else 1e-9  # the price of a choice is rounded down to six digits
            less = Filter(rule.kind, epsilon * (1 - hair), plan.delta, 0.0)
            assert not less.fits(nothing, plan.cost), "nothing is left over"


def test_blocks_that_a_stretch_touches_are_counted(subtests: pytest.Subtests) -> None:
    for unit, every, touched in [
        (cdp.Window(24), "1D", 2), (cdp.Window(25), "1D", 2), (cdp.Window(26), "1D", 3), (cdp.Window(1), "1D", 1),
        (DAY, "1D", 1), (DAY, "5h", 6), (cdp.UserPeriod("1W"), "1D", 7), (DAY, "6D", 1),
    ]:  # fmt: skip
        with subtests.test(unit=unit, every=every, touched=touched):
            (found,) = load_of(month(unit)).peak(every=every).table.sensitivities()
            assert found.l1 == 5.0 * touched


def test_queries_together_mean_the_same_periods() -> None:
    window, timed = cdp.Window(24), cdp.Window(24, every="1h")
    hours = cdp.Aggregate([1.0] * 48, change=1.0, unit=window, every="1h", start="2026-01-01")
    days = cdp.Aggregate([1.0] * 30, change=1.0, unit=window, every="1D", start="2026-01-01")
    bare = Spectrum([1.0] * 48, change=1.0, unit=window).plan(Lowest(4), epsilon=1.0)
    for other in (days, bare):
        with pytest.raises(InvalidArgument, match="one price can protect one unit only"):
            cdp.plan_together({"hours": hours, "other": other}, epsilon=1.0)
    for unit in (window, timed):  # an alert has no grid of its own: it is certified for what the others mean
        alarm = design_alert(above=5.0, change=1.0, max_alerts=1, epsilon=1.0, unit=unit)
        plan = cdp.plan_together({"hours": hours, "alarm": alarm}, epsilon=1.0)
        assert plan.claim.unit == timed
        assert '"every":"1h"' in plan.parts["alarm"].identity
