"""Chances of numbers of coins, to almost all their digits however many coins there are.

The margin is that of *Optimal composition* under "Finite precision" of ``docs/explanation/proofs/accounting.md``.

References:
    Loader (2000), Fast and accurate computation of binomial probabilities: Stirling's formula with its remainder, and
    deviances, so that no large logarithms cancel.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from chronodp.accounting.rounding import UNIT

__all__ = ["log_chances"]

_FEW = 16  # from here on Stirling's series is exact to 1e-16


def log_chances(coins: int, epsilon: float) -> NDArray[np.float64]:
    """Return ln P(l of the coins fall against the truth) for l from 0 to ``coins``, rounded up.

    P = C(n, l) e^((n - l) epsilon) / (1 + e^epsilon)^n, where n is ``coins``.
    """
    total, odds = float(coins), math.exp(-epsilon)
    against = np.arange(coins + 1, dtype=np.float64)
    expected, unexpected = total / (1 + odds), total * odds / (1 + odds)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        away = _deviance(against, unexpected, math.log(total) - epsilon - math.log1p(odds))
        away += _deviance(total - against, expected, math.log(expected))
        logs = _remainder(np.full(1, total)) - _remainder(against) - _remainder(total - against) - away
        logs += np.log(total / (2 * math.pi * against * (total - against))) / 2
    logs[0], logs[-1] = -total * math.log1p(odds), -total * (math.log1p(odds) + epsilon)
    # The expected numbers are off by 4 units, which moves a deviance by so many units of how far away a number is.
    units = 256 + 16 * (np.abs(logs) + np.abs(against - unexpected))
    return logs + units * UNIT


def _deviance(number: NDArray[np.float64], expected: float, log_expected: float) -> NDArray[np.float64]:
    """Return x ln(x / m) + m - x, without cancellation near m."""
    if expected < 1e-290:  # floats end before m does, and its logarithm is most of what there is
        return number * (np.log(number) - log_expected) - number
    near = (number - expected) / (number + expected)
    series = np.zeros_like(number)
    for power in range(21, 1, -2):  # |near| < 0.1: what follows is below 1e-22
        series = (series + 1 / power) * near**2
    close = (number - expected) * near + 2 * number * near * series
    far = number * np.log(number / expected) + expected - number
    return np.where(np.abs(near) < 0.1, close, far)


def _remainder(number: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ln x! - ln(√(2 π x) (x / e)^x)."""
    square = number * number
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / number
    small = np.minimum(number, _FEW)
    direct = gammaln(small + 1) - (small + 0.5) * np.log(small) + small - math.log(2 * math.pi) / 2
    return np.where(number < _FEW, direct, series)
