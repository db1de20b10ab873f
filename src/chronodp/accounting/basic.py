"""Basic composition: epsilons add and deltas add.

References:
    Dwork, Roth (2014), The algorithmic foundations of differential privacy, theorem 3.16.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Context, Decimal

from chronodp.accounting.gaussian import epsilon_of
from chronodp.accounting.spending import Costs, Spending, gather
from chronodp.privacy.costs import ApproximateCost, GaussianCost, SampledGaussianCost
from chronodp.privacy.parameters import check_delta

__all__ = ["deltas", "epsilon", "split"]

_EXACT = Context(prec=80)


def epsilon(costs: Costs, delta: float = 0.0) -> float:
    """Return the sum of all epsilons at ``delta``; infinite if ``delta`` does not cover the deltas.

    Gaussian releases have no delta of their own: what is left of ``delta`` is shared among them equally.

    >>> from chronodp.privacy import PureCost, RepeatedCost
    >>> epsilon(RepeatedCost(PureCost(0.1), 3))        # numbers count as written: no 0.30000000000000004
    0.3
    """
    check_delta(delta)
    spending = gather(costs)
    parts = split(spending, delta - deltas(spending))
    if parts is None:
        return math.inf
    return float(_sum((Decimal(repr(value)), times) for value, times in parts))


def split(spending: Spending, left: float, *, different: int = 200) -> list[tuple[float, int]] | None:
    """Return every release as (epsilon, number), after giving ``left`` of delta to the Gaussian ones in equal parts.

    None if ``left`` does not suffice. Past ``different`` kinds of Gaussian noise the strengths are rounded up to
    that many, which keeps the bound true and the time short.
    """
    parts = list(spending.largest_losses)
    ratios = sorted(
        (cost.sensitivity / cost.sigma, times)
        for cost, times in spending.releases.items()
        if isinstance(cost, GaussianCost | SampledGaussianCost)
    )
    if not ratios:
        return parts if left >= 0 else None
    if left <= 0:
        return None
    share = left / sum(times for _, times in ratios)
    size = -(-len(ratios) // different)
    for start in range(0, len(ratios), size):
        run = ratios[start : start + size]
        parts.append((epsilon_of(run[-1][0], share), sum(times for _, times in run)))
    return parts


def deltas(spending: Spending) -> float:
    """Return the sum of the deltas that releases bring with them."""
    return float(
        _sum(
            (Decimal(repr(cost.delta)), times)
            for cost, times in spending.releases.items()
            if isinstance(cost, ApproximateCost)
        )
    )


def _sum(parts: Iterable[tuple[Decimal, int]]) -> Decimal:
    total = Decimal(0)
    for value, times in parts:
        total = _EXACT.add(total, _EXACT.multiply(value, times))
    return total
