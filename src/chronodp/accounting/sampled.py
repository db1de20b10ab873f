"""Gaussian noise on a sample in which each person is with the same small chance: what being left out is worth.

With and without one person, a release looks at worst like a draw from (1 - q) N(0, 1) + q N(mu, 1) and one from
N(0, 1), or the other way round, where q is the rate and mu = sensitivity / sigma.

*All steps* of ``docs/explanation/proofs/private-training.md`` has the divergence; margins, and *In place of it*, stand
in ``docs/explanation/proofs/accounting.md``.

References:
    Mironov, Talwar, Zhang (2019), Rényi differential privacy of the sampled Gaussian mechanism, section 3. Zhu, Dong,
    Wang (2022), Optimal accounting of differential privacy via characteristic function, for the pair that dominates.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting.gaussian import delta_of as gaussian_delta
from chronodp.accounting.rounding import TINY, UNIT, down, up
from chronodp.accounting.sampled_moment import log_moment_excess
from chronodp.privacy import SampledGaussianCost

__all__ = ["delta_of", "divergence"]

_LARGEST_ORDER = 512  # beyond it the terms of the sum would be too many
_LARGEST_MU = 64.0  # beyond it the integral would take too many points


def delta_of(cost: SampledGaussianCost, epsilon: float) -> float:
    """Return delta at ``epsilon`` >= 0 of one release, from above: the worse of a person added and a person removed.

    delta = q delta_mu(ln(1 + (e^epsilon - 1) / q)) when a person is added, where delta_mu is that of Gaussian noise.

    >>> round(delta_of(SampledGaussianCost(sensitivity=1.0, sigma=1.0, rate=0.1), 0.5), 6)
    0.002033
    """
    rate, mu = cost.rate, up(cost.sensitivity / cost.sigma, 1)
    if epsilon > 700:  # e^epsilon ends; ln(1 + (e^epsilon - 1) / q) is above epsilon, and delta falls in it
        return max(TINY, up(rate * gaussian_delta(mu, epsilon), 2))
    added = rate * gaussian_delta(mu, down(math.log1p(math.expm1(epsilon) / rate), 8))
    # N(0) - e^epsilon [(1 - q) N(0) + q N(mu)] = kept [N(0) - (e^epsilon q / kept) N(mu)], which grows with kept.
    more = (1 - rate) * math.expm1(epsilon)
    kept = rate - more + 8 * UNIT * (rate + more)
    if kept <= 0:
        return max(TINY, up(added, 2))
    odds = math.log(math.exp(epsilon) * rate / kept)
    removed = kept * gaussian_delta(mu, odds - 8 * UNIT * (1 + abs(odds)))
    return max(TINY, up(max(added, removed), 4))


def divergence(cost: SampledGaussianCost, order: float) -> float:
    """Return the Rényi divergence of one release at an order above 1, from above.

    ln(1 + sum over k from 2 to a of C(a, k) (1 - q)^(a - k) q^k (e^(k (k - 1) mu^2 / 2) - 1)) / (a - 1) at a whole
    order a: all terms are positive, so nothing cancels. Other orders are integrated. Beyond order 512, and where noise
    is so small that it drowns in nothing, the bound a ln(1 - q + q e^((a - 1) mu^2 / 2)) / (a - 1) (Minkowski's
    inequality) takes their place. Never above that of noise on everybody.
    """
    rate, mu = cost.rate, up(cost.sensitivity / cost.sigma, 1)
    if order > _LARGEST_ORDER:
        found = _ceiling(order, rate, mu)
    elif order == int(order):
        found = _log1p_exp(_summed(int(order), rate, mu))
    elif mu > _LARGEST_MU or (order - 1) * mu * mu / 2 > 45 + math.log(order / rate):
        found = _ceiling(order, rate, mu)  # within 1e-19 of the truth beyond the second condition
    else:
        found = _log1p_exp(log_moment_excess(order, rate, mu))
    everybody = order * mu * mu / 2
    bound = found / (order - 1)
    return up(min(everybody, bound) if math.isfinite(bound) else everybody, 8)


def _ceiling(order: float, rate: float, mu: float) -> float:
    """Return a ln(1 - q + q e^((a - 1) mu²/2)), no less than the logarithm of the moment: norms of sums add."""
    exponent = (order - 1) * mu * mu / 2
    if exponent < 1:
        return up(order * math.log1p(rate * math.expm1(exponent)), 32)
    small, large = math.log1p(-rate), math.log(rate) + exponent
    found = order * float(np.logaddexp(small, large))
    return found + 16 * UNIT * order * (exponent - math.log(rate) - small)


def _summed(order: int, rate: float, mu: float) -> float:
    k = np.arange(2, order + 1, dtype=np.float64)
    exponents = _log_expm1(k * (k - 1) * (mu * mu / 2))
    chosen, left_out = k * math.log(rate), (order - k) * math.log1p(-rate)
    ways = _log_ways(order)
    # Each logarithm is off by units of itself; their sum, by units of all of them.
    logs = ways + chosen + left_out + exponents
    logs += 16 * UNIT * (1 + ways - chosen - left_out + np.abs(exponents))
    most = float(logs.max())
    return most + up(math.log(float(np.sum(np.exp(logs - most)))), 0) + 64 * UNIT


@lru_cache(maxsize=64)
def _log_ways(order: int) -> NDArray[np.float64]:
    ways = np.array([math.log(math.comb(order, number)) for number in range(2, order + 1)])
    ways.setflags(write=False)
    return ways


def _log1p_exp(log: float) -> float:
    """Return ln(1 + e^log) from above."""
    return up(float(np.logaddexp(0.0, log)), 8) + 4 * UNIT * max(0.0, log)


def _log_expm1(x: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return np.where(x > 30, x + np.log1p(-np.exp(-x)), np.log(np.expm1(np.minimum(x, 30))))
