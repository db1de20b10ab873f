"""Rényi differential privacy: divergences of a fixed order add.

References:
    Mironov (2017), Rényi differential privacy, propositions 1, 3, 6 and table II. Canonne, Kamath, Steinke (2020), The
    discrete Gaussian for differential privacy, proposition 12, for the improved conversion.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import sampled
from chronodp.accounting.solving import minimum
from chronodp.accounting.spending import Costs, gather
from chronodp.errors import InvalidArgument
from chronodp.privacy.costs import ApproximateCost, LaplaceCost, PureCost, RandomizedResponseCost
from chronodp.privacy.parameters import check_fraction, check_number

__all__ = ["convert", "convert_textbook", "curve", "divergence", "epsilon", "epsilon_textbook"]


def divergence(costs: Costs, order: float) -> float:
    """Return the Rényi divergence of the given order that the releases may show together.

    Gaussian: order Δ² / (2 σ²). Laplace: ln[a/(2a-1) e^((a-1)r) + (a-1)/(2a-1) e^(-ar)] / (a-1) with
    r = Δ/b. Gaussian on a sample: see `sampled`. Bounded by epsilon: that of randomised response, the worst such
    mechanism. What a release known as (epsilon, delta) may give away is not in it.

    >>> from chronodp.privacy import GaussianCost, RepeatedCost
    >>> divergence(RepeatedCost(GaussianCost(sensitivity=1.0, sigma=5.0), 10), order=3.0)
    0.6000000000000001
    """
    if not check_number("order", order, "a finite number above 1") > 1:
        raise InvalidArgument("order", order, "a finite number above 1")
    return curve(costs)(order)


def convert_textbook(divergence: float, order: float, delta: float) -> float:
    """Return epsilon = divergence + ln(1 / delta) / (order - 1), the textbook's conversion."""
    return divergence + math.log(1 / delta) / (order - 1)


def convert(divergence: float, order: float, delta: float) -> float:
    """Return epsilon = divergence + ln((a - 1) / a) - (ln delta + ln a) / (a - 1), never above the textbook's."""
    return divergence + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)


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
    divergence_at = curve(spending)

    def at(log_excess: float) -> float:
        order = 1 + math.exp(log_excess)
        return conversion(divergence_at(order), order, left)

    return max(0.0, minimum(at, -12.0, 30.0, coarse=84))


def curve(costs: Costs) -> Callable[[float], float]:
    """Return the divergence as a function of the order; the work grows with the number of different releases."""
    spending = gather(costs)
    laplace, bounded = [], []
    for cost, times in spending.bounded.items():
        match cost:
            case LaplaceCost(sensitivity, scale):
                laplace.append((sensitivity / scale, times))
            case PureCost(value) | ApproximateCost(value, _):
                bounded.append((value, 2, times))
            case RandomizedResponseCost(value, choices):
                bounded.append((value, choices, times))
    ratios, ratio_times = np.array(laplace, dtype=np.float64).reshape(-1, 2).T
    losses, choices_, loss_times = np.array(bounded, dtype=np.float64).reshape(-1, 3).T
    half, samples = spending.unsampled_gaussian / 2, spending.sampled

    def divergence_at(order: float) -> float:
        total = order * half
        for cost, times in samples.items():
            total += times * sampled.divergence(cost, order)
        if laplace:
            total += float(ratio_times @ _laplace(order, ratios))
        if bounded:
            total += float(loss_times @ _randomized_response(order, losses, choices_))
        return total

    return divergence_at


def _laplace(order: float, ratio: NDArray[np.float64]) -> NDArray[np.float64]:
    up, down = order / (2 * order - 1), (order - 1) / (2 * order - 1)
    large = np.logaddexp(math.log(up) + (order - 1) * ratio, math.log(down) - order * ratio)
    with np.errstate(over="ignore"):
        small = np.log1p(up * np.expm1((order - 1) * ratio) + down * np.expm1(-order * ratio))
    exact = np.where((order - 1) * ratio > 1, large, small) / (order - 1)
    # Below this the first orders cancel and the digits go; order * ratio² / 2 is always an upper bound.
    ceiling = np.minimum(ratio, order * ratio**2 / 2)
    return np.where(order * ratio < 1e-6, ceiling, np.minimum(exact, ceiling))


def _randomized_response(order: float, loss: NDArray[np.float64], choices: NDArray[np.float64]) -> NDArray[np.float64]:
    # The sum of P^a Q^(1-a) exceeds 1 by (1 - e^(-(a-1) loss)) (e^(a loss) - 1) / (e^loss + choices - 1).
    log_excess = (
        np.log(-np.expm1(-(order - 1) * loss))
        + (order - 1) * loss
        + np.log(-np.expm1(-order * loss))
        - np.log1p((choices - 1) * np.exp(-loss))
    )
    return np.minimum(loss, np.logaddexp(0.0, log_excess) / (order - 1))
