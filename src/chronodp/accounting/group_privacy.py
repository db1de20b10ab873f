"""Group privacy: what a guarantee for one unit says about several, or about a larger unit.

*Group privacy* of ``docs/explanation/proofs/units.md``; the margin is the row "group privacy" of
``docs/explanation/proofs/accounting.md``.

References:
    Vadhan (2017), The complexity of differential privacy, lemma 2.2. Dong, Roth, Su (2022), theorem 2.14, for Gaussian.
"""

from __future__ import annotations

import math
from typing import assert_never

from chronodp.accounting.rounding import UNIT, product
from chronodp.errors import UnsupportedCost
from chronodp.privacy import (
    ApproximateCost,
    AssumedCost,
    BoundedRangeCost,
    Cost,
    GaussianCost,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    RepeatedCost,
    SampledGaussianCost,
    SequenceCost,
    check_delta,
    check_epsilon,
    check_whole,
)

__all__ = ["enlarge", "group"]


def group(epsilon: float, delta: float, steps: int) -> tuple[float, float]:
    """Return (k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1)), where k is ``steps``, rounded up.

    A delta of 1 promises nothing.

    >>> epsilon, delta = group(1.0, 1e-6, 5)
    >>> epsilon, round(delta, 11)
    (5.0, 8.579102e-05)
    >>> group(1.0, 1e-6, 24)[1]
    1.0
    """
    check_epsilon(epsilon)
    check_delta(delta)
    check_whole("steps", steps)
    total = product(steps, epsilon)
    if not delta:
        return total, 0.0
    logs = math.log(delta), _log_expm1(total), _log_expm1(epsilon)
    # Each logarithm is off by units of itself; their sum, by units of all of them.
    failure = logs[0] + logs[1] - logs[2] + 16 * UNIT * (1 + abs(logs[0]) + abs(logs[1]) + abs(logs[2]))
    return total, math.exp(min(0.0, failure))


def enlarge(cost: Cost, steps: int) -> Cost:
    """Return the cost for a unit that is ``steps`` changes of the unit the cost was stated for.

    Noise of known shape keeps its shape with ``steps`` times the sensitivity, which is tighter than its epsilon.
    """
    check_whole("steps", steps)
    match cost:
        case PureCost(epsilon) | RandomizedResponseCost(epsilon, _):
            return PureCost(product(steps, epsilon)) if steps > 1 else cost
        case BoundedRangeCost(epsilon):
            # Log-likelihood ratios of the steps add, and so do the lengths of what they span.
            return BoundedRangeCost(product(steps, epsilon))
        case ApproximateCost(epsilon, delta):
            total, failure = group(epsilon, delta, steps)
            if failure >= 1:
                raise UnsupportedCost(
                    f"(epsilon, delta) = ({epsilon:g}, {delta:g}) promises nothing about {steps} units together: "
                    "delta is 1"
                )
            return ApproximateCost(total, failure)
        case LaplaceCost(sensitivity, scale):
            return LaplaceCost(product(steps, sensitivity), scale)
        case GaussianCost(sensitivity, sigma):
            return GaussianCost(product(steps, sensitivity), sigma)
        case SampledGaussianCost(sensitivity, sigma, _):
            # Of a group some may be added and others removed; what sampling is worth then is not claimed.
            return GaussianCost(product(steps, sensitivity), sigma) if steps > 1 else cost
        case SequenceCost(costs):
            return SequenceCost(tuple(enlarge(part, steps) for part in costs))
        case RepeatedCost(part, times):
            return RepeatedCost(enlarge(part, steps), times)
        case AssumedCost(part, assumption):
            return AssumedCost(enlarge(part, steps), assumption)
        case _:
            assert_never(cost)


def _log_expm1(x: float) -> float:
    return math.log(math.expm1(x)) if x < 30 else x + math.log1p(-math.exp(-x))
