"""How far noise reaches: quantiles of sums of Laplace or Gaussian noise, exactly as it was added.

Independent Laplace noise has no stable sum, so its quantiles are computed: by the exact distribution for few terms,
through the moment generating function for two different weights, by the Cornish-Fisher expansion for many terms.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Law", "deviations", "mixed_quantile", "quantiles"]

Law: TypeAlias = Literal["laplace", "gaussian"]

_ANGLE = 1.1  # of the hyperbola against the real axis, in radians: beyond a quarter turn M itself falls off too
_EXACT = 256  # from here on the expansion is right to seven digits at usual levels


def quantiles(law: Law, terms: ArrayLike, level: float) -> NDArray[np.float64]:
    """Return q such that a sum of ``terms`` draws of scale 1 stays within ±q with probability ``level``.

    Of Gaussian draws the sum may be weighted: terms is then the sum of squared weights.

    >>> quantiles("laplace", [1], 0.95).round(4).tolist(), quantiles("gaussian", [4], 0.95).round(4).tolist()
    ([2.9957], [3.9199])
    """
    from scipy.special import ndtri

    amounts = np.atleast_1d(np.asarray(terms, dtype=np.float64))
    deviate = -float(ndtri(_one_tail(level)))
    if law == "gaussian":
        return deviate * np.sqrt(amounts)
    counts = np.rint(amounts)
    many = _expanded(deviate, 3.0 / np.maximum(counts, 1), 30.0 / np.maximum(counts, 1) ** 2) * np.sqrt(2.0 * counts)
    for count in np.unique(counts[(counts > 0) & (counts < _EXACT)]):
        many[counts == count] = _laplace_sum(int(count), level)
    return many


def deviations(law: Law, level: float) -> float:
    """Return how many of its deviations any weighted sum of draws stays within, with probability at least ``level``.

    A sum of Laplace draws lies between one draw, which reaches farther at high levels, and the normal law, which does
    at low ones; where the two cross, near 0.907, some sums reach up to 0.05 % beyond both.

    >>> [round(deviations("laplace", level), 3) for level in (0.5, 0.95)]
    [0.675, 2.12]
    """
    normal = float(quantiles("gaussian", [1], level)[0])
    if law == "gaussian":
        return normal
    return 1.001 * max(normal, float(quantiles("laplace", [1], level)[0]) / math.sqrt(2))


def mixed_quantile(law: Law, first: tuple[float, int], second: tuple[float, int], level: float) -> float:
    """Return q for a sum of two kinds of terms, each given as (weight, how many), of independent draws of scale 1.

    >>> round(mixed_quantile("laplace", (1.0, 1), (0.0, 5), 0.95), 4)
    2.9957
    """
    from scipy.special import ndtri

    kinds = [(abs(weight), count) for weight, count in (first, second) if weight and count]
    if not kinds:
        return 0.0
    deviate = -float(ndtri(_one_tail(level)))
    power = [math.fsum(count * weight**order for weight, count in kinds) for order in (2, 4, 6)]
    if law == "gaussian":
        return deviate * math.sqrt(power[0])
    largest = max(weight for weight, _ in kinds)
    if power[0] / largest**2 >= _EXACT:
        spread = 2 * power[0]
        fourth, sixth = 12 * power[1] / spread**2, 240 * power[2] / spread**3
        return float(_expanded(deviate, np.array(fourth), np.array(sixth))) * math.sqrt(spread)
    if len({weight for weight, _ in kinds}) == 1:
        return kinds[0][0] * _laplace_sum(sum(count for _, count in kinds), level)
    scaled = tuple(sorted((round(weight / largest, 12), count) for weight, count in kinds))
    return largest * _laplace_mixture(scaled, level)


def _expanded(deviate: float, fourth: NDArray[np.float64], sixth: NDArray[np.float64]) -> NDArray[np.float64]:
    """The Cornish-Fisher expansion of a symmetric law with the given standardised cumulants."""
    z = deviate
    return (
        z
        + fourth * (z**3 - 3 * z) / 24
        + sixth * (z**5 - 10 * z**3 + 15 * z) / 720
        - fourth**2 * (3 * z**5 - 24 * z**3 + 29 * z) / 384
    )


def _one_tail(level: float) -> float:
    """What may lie beyond the upper end. Levels near zero get a wider band, whose ends rounding does not hide."""
    return (1 - max(level, 1e-9)) / 2


@lru_cache(maxsize=4096)
def _laplace_sum(count: int, level: float) -> float:
    """The quantile of a sum of equal Laplace terms.

    The sum is a difference of two gamma variables. While the second runs, a negative binomial number k of the first's
    ``count`` exponential parts passes; the rest must last beyond x: P(S > x) = sum of NB(k) P(Gamma(count - k) > x).
    """
    from scipy.optimize import brentq
    from scipy.special import gammaincc

    passed = np.arange(count)
    # The quotient of whole numbers is rounded once; importing scipy.stats for them would take most of a second.
    weights = np.array([math.comb(count + k - 1, k) / 2 ** (count + k) for k in range(count)])
    beyond = _one_tail(level)
    top = 40.0 + 8 * math.sqrt(2.0 * count) - 2 * math.log(beyond)
    found = brentq(lambda x: float(weights @ gammaincc(count - passed, x)) - beyond, 0.0, top, xtol=1e-12, rtol=1e-12)
    return float(found)


@lru_cache(maxsize=4096)
def _laplace_mixture(kinds: tuple[tuple[float, int], ...], level: float) -> float:
    """The quantile of Laplace terms of different weights."""
    from scipy.optimize import brentq

    wanted = _one_tail(level)
    spread = math.sqrt(2 * math.fsum(count * weight**2 for weight, count in kinds))
    ends = (1e-9 * (1 - 2 * wanted) * spread, spread * (10 - 3 * math.log(wanted)))
    return float(brentq(lambda x: _beyond(kinds, x) / wanted - 1, *ends, rtol=1e-12))


def _beyond(kinds: tuple[tuple[float, int], ...], x: float) -> float:
    """P(S > x) for x > 0: the moment generating function inverted along a hyperbola, right to twelve digits and more.

    With M(s) = product of (1 - weight² s²)^(-count) it is the integral of M(s) e^(-s x) / (2π i s) along any path from
    below to above that meets the real axis between 0 and the first pole, 1/largest weight. The path crosses at the
    saddle point, where nothing cancels, and bends to the right, so that what it passes falls off exponentially in
    e^(-s x) and by powers in M: a hundred points do, where a straight line takes a hundred thousand.
    """
    largest = max(weight for weight, _ in kinds)
    saddle, curvature = _saddle(kinds, largest, x)
    lean = math.cos(_ANGLE)
    # The widest hyperbola of this angle between the poles at 0 and at 1/largest.
    size = min(saddle / lean, (1 / largest - saddle) / (1 - lean))
    # The trapezoidal rule fails by e^(-2π (π/2 - angle) / step), and where M is nearly normal by e^(-2π²/0.4²).
    step = min(0.07, 0.4 / (size * math.sin(_ANGLE) * math.sqrt(curvature)))
    # Beyond either distance less than e^-40 of what the saddle point gives is left.
    most = max(count for weight, count in kinds if weight == largest)
    reach = min(math.acosh(1 + 45 / (x * size * lean)), math.log(2 / (size * largest)) + 40 / (2 * most))
    turned = step * (np.arange(math.ceil(reach / step)) + 0.5) + 1j * _ANGLE
    s = saddle + size * (np.cosh(turned) - lean)
    logarithm = -s * x
    for weight, count in kinds:
        logarithm -= count * np.log(1 - (weight * s) ** 2)
    return step * size / math.pi * float(np.sum((np.exp(logarithm) * np.sinh(turned) / s).imag))


def _saddle(kinds: tuple[tuple[float, int], ...], largest: float, x: float) -> tuple[float, float]:
    """Where log(M(s) e^(-s x) / s) is least between its poles, closely enough, and its second derivative there."""
    low, high = 0.0, 1 / largest
    for _ in range(30):
        s = (low + high) / 2
        slope = math.fsum(2 * count * weight**2 * s / (1 - (weight * s) ** 2) for weight, count in kinds)
        low, high = (low, s) if slope > x + 1 / s else (s, high)
    s = (low + high) / 2
    second = (2 * count * weight**2 * (1 + (weight * s) ** 2) / (1 - (weight * s) ** 2) ** 2 for weight, count in kinds)
    return s, math.fsum(second) + 1 / s**2
