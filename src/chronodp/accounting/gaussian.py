"""Exact accounting of Gaussian noise: Gaussian differential privacy.

Any sequence of Gaussian releases, adaptive or not, is exactly as hard to see through as one with
mu^2 = sum of (sensitivity_i / sigma_i)^2, and a mechanism is mu-GDP if it is no easier than telling N(0, 1) from
N(mu, 1).

References:
    Balle, Wang (2018), Improving the Gaussian mechanism, theorem 8. Dong, Roth, Su (2022), Gaussian differential
    privacy, corollaries 1 and 2.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfcx, erfinv, ndtr, ndtri_exp

from chronodp.accounting.solving import smallest
from chronodp.accounting.spending import Costs, gather
from chronodp.privacy.parameters import check_epsilon, check_fraction, check_positive

__all__ = ["delta_of", "epsilon", "epsilon_of", "mu", "mu_for", "mu_of_bounded", "rho_for", "sigma"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def delta_of(mu: float, epsilon: float) -> float:
    """Return the exact delta at ``epsilon`` of a mu-GDP mechanism.

    delta = Φ(-epsilon / mu + mu / 2) - e^epsilon Φ(-epsilon / mu - mu / 2).

    >>> round(delta_of(mu=1.0, epsilon=1.0), 6)
    0.126937
    """
    # e^epsilon Φ(lower) = e^(-upper²/2) erfcx(-lower / √2) / 2, so both terms carry the same factor and never overflow.
    upper = mu / 2 - epsilon / mu
    shared = 0.5 * math.exp(-upper * upper / 2)
    if upper > 0:
        delta = float(ndtr(upper)) - shared * float(erfcx((mu / 2 + epsilon / mu) / math.sqrt(2)))
    else:
        delta = shared * _erfcx_fall(-upper / math.sqrt(2), mu / math.sqrt(2))
    return min(1.0, max(0.0, delta))


def epsilon_of(mu: float, delta: float) -> float:
    """Return the smallest epsilon >= 0 at which a mu-GDP mechanism has at most ``delta``."""
    if delta_of(mu, 0.0) <= delta:
        return 0.0
    found = smallest(lambda value: delta_of(mu, value) <= delta)
    return math.inf if found is None else found


def mu_for(epsilon: float, delta: float) -> float:
    """Return the largest mu whose guarantee is (epsilon, delta)."""
    wanted, failure = check_epsilon(epsilon), check_fraction("delta", delta)
    found = smallest(lambda value: delta_of(value, wanted) > failure)
    if found is None:
        raise AssertionError("delta tends to 1 as mu grows")
    return found * (1 - 4e-14)  # the last point known to hold


def sigma(epsilon: float, delta: float, *, sensitivity: float = 1.0) -> float:
    """Return the smallest sigma that makes one Gaussian release (epsilon, delta)-private, for any epsilon.

    >>> round(sigma(1.0, 1e-5), 6)      # the textbook's sqrt(2 ln(1.25 / delta)) / epsilon would be 4.8448
    3.730632
    """
    return check_positive("sensitivity", sensitivity) / mu_for(epsilon, delta)


def rho_for(epsilon: float, delta: float) -> float:
    """Return mu²/2, the zero-concentrated parameter of the largest Gaussian spending inside (epsilon, delta)."""
    return mu_for(epsilon, delta) ** 2 / 2


def mu(costs: Costs) -> float:
    """Return mu of a whole spending: exact for Gaussian releases, an upper bound for bounded ones.

    A release whose log-likelihood ratio stays within epsilon is mu-GDP with mu = 2 Φ⁻¹(e^epsilon / (1 + e^epsilon)).
    """
    spending = gather(costs)
    squares = [times * mu_of_bounded(epsilon) ** 2 for epsilon, times in spending.largest_losses]
    return math.sqrt(spending.gaussian + math.fsum(squares))


def epsilon(costs: Costs, delta: float) -> float:
    """Return epsilon at ``delta``: exact if all releases are Gaussian; infinite if delta is already given away.

    >>> from chronodp.privacy import GaussianCost, RepeatedCost
    >>> round(epsilon(RepeatedCost(GaussianCost(sensitivity=1.0, sigma=50.0), 1440), delta=1e-5), 3)
    3.19
    """
    check_fraction("delta", delta)
    spending = gather(costs)
    left = spending.left_of(delta)
    if left <= 0:
        return math.inf
    return epsilon_of(mu(spending), left)


def mu_of_bounded(epsilon: float) -> float:
    """Return mu of a mechanism whose log-likelihood ratio stays within ``epsilon``."""
    if epsilon < 1:
        return 2 * math.sqrt(2) * float(erfinv(math.tanh(epsilon / 2)))
    return -2 * float(ndtri_exp(-math.log1p(math.exp(-epsilon)) - epsilon))


def _erfcx_fall(start: float, step: float) -> float:
    """Return erfcx(start) - erfcx(start + step) without cancellation, start >= 0."""
    if step > 0.5:
        return float(erfcx(start)) - float(erfcx(start + step))
    points = start + step * (_NODES + 1) / 2
    slopes = 2 / math.sqrt(math.pi) - 2 * points * erfcx(points)
    return float(step / 2 * (_WEIGHTS @ slopes))
