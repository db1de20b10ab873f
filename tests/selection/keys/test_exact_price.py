"""Gaussian thresholds bought alone, against reference values; and what mistakes with them truly cost."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.audit.key_rules import Weighted
from tests.audit.key_walks import gaussian_above
from tests.selection.keys.alone import alone_delta, alone_threshold

from chronodp.accounting import gaussian
from chronodp.selection.keys import Held, OptimalRule, Round, threshold_for, weights_of

GOLDEN = Path(__file__).parents[2] / "golden" / "keys"
ROWS: list[dict[str, Any]] = json.loads((GOLDEN / "gaussian_thresholds.json").read_text())["rows"]
TRAPS: dict[str, Any] = json.loads((GOLDEN / "traps.json").read_text())


def test_thresholds_and_exact_delta_are_the_reference_ones(subtests: pytest.Subtests) -> None:
    for row in ROWS:
        with subtests.test(row=row):
            sigma, threshold = row["halves"]
            assert alone_threshold(sigma, row["delta"] / 2, row["m"]) == pytest.approx(threshold, rel=1e-12)
            best, least = row["exact"]
            assert alone_delta(row["eps"], best, least, row["m"]) == pytest.approx(row["delta"], rel=1e-11)
            # the exact price is never above the sum of noise and failure
            assert alone_delta(row["eps"], sigma, threshold, row["m"]) <= row["delta"]
    for row in TRAPS["golden_ledger_form"]:
        with subtests.test(row=row):
            found = alone_threshold(float(row["sigma"]), 0.4 * float(row["delta"]), row["m"])
            assert found == pytest.approx(float(row["tau"]), rel=1e-12)


def test_the_threshold_of_one_key_fails_people_of_many(subtests: pytest.Subtests) -> None:
    for keys in [1, 2, 10, 30]:
        with subtests.test(keys=keys):
            sigma, threshold = ROWS[0]["exact"]
            wanted = TRAPS["one_key_gaussian_with_m_keys"][str(keys)]
            assert alone_delta(1.0, sigma, threshold, keys) == pytest.approx(wanted, rel=1e-9)


def test_a_threshold_rounded_to_the_nearest_whole_number_fails() -> None:
    wanted = TRAPS["threshold_rounded"]
    for threshold, name in ((21, "true_if_nearest"), (22, "true_if_up_on_grid_1")):
        rule = Weighted((Round(wanted["sigma"], threshold),), None, (1,), gaussian_above)
        told = rule.law(((0,),)).probabilities
        assert float(told[((0, threshold),)]) == pytest.approx(wanted[name], rel=1e-12)
    assert threshold_for(wanted["sigma"], Fraction(1, 10**6), Held((1,))) == 22


def test_weights_need_the_threshold_of_all_their_keys(subtests: pytest.Subtests) -> None:
    for keys in [2, 10, 50]:
        with subtests.test(keys=keys):
            sigma, threshold = ROWS[0]["exact"]
            delta = math.erfc((threshold - 1) / sigma / math.sqrt(2)) / 2
            weight = weights_of(keys)[-1] / 2**16
            each = math.erfc((threshold - weight) / sigma / math.sqrt(2)) / 2
            told = -math.expm1(keys * math.log1p(-each))
            assert told == pytest.approx(TRAPS["weights_threshold_of_one_key_only"][str(keys)], rel=1e-3)
            assert told > delta


def test_in_a_gaussian_budget_the_optimal_rule_needs_three_times_the_people(subtests: pytest.Subtests) -> None:
    for row in TRAPS["inside_a_gdp_budget"]:
        with subtests.test(row=row):
            people = OptimalRule(row["e0"] * row["m"], 4e-7, row["m"]).people_needed()
            threshold = alone_threshold(math.sqrt(row["m"]) / row["mu"], 4e-7, row["m"])
            assert people == row["half_optimal_rule"]
            assert threshold == pytest.approx(row["gaussian_tau"], rel=1e-12)
            assert people > 3 * threshold - 1


def test_bought_alone_a_set_costs_less_than_noise_and_failure_added() -> None:
    sigma, threshold = ROWS[3]["exact"]
    lone = alone_threshold(sigma, 1e-6, 10)
    assert lone > threshold - 1  # nearly all of delta goes to lone keys, and the noise still fits beside it
    apart = gaussian.delta_of(math.sqrt(10) / sigma, 1.0) - math.expm1(
        10 * math.log1p(-math.erfc((threshold - 1) / sigma / math.sqrt(2)) / 2)
    )
    assert apart > 1.5e-6
