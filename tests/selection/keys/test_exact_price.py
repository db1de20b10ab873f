"""What a Gaussian threshold costs if it is all that is bought; a ledger charges more, it adds noise and failure.

"Bought alone" of ``docs/explanation/proofs/keys.md``, against reference values; and what mistakes truly cost.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from scipy.special import erfcx, log_ndtr, ndtr, ndtri_exp
from tests.audit.key_rules import Weighted
from tests.audit.key_walks import gaussian_above

from chronodp.accounting import gaussian
from chronodp.privacy import check_fraction, check_number, check_positive, check_whole
from chronodp.selection.keys import Held, OptimalRule, Round, threshold_for, weights_of

GOLDEN = Path(__file__).parents[2] / "golden" / "keys"
ROWS: list[dict[str, Any]] = json.loads((GOLDEN / "gaussian_thresholds.json").read_text())["rows"]
TRAPS: dict[str, Any] = json.loads((GOLDEN / "traps.json").read_text())


def alone_threshold(sigma: float, delta: float, most: int) -> float:
    """Return τ = 1 + σ z(1 − (1 − delta)^(1/most)): people, and noise, at which a lone key passes within ``delta``.

    For planning: floats, to 1e-13. What decides is `Rounds`, whose thresholds are proven.
    """
    check_positive("sigma", sigma)
    each = -math.expm1(math.log1p(-check_fraction("delta", delta)) / check_whole("most", most))
    return 1 - sigma * float(ndtri_exp(math.log(each)))


def alone_delta(epsilon: float, sigma: float, threshold: float, most: int) -> float:
    """Return delta at ``epsilon`` of counts with noise that are published from a threshold on, ``most`` keys a unit.

    With q the probability that one lone key passes, l_j = j ln(1 − q) and μ_j = √(most − j) / σ, it is the largest,
    over j lone keys of most, of 1 − e^l_j + e^l_j δ(ε − l_j; μ_j) and δ(ε + l_j; μ_j): a key is lone or shared, never
    both, so the two deltas do not add. Of units that are added or removed. For planning: in floats, to about 1e-12.

    >>> round(alone_delta(1.0, 4.225101357215768, 21.083699498630054, 1) * 1e6, 9)
    1.0
    """
    check_number("epsilon", epsilon)
    check_positive("sigma", sigma)
    kept = float(log_ndtr((check_number("threshold", threshold) - 1) / sigma))
    worst = 0.0
    for lone in range(check_whole("most", most) + 1):
        silent, mu = lone * kept, math.sqrt(most - lone) / sigma
        added = -math.expm1(silent) + math.exp(silent) * _delta(epsilon - silent, mu)
        worst = max(worst, added, _delta(epsilon + silent, mu))
    return worst


def _delta(epsilon: float, mu: float) -> float:
    """δ of mu-GDP at any epsilon, below 0 too, where it is at least 1 − e^epsilon."""
    if not mu:
        return max(0.0, -math.expm1(epsilon))
    upper, lower = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    if upper > 0:
        return float(ndtr(upper)) - math.exp(epsilon + float(log_ndtr(lower)))
    # e^ε Φ(lower) = e^(−upper²/2) erfcx(−lower/√2) / 2: the same factor before both terms.
    fall = float(erfcx(-upper / math.sqrt(2))) - float(erfcx(-lower / math.sqrt(2)))
    return 0.5 * math.exp(-upper * upper / 2) * fall


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
