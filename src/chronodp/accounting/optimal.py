"""Optimal composition of releases known only by their (epsilon, delta): no better bound exists.

Each such release is as if it gave everything away with probability delta and were randomised response at epsilon
otherwise, so the composition is a sum of coin tosses whose distribution is written out here in full.

References:
    Kairouz, Oh, Viswanath (2015), The composition theorem for differential privacy, theorem 3.3. Murtagh, Vadhan
    (2016), The complexity of computing the optimal composition, theorem 1.5, for unequal epsilons.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from chronodp.accounting.solving import smallest
from chronodp.accounting.spending import Costs, Spending, gather
from chronodp.errors import UnsupportedCost
from chronodp.privacy.costs import ApproximateCost, Cost, PureCost, RepeatedCost
from chronodp.privacy.parameters import check_delta, check_epsilon, check_fraction, check_whole

__all__ = ["compose", "delta_of", "epsilon", "few_outcomes", "losses"]

_MOST_OUTCOMES = 2_000_000


def compose(epsilon: float, delta: float, *, times: int, slack: float) -> ApproximateCost:
    """Return the cost of ``times`` releases of (epsilon, delta) when the coins may fail with probability ``slack``.

    delta' = 1 - (1 - delta)^k (1 - slack), where k is ``times``.

    >>> total = compose(0.05, 1e-8, times=1440, slack=1e-7)
    >>> round(total.epsilon, 4), round(total.delta, 9)
    (11.1603, 1.45e-05)
    """
    check_epsilon(epsilon)
    check_delta(delta)
    check_whole("times", times)
    check_fraction("slack", slack)
    total = -math.expm1(times * math.log1p(-delta) + math.log1p(-slack))
    cost: Cost = RepeatedCost(PureCost(epsilon), times)
    return ApproximateCost(_epsilon(gather(cost), slack), total)


def epsilon(costs: Costs, delta: float) -> float:
    """Return the least epsilon at ``delta``; infinite if ``delta`` does not cover what may be given away."""
    check_fraction("delta", delta)
    spending = gather(costs)
    left = spending.left_of(delta)
    return _epsilon(spending, left) if left > 0 else math.inf


def delta_of(costs: Costs, epsilon: float) -> float:
    """Return the least delta at ``epsilon`` >= 0."""
    spending = gather(costs)
    kept = 1 - spending.revealed
    return min(1.0, spending.revealed + kept * _excess(*losses(spending), epsilon))


def losses(costs: Costs) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every log-likelihood ratio that the coins can sum to, with its probability.

    Of n coins at epsilon, l fall against the truth with probability C(n, l) e^((n - l) epsilon) / (1 + e^epsilon)^n,
    and then the ratio is (n - 2 l) epsilon.
    """
    spending = gather(costs)
    if spending.gaussian:
        raise UnsupportedCost("optimal composition needs releases with a bounded likelihood ratio, not Gaussian noise")
    merged = _merged(spending)
    if not few_outcomes(spending):
        raise UnsupportedCost("optimal composition of this many different releases cannot be written out: use PLD")
    ratios, logs = np.zeros(1), np.zeros(1)
    for value, times in merged.items():
        against = np.arange(times + 1, dtype=np.float64)
        coins = gammaln(times + 1.0) - gammaln(against + 1) - gammaln(times - against + 1)
        coins -= against * value + times * math.log1p(math.exp(-value))
        ratios = np.add.outer(ratios, (times - 2 * against) * value).ravel()
        logs = np.add.outer(logs, coins).ravel()
    return ratios, np.exp(logs)


def few_outcomes(spending: Spending) -> bool:
    """Return whether the coins fall in few enough ways to be written out."""
    return math.prod(times + 1 for times in _merged(spending).values()) <= _MOST_OUTCOMES


def _merged(spending: Spending) -> dict[float, int]:
    merged: dict[float, int] = {}
    for value, times in spending.largest_losses:
        merged[value] = merged.get(value, 0) + times
    return merged


def _epsilon(spending: Spending, left: float) -> float:
    ratios, probabilities = losses(spending)
    if _excess(ratios, probabilities, 0.0) <= left:
        return 0.0
    found = smallest(lambda value: _excess(ratios, probabilities, value) <= left)
    return math.inf if found is None else found


def _excess(ratios: NDArray[np.float64], probabilities: NDArray[np.float64], epsilon: float) -> float:
    over = ratios > epsilon
    return float(np.sum(probabilities[over] * -np.expm1(epsilon - ratios[over])))
