"""Exact accounting of Gaussian noise: Gaussian differential privacy.

Any sequence of Gaussian releases, adaptive or not, is exactly as hard to see through as one with
mu^2 = sum of (sensitivity_i / sigma_i)^2, and a mechanism is mu-GDP if it is no easier than telling N(0, 1) from
N(mu, 1).

Row "Gaussian" and the steps *Gaussian δ* and *Bounded releases in Gaussian accounting* of
``docs/explanation/proofs/accounting.md``.

References:
    Balle, Wang (2018), Improving the Gaussian mechanism, theorem 8. Dong, Roth, Su (2022), Gaussian differential
    privacy, corollaries 1 and 2.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import erfcx, erfinv, ndtr, ndtri_exp

from chronodp.accounting.rounding import TINY, UNIT, times_up, up
from chronodp.accounting.solving import largest, smallest
from chronodp.accounting.spending import Costs, Spending, gather
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_epsilon, check_fraction, check_positive

__all__ = [
    "delta_of",
    "epsilon",
    "epsilon_of",
    "mu",
    "mu_for",
    "mu_of_bounded",
    "mu_squared_of_bounded",
    "power",
    "sigma",
]

_NODES, _WEIGHTS = (np.polynomial.legendre.leggauss(24)[0] + 1) / 2, np.polynomial.legendre.leggauss(24)[1] / 2


def delta_of(mu: float, epsilon: float) -> float:
    """Return delta at ``epsilon`` of a mu-GDP mechanism, from above: by 2e-14 of it at 0.1, by 3e-12 at 1e-300.

    delta = Φ(-epsilon / mu + mu / 2) - e^epsilon Φ(-epsilon / mu - mu / 2).

    >>> round(delta_of(mu=1.0, epsilon=1.0), 6)
    0.126937
    """
    # e^epsilon Φ(lower) = e^(-upper²/2) erfcx(-lower / √2) / 2, so both terms carry the same factor and never overflow.
    square, rest = _square(mu)
    upper = ((square - 2 * epsilon) + rest) / (2 * mu)
    # At a fixed mu delta grows with upper: moved up by what it may be off, the rest of the formula sees no error in it.
    upper += 8 * UNIT * abs(upper)
    shared = 0.5 * math.exp(-upper * upper / 2)
    if upper > 0 and mu > 1:
        delta = float(ndtr(upper)) - shared * float(erfcx((mu - upper) / math.sqrt(2)))
    else:
        delta = shared * _erfcx_fall(-upper / math.sqrt(2), mu / math.sqrt(2))
    # The square is what the exponential makes of rounding, and the slopes of erfcx of its cancellation.
    delta = up(delta, 64 + 16 * (min(abs(upper), 1e6) + 1) ** 2)  # far beyond, delta is 1 or below the floats
    return 1.0 if math.isnan(delta) else min(1.0, max(TINY, delta))


def epsilon_of(mu: float, delta: float) -> float:
    """Return the smallest epsilon >= 0 at which a mu-GDP mechanism has at most ``delta``, rounded up."""
    if not mu or delta_of(mu, 0.0) <= delta:  # nothing was released, or nothing that delta does not cover
        return 0.0
    if delta < TINY or math.isinf(mu):
        return math.inf
    found = smallest(lambda value: delta_of(mu, value) <= delta, start=_near(mu, delta), step=1e-13)
    return math.inf if found is None else found


def power(mu: float, level: float) -> float:
    """Return the most power at ``level`` of a test of a mu-GDP mechanism, Φ(Φ⁻¹(level) + mu), rounded up."""
    if not 0 < level < 1:
        return level
    quantile = float(ndtri_exp(math.log(level)))
    # The logarithm of Φ falls by no more than |x| + 1 a unit of x, and x is off by units of |x| + 1 itself.
    wide = abs(quantile) + mu + 1
    return min(1.0, up(max(TINY, float(ndtr(quantile + mu))), 64 + 32 * wide * wide))


def mu_for(epsilon: float, delta: float) -> float:
    """Return the largest mu whose guarantee is (epsilon, delta), rounded down."""
    wanted, failure = check_epsilon(epsilon), check_fraction("delta", delta)
    found = _largest_mu(wanted, failure)
    if found is None:
        raise InvalidArgument("delta", delta, f"above {TINY:.3g}, the least that floats hold with all their digits")
    return found


@lru_cache(maxsize=256)  # whoever plans a release tries many kinds of noise at one epsilon and delta
def _largest_mu(epsilon: float, delta: float) -> float | None:
    # Down: a smaller mu asks for more noise.
    return largest(lambda value: delta_of(value, epsilon) <= delta, near=_near_mu(epsilon, delta))


def sigma(epsilon: float, delta: float, *, sensitivity: float = 1.0) -> float:
    """Return the smallest sigma that makes one Gaussian release (epsilon, delta)-private, for any epsilon, rounded up.

    >>> round(sigma(1.0, 1e-5), 6)      # the textbook's sqrt(2 ln(1.25 / delta)) / epsilon would be 4.8448
    3.730632
    """
    # Wide enough for whoever adds costs up, rounds the sum up and finds epsilon to 1e-14: it stays within.
    return up(check_positive("sensitivity", sensitivity) / mu_for(epsilon, delta), 256)


def mu(costs: Costs) -> float:
    """Return mu of a whole spending, rounded up: exact for Gaussian releases, an upper bound for bounded ones.

    A release whose log-likelihood ratios span at most 2 epsilon is mu-GDP with mu = 2 Φ⁻¹(e^epsilon / (1 + e^epsilon)).
    """
    spending = gather(costs)
    return up(math.sqrt(spending.gaussian + mu_squared_of_bounded(spending)), 4)


def mu_squared_of_bounded(spending: Spending) -> float:
    """Return the sum of mu^2 over all releases but the Gaussian ones; each mu is rounded up, the sum to the nearest."""
    return math.fsum(times_up(times, mu_of_bounded(half) ** 2) for half, times in spending.half_ranges)


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
    """Return mu of a mechanism whose log-likelihood ratio stays within ``epsilon``, rounded up.

    The same mu holds if ratios lie in any interval of length 2 ``epsilon``: so a bounded range has that of its half.
    """
    if epsilon < 1:
        return up(2 * math.sqrt(2) * float(erfinv(math.tanh(epsilon / 2))), 32)
    found = -2 * float(ndtri_exp(-math.log1p(math.exp(-epsilon)) - epsilon))
    # Φ(-x) <= e^(-x²/2) / 2 gives mu <= 2 √(2 epsilon), whatever the inverse above makes of extremes.
    ceiling = 2 * math.sqrt(2 * epsilon)
    return up(ceiling if math.isnan(found) else min(found, ceiling), 32)


def _near(mu: float, delta: float) -> float:
    """Return about the epsilon at ``delta``, by Newton's method from above: where to look, and no promise."""
    value = mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta))
    for _ in range(40):
        found, upper = delta_of(mu, value), mu / 2 - value / mu
        fall = 0.5 * math.exp(-upper * upper / 2) * float(erfcx((mu - upper) / math.sqrt(2)))
        step = (math.log(found) - math.log(delta)) * found / fall if fall > 0 else math.nan
        if not 0 < value + step < math.inf:
            break
        value += step
        if abs(step) <= 1e-12 * value:
            break
    return value if 1e-290 < value < 1e290 else 1.0


