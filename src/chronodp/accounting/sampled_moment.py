"""The moment of a sampled Gaussian's likelihood ratio at orders that are not whole, by a sum with a proved error.

With u = q (e^E - 1), E = mu z - mu²/2 and z standard normal, E u = 0 and the moment of order a exceeds 1 by
E[(1 + u)^a - 1 - a u]. Why the sum below is never under it: *Noise on a sample* in
``docs/explanation/proofs/accounting.md``. Its *Rule* is ``error`` below, its *Ends* are ``first`` and ``last``, its
*Points* are `_log_convex`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from chronodp.accounting.rounding import UNIT

__all__ = ["log_moment_excess"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_WIDEST = 12.0  # of the strip: e^(width²/2) multiplies what the rule's error falls by


def log_moment_excess(order: float, rate: float, mu: float) -> float:
    """Return ln E[(1 + u)^a - 1 - a u] from above, by the trapezoidal rule.

    (1 + u)^a is analytic up to the zeros of 1 + u, which are pi / mu away from the real line, and no larger there
    than on it: a rule of step h is off by 2 e^(c²/2 - 2 pi c / h) of the moment for every c below pi / mu.
    """
    width = min(math.pi / mu, _WIDEST)
    # The excess is about a (a - 1) / 2 times the variance of u or more: digits of it are wanted, not of the moment.
    digits = 70 - math.log(order * (order - 1)) - 2 * math.log(rate * min(mu, 1.0))
    step = 2 * math.pi * width / (width * width / 2 + digits)
    power = max(2.0, order)
    reach = math.sqrt(2 * (digits + power))
    # Points around mu / 2, where E is 0 and loses no digits.
    index = np.arange(-math.ceil((reach + mu / 2) / step), math.ceil((reach + power * mu) / step) + 1)
    away = np.asarray(index * step, dtype=np.float64)
    z = away + mu / 2
    exponents = mu * away
    heights = _log_convex(order, rate, exponents) - z * z / 2 - math.log(2 * math.pi) / 2 + math.log(step)
    # A point is off by units of its exponents, and u^power carries those of E.
    heights += UNIT * (256 + 8 * power * (np.abs(exponents) + 1) + 4 * z * z)
    # Beyond the last point terms fall at least by e^(-reach/2) a unit of z; before the first u is above -q.
    last = float(heights[-1]) - math.log(-math.expm1(-reach * step / 2))
    first = float(_log_convex(order, rate, np.array([-math.inf]))[0] + log_ndtr(float(z[0]) + step))
    # The rule's error on (1 + u)^a, 1 and a u: X <= X_h + error (1 + X), and the error is below e^-40.
    error = math.log(2.01 * (2 + 2 * order)) - digits
    parts = np.concatenate([heights, [last, first, error]])
    most = float(parts.max())
    return most + math.log(float(np.sum(np.exp(parts - most)))) + 1024 * UNIT


def _log_convex(order: float, rate: float, exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln((1 + u)^a - 1 - a u), which is never negative, without cancellation."""
    excess = order - 1
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        u = rate * np.expm1(exponents)
        logs = np.where(exponents < 1, np.log1p(u), np.logaddexp(math.log1p(-rate), math.log(rate) + exponents))
        # (1 + u) ((1 + u)^(a - 1) - 1) - (a - 1) u: the first term exceeds the second by half of it or more ...
        grown = logs + _log_expm1(excess * logs)
        above = grown + np.log1p(excess * np.expm1(-logs) / np.expm1(excess * logs))
        # ... or, below 0, the second the first.
        below = np.log(-excess * u) + np.log1p(-(1 + u) * np.expm1(excess * logs) / (excess * u))
        heights = np.where(u > 0, above, below)
    near = np.abs(order * logs) <= 1
    if near.any():
        # a (a - 1) u² times the integral of (1 - t) (1 + t u)^(a - 2) over t from 0 to 1: nothing cancels.
        little = u[near]
        t = (_NODES + 1) / 2
        slopes = np.exp((order - 2) * np.log1p(np.multiply.outer(little, t))) @ ((1 - t) * _WEIGHTS / 2)
        with np.errstate(divide="ignore"):
            heights[near] = math.log(order * excess) + 2 * np.log(np.abs(little)) + np.log(slopes)
    return heights


def _log_expm1(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(x > 30, x + np.log1p(-np.exp(-x)), np.log(np.expm1(np.minimum(x, 30))))
