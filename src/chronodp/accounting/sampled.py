"""Gaussian noise on a sample in which each person is with the same small chance: what being left out is worth.

With and without one person, a release looks at worst like a draw from (1 - q) N(0, 1) + q N(mu, 1) and one from
N(0, 1), or the other way round, where q is the rate and mu = sensitivity / sigma.

References:
    Mironov, Talwar, Zhang (2019), Rényi differential privacy of the sampled Gaussian mechanism, section 3. Zhu, Dong,
    Wang (2022), Optimal accounting of differential privacy via characteristic function, for the pair that dominates.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp

from chronodp.accounting.gaussian import delta_of as gaussian_delta
from chronodp.privacy.costs import SampledGaussianCost

__all__ = ["delta_of", "divergence"]

_LARGEST_ORDER = 512  # beyond it sampling is not counted: the terms of the sum would be too many
_ENDS = 14.0  # standard deviations beyond which an integrand's mass, below 1e-43, is left out


def delta_of(cost: SampledGaussianCost, epsilon: float) -> float:
    """Return the exact delta at ``epsilon`` >= 0 of one release, the worse of a person added and a person removed.

    delta = q delta_mu(ln(1 + (e^epsilon - 1) / q)) when a person is added, where delta_mu is that of Gaussian noise.

    >>> round(delta_of(SampledGaussianCost(sensitivity=1.0, sigma=1.0, rate=0.1), 0.5), 6)
    0.002033
    """
    rate, mu = cost.rate, cost.sensitivity / cost.sigma
    added = rate * gaussian_delta(mu, math.log1p(math.expm1(epsilon) / rate))
    kept = 1 - math.exp(epsilon) * (1 - rate)
    if kept <= 0:
        return added
    # N(0) - e^epsilon [(1 - q) N(0) + q N(mu)] = kept [N(0) - (e^epsilon q / kept) N(mu)]
    removed = kept * gaussian_delta(mu, math.log(math.exp(epsilon) * rate / kept))
    return max(added, removed)


def divergence(cost: SampledGaussianCost, order: float) -> float:
    """Return the Rényi divergence of one release at an order above 1.

    ln(1 + sum over k from 2 to a of C(a, k) (1 - q)^(a - k) q^k (e^(k (k - 1) mu^2 / 2) - 1)) / (a - 1) at a whole
    order a: all terms are positive, so nothing cancels. Other orders are integrated. Never above that of noise on
    everybody.
    """
    rate, mu = cost.rate, cost.sensitivity / cost.sigma
    unsampled = order * mu * mu / 2
    if rate >= 1 or order > _LARGEST_ORDER:
        return unsampled
    log_excess = _summed(int(order), rate, mu) if order == int(order) else _integrated(order, rate, mu)
    return min(unsampled, float(np.logaddexp(0.0, log_excess)) / (order - 1))


def _summed(order: int, rate: float, mu: float) -> float:
    k = np.arange(2, order + 1, dtype=np.float64)
    ways = np.array([math.log(math.comb(order, number)) for number in range(2, order + 1)])
    exponents = k * (k - 1) * (mu * mu / 2)
    return float(logsumexp(ways + (order - k) * math.log1p(-rate) + k * math.log(rate) + _log_expm1(exponents)))


def _integrated(order: float, rate: float, mu: float) -> float:
    """E[(1 + u)^a - 1 - a u] with u = q (e^(mu z - mu²/2) - 1), E u = 0, by the trapezoidal rule.

    The integrand is analytic up to the zeros of 1 + u, pi / mu away from the real line, so at this step the rule is
    exact to rounding.
    """
    step = min(0.05, 0.4 / mu)
    z = np.arange(-_ENDS, _ENDS + order * mu + step, step)
    exponents = mu * z - mu * mu / 2
    logs = np.logaddexp(math.log1p(-rate), math.log(rate) + exponents)
    small = np.abs(order * logs) < 1e-3
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        u = rate * np.expm1(exponents)
        # Where (1 + u)^a is about 1 its expansion keeps the digits; elsewhere the difference does.
        near = order * (order - 1) / 2 * u**2 * (1 + (order - 2) / 3 * u * (1 + (order - 3) / 4 * u))
        far = order * logs + np.log1p(-(1 + order * u) * np.exp(-order * logs))
        heights = np.where(small, np.log(near), far)
    heights[np.isnan(heights)] = -np.inf
    return float(logsumexp(heights - z * z / 2) + math.log(step / math.sqrt(2 * math.pi)))


def _log_expm1(
    x: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    with np.errstate(over="ignore"):
        return np.where(x > 30, x + np.log1p(-np.exp(-x)), np.log(np.expm1(np.minimum(x, 30))))
