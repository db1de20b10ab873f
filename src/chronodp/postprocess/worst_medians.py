"""By how much the median of noisy numbers is off at worst: the largest of some draws, or the mean of the two largest.

"Medians" in ``docs/explanation/proofs/ratios.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from chronodp.postprocess.columns import Floats
from chronodp.postprocess.tails import Law, quantiles

__all__ = ["EDGES", "NODES", "WEIGHTS", "Function", "draw", "worst_density", "worst_half"]

Function: TypeAlias = Callable[[Floats], Floats]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
EDGES = {  # between these the densities are smooth
    "gaussian": np.linspace(-10.0, 10.0, 21),
    "laplace": np.concatenate((-(2.0 ** np.arange(6, -3, -1)), [0.0], 2.0 ** np.arange(-2, 7))),
}


@lru_cache(maxsize=4096)
def worst_half(law: Law, weeks: int, level: float) -> float:
    """Return what the worst error exceeds with probability (1 - level)/2, of draws of scale 1."""
    tail = (1 - level) / 2
    if weeks % 2:
        # The worst case is the largest of m = (weeks + 1)/2 draws: 1 - F(h)^m = tail.
        one = -math.expm1(2 * math.log1p(-tail) / (weeks + 1))
        return float(quantiles(law, [1], 1 - 2 * one)[0]) if one < 0.25 else _upper(law, one)
    from scipy.optimize import brentq

    top = float(quantiles(law, [1], 1 - 2 * tail / (weeks // 2 + 1))[0])
    return float(brentq(lambda h: _pair_beyond(law, weeks, h) / tail - 1, 0.0, top, xtol=1e-13, rtol=1e-13))


def _upper(law: Law, tail: float) -> float:
    from scipy.special import ndtri

    if law == "gaussian":
        return -float(ndtri(tail))
    return -math.log(2 * tail) if tail < 0.5 else math.log(2 * (1 - tail))


def _pair_beyond(law: Law, weeks: int, h: float) -> float:
    """P(mean of the two largest of n = weeks/2 + 1 draws > h)."""
    n = weeks // 2 + 1
    edges = EDGES[law]
    # The largest, t, has the density n f(t) F(t)^(n-1), and is above h; with F(2h - t)^(n-1) the others are too low.
    reach = float(edges[-1]) + h
    cuts = np.unique(np.concatenate(([h, reach], edges[edges > h], (2 * h - edges)[(2 * h - edges > h)])))
    cuts = cuts[cuts <= reach]
    middle, half = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts) / 2
    t = middle[:, None] + half[:, None] * NODES
    density, survival = draw(law, t)
    below, free = 1 - draw(law, 2 * h - t)[1], 1 - survival
    weight = n * density * (free ** (n - 1) - below ** (n - 1))
    return float(np.sum(half[:, None] * WEIGHTS * weight))


@lru_cache(maxsize=64)
def worst_density(law: Law, weeks: int) -> Function:
    """Return the density of the median's worst error: the largest of m draws, or the mean of the two largest of n."""
    if weeks % 2:
        m = (weeks + 1) // 2

        def largest(w: Floats) -> Floats:
            density, survival = draw(law, w)
            found: Floats = m * density * (1 - survival) ** (m - 1)
            return found

        return largest
    return _pair_density(law, weeks // 2 + 1)


def _pair_density(law: Law, n: int) -> Function:
    """2 n (n-1) times the integral over s > 0 of f(w + s) f(w - s) F(w - s)^(n-2): tabulated, and splines between."""
    from scipy.interpolate import CubicSpline, PPoly

    reach = float(EDGES[law][-1])
    sides = []
    for low, high in ((-reach, 0.0), (0.0, reach)):  # the Laplace density bends at 0
        w = np.linspace(low, high, 4097)
        table = np.empty(len(w))
        for rows in np.array_split(np.arange(len(w)), 16):
            place = w[rows, None]
            bends = np.concatenate((np.abs(place) + EDGES[law], np.abs(place), np.zeros_like(place)), axis=1)
            cuts = np.sort(np.clip(bends, 0.0, 2 * reach), axis=1)
            middle, half = (cuts[:, 1:] + cuts[:, :-1]) / 2, np.diff(cuts, axis=1) / 2
            s = middle[:, :, None] + half[:, :, None] * NODES
            place = place[:, :, None]
            density, survival = draw(law, place - s)
            inner = draw_density(law, place + s) * density * (1 - survival) ** (n - 2)
            table[rows] = 2 * n * (n - 1) * np.sum(half[:, :, None] * WEIGHTS * inner, axis=(1, 2))
        sides.append(CubicSpline(w, table))
    left, right = sides
    # One piece after the other: a place is looked up once.
    between: Function = PPoly(np.concatenate((left.c, right.c), axis=1), np.concatenate((left.x, right.x[1:])))
    return between


def draw_density(law: Law, x: Floats) -> Floats:
    """Return the density of one draw of scale 1."""
    found: Floats = np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi) if law == "gaussian" else np.exp(-np.abs(x)) / 2
    return found


def draw(law: Law, x: Floats) -> tuple[Floats, Floats]:
    """Return the density of one draw of scale 1, and P(the draw > x)."""
    from scipy.special import ndtr

    density = draw_density(law, x)
    return density, np.asarray(ndtr(-x)) if law == "gaussian" else np.where(x > 0, density, 1 - density)
