"""Rényi differential privacy: divergences of a fixed order add.

Row "Rényi" and the steps *Bounded releases* and *Bounded range in Rényi accounting* of
``docs/explanation/proofs/accounting.md``.

References:
    Mironov (2017), Rényi differential privacy, propositions 1, 3, 6 and table II. Canonne, Kamath, Steinke (2020), The
    discrete Gaussian for differential privacy, proposition 12, for the improved conversion.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import bounded_range, sampled
from chronodp.accounting.rounding import UNIT, times_up, up
from chronodp.accounting.solving import minimum
from chronodp.accounting.spending import Costs, gather
from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    ApproximateCost,
    BoundedRangeCost,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    check_fraction,
    check_number,
)

__all__ = ["convert", "convert_textbook", "curve", "divergence", "epsilon", "epsilon_textbook"]

_POINTS, _WEIGHTS = (np.polynomial.legendre.leggauss(16)[0] + 1) / 2, np.polynomial.legendre.leggauss(16)[1] / 2


def divergence(costs: Costs, order: float) -> float:
    """Return the Rényi divergence of the given order that the releases may show together, rounded up.

    Gaussian: order Δ² / (2 σ²). Laplace: ln[a/(2a-1) e^((a-1)r) + (a-1)/(2a-1) e^(-ar)] / (a-1) with
    r = Δ/b. Gaussian on a sample: see `sampled`. Bounded by epsilon: that of randomised response, the worst such
    mechanism. Of bounded range: see `bounded_range`. What failures and releases known as (epsilon, delta) may give away
    is not in it.

    >>> from chronodp.privacy import GaussianCost, RepeatedCost
    >>> round(divergence(RepeatedCost(GaussianCost(sensitivity=1.0, sigma=5.0), 10), order=3.0), 12)
    0.6
    """
    if not check_number("order", order, "a finite number above 1") > 1:
        raise InvalidArgument("order", order, "a finite number above 1")
    return curve(costs)(order)


def convert_textbook(divergence: float, order: float, delta: float) -> float:
    """Return epsilon = divergence + ln(1 / delta) / (order - 1), the textbook's conversion, rounded up."""
    return up(divergence - math.log(delta) / (order - 1), 8)


def convert(divergence: float, order: float, delta: float) -> float:
    """Return epsilon = divergence + ln((a - 1) / a) - (ln delta + ln a) / (a - 1), rounded up.

    In exact numbers it is never above the textbook's.
    """
    gained = math.log((order - 1) / order), math.log(order) / (order - 1)
    paid = -math.log(delta) / (order - 1)
    # The terms may cancel: the margin is of each of them, not of what is left.
    return divergence + gained[0] - gained[1] + paid + 16 * UNIT * (divergence - gained[0] + gained[1] + paid)


def epsilon(costs: Costs, delta: float) -> float:
    """Return epsilon at ``delta`` by the improved conversion at the best order."""
    return _best(costs, delta, convert)


def epsilon_textbook(costs: Costs, delta: float) -> float:
    """Return epsilon at ``delta`` by the textbook's conversion at the best order.

    >>> from chronodp.privacy import GaussianCost, RepeatedCost
    >>> round(epsilon_textbook(RepeatedCost(GaussianCost(sensitivity=1.0, sigma=50.0), 1440), 1e-5), 2)
    3.93
    """
    return _best(costs, delta, convert_textbook)


def _best(costs: Costs, delta: float, conversion: Callable[[float, float, float], float]) -> float:
    check_fraction("delta", delta)
    spending = gather(costs)
    left = spending.left_of(delta)
    if left <= 0:
        return math.inf
    if not spending.count:
        return 0.0
    divergence_at = curve(spending)
    known = [(1.0, 0.0)]  # orders with their divergences, which grow

    def at(log_excess: float) -> float:
        order = 1 + math.exp(log_excess)
        found = divergence_at(order)
        insort(known, (order, found))
        return conversion(found, order, left)

    def below(log_excess: float) -> float:
        order = 1 + math.exp(log_excess)
        _, least = known[bisect_right(known, (order, math.inf)) - 1]
        return conversion(least / 2, order, left)  # half: what rounds a smaller order up may round it less

    return max(0.0, minimum(at, -20.0, 30.0, coarse=100, below=below))


