"""How far noise reaches: quantiles of sums of Laplace or Gaussian noise, exactly as it was added.

Independent Laplace noise has no stable sum, so its quantiles are computed: by the exact distribution for few terms,
through the characteristic function for two different weights, and by the Cornish-Fisher expansion for many terms.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Law", "mixed_quantile", "quantiles"]

Law: TypeAlias = Literal["laplace", "gaussian"]

_EXACT = 64  # from here on the expansion is right to seven digits


def quantiles(law: Law, terms: ArrayLike, level: float) -> NDArray[np.float64]:
    """Return q such that a sum of ``terms`` draws of scale 1 stays within ±q with probability ``level``.

    >>> quantiles("laplace", [1], 0.95).round(4).tolist(), quantiles("gaussian", [4], 0.95).round(4).tolist()
    ([2.9957], [3.9199])
    """
    from scipy.special import ndtri

    counts = np.asarray(terms, dtype=np.int64)
    deviate = float(ndtri((1 + level) / 2))
    if law == "gaussian":
        return deviate * np.sqrt(counts)
    spread = np.sqrt(2.0 * counts)
    many = _expanded(deviate, 3.0 / counts, 30.0 / counts.astype(np.float64) ** 2)
    few = np.array([0.0] + [_laplace_sum(count, level) for count in range(1, _EXACT)])
    return np.where(counts < _EXACT, few[np.minimum(counts, _EXACT - 1)], many * spread)


def mixed_quantile(law: Law, first: tuple[float, int], second: tuple[float, int], level: float) -> float:
    """Return q for a sum of two kinds of terms, each given as (weight, how many), of independent draws of scale 1.

    >>> round(mixed_quantile("laplace", (1.0, 1), (0.0, 5), 0.95), 4)
    2.9957
    """
    from scipy.special import ndtri

    kinds = [(abs(weight), count) for weight, count in (first, second) if weight and count]
    if not kinds:
        return 0.0
    deviate = float(ndtri((1 + level) / 2))
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


@lru_cache(maxsize=4096)
def _laplace_sum(count: int, level: float) -> float:
    """The quantile of a sum of equal Laplace terms.

    The sum is a difference of two gamma variables. While the second runs, a negative binomial number k of the first's
    ``count`` exponential parts passes; the rest must last beyond x: P(S > x) = sum of NB(k) P(Gamma(count - k) > x).
    """
    from scipy.optimize import brentq
    from scipy.special import gammaincc
    from scipy.stats import nbinom

    passed = np.arange(count)
    weights = nbinom.pmf(passed, count, 0.5)
    beyond = (1 - level) / 2
    top = 40.0 + 8 * math.sqrt(2.0 * count) - 2 * math.log(beyond)
    found = brentq(lambda x: float(weights @ gammaincc(count - passed, x)) - beyond, 0.0, top, xtol=1e-12, rtol=1e-12)
    return float(found)


@lru_cache(maxsize=4096)
def _laplace_mixture(kinds: tuple[tuple[float, int], ...], level: float) -> float:
    """The quantile of Laplace terms of different weights, by inverting the characteristic function."""
    from scipy.integrate import quad
    from scipy.optimize import brentq

    def characteristic(t: float) -> float:
        return math.exp(-math.fsum(count * math.log1p((weight * t) ** 2) for weight, count in kinds))

    def beyond(x: float) -> float:
        # P(S > x) = 1/2 - 1/pi * integral of sin(tx) phi(t) / t, and sin(tx) / t alone gives pi/2.
        smooth, _ = quad(
            lambda t: (1 - characteristic(t)) / t if t else 0.0, 0, np.inf, weight="sin", wvar=x, limlst=200
        )
        return smooth / math.pi

    wanted = (1 - level) / 2
    spread = math.sqrt(2 * math.fsum(count * weight**2 for weight, count in kinds))
    if level < 1e-3:  # so near to 0 the density is flat
        density, _ = quad(characteristic, 0, np.inf)
        return level * math.pi / (2 * density)
    tail = beyond if wanted > 1e-6 else partial(_far_tail, kinds)
    ends = (1e-4 * spread, spread * (10 - 3 * math.log(wanted)))
    return float(brentq(lambda x: tail(x) / wanted - 1, *ends, rtol=1e-12))


def _far_tail(kinds: tuple[tuple[float, int], ...], x: float) -> float:
    """P(S > x) far out, where the integral of the characteristic function is lost in rounding: a sum of positive terms.

    The terms of one weight are at y with their density, those of the other must reach the rest.
    """
    from scipy.integrate import quad
    from scipy.special import gammaincc
    from scipy.stats import gamma, nbinom

    (one, first), (other, second) = kinds

    def density(y: float) -> float:
        passed = np.arange(first)
        return float(nbinom.pmf(passed, first, 0.5) @ gamma.pdf(abs(y), first - passed))

    def reaches(rest: float) -> float:
        passed = np.arange(second)
        tail = float(nbinom.pmf(passed, second, 0.5) @ gammaincc(second - passed, abs(rest)))
        return tail if rest >= 0 else 1 - tail

    edge = x / one
    pieces = (-edge - 40.0, 0.0, edge, edge + 40.0 + 8 * math.sqrt(first))
    return math.fsum(
        quad(lambda y: density(y) * reaches((x - one * y) / other), low, high, epsabs=0.0, epsrel=1e-9, limit=400)[0]
        for low, high in pairwise(pieces)
    )
