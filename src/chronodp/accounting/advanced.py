"""Advanced composition: epsilon grows with the square root of the number of releases.

Row "advanced" of both tables in ``docs/explanation/proofs/accounting.md``: its theorem, and a margin of 20 units.

References:
    Dwork, Rothblum, Vadhan (2010), Boosting and differential privacy, theorem III.3; the textbook's form. It holds
    for every epsilon_0; the restriction to epsilon_0 <= 1 found in textbooks only marks where it is useful.
"""

from __future__ import annotations

import math

from chronodp.accounting import basic
from chronodp.accounting.rounding import down, times_up, up
from chronodp.accounting.solving import minimum
from chronodp.accounting.spending import Costs, gather
from chronodp.privacy import ApproximateCost, check_delta, check_epsilon, check_fraction, check_whole

__all__ = ["compose", "epsilon"]


def compose(epsilon: float, delta: float, *, times: int, slack: float) -> ApproximateCost:
    """Return the cost of ``times`` releases of (epsilon, delta) each.

    epsilon' = sqrt(2 k ln(1 / slack)) epsilon + k epsilon (e^epsilon - 1) and delta' = k delta + slack, where k is
    ``times``.

    >>> total = compose(0.05, 1e-8, times=1440, slack=1e-7)
    >>> round(total.epsilon, 4), round(total.delta, 9)
    (14.4642, 1.45e-05)
    """
    check_epsilon(epsilon)
    check_delta(delta)
    check_whole("times", times)
    check_fraction("slack", slack)
    return ApproximateCost(_bound([(epsilon, times)], slack), up(times_up(times, delta) + slack, 3))


def epsilon(costs: Costs, delta: float) -> float:
    """Return epsilon at ``delta``, rounded up; the split of delta between slack and Gaussian noise is optimised."""
    check_fraction("delta", delta)
    spending = gather(costs)
    left = basic.left_of(spending, delta)
    if left <= 0:
        return math.inf
    noise, losses = basic.strengths(spending, different=16), spending.largest_losses
    if not noise:
        return _bound(losses, left)
    whole = down(left, 4)  # so that the two parts together are not above it

    def at(logit: float) -> float:
        slack = whole / (1 + math.exp(-logit))
        rest = whole - slack
        return _bound(losses + basic.split(noise, rest), slack) if slack > 0 and rest > 0 else math.inf

    return minimum(at, -25.0, 25.0)


def _bound(parts: list[tuple[float, int]], slack: float) -> float:
    try:
        squares = math.fsum(times_up(times, value**2) for value, times in parts)
        drift = math.fsum(times_up(times, value * math.expm1(value)) for value, times in parts)
    except OverflowError:
        return math.inf
    return up(math.sqrt(2 * squares * -math.log(slack)) + drift, 16)