def curve(costs: Costs) -> Callable[[float], float]:
    """Return the divergence by its order, rounded up; the work grows with the number of different releases."""
    spending = gather(costs)
    laplace, bounded, ranges = [], [], []
    for cost, times in spending.bounded.items():
        match cost:
            case LaplaceCost(sensitivity, scale):
                laplace.append((up(sensitivity / scale, 1), times))
            case PureCost(value) | ApproximateCost(value, _):
                bounded.append((value, 2, times))
            case BoundedRangeCost(value):
                ranges.append((value, times))
            case RandomizedResponseCost(value, choices):
                bounded.append((value, choices, times))
    ratios, ratio_times = np.array(laplace, dtype=np.float64).reshape(-1, 2).T
    losses, choices_, loss_times = np.array(bounded, dtype=np.float64).reshape(-1, 3).T
    lengths, length_times = np.array(ranges, dtype=np.float64).reshape(-1, 2).T
    half, samples = spending.unsampled_gaussian / 2, spending.sampled

    def divergence_at(order: float) -> float:
        total = order * half
        for cost, times in samples.items():
            total += times_up(times, sampled.divergence(cost, order))
        if laplace:
            total += float(np.sum(ratio_times * _laplace(order, ratios)))
        if bounded:
            total += float(np.sum(loss_times * _randomized_response(order, losses, choices_)))
        if ranges:
            total += float(np.sum(length_times * bounded_range.divergence(order, lengths)))
        # Sums of positive numbers: each of the few additions here, and of the pairwise ones in numpy, costs a unit.
        return math.inf if math.isnan(total) else up(total, 64 + len(samples))

    return divergence_at


def _laplace(order: float, ratio: NDArray[np.float64]) -> NDArray[np.float64]:
    up_, down_ = order / (2 * order - 1), (order - 1) / (2 * order - 1)
    more, less = (order - 1) * ratio, order * ratio
    with np.errstate(over="ignore"):
        large = np.logaddexp(math.log(up_) + more, math.log(down_) - less)
        # up (e^more - 1) + down (e^-less - 1): the terms of first order cancel, and are left out of both.
        small = np.log1p(up_ * _beyond_linear(more) + down_ * _beyond_linear(-less))
    exact = np.where(more > 1, large, small) / (order - 1)
    return np.minimum(np.minimum(ratio, order * ratio**2 / 2), exact) * (1 + 64 * UNIT)


def _beyond_linear(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e^x - 1 - x without cancellation: x² times the integral of (1 - t) e^(t x) over t from 0 to 1."""
    with np.errstate(over="ignore"):
        near = np.exp(np.multiply.outer(np.clip(x, -1, 1), _POINTS)) @ ((1 - _POINTS) * _WEIGHTS)
        return np.where(np.abs(x) <= 1, x * x * near, np.expm1(x) - x)


def _randomized_response(order: float, loss: NDArray[np.float64], choices: NDArray[np.float64]) -> NDArray[np.float64]:
    # The sum of P^a Q^(1-a) exceeds 1 by (1 - e^(-(a-1) loss)) (e^(a loss) - 1) / (e^loss + choices - 1).
    terms = (
        np.log(-np.expm1(-(order - 1) * loss)),
        (order - 1) * loss,
        np.log(-np.expm1(-order * loss)),
        -np.log1p((choices - 1) * np.exp(-loss)),
    )
    # Each logarithm is off by units of itself; their sum, by units of all of them.
    log_excess = sum(terms) + 16 * UNIT * (1 + sum(np.abs(term) for term in terms))
    return np.minimum(loss, np.logaddexp(0.0, log_excess) / (order - 1) * (1 + 16 * UNIT))
