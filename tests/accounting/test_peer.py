"""Agreement with dp-accounting on a generated grid."""

from __future__ import annotations

import dp_accounting
import numpy as np
import pytest
from dp_accounting import rdp
from dp_accounting.pld import common, privacy_loss_distribution

from chronodp.accounting import gaussian, optimal, pld, renyi
from chronodp.privacy import Cost, GaussianCost, LaplaceCost, PureCost, RandomizedResponseCost, RepeatedCost

ORDERS = [1.1, 1.5, 2.0, 3.0, 8.0, 32.0, 256.0]
DELTAS = [1e-9, 1e-6, 1e-3, 0.1]


@pytest.mark.parametrize("ratio", [0.01, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("times", [1, 7, 1000])
def test_divergences_agree(ratio: float, times: int) -> None:
    pairs: list[tuple[Cost, dp_accounting.DpEvent]] = [
        (GaussianCost(sensitivity=ratio, sigma=1.0), dp_accounting.GaussianDpEvent(1 / ratio)),
        (LaplaceCost(sensitivity=ratio, scale=1.0), dp_accounting.LaplaceDpEvent(1 / ratio)),
    ]
    for cost, event in pairs:
        accountant = rdp.RdpAccountant(ORDERS)
        accountant.compose(event, times)
        ours = [renyi.divergence(RepeatedCost(cost, times), order) for order in ORDERS]
        assert ours == pytest.approx(list(accountant._rdp), rel=1e-9)
        for delta in DELTAS:  # theirs has a few orders, ours the best one
            assert renyi.epsilon(RepeatedCost(cost, times), delta) <= accountant.get_epsilon(delta) * (1 + 1e-9)


@pytest.mark.parametrize("mu", [0.05, 0.3, 1.0, 3.0])
def test_exact_gaussian_agrees_with_their_privacy_loss_distribution(mu: float) -> None:
    theirs = privacy_loss_distribution.from_gaussian_mechanism(1 / mu, value_discretization_interval=1e-3)
    for delta in DELTAS:
        expected = theirs.get_epsilon_for_delta(delta)
        assert gaussian.epsilon(GaussianCost(mu, 1.0), delta) <= expected + 1e-8  # theirs is rounded up
        assert gaussian.epsilon(GaussianCost(mu, 1.0), delta) == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("times", [1, 2, 30])
def test_optimal_composition_agrees_with_their_privacy_loss_distribution(epsilon: float, times: int) -> None:
    parameters = common.DifferentialPrivacyParameters(epsilon, 0.0)
    theirs = privacy_loss_distribution.from_privacy_parameters(parameters, value_discretization_interval=1e-3)
    cost = RepeatedCost(PureCost(epsilon), times)
    for delta in DELTAS:
        expected = theirs.self_compose(times).get_epsilon_for_delta(delta)
        assert optimal.epsilon(cost, delta) == pytest.approx(expected, abs=2e-4 * times)
        # Their transform may lose 2^-48 of delta with each release; ln delta falls no slower than epsilon / 2 rises.
        assert optimal.epsilon(cost, delta) <= expected + 1e-9 + 2 * times * 2.0**-48 / delta


@pytest.mark.slow
def test_their_distributions_of_mixtures_stay_below_every_sound_bound() -> None:
    mixture: list[Cost] = [
        RepeatedCost(GaussianCost(1.0, 8.0), 5),
        LaplaceCost(1.0, 4.0),
        RandomizedResponseCost(0.3, 4),
        PureCost(0.1),
    ]
    for delta in DELTAS:
        tight = pld.epsilon(mixture, delta)
        assert tight <= renyi.epsilon(mixture, delta) + 1e-3
        assert tight <= gaussian.epsilon(mixture, delta) + 1e-3
        assert np.isfinite(tight)
