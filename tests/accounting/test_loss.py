from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from chronodp.accounting import advanced, adversary, gaussian, loss, optimal
from chronodp.privacy import (
    ApproximateCost,
    BoundedRangeCost,
    Cost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    RepeatedCost,
    SequenceCost,
)
from chronodp.randomness import seeded
from tests.conftest import Trials

COSTS: list[Cost] = [GaussianCost(1.0, 2.0), LaplaceCost(1.0, 2.0), BoundedRangeCost(0.7)]
COSTS += [RandomizedResponseCost(0.7), RandomizedResponseCost(0.7, 5), RepeatedCost(BoundedRangeCost(0.3), 6)]
COSTS += [RepeatedCost(LaplaceCost(1.0, 4.0), 6), RepeatedCost(PureCost(0.2), 9)]
COSTS += [SequenceCost((GaussianCost(1.0, 3.0), LaplaceCost(1.0, 3.0), RandomizedResponseCost(0.4, 3)))]


@pytest.mark.slow
def test_samples_have_the_mean_and_the_tails(trials: Trials, subtests: pytest.Subtests) -> None:
    for cost in COSTS:
        with subtests.test(cost=cost):
            variable = loss(cost)
            size = trials(1_000_000, least=200_000)
            drawn = variable.sample(size, entropy=seeded(5))
            assert abs(drawn.mean() - variable.mean) < 6.2 * drawn.std() / math.sqrt(size)
            for threshold in np.quantile(drawn, [0.05, 0.5, 0.95, 0.999]) + 1e-6:
                low, high = variable.tail_bounds(float(threshold))
                above = int((drawn > threshold).sum())
                slack = 6.2 * math.sqrt(size * high * (1 - low) + 1)
                assert size * low - slack <= above <= size * high + slack
            # The same comparison must notice losses that are a tenth smaller.
            assert abs(0.9 * drawn.mean() - variable.mean) > 6.2 * drawn.std() / math.sqrt(size)


@pytest.mark.slow
def test_one_laplace_loss_by_its_definition() -> None:
    ratio = 1.3
    variable = loss(LaplaceCost(ratio, 1.0))
    for threshold in (-2.0, -ratio - 1e-9, -ratio, -0.4, 0.0, 0.9, ratio - 1e-9, ratio, 2.0):
        noise = np.linspace(-40, 40, 2_000_001)
        density = np.exp(-np.abs(noise)) / 2
        moved = np.abs(noise - ratio) - np.abs(noise) > threshold + 1e-12
        expected = float(np.trapezoid(density * moved, noise))
        assert variable.tail(threshold) == pytest.approx(expected, abs=1e-4)
    assert variable.mean == pytest.approx(ratio + math.exp(-ratio) - 1)


@pytest.mark.slow
def test_two_laplace_losses_by_convolution() -> None:
    ratio, threshold = 0.8, 0.5
    single = loss(LaplaceCost(ratio, 1.0))

    def rest(noise: float) -> float:
        first = abs(noise - ratio) - abs(noise)
        return math.exp(-abs(noise)) / 2 * single.tail(threshold - first)

    parts = ((-40.0, 0.0), (0.0, ratio), (ratio, 40.0))
    expected = sum(integrate.quad(rest, low, high, limit=400)[0] for low, high in parts)
    low, high = loss(RepeatedCost(LaplaceCost(ratio, 1.0), 2)).tail_bounds(threshold)
    assert low <= expected <= high
    assert high - low < 1e-4


@pytest.mark.slow
def test_the_transform_brackets_exact_sums_of_coins() -> None:
    coins = RepeatedCost(RandomizedResponseCost(0.25), 40)
    variable = loss(coins)
    for threshold in (-1.0, 0.1, 1.3, 2.6):
        exact = variable.tail(threshold)
        successes = stats.binom(40, 1 / (1 + math.exp(-0.25)))
        needed = math.floor((threshold / 0.25 + 40) / 2 + 1e-9)
        assert exact == pytest.approx(successes.sf(needed), rel=1e-9)
        low, high = variable._tail_by_transform(threshold)
        assert low - 1e-12 <= exact <= high + 1e-12


def test_what_is_given_away_is_an_infinite_loss() -> None:
    variable = loss(RepeatedCost(ApproximateCost(0.1, 0.01), 3))
    assert variable.mean == math.inf
    assert variable.tail(1e9) == pytest.approx(1 - 0.99**3)


def test_delta_is_the_tail_weighted_by_what_exceeds_epsilon() -> None:
    """delta(eps) = E (1 - e^(eps - L))+, which ties the loss variable to optimal composition."""
    coins = RepeatedCost(PureCost(0.3), 12)
    ratios, probabilities = optimal.losses(coins)
    for epsilon in (0.0, 0.5, 1.7):
        expected = float(np.sum(probabilities * np.maximum(0, -np.expm1(epsilon - ratios))))
        assert optimal.delta_of(coins, epsilon) == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
def test_advantage_is_a_bound_and_exact_for_single_mechanisms(subtests: pytest.Subtests) -> None:
    for cost in [*COSTS, RepeatedCost(GaussianCost(1.0, 2.0), 9), ApproximateCost(0.5, 0.02)]:
        with subtests.test(cost=cost):
            # Total variation is E (1 - e^-L)+, read off the tail.
            variable = loss(cost)
            points = np.linspace(0, 12, 3001)
            tails = np.array([variable.tail(float(point)) for point in points])
            variation = float(np.trapezoid(tails * np.exp(-points), points))
            stated = adversary.advantage(cost)
            assert stated >= variation - 2e-3
            if variable.spending.count == 1:
                assert stated == pytest.approx(variation, abs=2e-3)


def test_beliefs() -> None:
    assert adversary.posterior(0.5, 0.0) == 0.5
    assert adversary.posterior(0.5, 1e6) == 1.0
    assert adversary.posterior(0.5, -1e6) == 0.0
    prior, factor = 0.2, 3.0
    expected = factor * prior / (factor * prior + 1 - prior)
    assert adversary.posterior(prior, math.log(factor)) == pytest.approx(expected)
    assert adversary.total_variation(1000.0) == 1.0
    assert gaussian.delta_of(1.0, 0.0) == pytest.approx(adversary.advantage(GaussianCost(1.0, 1.0)))
    assert advanced.epsilon(PureCost(900.0), 0.1) == math.inf
