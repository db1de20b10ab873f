"""Numbers published or computed elsewhere; and Gaussian noise on a secret sample, by exact laws too."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest

from chronodp.accounting import (
    advanced,
    adversary,
    basic,
    compare,
    enlarge,
    gather,
    gaussian,
    group,
    loss,
    optimal,
    pld,
    renyi,
    sampled,
    zcdp,
)
from chronodp.audit.exact import examine
from chronodp.errors import InvalidArgument, UnsupportedCost
from chronodp.federated.training.step import StepDesign, private_sum
from chronodp.ledger.filters import CAP, ORDERS, Filter
from chronodp.privacy import ApproximateCost, Cost, GaussianCost, LaplaceCost, RepeatedCost, SampledGaussianCost
from chronodp.randomness import Entropy

LOST = 2.0**-48  # of delta, that a transform may lose with each release


def repeated(sigma: float, times: int) -> RepeatedCost:
    return RepeatedCost(GaussianCost(sensitivity=1.0, sigma=sigma), times)


@pytest.mark.slow
def test_gaussian_composition(golden: Any) -> None:
    for row in golden("gaussian_composition.json")["gaussian"]:
        cost, delta = repeated(row["sigma"], row["k"]), row["delta"]
        assert gaussian.epsilon(cost, delta) == pytest.approx(row["exact_gdp"], rel=1e-9)
        assert renyi.epsilon_textbook(cost, delta) == pytest.approx(row["rdp_seed_opt_alpha"], rel=1e-9)
        assert renyi.epsilon(cost, delta) == pytest.approx(row["rdp_improved_opt_alpha"], rel=1e-9)
        assert zcdp.rho(cost) == pytest.approx(row["zcdp_rho"], rel=1e-12)
        assert zcdp.epsilon(cost, delta) == pytest.approx(row["zcdp_simple"], rel=1e-12)
        assert basic.epsilon(cost, delta) == pytest.approx(row["basic_split_delta"], rel=1e-9)
        # The reference searched a coarse grid of splits: ours is never above it.
        split = advanced.epsilon(cost, delta)
        assert row["advanced_drv_best_split"] * 0.998 < split <= row["advanced_drv_best_split"] * (1 + 1e-9)


@pytest.mark.slow
def test_the_textbooks_day_of_releases(golden: Any) -> None:
    reference = golden("textbook_1440.json")
    day = RepeatedCost(ApproximateCost(0.05, 1e-8), 1440)
    table = compare(day, slack=1e-7)
    assert (table["basic"].epsilon, table["basic"].delta) == pytest.approx(tuple(reference["basic"]), rel=1e-12)
    expected = tuple(reference["advanced_DRV dp=1e-7"])
    assert (table["advanced"].epsilon, table["advanced"].delta) == pytest.approx(expected, rel=1e-12)
    expected = tuple(reference["optimal KOV eps at same total delta"])
    assert (table["optimal"].epsilon, table["optimal"].delta) == pytest.approx(expected, rel=1e-7)
    assert [round(table[name].epsilon or 0, 4) for name in ("basic", "advanced", "optimal")] == [72, 14.4642, 11.1603]
    for delta in ("1.45e-05", "1.5e-05", "2e-05", "0.0001"):
        expected_epsilon = reference[f"optimal KOV eps at delta={delta}"][0]
        assert optimal.epsilon(day, float(delta)) == pytest.approx(expected_epsilon, rel=1e-7)
    pld_epsilon, pld_delta = reference["dp_accounting PLD from_privacy_parameters (1e-4)"]
    # Their transform and ours round differently, and ours gives away what it may have lost: of the 1e-7 of delta that
    # the releases themselves leave, which falls faster than epsilon rises.
    lost = 1440 * LOST / 1e-7
    assert pld_epsilon - lost / 50 <= pld.epsilon(day, pld_delta) <= pld_epsilon + lost


@pytest.mark.slow
def test_optimal_composition_to_the_last_digits() -> None:
    """Theorem 3.3 of Kairouz, Oh and Viswanath, summed with 50 digits."""
    times, total = 1440, mpmath.mpf("1.45e-5")
    with mpmath.workdps(50):
        epsilon = mpmath.mpf(0.05)
        found = mpmath.mpf(optimal.epsilon(RepeatedCost(ApproximateCost(0.05, 1e-8), times), float(total)))
        excess = mpmath.mpf(0)
        for against in range(times + 1):
            term = mpmath.exp((times - against) * epsilon) - mpmath.exp(found + against * epsilon)
            excess += mpmath.binomial(times, against) * max(term, mpmath.mpf(0)) / (1 + mpmath.exp(epsilon)) ** times
        true = 1 - (1 - mpmath.mpf(1e-8)) ** times * (1 - excess)
        assert true <= mpmath.mpf(float(total))
        assert true > total - mpmath.mpf("1e-18")


def test_sigma_rho_and_groups(golden: Any) -> None:
    reference = golden("accounting_reference.json")
    for epsilon, delta, sigma in reference["analytic_sigma"]:
        assert gaussian.sigma(epsilon, delta) == pytest.approx(sigma, abs=6e-10)
    for epsilon, delta, rho in reference["rho"]:
        assert gaussian.mu_for(epsilon, delta) ** 2 / 2 == pytest.approx(rho, abs=6e-10)
    for epsilon, delta, steps, total, failure in reference["group"]:
        assert group(epsilon, delta, steps) == pytest.approx((total, failure), rel=1e-6)


def test_large_compositions(golden: Any) -> None:
    reference = golden("accounting_reference.json")
    for row in reference["gaussian"]:
        cost = repeated(row["sigma"], row["k"])
        assert gaussian.epsilon(cost, 1e-6) == pytest.approx(row["exact"], rel=1e-12)
        assert pld.epsilon(cost, 1e-6) == pytest.approx(row["pld"], rel=1e-5)
        assert pld.epsilon(cost, 1e-6) == gaussian.epsilon(cost, 1e-6)
    for row in reference["laplace"]:
        cost = RepeatedCost(LaplaceCost(1.0, row["scale"]), row["k"])
        # On the same grid only the transform can differ. It is promised to lose at most LOST of delta with a release; a
        # fiftieth of that is more than any machine showed, and ln delta falls faster than epsilon rises.
        lost = row["k"] * LOST / 1e-6
        assert row["pld"] - lost / 50 <= pld.epsilon(cost, 1e-6) <= row["pld"] + lost
        assert row["rdp"] * 0.999 < renyi.epsilon(cost, 1e-6) <= row["rdp"]  # the reference has fixed orders


def test_how_wrong_the_textbooks_sentence_about_odds_is(golden: Any) -> None:
    for epsilon, delta, times in golden("accounting_reference.json")["loss_over_delta"]:
        cost = GaussianCost(sensitivity=1.0, sigma=gaussian.sigma(epsilon, delta))
        assert loss(cost).tail(epsilon) / delta == pytest.approx(times, rel=0.01)
        for beyond in (epsilon + 0.01, epsilon + 0.1, 2 * epsilon + 1):
            assert loss(cost).tail(beyond) <= adversary.odds_tail(epsilon, delta, beyond)
    assert adversary.total_variation(math.log(3)) == pytest.approx(0.5)


def sampled_steps(sigma: float, rate: float, steps: int) -> RepeatedCost:
    return RepeatedCost(SampledGaussianCost(sensitivity=1.0, sigma=sigma, rate=rate), steps)


@pytest.mark.slow
def test_sampled_noise_has_the_reference_values(golden: Any) -> None:
    orders = [1 + tenth / 10 for tenth in range(1, 100)] + list(range(12, 64))  # those that Opacus tries
    for row in golden("federated/accounting.json")["sampled_gaussian"]:
        cost, delta = sampled_steps(row["sigma"], row["rate"], row["steps"]), row["delta"]
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


@pytest.mark.slow
def test_theorems_that_know_nothing_of_samples_count_everybody() -> None:
    cost, everybody = sampled_steps(1.0, 0.1, 50), RepeatedCost(GaussianCost(1.0, 1.0), 50)
    assert gaussian.epsilon(cost, 1e-5) == gaussian.epsilon(everybody, 1e-5)
    table = compare(cost, 1e-5)
    assert table.best.theorem == "PLD"
    assert "nothing" in table["Gaussian (GDP)"].remark
    with pytest.raises(UnsupportedCost, match="sample"):
        loss(cost)


@pytest.mark.slow
def test_mixed_spendings_add_up() -> None:
    both: list[Cost] = [sampled_steps(1.0, 0.1, 50), GaussianCost(1.0, 3.0)]
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
    cost = sampled_steps(1.0, 0.1, 10)
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
