"""What to expect and plan: closed forms against golden numbers, quadrature, simulation and the grid really used."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import beta, betainc

import chronodp as cdp
from chronodp.alerts import (
    AlertPlan,
    AlertProbabilities,
    Exponential,
    FreshProbabilities,
    Laplace,
    Noise,
    advance,
    best_split,
    design_alert,
    start,
)
from chronodp.alerts.probabilities import _tail
from chronodp.errors import InvalidArgument
from chronodp.privacy import User
from chronodp.randomness import seeded
from tests.conftest import Trials

BOTH: list[Noise] = [Exponential(), Laplace()]
SCALES = [(4.0, 2.0), (2.0, 2.0), (2.0, 5.0), (40.0, 20.0), (3.0, 3.0 + 1e-9)]


def test_chances_and_delays_are_the_golden_ones(golden: Any) -> None:
    rows = golden("alerts/sparse_vector.json")["comparator"]
    for row in rows:
        laplace, exponential = (AlertProbabilities(noise, row["b1"], row["b2"]) for noise in (Laplace(), Exponential()))
        assert laplace.chance(row["gap"]) == pytest.approx(row["p"], rel=1e-12)
        assert exponential.chance(row["gap"]) == pytest.approx(row["p_exp"], rel=1e-12)
        assert laplace.delay(row["gap"]) == pytest.approx(row["delay_fixed_threshold"], rel=1e-10)
        assert FreshProbabilities(Laplace(), row["b1"], row["b2"]).delay(row["gap"]) == pytest.approx(row["geom_delay"])
        assert laplace.chance(row["gap"]) == pytest.approx(row["sim"], rel=0.01, abs=3e-4)
        assert exponential.chance(row["gap"]) == pytest.approx(row["sim_exp"], rel=0.01, abs=3e-4)
    assert len(rows) == 24


def test_the_known_delays_and_the_infinite_one() -> None:
    probabilities = AlertProbabilities(Laplace(), query_scale=4.0, threshold_scale=2.0)
    assert probabilities.delay(0.0) == pytest.approx(2.7726, abs=5e-5)
    assert probabilities.delay(10.0) == pytest.approx(32.49, abs=5e-3)
    assert AlertProbabilities(Laplace(), 2.0, 2.0).delay(-10.0) == math.inf
    one = best_split(1.0, max_alerts=1, monotone=True)
    assert one.threshold == one.alert
    design = design_alert(above=0.0, change=1.0, unit=User(), max_alerts=1, epsilon=1.0, monotone=True)
    assert design.probabilities.delay(-5.0) == math.inf


def density(noise: Noise, y: float, scale: float) -> float:
    if isinstance(noise, Laplace):
        return math.exp(-abs(y) / scale) / (2 * scale)
    return math.exp(-y / scale) / scale if y >= 0 else 0.0


def expected(noise: Noise, scale: float, function: Any, gap: float) -> float:
    edges = sorted({-60.0 * scale, 0.0, -gap, 60.0 * scale})
    return sum(
        quad(lambda y: density(noise, y, scale) * function(y), low, high, limit=400, epsabs=1e-14)[0]
        for low, high in pairwise(edges)
    )


def test_closed_forms_by_quadrature(subtests: pytest.Subtests) -> None:
    for noise in BOTH:
        for first, second in SCALES:
            for gap in [-30.0, -3.0, 0.0, 3.0, 8.0]:
                with subtests.test(gap=gap, first=first, second=second, noise=noise):
                    probabilities = AlertProbabilities(noise, first, second)
                    assert probabilities.chance(gap) == pytest.approx(
                        expected(noise, second, lambda y, n=noise, g=gap, f=first: _tail(n, (g + y) / f), gap), rel=1e-6
                    )
                    if second < first:
                        wanted = expected(
                            noise, second, lambda y, n=noise, g=gap, f=first: 1 / _tail(n, (g + y) / f), gap
                        )
                        assert probabilities.delay(gap) == pytest.approx(wanted, rel=1e-6)
                    else:
                        assert probabilities.delay(gap) == math.inf


def test_exponential_noise_over_many_steps_is_an_incomplete_beta(subtests: pytest.Subtests) -> None:
    for first, second in SCALES:
        for steps in [1, 7, 1000]:
            with subtests.test(steps=steps, first=first, second=second):
                for gap in (-4.0, 0.0, 3.0, 30.0):
                    power, top = first / second, math.exp(-max(gap, 0.0) / first)
                    quiet = power * math.exp(gap / second) * beta(power, steps + 1) * betainc(power, steps + 1, top)
                    assert AlertProbabilities(Exponential(), first, second).chance_within(gap, steps) == pytest.approx(
                        1 - quiet, abs=1e-9
                    )


@pytest.mark.slow
@pytest.mark.parametrize("noise", BOTH, ids=str)
def test_many_steps_of_the_real_thing(noise: Noise, trials: Trials) -> None:
    """What `advance` does on the grid that is chosen: a false alarm of this test has probability 1e-9 (6.1 sigma)."""
    design = design_alert(above=8.0, change=1.0, unit=User(), max_alerts=1, epsilon=1.0, noise=noise)
    entropy, runs, steps = seeded(5), trials(40_000, least=4000), 60
    told = np.array([advance(design, start(design, entropy), [0.0] * steps, entropy)[0].alerts for _ in range(runs)])
    wanted = design.probabilities.chance_within(8.0, steps)
    slack = 6.1 * math.sqrt(wanted * (1 - wanted) / runs)
    assert abs(told.mean() - wanted) < slack
    fresh = FreshProbabilities(noise, design.probabilities.query_scale, design.probabilities.threshold_scale)
    assert abs(told.mean() - fresh.chance_within(8.0, steps)) > slack  # steps do share a threshold
    thin = AlertProbabilities(noise, 0.9 * design.probabilities.query_scale, 0.9 * design.probabilities.threshold_scale)
    assert abs(told.mean() - thin.chance_within(8.0, steps)) > slack


def test_power_at_equal_false_alarms_is_the_golden_one(golden: Any) -> None:
    for row in golden("alerts/sparse_vector.json")["power_equal_FA_eps1"]:
        for noise, name in ((Exponential(), "exp"), (Laplace(), "lap")):
            design = design_alert(above=0.0, change=1.0, unit=User(), max_alerts=row["c"], epsilon=1.0, noise=noise)
            gap = design.probabilities.gap_for(row["fa"])
            assert gap == pytest.approx(row[f"thr_{name}"], rel=1e-6)
            assert design.probabilities.chance(gap - row["shift"]) == pytest.approx(row[f"power_{name}"], abs=1e-6)


def test_splits_are_the_golden_ones(golden: Any) -> None:
    for row in golden("alerts/sparse_vector.json")["svt_split_eps1"]:
        split = best_split(1.0, max_alerts=row["c"], monotone=False)
        assert split.threshold == pytest.approx(row["e0"], rel=1e-12)
        assert split.alert == pytest.approx(row["e1_per_alert"], rel=1e-12)
        assert split.exact(row["c"]) <= 1
        spread = 2 / split.threshold**2 + 2 * (2 / split.alert) ** 2
        assert spread == pytest.approx(row["var_opt"], rel=1e-9)
        monotone = best_split(1.0, max_alerts=row["c"], monotone=True)
        assert 2 / monotone.threshold**2 + 2 / monotone.alert**2 == pytest.approx(row["var_monotone_opt"], rel=1e-9)


def test_the_grid_changes_chances_by_less_than_one_part_in_ten_thousand(subtests: pytest.Subtests) -> None:
    for epsilon in [1e-4, 0.1, 1.0, 50.0, 1e5]:
        with subtests.test(epsilon=epsilon):
            design = design_alert(above=500.0, change=0.7, unit=User(), max_alerts=3, epsilon=epsilon)
            query, threshold = float(design.query_scale), float(design.threshold_scale)
            first, second = math.exp(-1 / query), math.exp(-1 / threshold)
            for scales in (0.0, 0.5, 5.0):
                gap = scales * query * design.step
                away = round(gap / design.step)
                exact = first**away * -math.expm1(-1 / threshold) / (1 - first * second)
                assert exact == pytest.approx(design.probabilities.chance(away * design.step), rel=1e-4)


WANTED: dict[str, Any] = {
    "quiet": 100.0,
    "loud": 150.0,
    "change": 1.0,
    "unit": cdp.User(),
    "max_alerts": 5,
    "false_alarms": 0.01,
    "power": 0.9,
}


def planned(**changes: Any) -> AlertPlan:
    return cdp.Alert.plan(**(WANTED | changes))


def test_a_plan_reaches_what_is_wanted_with_the_least_budget(subtests: pytest.Subtests) -> None:
    asked: list[dict[str, Any]] = [{}, {"threshold": 130.0}, {"loud": 50.0}, {"steps": 1000, "within": 5}]
    for noise in BOTH:
        for changes in asked:
            with subtests.test(changes=changes, noise=noise):
                plan = planned(noise=noise, **changes)
                assert plan.false_alarms <= 0.01 * (1 + 1e-4)
                assert plan.power >= 0.9 * (1 - 1e-4)
                side: dict[str, Any] = (
                    {"above": plan.threshold} if plan.design.below is None else {"below": plan.threshold}
                )
                less = design_alert(
                    **side, change=1.0, unit=cdp.User(), max_alerts=5, epsilon=plan.epsilon * 0.995, noise=noise
                )
                worse = AlertPlan(less, plan.quiet, plan.loud, plan.steps, plan.within)
                assert worse.false_alarms > 0.01 or worse.power < 0.9


def test_a_plan_prints_and_draws_itself() -> None:
    plan = planned(monotone=True, max_alerts=1)
    assert "one alert above" in str(plan)
    assert "no finite average" in str(plan)
    figure = plan.plot()
    assert [trace.name for trace in figure.data if trace.showlegend is not False] == [
        "exponential noise",
        "Laplace noise",
    ]
    chances = figure.data[-1].y
    assert all(low <= high for low, high in pairwise(chances))
    table = planned().table([100.0, 150.0])
    assert list(table.columns) == ["value", "each_step", "within_1", "delay"]
    assert table["each_step"][0] == pytest.approx(0.01, rel=1e-3)


def test_what_cannot_be_planned(subtests: pytest.Subtests) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"loud": 100.0}, "another number than quiet"),
        ({"power": 0.01}, "power must be above"),
        ({"power": 1.0}, "power must be"),
        ({"false_alarms": 0.0}, "false_alarms must be"),
        ({"threshold": 160.0}, "threshold must be between"),
        ({"steps": 0}, "steps must be"),
        ({"quiet": float("nan")}, "quiet must be"),
        ({"change": 0.0}, "change must be"),
        ({"max_alerts": 0}, "max_alerts must be"),
        ({"noise": "gaussian"}, "noise must be"),
        ({"false_alarms": 0.8, "power": 0.81, "within": 10**6, "threshold": 140.0}, "any epsilon would do"),
    ]
    for changes, said in wrong:
        with subtests.test(changes=changes, said=said), pytest.raises(InvalidArgument, match=said):
            planned(**changes)
