"""Shares of a budget: reference values, and never worse than a numerical search."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize
from tests.conftest import Trials
from tests.dataset.joint.queries import load_of, month

import chronodp as cdp
from chronodp.accounting import gaussian
from chronodp.dataset.joint import PlanTogether, Strategy, best_shares, equal_shares, terms_of
from chronodp.dataset.joint.split import squared_error
from chronodp.postprocess.tails import Law

UNITS: dict[str, cdp.privacy.Unit] = {
    "event_level": cdp.Event(),
    "user_level": cdp.User(),
    "day_level": cdp.UserPeriod("1D"),
}


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
