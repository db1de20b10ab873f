"""Gaussian noise on a secret sample: reference values, other implementations, exact laws."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from chronodp.accounting import compare, enlarge, gather, gaussian, loss, pld, renyi, sampled
from chronodp.audit.exact import examine
from chronodp.errors import InvalidArgument, UnsupportedCost
from chronodp.federated.training.step import StepDesign, private_sum
from chronodp.ledger.filters import CAP, ORDERS, Filter
from chronodp.privacy import Cost, GaussianCost, RepeatedCost, SampledGaussianCost
from chronodp.randomness import Entropy


def repeated(sigma: float, rate: float, steps: int) -> RepeatedCost:
    return RepeatedCost(SampledGaussianCost(sensitivity=1.0, sigma=sigma, rate=rate), steps)


@pytest.mark.slow
def test_reference_values(golden: Any) -> None:
    orders = [1 + tenth / 10 for tenth in range(1, 100)] + list(range(12, 64))  # those that Opacus tries
    for row in golden("federated/accounting.json")["sampled_gaussian"]:
        cost, delta = repeated(row["sigma"], row["rate"], row["steps"]), row["delta"]
        assert (
            row["pld"] * (1 - 1e-9) <= pld.epsilon(cost, delta) <= row["pld"] * (1 + 1e-5)
        )  # on a coarser grid, so above
        found = renyi.epsilon(cost, delta)
        assert 0.99 * row["rdp"] < found <= row["rdp"]  # dp-accounting tries a list of orders, we all of them
        if "opacus_rdp" in row:
            at = renyi.curve(cost)
            listed = min(renyi.convert(at(order), order, delta) for order in orders)
            assert listed == pytest.approx(row["opacus_rdp"], rel=1e-9)
            assert found <= listed


@pytest.mark.slow
def test_divergences_against_many_digits() -> None:
    for order, rate, mu in (
        (2, 0.1, 1.0),
        (16, 0.05, 0.7),
        (256, 0.01, 0.3),
        (64, 0.3, 2.0),
        (2.5, 0.1, 1.0),
        (1.3, 0.001, 0.2),
    ):
        found = sampled.divergence(SampledGaussianCost(mu, 1.0, rate), order)
        with mpmath.workdps(40):
            q, m, a = mpmath.mpf(rate), mpmath.mpf(mu), mpmath.mpf(order)
            if order == int(order):
                terms = (
                    mpmath.binomial(order, k) * (1 - q) ** (order - k) * q**k * mpmath.exp(k * (k - 1) * m**2 / 2)
                    for k in range(int(order) + 1)
                )
                total = mpmath.fsum(terms)
            else:
                ends = [-20, -10, -5, -2, 0, 2, 5, 10, 20, 40]
                total = mpmath.quad(
                    lambda z, q=q, m=m, a=a: (1 - q + q * mpmath.exp(m * z - m * m / 2)) ** a * mpmath.npdf(z), ends
                )
            exact = mpmath.log(total) / (a - 1)
        assert found == pytest.approx(float(exact), rel=1e-12 if order in ORDERS else 1e-9)


def test_one_step_against_quadrature() -> None:
    z = np.linspace(-12, 16, 400_001)
    for rate, mu, epsilon in ((0.1, 1.0, 0.5), (0.5, 2.0, 0.3), (0.02, 0.5, 0.01), (0.3, 1.0, 0.05)):
        out = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
        inside = (1 - rate) * out + rate * np.exp(-((z - mu) ** 2) / 2) / math.sqrt(2 * math.pi)
        pairs = ((inside, out), (out, inside))
        exact = max(np.trapezoid(np.maximum(0, one - math.exp(epsilon) * two), z) for one, two in pairs)
        assert sampled.delta_of(SampledGaussianCost(mu, 1.0, rate), epsilon) == pytest.approx(exact, rel=1e-6)


def test_the_divergence_is_the_larger_of_two_directions() -> None:
    z = np.linspace(-40, 60, 400_001)
    for rate, mu, order in ((0.1, 1.0, 2), (0.5, 2.0, 3), (0.02, 0.5, 16), (0.3, 1.0, 1.5), (0.9, 1.5, 4)):
        log_out = -(z**2) / 2 - math.log(2 * math.pi) / 2
        log_in = np.logaddexp(
            math.log1p(-rate) + log_out, math.log(rate) - (z - mu) ** 2 / 2 - math.log(2 * math.pi) / 2
        )
        forth, back = (
            math.log(np.trapezoid(np.exp(order * one + (1 - order) * two), z)) / (order - 1)
            for one, two in ((log_in, log_out), (log_out, log_in))
        )
        assert sampled.divergence(SampledGaussianCost(mu, 1.0, rate), order) == pytest.approx(forth, rel=1e-8)
        assert back <= forth


def test_sampling_never_costs_more_than_looking_at_everybody() -> None:
    for rate in (1e-6, 0.01, 0.3, 0.999):
        for order in (1.01, 1.5, 2, 3.5, 64, 512, 5000.0):
            assert sampled.divergence(SampledGaussianCost(1.0, 1.3, rate), order) <= order / (2 * 1.3**2)
    everybody = renyi.epsilon(RepeatedCost(GaussianCost(1.0, 1.3), 20), 1e-5)
    assert renyi.epsilon(repeated(1.3, 0.999999, 20), 1e-5) == pytest.approx(everybody, rel=1e-4)


@pytest.mark.slow
def test_theorems_that_know_nothing_of_samples_count_everybody() -> None:
    cost, everybody = repeated(1.0, 0.1, 50), RepeatedCost(GaussianCost(1.0, 1.0), 50)
    assert gaussian.epsilon(cost, 1e-5) == gaussian.epsilon(everybody, 1e-5)
    table = compare(cost, 1e-5)
    assert table.best.theorem == "PLD"
    assert "nothing" in table["Gaussian (GDP)"].remark
    with pytest.raises(UnsupportedCost, match="sample"):
        loss(cost)


@pytest.mark.slow
def test_mixed_spendings_add_up() -> None:
    both: list[Cost] = [repeated(1.0, 0.1, 50), GaussianCost(1.0, 3.0)]
    assert gather(both).gaussian == pytest.approx(50 + 1 / 9)
    assert gather(both).unsampled_gaussian == pytest.approx(1 / 9)
    alone = [renyi.epsilon(part, 1e-5) for part in both]
    assert max(alone) < renyi.epsilon(both, 1e-5) < sum(alone)
    assert pld.epsilon(both[0], 1e-5) < pld.epsilon(both, 1e-5) < renyi.epsilon(both, 1e-5)


@pytest.mark.slow
def test_a_group_counts_as_everybody() -> None:
    pair = StepDesign(clip=1.0, sigma=1.0, rate=0.25, resolution=2)
    assert enlarge(pair.cost, 1) == pair.cost
    both = enlarge(pair.cost, 2)
    assert both == GaussianCost(2.0, 1.0)

    def step(people: tuple[float, ...], *, entropy: Entropy) -> object:
        rows = np.array(people).reshape(-1, 1)
        return private_sum(pair, len(people), lambda chosen: [rows[chosen]], size=1, entropy=entropy).tolist()

    finding = examine(step, [((1.0, 1.0, -1.0), (-1.0,)), ((1.0, -1.0), (-1.0, -1.0))])
    for epsilon in (0.1, 0.5, 1.0):
        assert not finding.refutes(epsilon, gaussian.delta_of(2.0, epsilon))
    assert finding.refutes(0.5, sampled.delta_of(pair.cost, 0.5))  # one person's price is not that of two


def test_a_renyi_budget_adds_the_curve_and_others_count_everybody() -> None:
    cost = repeated(1.0, 0.1, 10)
    rule = Filter("renyi", 8.0, 1e-5, 0.0)
    amounts = rule.amounts(cost)
    for part, amount, order in zip(rule.components, amounts, ORDERS, strict=False):
        if part.ceiling > 0 and amount < CAP:
            assert part.value(amount) == pytest.approx(
                10 * sampled.divergence(SampledGaussianCost(1.0, 1.0, 0.1), order)
            )
    dear = Filter("gaussian", 8.0, 1e-5, 0.0)
    assert dear.amounts(cost) == dear.amounts(RepeatedCost(GaussianCost(1.0, 1.0), 10))
    with pytest.raises(UnsupportedCost):
        Filter("pure", 8.0, 0.0, 0.0).amounts(cost)


def test_bad_rates_are_refused() -> None:
    for rate in (0.0, 1.0, -0.1, math.nan, "0.1"):
        with pytest.raises(InvalidArgument, match="rate"):
            SampledGaussianCost(1.0, 1.0, rate)  # type: ignore[arg-type]
