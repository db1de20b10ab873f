"""Optimal composition of releases known only by their (epsilon, delta): no better bound exists.

Each such release is as if it gave everything away with probability delta and were randomised response at epsilon
otherwise, so the composition is a sum of coin tosses whose distribution is written out here in full. Releases of
bounded range count as what that implies, a ratio within epsilon.

Row "optimal" and the steps *A release known as (ε, δ)* and *Optimal composition* of
``docs/explanation/proofs/accounting.md``.

References:
    Kairouz, Oh, Viswanath (2015), The composition theorem for differential privacy, theorem 3.3. Murtagh, Vadhan
    (2016), The complexity of computing the optimal composition, theorem 1.5, for unequal epsilons.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting.binomial import log_chances
from chronodp.accounting.rounding import TINY, UNIT, times_up, up
from chronodp.accounting.solving import smallest
from chronodp.accounting.spending import Costs, Spending, gather
from chronodp.errors import UnsupportedCost
from chronodp.privacy import (
    ApproximateCost,
    Cost,
    PureCost,
    RepeatedCost,
    check_delta,
    check_epsilon,
    check_fraction,
    check_whole,
)

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
    total = up(-math.expm1(-(times_up(times, -math.log1p(-delta)) - math.log1p(-slack))), 8)
    cost: Cost = RepeatedCost(PureCost(epsilon), times)
    return ApproximateCost(_epsilon(gather(cost), slack), total)


def epsilon(costs: Costs, delta: float) -> float:
    """Return the least epsilon at ``delta``, rounded up; infinite if ``delta`` does not cover what is given away."""
    check_fraction("delta", delta)
    spending = gather(costs)
    left = spending.left_of(delta)
    return _epsilon(spending, left) if left > 0 else math.inf


def delta_of(costs: Costs, epsilon: float) -> float:
    """Return the least delta at ``epsilon`` >= 0, rounded up."""
    spending = gather(costs)
    kept = 1 - spending.revealed
    return min(1.0, up(spending.failed + spending.revealed + kept * _excess(*_losses(spending), epsilon), 5))


def losses(costs: Costs) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every log-likelihood ratio that the coins can sum to, with its probability, both rounded up.

    Of n coins at epsilon, l fall against the truth with probability C(n, l) e^((n - l) epsilon) / (1 + e^epsilon)^n,
    and then the ratio is (n - 2 l) epsilon.
    """
    ratios, logs = _losses(gather(costs))
    return ratios, np.exp(logs)


def _losses(spending: Spending) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if spending.gaussian:
        raise UnsupportedCost("optimal composition needs releases with a bounded likelihood ratio, not Gaussian noise")
    merged = _merged(spending)
    if not few_outcomes(spending):
        raise UnsupportedCost("optimal composition of this many different releases cannot be written out: use PLD")
    ratios, logs = np.zeros(1), np.zeros(1)
    for value, times in merged.items():
        against = np.arange(times + 1, dtype=np.float64)
        ratios = np.add.outer(ratios, (times - 2 * against) * value).ravel()
        logs = np.add.outer(logs, log_chances(times, value)).ravel()
    # Sums of ratios of both signs are off by units of the largest, sums of logarithms by units of themselves.
    largest = math.fsum(times * value for value, times in merged.items())
    units = 2 + 2 * len(merged)
    return ratios + units * UNIT * largest, logs + units * UNIT * np.abs(logs)


def few_outcomes(spending: Spending) -> bool:
    """Return whether the coins fall in few enough ways to be written out."""
    return math.prod(times + 1 for times in _merged(spending).values()) <= _MOST_OUTCOMES


def _merged(spending: Spending) -> dict[float, int]:
    merged: dict[float, int] = {}
    for value, times in spending.largest_losses:
        merged[value] = merged.get(value, 0) + times
    return merged


def _epsilon(spending: Spending, left: float) -> float:
    ratios, logs = _losses(spending)
    # Outcomes that are e^-60 times rarer than needed add nothing that the margin of `_excess` does not cover.
    counted = (ratios > 0) & (logs > math.log(left) - 60 - math.log(len(logs)))
    ratios, logs = ratios[counted], logs[counted]
    if _excess(ratios, logs, 0.0) <= left:
        return 0.0
    found = smallest(lambda value: _excess(ratios, logs, value) <= left)
    return math.inf if found is None else found


def _excess(ratios: NDArray[np.float64], logs: NDArray[np.float64], epsilon: float) -> float:
    """Return E (1 - e^(epsilon - ratio))+ from above: sums of 2^21 positive numbers, off by less than 64 units."""
    over = ratios > epsilon
    if not over.any():
        return 0.0
    most = float(logs[over].max())  # taken out, so that the rarest outcomes do not vanish
    total = float(np.sum(np.exp(logs[over] - most) * -np.expm1(epsilon - ratios[over])))
    return max(TINY, up(math.exp(most) * total, 96 + 2 * abs(most)))
