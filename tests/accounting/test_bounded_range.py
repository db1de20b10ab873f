"""Bounded range: the price of the exponential mechanism, against stored values, many digits and random choices."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from numpy.typing import NDArray
from scipy.special import ndtri

from chronodp.accounting import (
    advanced,
    adversary,
    basic,
    bounded_range,
    compare,
    enlarge,
    gaussian,
    loss,
    optimal,
    pld,
    renyi,
    zcdp,
)
from chronodp.privacy import BoundedRangeCost, PureCost, RepeatedCost
from tests.accounting import truth
from tests.conftest import Trials

Floats = NDArray[np.float64]
EPSILONS = (1e-9, 1e-4, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 20.0, 300.0)


def worst_mu(first: Floats, second: Floats) -> float:
    """The least mu whose trade-off curve lies below that of two laws: curves are straight between likelihood ratios."""
    order = np.argsort(second / first)[::-1]
    false_alarms, misses = np.cumsum(first[order])[:-1], 1 - np.cumsum(second[order])[:-1]
    inside = (false_alarms > 1e-12) & (misses > 1e-12) & (false_alarms < 1 - 1e-9) & (misses < 1 - 1e-9)
    found = ndtri(1 - false_alarms[inside]) - ndtri(misses[inside])
    return float(found.max()) if len(found) else 0.0


def chosen(utilities: Floats, slope: float) -> Floats:
    weights = np.exp(slope * (utilities - utilities.max()))
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def test_stored_values_of_mu(golden: Any) -> None:
    stored = golden("bounds/accounting.json")
    for text, row in stored["mu"].items():
        assert gaussian.mu(BoundedRangeCost(float(text))) == pytest.approx(row["bounded_range"], rel=1e-9)
        assert gaussian.mu(BoundedRangeCost(float(text))) == pytest.approx(row["scan_over_t"], rel=1e-9)
        assert gaussian.mu(PureCost(float(text))) == pytest.approx(row["pure"], rel=1e-9)
    whole = gaussian.mu_for(1.0, 1e-6) ** 2
    for share, epsilon in stored["eps_for_share_of_mu2_at_1_1e6"].items():
        assert gaussian.mu(BoundedRangeCost(epsilon)) ** 2 / whole == pytest.approx(float(share), rel=1e-9)


def test_mu_is_never_below_the_exact_one_and_close_to_it(subtests: pytest.Subtests) -> None:
    for epsilon in EPSILONS:
        with subtests.test(epsilon=epsilon), mp.workdps(60):
            found, unlikely = mpf(gaussian.mu(BoundedRangeCost(epsilon))), 1 / (1 + mpmath.exp(mpf(epsilon) / 2))
            assert mpmath.ncdf(-found / 2) <= unlikely
            assert mpmath.ncdf(-found * (1 - mpf("1e-13")) / 2) > unlikely


@pytest.mark.slow
def test_random_choices_stay_above_the_trade_off_curve(trials: Trials) -> None:
    generator = np.random.default_rng(5)
    for _ in range(trials(20_000, least=2500)):
        epsilon, count = float(np.exp(generator.uniform(-3, 2))), int(generator.integers(2, 7))
        monotone = bool(generator.integers(2))
        utilities = generator.normal(size=count) * generator.choice([0.1, 1.0, 5.0])
        ends = generator.choice([0.0, 1.0], count) if generator.integers(2) else generator.uniform(size=count)
        moved = utilities + (ends if monotone else 2 * ends - 1)
        slope = epsilon if monotone else epsilon / 2
        first, second = chosen(utilities, slope), chosen(moved, slope)
        ratios = np.log(first / second)
        assert ratios.max() - ratios.min() <= epsilon * (1 + 1e-9)
        claimed = gaussian.mu(BoundedRangeCost(epsilon))
        assert worst_mu(first, second) <= claimed * (1 + 1e-7)
        assert worst_mu(second, first) <= claimed * (1 + 1e-7)
        for at in (0.0, epsilon / 3, 0.9 * epsilon):
            covered = math.expm1((at - epsilon) / 2) ** 2 / -math.expm1(-epsilon)
            assert np.clip(first - math.exp(at) * second, 0, None).sum() <= covered * (1 + 1e-9) + 1e-15


def test_the_price_is_attained_and_nothing_below_it_is_true() -> None:
    half = chosen(np.array([0.5, -0.5]), 0.5)
    attained = worst_mu(half, half[::-1].copy())
    assert attained == pytest.approx(gaussian.mu(BoundedRangeCost(1.0)), rel=1e-9)
    assert attained > gaussian.mu(BoundedRangeCost(0.99))
    # Permute-and-flip on the same utilities is seen through more easily than that.
    behind = math.exp(-0.5) / 2
    flipped = np.array([1 - behind, behind])
    assert worst_mu(flipped, flipped[::-1].copy()) > 1.6 * attained


def test_divergences_are_never_below_the_largest_over_t(subtests: pytest.Subtests) -> None:
    for epsilon, order in product(EPSILONS, [1.0001, 1.5, 2.0, 7.3, 64.0, 256.0, 1e6]):
        with subtests.test(epsilon=epsilon, order=order), mp.workdps(truth.DIGITS):
            exact = truth.range_divergence(epsilon, order)
            found = renyi.divergence(BoundedRangeCost(epsilon), order)
            assert exact <= found <= exact * (1 + mpf("1e-12"))
            assert exact <= mpf(order) * mpf(epsilon) ** 2 / 8
            # The formula takes the best t: no other one is above it.
            a, e = mpf(order), mpf(epsilon)
            for part in range(1, 20):
                t = e * part / 20
                q = (1 - mpmath.exp(t - e)) / (mpmath.exp(t) - mpmath.exp(t - e))
                moment = q * mpmath.exp(a * t) + (1 - q) * mpmath.exp(a * (t - e))
                assert mpmath.log(moment) / (a - 1) <= exact * (1 + mpf("1e-60"))


def test_zcdp_pays_an_eighth_of_the_square() -> None:
    assert zcdp.rho(BoundedRangeCost(0.5)) == pytest.approx(0.25 / 8, rel=1e-12)
    assert zcdp.rho(BoundedRangeCost(0.5)) >= 0.25 / 8
    for order in (1.001, 2.0, 100.0):
        assert renyi.divergence(BoundedRangeCost(0.5), order) <= order * zcdp.rho(BoundedRangeCost(0.5))


def test_the_covering_law_is_nowhere_below_any_pair(subtests: pytest.Subtests) -> None:
    for epsilon, interval in product([0.5, 1.0, 2.3], [1e-3, 0.07, 0.3, 0.5]):
        with subtests.test(epsilon=epsilon, interval=interval):
            masses = bounded_range.probabilities(epsilon, interval)
            assert masses.sum() == pytest.approx(1.0, abs=1e-14)
            assert masses.min() >= 0
            last = len(masses) // 2
            losses = interval * np.arange(-last, last + 1)
            np.testing.assert_allclose(masses[::-1], masses * np.exp(-losses), rtol=1e-12)  # both directions are alike
            for at in np.linspace(-epsilon, epsilon, 41).tolist():
                stated = float((masses * np.clip(-np.expm1(at - losses), 0, None)).sum())
                for t in np.linspace(0, epsilon, 101).tolist():
                    high, low, factor = math.exp(t), math.exp(t - epsilon), math.exp(at)
                    rare = (1 - low) / (high - low)
                    delta = rare * max(0.0, high - factor) + (1 - rare) * max(0.0, low - factor)
                    assert delta <= stated + 1e-14
                if interval < 0.01:  # and no looser than the envelope of all pairs
                    assert stated == pytest.approx(
                        math.expm1((at - epsilon) / 2) ** 2 / -math.expm1(-epsilon), abs=1e-6
                    )


def test_privacy_loss_distributions_know_the_range() -> None:
    many = RepeatedCost(BoundedRangeCost(0.1), 100)
    pure = RepeatedCost(PureCost(0.1), 100)
    assert pld.epsilon(many, 1e-6) == pytest.approx(2.612, abs=2e-3)
    assert pld.epsilon(pure, 1e-6) == pytest.approx(4.7746, abs=2e-3)
    # One law for all t together is worse than any one of them: here divergences, which take the worst t by order, win.
    assert renyi.epsilon(many, 1e-6) == pytest.approx(2.4002, abs=2e-3)
    for delta in (0.2, 0.01, 1e-4):
        exact = 1.0 + 2 * math.log1p(-math.sqrt(delta * -math.expm1(-1.0)))
        assert pld.epsilon(BoundedRangeCost(1.0), delta) == pytest.approx(exact, abs=2e-4)
        assert pld.epsilon(BoundedRangeCost(1.0), delta) >= exact


def test_other_theorems_count_what_is_implied() -> None:
    ranged, pure = RepeatedCost(BoundedRangeCost(0.2), 30), RepeatedCost(PureCost(0.2), 30)
    for theorem in (basic, advanced, optimal):
        assert theorem.epsilon(ranged, 1e-6) == theorem.epsilon(pure, 1e-6)
    for tighter in (zcdp, renyi, gaussian, pld):
        assert tighter.epsilon(ranged, 1e-6) < 0.6 * tighter.epsilon(pure, 1e-6)
    assert compare(ranged, 1e-6).best.theorem == "Rényi, improved"
    assert adversary.advantage(BoundedRangeCost(1.0)) == pytest.approx(math.tanh(0.25), rel=1e-12)
    assert adversary.advantage(BoundedRangeCost(1.0)) >= math.tanh(0.25)


def test_ranges_of_a_group_add() -> None:
    assert enlarge(BoundedRangeCost(0.1), 3) == BoundedRangeCost(0.3)
    assert enlarge(BoundedRangeCost(0.1), 1) == BoundedRangeCost(0.1)
    first, middle, last = (chosen(np.array(values), 0.5) for values in ((0.0, 0.0), (1.0, -1.0), (2.0, -2.0)))
    ratios = np.log(first / last)
    assert np.log(first / middle).max() - np.log(first / middle).min() == pytest.approx(1.0)
    assert ratios.max() - ratios.min() == pytest.approx(2.0)


@pytest.mark.parametrize("epsilon", [1e-9, 0.3, 1.0, 5.0])
def test_the_mean_loss_is_that_of_its_law(epsilon: float) -> None:
    with mp.workdps(60):
        e = mpf(epsilon)
        assert loss(BoundedRangeCost(epsilon)).mean == pytest.approx(float(e * mpmath.coth(e / 2) - 2), rel=1e-12)
    assert loss(BoundedRangeCost(epsilon)).tail(-2 * epsilon) == 1.0
    assert loss(BoundedRangeCost(epsilon)).tail(epsilon) == 0.0
