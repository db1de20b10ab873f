"""Who knows the background: advantages in closed form, by the likelihood ratio itself, and below the bound."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from chronodp.accounting import adversary, gaussian
from chronodp.audit.attacks import MembershipTest, membership_advantages
from chronodp.correlated import autoregressive_covariance
from chronodp.errors import InvalidArgument
from chronodp.privacy import GaussianCost
from tests.conftest import Trials

LENGTH = 48
SIGMA = math.sqrt(LENGTH)  # a trace of ones then has mu = 1


def test_golden_advantages(golden: Any) -> None:
    for name, case in golden("claims/adversary_and_information.json")["advantages"].items():
        memory, deviation = float(name.split(",")[0].split()[-1]), float(name.split()[-1])
        background = autoregressive_covariance(LENGTH, memory=memory, deviation=deviation)
        found = membership_advantages(np.ones(LENGTH), background=background, sigma=SIGMA)
        assert found.one_reading == pytest.approx(case["one reading"], rel=1e-12)
        assert found.average == pytest.approx(case["average, no model"], rel=1e-12)
        assert found.likelihood_ratio == pytest.approx(case["likelihood ratio, AR(1) known"], rel=1e-12)
        assert found.background_known == pytest.approx(case["background known exactly = exact TV"], rel=1e-12)
        assert found.one_reading <= found.average <= found.likelihood_ratio * (1 + 1e-12)
        assert found.likelihood_ratio <= found.background_known
        printed = adversary.total_variation(1.0, gaussian.delta_of(1.0, 1.0))
        assert printed == pytest.approx(case["printed bound at eps=1"], rel=1e-9)
        # The total variation itself is what the best point of the curve bounds, and it is attained there.
        best = min(adversary.total_variation(e, gaussian.delta_of(1.0, e)) for e in (1e-9, 0.1, 0.5, 1.0, 2.0))
        assert best == pytest.approx(case["printed bound, best point of the curve"], rel=1e-6)
        assert found.background_known <= best * (1 + 1e-9)
        assert found.background_known <= adversary.advantage(GaussianCost(sensitivity=1.0, sigma=1.0))


@pytest.mark.slow
def test_simulated_adversaries_gain_what_is_computed(trials: Trials) -> None:
    runs = trials(20_000, least=2_000)
    chance = np.random.default_rng(3)
    trace = np.sin(np.arange(LENGTH)) + 0.5
    background = autoregressive_covariance(LENGTH, memory=0.8, deviation=2.0)
    sigma = 3.0
    wanted = membership_advantages(trace, background=background, sigma=sigma)
    others = chance.multivariate_normal(np.zeros(LENGTH), background, size=runs)
    inside = chance.integers(0, 2, runs)
    released = others + inside[:, None] * trace + chance.normal(0.0, sigma, others.shape)
    test = MembershipTest(background + sigma**2 * np.eye(LENGTH))
    knowing = MembershipTest(sigma**2 * np.eye(LENGTH))
    guesses = np.array([test.log_ratio(seen, trace) > 0 for seen in released])
    best = np.array([knowing.log_ratio(seen - rest, trace) > 0 for seen, rest in zip(released, others, strict=True)])
    for guessed, gain in ((guesses, wanted.likelihood_ratio), (best, wanted.background_known)):
        assert abs((2 * np.mean(guessed == inside) - 1) - gain) < 6.5 / math.sqrt(runs)
    # Weighing readings by the background alone, as if there were no noise, is told apart.
    blind = np.linalg.solve(background, trace)
    distance = blind @ trace / math.sqrt(blind @ (background + sigma**2 * np.eye(LENGTH)) @ blind)
    assert math.erf(distance / math.sqrt(8)) < wanted.likelihood_ratio - 0.02


def test_the_ratio_is_that_of_the_densities() -> None:
    chance = np.random.default_rng(1)
    one, two = (part @ part.T + np.eye(3) for part in chance.normal(size=(2, 3, 3)))
    trace, seen = chance.normal(size=(2, 3))
    ratio = multivariate_normal(trace, one).logpdf(seen) - multivariate_normal(np.zeros(3), two).logpdf(seen)
    assert MembershipTest(one, two).log_ratio(seen, trace) == pytest.approx(ratio)


def test_bad_arguments_are_named() -> None:
    with pytest.raises(InvalidArgument, match="inside must be a covariance"):
        MembershipTest([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(InvalidArgument, match="background must be"):
        membership_advantages([1.0, 1.0], background=np.eye(3), sigma=1.0)
    with pytest.raises(InvalidArgument, match="sigma must be"):
        membership_advantages([1.0], background=[[1.0]], sigma=0.0)
    with pytest.raises(InvalidArgument, match="outside must be left out"):
        MembershipTest(np.eye(2), 2 * np.eye(2)).advantage([1.0, 1.0])
