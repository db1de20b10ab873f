"""From a wanted guarantee back to noise, or to a number of releases.

*Inverses* under "Finite precision" of ``docs/explanation/proofs/accounting.md``: what is returned was put to the test
itself and passed.
"""

from __future__ import annotations

from collections.abc import Callable

from chronodp.accounting.solving import largest_count, smallest
from chronodp.accounting.spending import Costs
from chronodp.errors import InvalidArgument
from chronodp.privacy import Cost, RepeatedCost, check_cost, check_delta, check_epsilon

__all__ = ["Accountant", "calibrate", "most_releases"]

Accountant = Callable[[Costs, float], float]
"""Any of the theorems' ``epsilon(costs, delta)``."""


def calibrate(cost_at: Callable[[float], Cost], *, epsilon: float, delta: float, by: Accountant) -> float:
    """Return the least parameter, such as a noise scale, whose cost stays within (epsilon, delta).

    Args:
        cost_at: the cost at a value of the parameter; more of it must cost less.
        epsilon: the wanted epsilon.
        delta: the wanted delta.
        by: the theorem that prices a cost.

    >>> from chronodp.accounting import gaussian
    >>> from chronodp.privacy import GaussianCost, RepeatedCost
    >>> day = lambda sigma: RepeatedCost(GaussianCost(sensitivity=1.0, sigma=sigma), 1440)
    >>> round(calibrate(day, epsilon=1.0, delta=1e-6, by=gaussian.epsilon), 4)
    160.3153
    """
    check_epsilon(epsilon)
    check_delta(delta)
    found = smallest(lambda value: by(cost_at(value), delta) <= epsilon, limit=1e18)
    if found is None:
        raise InvalidArgument("epsilon", epsilon, "within reach: no parameter up to 1e18 brings the cost below it")
    return found


def most_releases(cost: Cost, *, epsilon: float, delta: float, by: Accountant) -> int:
    """Return how many releases of ``cost`` fit into (epsilon, delta).

    >>> from chronodp.accounting import advanced, basic
    >>> from chronodp.privacy import PureCost
    >>> most_releases(PureCost(0.01), epsilon=1.0, delta=0.0, by=basic.epsilon)
    100
    >>> most_releases(PureCost(0.01), epsilon=1.0, delta=1e-6, by=advanced.epsilon)
    337
    """
    check_cost("cost", cost)
    check_epsilon(epsilon)
    check_delta(delta)
    return largest_count(lambda times: by(RepeatedCost(cost, times), delta) <= epsilon)
