"""The computed errors of policies against simulated ones, and prices of lives against those published beside them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from benchmarks.lifetime_policies import CELL, MU, POLICIES, POPULATIONS, Policy

from chronodp.accounting import gaussian

GOLDEN = Path(__file__).parents[1] / "golden" / "lifetime"
SIMULATED = json.loads((GOLDEN / "policies.json").read_text(encoding="utf-8"))
COMPUTED = json.loads((GOLDEN / "gaussian.json").read_text(encoding="utf-8"))
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
ROWS = [row for row in SIMULATED["rows"] if row["activity"] == 1.0 and row["policy"] in NAMES]


def test_errors_are_those_of_a_simulation() -> None:
    for row in ROWS:
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
