"""What a lifetime series costs and how far it errs, before anything is paid: the price of one joint plan, for ever."""

from __future__ import annotations

import json
import math
from typing import Any

import pandas as pd
import pytest
from benchmarks.lifetime_policies import CELL, MU, POLICIES, POPULATIONS, Policy

import chronodp as cdp
from chronodp.accounting import gaussian
from chronodp.errors import InvalidArgument
from chronodp.lifetime import LifetimeDesign
from chronodp.privacy import dump, load
from chronodp.series import Design, certificate_of
from tests.cases import raising
from tests.conftest import GOLDEN
from tests.lifetime import lives

ROWS: list[dict[str, Any]] = json.loads((GOLDEN / "lifetime" / "plans.json").read_text(encoding="utf-8"))["prices"]
RENEWED = {1: "3.90", 3: "7.32", 5: "9.91", 10: "15.1", 50: "43.6"}


def series(every: str = "1mo", end: str = "2026-02-01", **terms: Any) -> cdp.TimeSeries:
    return lives.series(every=every, end=end, **terms)


def test_prices_are_those_of_the_table() -> None:
    for row in ROWS:
        ends = {"1mo": "2026-02-01", "1W": "2026-01-08", "1D": "2026-01-02", "1h": "2026-01-01T01:00"}
        plan = (
            series(row["every"], ends[row["every"]])
            .count()
            .lifetime(epsilon=1.0, delta=1e-6, max_periods=row["periods"])
        )
        sigma = plan.design.base.noises[0].scale
        digits = ".3g" if row["sigma"] < 1000 else ".4g"
        assert f"{sigma:{digits}}" == f"{row['sigma']:{digits}}", row
        digits = ".3g" if row["half_width"] < 1000 else ".4g"
        assert f"{plan.half_width():{digits}}" == f"{row['half_width']:{digits}}", row


@pytest.mark.parametrize("kind", ["count", "rows", "sum", "signed", "mean", "histogram", "variance"])
def test_noise_is_that_of_one_joint_plan_to_the_last_digit(kind: str) -> None:
    for delta in [0.0, 1e-6]:
        for relation in ["add_remove", "replace"]:

            def ask(made: cdp.TimeSeries) -> Any:
                asked: dict[str, Any] = {
                    "count": made.count,
                    "rows": lambda: made.count(at_most=7),
                    "sum": lambda: made.sum("x", clip=(0.0, 3.0)),
                    "signed": lambda: made.sum("x", clip=(-2.0, 3.0)),
                    "mean": lambda: made.mean("x", clip=(0.0, 3.0), of="totals"),
                    "histogram": lambda: made.histogram("x", edges=[0.0, 1.0, 5.0], at_most=2),
                    "variance": lambda: made.variance("x", clip=(0.0, 3.0)),
                }
                return asked[kind]().by(region=["a", "b", "c"], max_groups=2)

            unit = cdp.User(relation=relation)  # type: ignore[arg-type]
            life = ask(series(unit=unit)).lifetime(epsilon=1.0, delta=delta, max_periods=24)
            joint = ask(series(end="2030-01-01", unit=unit, max_periods=24)).plan(epsilon=1.0, delta=delta)
            white = [one for one in (joint.design, *joint.others) if str(one.shape) == "white noise"]
            best = min(white, key=lambda one: one.errors.rmse_mean)
            assert life.design.base.noises == best.noises, (relation, delta)
            assert life.claim.cost == best.cost, (relation, delta)
            assert (life.design.base.epsilon, life.design.base.delta) == (best.epsilon, best.delta), (relation, delta)


def test_it_says_all_of_it_before_anything_is_paid() -> None:
    plan = series().sum("kwh", clip=(0.0, 3.0)).by(region=["a", "b"]).lifetime(epsilon=1.0, delta=1e-6, max_periods=120)
    text = " ".join(str(plan).split())
    for said in (
        "(ε, δ) = (1, 1e-06) for all issues together, the same for ever",
        "± 272.1 in 95 of 100 periods",
        "One person counts for at most 120 full months ever: 120 months are 10 years",
        "those present since the first issue stop counting with issue 121",
        "people in their first 120 counted months",
        "People are told apart by who; someone with two ids is two people here.",
        "The owner keeps a sealed tally; nothing about it is published",
        "everything about one person, in every issue of the series past and future, for ever",
    ):
        assert said in text, said
    for years, epsilon in RENEWED.items():
        assert f"{epsilon} after {years} year" in text
    assert "grows with every release" not in text
    assert "LifetimePlan(" in repr(plan)
    assert "<table" in plan._repr_html_()
    assert "the same for ever" in plan._repr_html_()


def test_alternatives_reach_from_a_year_to_a_century() -> None:
    plan = series().count().lifetime(epsilon=1.0, delta=1e-6, max_periods=36)
    table = plan.alternatives
    assert table["max_periods"].tolist() == [12, 36, 60, 120, 240, 600, 1200]
    assert table["years"].tolist() == [1, 3, 5, 10, 20, 50, 100]
    assert table["stops"].tolist() == [13, 37, 61, 121, 241, 601, 1201]
    assert table.loc[table["chosen"], "max_periods"].tolist() == [36]
    assert table["half_width"].round(1).tolist() == [28.7, 49.7, 64.1, 90.7, 128.3, 202.8, 286.8]
    figure = plan.plot()
    assert list(figure.data[-1].x) == table["years"].tolist()


