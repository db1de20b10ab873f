"""Plans: the least budget, what it gives, and what cannot be planned."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

import chronodp as cdp
from chronodp.alerts import AlertPlan, Exponential, Laplace, Noise, design_alert
from chronodp.errors import InvalidArgument

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
    noises: list[Noise] = [Exponential(), Laplace()]
    asked: list[dict[str, Any]] = [{}, {"threshold": 130.0}, {"loud": 50.0}, {"steps": 1000, "within": 5}]
    for noise in noises:
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
    text = str(plan)
    for part in ("one alert above", "everything of one person", "False alarms 0.01", "no finite average"):
        assert part in text
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
