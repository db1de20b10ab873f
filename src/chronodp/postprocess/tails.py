"""How far noise reaches: quantiles of sums of Laplace or Gaussian noise, exactly as it was added.

Independent Laplace noise has no stable sum, so its quantiles are computed: by the exact distribution for few terms,
through the moment generating function for different weights, by the Cornish-Fisher expansion for many terms.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from chronodp.postprocess.columns import Floats

__all__ = ["Law", "deviations", "mixed_quantile", "mixed_quantiles", "quantiles"]

Law: TypeAlias = Literal["laplace", "gaussian"]

_ANGLE = 1.1  # of the hyperbola against the real axis, in radians: beyond a quarter turn M itself falls off too
_ROWS = 128  # sums whose quantiles are found together: what they need stays in the cache
_EXACT = 256  # from here on the expansion is right to seven digits at usual levels


def quantiles(law: Law, terms: ArrayLike, level: float) -> Floats:
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
    (one, few), (other, more) = sorted((first, second), key=lambda kind: (abs(kind[0]), kind[1]))
    largest = abs(other)
    if not largest:
        return 0.0
    # In units of the larger weight, rounded: the same mix in other units is the same question.
    return largest * _remembered(law, round(abs(one) / largest, 12), few, more, level)


@lru_cache(maxsize=4096)
def _remembered(law: Law, weight: float, few: int, more: int, level: float) -> float:
    return float(mixed_quantiles(law, [[weight, 1.0]], [few, more], level)[0])


def mixed_quantiles(law: Law, weights: ArrayLike, counts: ArrayLike, level: float) -> Floats:
    """Return one q a row of weights: of a sum of ``counts[j]`` draws of scale 1 with weight ``weights[row, j]`` each.

    >>> mixed_quantiles("laplace", [[1.0, 0.0, 0.0], [1.0, 0.5, 0.25]], [1, 5, 2], 0.95).round(4).tolist()
    [2.9957, 4.3595]
    """
    from scipy.special import ndtri

    sizes, numbers = np.abs(np.asarray(weights, np.float64)), np.asarray(counts, np.float64)
    sizes = sizes * (numbers > 0)
    deviate = -float(ndtri(_one_tail(level)))
    largest = sizes.max(axis=1, initial=0.0)
    some = largest > 0
    scaled = sizes / np.where(some, largest, 1.0)[:, None]
    power = [np.sum(numbers * scaled**order, axis=1) for order in (2, 4, 6)]
    if law == "gaussian":
        normal: Floats = largest * deviate * np.sqrt(power[0])
        return normal
    found: Floats = np.zeros(len(sizes))
    many = some & (power[0] >= _EXACT)
    spread = 2 * power[0][many]
    fourth, sixth = 12 * power[1][many] / spread**2, 240 * power[2][many] / spread**3
    found[many] = _expanded(deviate, fourth, sixth) * np.sqrt(spread)
    alike = some & ~many & np.all((scaled == 0) | (scaled == 1), axis=1)
    terms = np.sum(numbers * scaled, axis=1)
    for count in np.unique(terms[alike]):
        found[alike & (terms == count)] = _laplace_sum(int(count), level)
    mixed = some & ~many & ~alike
    found[mixed] = _laplace_mixtures(scaled[mixed], numbers, _one_tail(level))
    found *= largest
    return found


def _expanded(deviate: float, fourth: Floats, sixth: Floats) -> Floats:
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


def _laplace_mixtures(weights: Floats, counts: Floats, wanted: float) -> Floats:
    """The quantiles of Laplace terms of different weights, of which the largest of a row is 1.

    The density is log-concave, so log P(S > x) is concave and falls: from the right Newton's steps come closer and
    never pass the root. Chernoff's bound P(S > x) <= M(s) e^(-s x) says where to start.
    """
    found = np.empty(len(weights))
    if not len(weights):
        return found
    shares = np.linspace(0.02, 0.98, 49)
    for rows in np.array_split(np.arange(len(weights)), max(1, math.ceil(len(weights) / _ROWS))):
        part = weights[rows]
        growth = -np.log1p(-((part[:, None, :] * shares[None, :, None]) ** 2)) @ counts
        x = np.min((growth - math.log(wanted)) / shares, axis=1)
        least = 1e-9 * (1 - 2 * wanted) * np.sqrt(2 * (part**2 @ counts))
        for _ in range(60):
            tail, density = _beyond(part, counts, x)
            step = np.log(tail / wanted) * tail / density
            x = np.maximum(x + step, least)
            if np.all(np.abs(step) <= 1e-7 * x):  # the next step would be the square of this one
                break
        found[rows] = x
    return found


def _beyond(weights: Floats, counts: Floats, x: Floats) -> tuple[Floats, Floats]:
    """P(S > x) for x > 0 and the density of S, a row each, by the moment generating function along a hyperbola.

    With M(s) = product of (1 - weight² s²)^(-count) the tail is the integral of M(s) e^(-s x) / (2π i s) along any path
    from below to above that meets the real axis between 0 and the first pole, 1/largest weight = 1; the density lacks
    1/s. The path crosses at the saddle point, where nothing cancels, and bends to the right, so that what it passes
    falls off exponentially in e^(-s x) and by powers in M: a hundred points do, where a straight line takes a hundred
    thousand, and twelve digits and more are right.
    """
    saddle, curvature = _saddles(weights, counts, x)
    lean = math.cos(_ANGLE)
    # The widest hyperbola of this angle between the poles at 0 and at 1.
    size = np.minimum(saddle / lean, (1 - saddle) / (1 - lean))
    # The trapezoidal rule fails by e^(-2π (π/2 - angle) / step), and where M is nearly normal by e^(-2π²/0.4²).
    step = np.minimum(0.07, 0.4 / (size * math.sin(_ANGLE) * np.sqrt(curvature)))
    # Beyond either distance less than e^-40 of what the saddle point gives is left.
    most = np.max(np.where(weights == 1, counts, 0.0), axis=1)
    reach = np.minimum(np.arccosh(1 + 45 / (x * size * lean)), np.log(2 / size) + 40 / (2 * most))
    points = np.arange(math.ceil(np.max(reach / step))) + 0.5
    along = step[:, None] * points
    level, upright = np.cosh(along), np.sinh(along)
    real = saddle[:, None] + size[:, None] * lean * (level - 1)
    imaginary = size[:, None] * math.sin(_ANGLE) * upright
    # The logarithm of M(s) e^(-s x) by its real part and its angle: twice as fast as logarithms of complex numbers.
    # Its terms, of some hundreds at most, are each rounded in their last place either way: twelve digits stay right.
    growth, turn = -real * x[:, None], -imaginary * x[:, None]
    for weight, count in zip(weights.T, counts, strict=True):
        a, b = weight[:, None] * real, weight[:, None] * imaginary
        across, up = 1 - (a - b) * (a + b), -2 * a * b
        growth -= count / 2 * np.log(across**2 + up**2)
        turn -= count * np.arctan2(up, across)
    bent = lean * upright + 1j * math.sin(_ANGLE) * level
    # Steps differ between rows, so some would go farther than they need to.
    flow = np.where(along <= reach[:, None], np.exp(growth) * (np.cos(turn) + 1j * np.sin(turn)) * bent, 0.0)
    s = real + 1j * imaginary
    factor = step * size / math.pi
    tail, density = (factor * np.sum(part.imag, axis=1) for part in (flow / s, flow))
    return tail, density


def _saddles(weights: Floats, counts: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Where log(M(s) e^(-s x) / s) is least between its poles, closely enough, and its second derivative there."""
    squares = weights**2
    low, high = np.zeros(len(x)), np.ones(len(x))
    for _ in range(30):
        middle = (low + high) / 2
        s = middle[:, None]
        steep = (2 * squares * s / (1 - squares * s**2)) @ counts > x + 1 / middle
        np.copyto(high, middle, where=steep)
        np.copyto(low, middle, where=~steep)
    s = (low + high) / 2
    about = squares * s[:, None] ** 2
    return s, (2 * squares * (1 + about) / (1 - about) ** 2) @ counts + 1 / s**2
