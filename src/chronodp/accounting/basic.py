"""Basic composition: epsilons add and deltas add.

Row "basic" of both tables in ``docs/explanation/proofs/accounting.md``: sums are rational, and the last step is the
least float not below.

References:
    Dwork, Roth (2014), The algorithmic foundations of differential privacy, theorem 3.16.
"""

from __future__ import annotations

import math
from fractions import Fraction

from chronodp.accounting.gaussian import epsilon_of
from chronodp.accounting.rounding import down, sum_up, up, written_up
from chronodp.accounting.spending import Costs, Spending, exact_loss, gather
from chronodp.privacy import GaussianCost, SampledGaussianCost, check_delta, decimal_value

__all__ = ["Strengths", "deltas", "epsilon", "left_of", "losses", "split", "strengths"]

Strengths = list[tuple[float, int]]
"""Ratios of sensitivity to sigma, each with the number of releases that have it."""


def epsilon(costs: Costs, delta: float = 0.0) -> float:
    """Return the sum of all epsilons at ``delta``, rounded up; infinite if ``delta`` does not cover the deltas.

    Gaussian releases have no delta of their own: what is left of ``delta`` is shared among them equally.

    >>> from chronodp.privacy import PureCost, RepeatedCost
    >>> epsilon(RepeatedCost(PureCost(0.1), 3))        # numbers count as written: no 0.30000000000000004
    0.3
    """
    check_delta(delta)
    spending = gather(costs)
    noise = strengths(spending, different=200)
    if spending.deltas > decimal_value(delta) or (noise and left_of(spending, delta) <= 0):
        return math.inf
    parts = split(noise, left_of(spending, delta)) if noise else []
    if any(math.isinf(value) for value, _ in parts):
        return math.inf
    # What was computed counts to its last bit; what people wrote counts as they wrote it.
    return written_up(_losses(spending) + sum_up(times * Fraction(value) for value, times in parts))


def strengths(spending: Spending, *, different: int) -> Strengths:
    """Return the Gaussian releases' strengths, rounded up; past ``different`` kinds they are rounded up to that many.

    That keeps every bound true and the time short.
    """
    ratios = sorted(
        (up(cost.sensitivity / cost.sigma, 1), times)
        for cost, times in spending.releases.items()
        if isinstance(cost, GaussianCost | SampledGaussianCost)
    )
    size = -(-len(ratios) // different)
    runs = (ratios[start : start + size] for start in range(0, len(ratios), size or 1))
    # The last of a run is its largest ratio: every release of the run counts as no less than it is.
    return [(run[-1][0], sum(times for _, times in run)) for run in runs]


def split(noise: Strengths, left: float) -> list[tuple[float, int]]:
    """Return the Gaussian releases as (epsilon, number), each given an equal part of ``left`` > 0 of delta."""
    share = down(float(Fraction(left) / sum(times for _, times in noise)), 2)
    return [(epsilon_of(ratio, share), times) for ratio, times in noise]


def left_of(spending: Spending, delta: float) -> float:
    """Return what remains of ``delta`` after the deltas that costs bring with them, rounded down."""
    left = decimal_value(delta) - spending.deltas
    return down(float(left), 1) if left > 0 else -1.0


def deltas(spending: Spending) -> float:
    """Return the sum of the deltas that costs bring with them, rounded up."""
    return written_up(spending.deltas)


def losses(spending: Spending) -> float:
    """Return the sum of the epsilons of all releases but the Gaussian ones, rounded up."""
    return written_up(_losses(spending))


def _losses(spending: Spending) -> Fraction:
    return sum_up(times * exact_loss(cost) for cost, times in spending.bounded.items())
