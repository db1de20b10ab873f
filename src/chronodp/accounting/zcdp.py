"""Zero-concentrated differential privacy: one number rho that adds.

Row "zCDP" of both tables and the step *Bounded range in Rényi accounting* in ``docs/explanation/proofs/accounting.md``.

References:
    Bun, Steinke (2016), Concentrated differential privacy, propositions 1.3, 1.4 and 1.6.
"""

from __future__ import annotations

import math

from chronodp.accounting.rounding import times_up, up
from chronodp.accounting.spending import Costs, gather
from chronodp.privacy import check_fraction

__all__ = ["epsilon", "rho"]


def rho(costs: Costs) -> float:
    """Return rho of all releases, rounded up.

    Δ² / (2 σ²) for Gaussian noise, epsilon² / 2 for a bounded ratio, epsilon² / 8 for a bounded range.
    """
    spending = gather(costs)
    bounded = math.fsum(times_up(times, half**2 / 2) for half, times in spending.half_ranges)
    return up(spending.gaussian / 2 + bounded, 8)


def epsilon(costs: Costs, delta: float) -> float:
    """Return epsilon = rho + 2 sqrt(rho ln(1 / delta)), rounded up.

    >>> from chronodp.privacy import GaussianCost
    >>> round(epsilon(GaussianCost(sensitivity=1.0, sigma=5.0), delta=1e-5), 3)
    0.98
    """
    check_fraction("delta", delta)
    spending = gather(costs)
    left = spending.left_of(delta)
    if left <= 0:
        return math.inf
    total = rho(spending)
    return up(total + 2 * math.sqrt(total * -math.log(left)), 8)
