"""Probabilities and budgets of the Threshold mechanism against exact fractions and golden tables."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from chronodp.errors import InvalidArgument
from chronodp.temporal import Backward, Forward, Threshold, UnitCosts, choose_threshold, derived_budget
from chronodp.temporal.published.dispatch import dispatch_probabilities
from chronodp.temporal.published.stirling import stirling_ratios
from tests.cases import case


@cache
def stirling(size: int, groups: int) -> int:
    if size == groups:
        return 1
    if not 0 < groups < size:
        return 0
    return groups * stirling(size - 1, groups) + stirling(size - 1, groups - 1)


def exact_probability(window: int, threshold: int, delay: int) -> Fraction:
    """The sum of positive terms of the written argument, as a fraction."""
    whole = stirling(window, threshold)
    if not delay:
        return Fraction(stirling(window - 1, threshold - 1), whole)
    last = min(delay - 1, window - threshold - 1)
    terms = (math.comb(delay - 1, lag) * stirling(window - 2 - lag, threshold - 1) for lag in range(last + 1))
    return Fraction(sum(terms), whole)


def test_golden_probabilities_as_exact_fractions(golden: Any) -> None:
    for name, stored in golden("tldp/pj_k10.json").items():
        threshold = int(name.partition("_c")[2])
        wanted = [Fraction(text) for text in stored["exact"]]
        assert [exact_probability(10, threshold, delay) for delay in range(10)] == wanted
        assert np.allclose(dispatch_probabilities(10, threshold), [float(part) for part in wanted], rtol=1e-14, atol=0)


@pytest.mark.slow
def test_probabilities_are_exact_to_a_window_of_a_thousand() -> None:
    window: int
    threshold: int
    for window, threshold in [(3, 2), (20, 8), (50, 2), (50, 17), (90, 45), (90, 89)]:
        with case(window, threshold):
            wanted = [float(exact_probability(window, threshold, delay)) for delay in range(window)]
            assert np.allclose(dispatch_probabilities(window, threshold), wanted, rtol=1e-12, atol=0)
    row = [1]  # S(K, 0..K), whole numbers
    for size in range(1, 1001):
        row = [0, *(groups * row[groups] + row[groups - 1] for groups in range(1, size)), 1]
    table = stirling_ratios(1000)
    for groups in (2, 3, 50, 131, 500, 999, 1000):
        exact = Fraction(row[groups - 1], row[groups])
        assert table[1000, groups] == pytest.approx(float(exact), rel=5e-12)
    for threshold in [2, 130, 400, 999]:
        with case(threshold):
            found = dispatch_probabilities(1000, threshold)
            assert found.sum() == pytest.approx(1, abs=1e-10)
            assert float(found @ np.arange(1000)) == pytest.approx(1000 - threshold, rel=1e-10)
            assert np.all(np.diff(found[1:]) >= 0)
            assert derived_budget(1000, threshold) == pytest.approx(2 * math.log(found.max() / found[1]), rel=1e-11)


def test_every_golden_budget_and_where_mechanisms_cross(golden: Any) -> None:
    count = 0
    for window, rows in golden("tldp/eps_hat.json").items():
        for row in rows:
            assert derived_budget(int(window), row["c0"]) == pytest.approx(row["eps_hat"], abs=1e-11)
            count += 1
    assert count > 300
    for window, row in golden("tldp/derivable_range.json").items():
        size = int(window)
        budgets = [derived_budget(size, threshold) for threshold in range(2, size)]
        assert min(budgets) == pytest.approx(row["lowest_eps"], abs=1e-11)
        assert 2 + int(np.argmin(budgets)) == row["lowest_c0"]
        useful = 2 * math.log(math.comb(size - 1, 2))
        assert derived_budget(size, size - 1) == pytest.approx(useful, abs=1e-11) == row["max_useful_eps_c0_km1"]
        costs = UnitCosts.relative(size)
        ((low, high),) = row["tm_etm_beats_baselines_eps_segments"]
        for epsilon, wins in ((low - 0.04, False), (low + 0.02, True), (high - 0.02, True), (high + 0.04, False)):
            ours, base = (kind(size, epsilon).expected.cost(costs) for kind in (Threshold, Backward))
            assert (ours < base) is wins, (size, epsilon)


def test_every_golden_threshold_and_cost(golden: Any) -> None:
    for window, rows in golden("tldp/optimal_c0.json").items():
        for row in rows:
            size, epsilon = int(window), float(row["eps"])
            choice = choose_threshold(size, epsilon)
            assert choice.extended is (row["tm_c0"] is None)
            assert choice.threshold == (row["etm_c0"] if choice.extended else row["tm_c0"])
            costs = UnitCosts.relative(size)
            assert Threshold(size, epsilon).expected.cost(costs) == pytest.approx(row["cost"], rel=1e-11)
            assert Backward(size, epsilon).expected.cost(costs) == pytest.approx(row["bpm_cost"], rel=1e-11)
            assert Forward(size, epsilon).expected.cost(costs) == pytest.approx(row["bpm_cost"], rel=1e-11)
    point = golden("tldp/fig5.json")
    costs = UnitCosts.relative(20)
    backward = Backward(20, 5.0).expected
    assert backward.missing == pytest.approx(point["missing_prob"], rel=1e-12)
    assert backward.delay == pytest.approx(point["bpm_delay"], rel=1e-12)
    assert round(backward.cost(costs), 4) == round(Forward(20, 5.0).expected.cost(costs), 4) == 15.6601
    assert Threshold(20, 5.0).expected.cost(costs) == 10
    assert Threshold(20, 5.0).choice.budget == pytest.approx(point["tm_eps_hat"], rel=1e-12)


def test_refuses_windows_and_thresholds_that_do_not_exist() -> None:
    window: Any
    threshold: Any
    for window, threshold in [(2, 2), (5, 1), (5, 5), (1001, 4), (True, 2), (5.0, 2)]:
        with case(window, threshold):
            with pytest.raises(InvalidArgument, match=r"window|threshold"):
                dispatch_probabilities(window, threshold)
            with pytest.raises(InvalidArgument, match=r"window|threshold"):
                derived_budget(window, threshold)