def test_a_design_is_read_back_as_it_was_written() -> None:
    plan = series().count().lifetime(epsilon=1.0, delta=1e-6, max_periods=36)
    again = load(dump(plan.design), LifetimeDesign)
    assert again == plan.design
    assert dump(again) == dump(plan.design)
    issue = plan.design.issue("load", start="2026-03-01", end="2026-05-01", late=True)
    assert load(dump(issue), Design) == issue
    assert issue.claim.cost == plan.claim.cost
    assert issue.table.max_periods == 2
    assert '"life"' not in dump(plan.design.base)


def test_the_certificate_says_what_is_promised_and_to_whom() -> None:
    plan = series().sum("kwh", clip=(0.0, 3.0)).lifetime(epsilon=1.0, delta=1e-6, max_periods=120)
    issue = plan.design.issue("load", start="2026-03-01", end="2026-04-01", clip=(0.0, 5.0))
    text = " ".join(str(certificate_of(issue, seeded=False)).split())
    assert "Everything about one person, in every issue of load past and future, for ever, at one price" in text
    assert "a counted month takes 2.78 of 120 shares" in text
    assert "docs/explanation/proofs/lifetime.md" in text


def test_what_is_not_argued_is_refused_by_a_sentence() -> None:
    places = cdp.Places(pd.DataFrame({"state": ["a", "a", "b"], "town": ["x", "y", "z"]}), "state", "town")
    cases: list[tuple[Any, str]] = [
        (lambda: series().count().by(places), "asked without Places"),
        (lambda: series(unit=cdp.Event()).count(), r"unit must be User\(\)"),
        (lambda: series(unit=cdp.UserPeriod("1mo")).count(), r"unit must be User\(\)"),
        (lambda: series("1D", max_periods=3).count().peak(every="1W"), "a peak"),
        (lambda: series("1D").active("7D"), "a window reaches from one issue into the next"),
        (lambda: series("1D").sum("x", bound=cdp.Norm(3.0)), "asked with a clip"),
        (lambda: series().quantiles("x", [0.5], edges=[0.0, 1.0]), r"release.quantile\(0.5\)"),
        (lambda: series().count().by(region=cdp.Discover()), "known before a life is sold"),
        (lambda: series().sum("x", clip=cdp.Find()), "known before a life is sold"),
        (lambda: series().count(at_most=cdp.Find()), "known before a life is sold"),
    ]
    for ask, said in cases:
        with raising(InvalidArgument, match=said, case=(ask, said)):
            ask().lifetime(epsilon=1.0, delta=1e-6, max_periods=12)


def test_bad_terms_are_refused() -> None:
    cases: list[dict[str, Any]] = [
        {"max_periods": 0},
        {"max_periods": 2**30 + 1},
        {"max_periods": 1.5},
        {"epsilon": 0.0},
        {"delta": 1.0},
    ]
    for wrong in cases:
        with raising(InvalidArgument, case=wrong):
            series().count().lifetime(**{"epsilon": 1.0, "delta": 1e-6, "max_periods": 12} | wrong)


SIMULATED = json.loads((GOLDEN / "lifetime" / "policies.json").read_text(encoding="utf-8"))
COMPUTED = json.loads((GOLDEN / "lifetime" / "gaussian.json").read_text(encoding="utf-8"))
NAMES = {
    "all, K=T": "everybody, K = 120",
    "first 12 ever": "first 12 months ever",
    "first 36 ever": "first 36 months ever",
    "first 60 ever": "first 60 months ever",
    "joint plan of 120, K=36": "one plan over all 120 months, 36 of each person's by key",
    "thin p=.3, cap 36": "kept with p = 0.3, at most 36, divided by p",
    "thin p=.3, cap 48": "kept with p = 0.3, at most 48, divided by p",
    "phase 1 of 4, cap 30": "every 4th month at a phase of one's own, at most 30, times 4",
}
PEOPLE = [row for row in SIMULATED["rows"] if row["activity"] == 1.0 and row["policy"] in NAMES]


def test_errors_are_those_of_a_simulation() -> None:
    for row in PEOPLE:
        policy = next(one for one in POLICIES if one.name == NAMES[row["policy"]])
        simulated = row["N10000"]
        bias, noise, sampling, _ = (100 * part / CELL for part in policy.errors(POPULATIONS[row["population"]], CELL))
        assert (noise, sampling) == pytest.approx((simulated["noise_pct"], simulated["sampling_pct"]), rel=1e-4), row
        # The simulation drew people: its biases are wrong by up to 0.33 points, also where there is none.
        assert bias == pytest.approx(simulated["bias_rms_pct"], abs=0.35), row


def test_prices_of_lives_and_what_renewing_costs() -> None:
    for life in COMPUTED["one_life_price"]["rows"]:
        assert math.sqrt(life["K"]) / MU == pytest.approx(life["sigma"], rel=1e-9)
    for row in COMPUTED["renewing"]:
        true = gaussian.epsilon_of(math.sqrt(row["months"]) * MU, row["delta"])
        assert true == pytest.approx(row["true_epsilon"], rel=1e-9)


def test_nobody_is_missed_before_a_life_is_over_and_all_go_at_once_then() -> None:
    missed = Policy("", 36).missing(POPULATIONS["residents"])
    assert missed[:36].max() == 0
    assert missed[36:] == pytest.approx((239 / 240) ** 36, rel=1e-12)
