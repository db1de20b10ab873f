"""Group privacy: what a guarantee for one unit says about several, or about a larger unit.

*Group privacy* and *Group privacy with failures* of ``docs/explanation/proofs/units.md``; margins are the row "group
privacy" of ``docs/explanation/proofs/accounting.md``.

References:
    Vadhan (2017), The complexity of differential privacy, lemma 2.2. Dong, Roth, Su (2022), theorem 2.14, for Gaussian.
"""

from __future__ import annotations

import math
from typing import assert_never

from chronodp.accounting import basic, gaussian
from chronodp.accounting.rounding import UNIT, product, up
from chronodp.accounting.spending import Spending, gather
from chronodp.errors import UnsupportedCost
from chronodp.privacy import (
    ApproximateCost,
    AssumedCost,
    BoundedRangeCost,
    Cost,
    FailureCost,
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

    Noise of known shape keeps its shape with ``steps`` times the sensitivity, which is tighter than its epsilon. With
    failures, releases are taken together: as one of Gaussian noise, or one of the sum of their epsilons.
    """
    check_whole("steps", steps)
    if steps == 1:
        return cost
    spending = gather(cost)
    return _with_failures(spending, steps) if spending.failures else _enlarged(cost, steps)


def _enlarged(cost: Cost, steps: int) -> Cost:
    match cost:
        case PureCost(epsilon) | RandomizedResponseCost(epsilon, _):
            return PureCost(product(steps, epsilon))
        case BoundedRangeCost(epsilon):
            # Log-likelihood ratios of the steps add, and so do the lengths of what they span.
            return BoundedRangeCost(product(steps, epsilon))
        case ApproximateCost(epsilon, delta):
            total, failure = group(epsilon, delta, steps)
            return ApproximateCost(total, _promising(failure, steps))
        case LaplaceCost(sensitivity, scale):
            return LaplaceCost(product(steps, sensitivity), scale)
        case GaussianCost(sensitivity, sigma):
            return GaussianCost(product(steps, sensitivity), sigma)
        case SampledGaussianCost(sensitivity, sigma, _):
            # Of a group some may be added and others removed; what sampling is worth then is not claimed.
            return GaussianCost(product(steps, sensitivity), sigma)
        case SequenceCost(costs):
            return SequenceCost(tuple(_enlarged(part, steps) for part in costs))
        case RepeatedCost(part, times):
            return RepeatedCost(_enlarged(part, steps), times)
        case AssumedCost(part, assumption):
            return AssumedCost(_enlarged(part, steps), assumption)
        case FailureCost():
            raise AssertionError("the failure probability grows with the releases that it is composed with")
        case _:
            assert_never(cost)


def _with_failures(spending: Spending, steps: int) -> Cost:
    """Return what ``steps`` units pay for releases and failures together.

    Who tests for one unit at level x has power g(x) + delta, g that of the releases alone. From unit to unit the power
    so far is the next level, so a failure is no k delta: noise that one unit passes rarely, several pass more often.
    """
    delta = _promising(basic.deltas(spending), steps)  # those of releases known as (epsilon, delta) count here too
    releases: list[Cost] = []
    if spending.gaussian:
        mu = gaussian.mu(spending)
        failure = _power_gained(mu, delta, steps)
        releases.append(GaussianCost(product(steps, mu), 1.0))
    elif spending.count:
        epsilon, failure = group(basic.losses(spending), delta, steps)
        releases.append(PureCost(epsilon))
    else:
        failure = product(steps, delta)
    enlarged: Cost = FailureCost(_promising(failure, steps))
    if releases:
        enlarged = SequenceCost((*releases, enlarged))
    for assumption in spending.assumptions:
        enlarged = AssumedCost(enlarged, assumption)
    return enlarged


def _power_gained(mu: float, delta: float, steps: int) -> float:
    """Return d(steps), where d(1) = delta and d(a + b) = Φ(Φ⁻¹(d(a)) + b mu) + d(b), rounded up; by doubling."""
    total, block, size = 0.0, delta, 1
    while steps:
        if steps & 1:
            total = _added(gaussian.power(product(size, mu), total), block)
        block, size, steps = _added(gaussian.power(product(size, mu), block), block), 2 * size, steps >> 1
    return total


def _added(one: float, other: float) -> float:
    return min(1.0, up(one + other, 1))


def _promising(delta: float, steps: int) -> float:
    if delta >= 1:
        raise UnsupportedCost(f"a cost with a delta promises nothing about {steps} units together: it grows to 1")
    return delta


def _log_expm1(x: float) -> float:
    return math.log(math.expm1(x)) if x < 30 else x + math.log1p(-math.exp(-x))