def _near_mu(epsilon: float, delta: float) -> float:
    """Return about the mu of (epsilon, delta), by Newton's method on logarithms; not a number where that fails."""
    # Of e^(-(epsilon / mu - mu / 2)^2 / 2) = delta: above the answer, or not far below.
    reach = math.sqrt(-2 * math.log(delta))
    value = max(2 * epsilon / (reach + math.sqrt(reach * reach + 2 * epsilon)), delta)
    for _ in range(40):
        if not 1e-150 < value < 1e150:
            break
        found, upper = delta_of(value, epsilon), value / 2 - epsilon / value
        # The derivative of delta in mu is the normal density at ``upper``.
        rise = value * math.exp(-upper * upper / 2) / math.sqrt(2 * math.pi)
        step = (math.log(delta) - math.log(found)) * found / rise if found > 0 and rise > 0 else math.nan
        if not abs(step) < 100:
            break
        value *= math.exp(step)
        if abs(step) <= 1e-11:
            return value
    return math.nan


def _square(value: float) -> tuple[float, float]:
    """Return two floats whose sum is the square, exactly (Dekker 1971)."""
    big = 134217729.0 * value  # 2^27 + 1
    high = big - (big - value)
    low = value - high
    square = value * value
    return square, ((high * high - square) + 2 * high * low) + low * low


def _erfcx_fall(start: float, step: float) -> float:
    """Return erfcx(start) - erfcx(start + step) without cancellation, start >= -1/2."""
    if step > 0.75:
        return float(erfcx(start)) - float(erfcx(start + step))
    points = step * _NODES
    points += start
    slopes = erfcx(points)  # in place from here on: whoever plans comes by thirty times
    slopes *= points
    slopes *= -2
    slopes += 2 / math.sqrt(math.pi)
    return step * float(_WEIGHTS.dot(slopes))
