"""Releases of bounded range: what they show at worst.

The log-likelihood ratio of such a release lies in [t - epsilon, t], for a t that is not known and differs between
neighbours. At each t the worst release has two outputs, at the ends. One law covers all t together: the loss L with
density e^(x/2) / (4 sinh(epsilon / 2)) on [-epsilon, epsilon], whose delta at every x is the largest over t.

*Bounded range* and *Bounded range in Rényi accounting* of ``docs/explanation/proofs/accounting.md``.

References:
    Durfee, Rogers (2019), Practical differentially private top-k selection with pay-what-you-get composition. Dong,
    Durfee, Rogers (2020), Optimal differential privacy composition for exponential mechanisms. Zhu, Dong, Wang (2022),
    Optimal accounting of differential privacy via characteristic function, on dominating pairs.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting.rounding import UNIT

__all__ = ["divergence", "mean", "probabilities", "quantile", "tail"]

Floats = NDArray[np.float64]

_POINTS, _WEIGHTS = (np.polynomial.legendre.leggauss(16)[0] + 1) / 2, np.polynomial.legendre.leggauss(16)[1] / 2
# Of s'(y) = y Σ c_k y^2k for y <= 1, by Bernoulli's numbers. The terms alternate and fall by 4 π² each.
_SERIES = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
    43867 / 5109094217170944000,
    -174611 / 802857662698291200000,
)


def divergence(order: float, epsilon: Floats) -> Floats:
    """Return the largest Rényi divergence over t, rounded up; at most order epsilon² / 8, and at most epsilon.

    With s(y) = ln(sinh(y/2) / (y/2)) it is s(a ε) - s((a-1) ε) + (s(a ε) - s(ε)) / (a - 1), where a is ``order``.
    """
    excess = order - 1
    with np.errstate(over="ignore", invalid="ignore"):
        exact = _rise(excess * epsilon, epsilon) + _rise(epsilon, excess * epsilon) / excess
        # Where floats overflow or lose a small excess, the two plain bounds are left.
        return np.fmin(np.minimum(epsilon, order * epsilon**2 / 8), exact * (1 + 512 * UNIT)) * (1 + 16 * UNIT)


def mean(epsilon: float) -> float:
    """Return the expected loss of the law that covers all t, ε coth(ε / 2) - 2."""
    return 2 * epsilon * float(_slope(np.array([epsilon]))[0])


def tail(epsilon: float, thresholds: Floats) -> Floats:
    """Return P(loss > threshold) of the law that covers all t."""
    inside = np.expm1((np.clip(thresholds, -epsilon, epsilon) - epsilon) / 2) / math.expm1(-epsilon)
    return np.where(thresholds < -epsilon, 1.0, inside)


def quantile(epsilon: float, uniform: Floats) -> Floats:
    """Return the loss that the law that covers all t stays below with the given probabilities."""
    return epsilon + 2 * np.log1p((1 - uniform) * math.expm1(-epsilon))


def probabilities(epsilon: float, interval: float) -> Floats:
    """Return probabilities of losses -n to n times ``interval`` whose delta is nowhere below that of any t.

    n = ⌈epsilon / interval⌉. Between two points delta is replaced by its chord in e^x, which lies above it.
    """
    last = math.ceil(epsilon / interval)
    places = np.arange(last + 1, dtype=np.float64)
    # P(x) = e^(x/2) tanh(g/4) / sinh(ε/2) where both chords end within [-ε, ε]; g is the interval.
    upper = 2 * np.exp((places * interval - epsilon) / 2) * math.tanh(interval / 4) / -math.expm1(-epsilon)
    short = -math.expm1(((last - 1) * interval - epsilon) / 2)  # 1 - e^((x - ε)/2) at the last point but one
    upper[last] = short**2 / (math.expm1(-interval) * math.expm1(-epsilon))
    if last == 1:
        upper[0] = max(0.0, 1 - upper[1] * (1 + math.exp(-interval)))
    else:
        bent = (1 - short) * (math.tanh(interval / 4) + short) - short**2 / math.expm1(interval)
        upper[last - 1] = bent / -math.expm1(-epsilon)
    # Both directions are alike, so P(-x) = Q(x) = e^-x P(x).
    lower = upper * np.exp(-places * interval)
    return np.concatenate((lower[:0:-1], upper))


def _rise(start: Floats, length: Floats) -> Floats:
    """Return s(start + length) - s(start), both > 0, off by at most 256 units."""
    # Over short ways the integral of s', whose nearest singularity is at 2πi: 16 points leave an error below 1e-30.
    short = np.minimum(length, 1.0)
    near = short * (_slope(start + np.multiply.outer(_POINTS, short)).T @ _WEIGHTS)
    # Over long ones s(y) = y/2 + ln((1 - e^-y) / y): the rise is at least s(1) = 0.041 and a thirtieth of the terms.
    far = length / 2 + _log_share(start + length) - _log_share(start)
    return np.where(length <= 1, near, far)


def _log_share(y: Floats) -> Floats:
    """Return ln((1 - e^-y) / y)."""
    return np.asarray(np.log(-np.expm1(-y) / np.maximum(y, 1e-300)), dtype=np.float64)


def _slope(y: Floats) -> Floats:
    """Return s'(y) = coth(y/2) / 2 - 1/y for y >= 0: by its series to 1, where the difference would cancel."""
    small = np.minimum(y, 1.0)
    large = np.maximum(y, 1.0)
    series = small * np.polynomial.polynomial.polyval(small * small, np.array(_SERIES))
    return np.where(y <= 1, series, 0.5 / np.tanh(large / 2) - 1 / large)
