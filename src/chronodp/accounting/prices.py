"""What a cost amounts to in what people ask in: an epsilon at a delta that all of a budget share."""

from __future__ import annotations

import math

from chronodp.accounting import basic, gaussian
from chronodp.accounting.spending import gather
from chronodp.display import amount
from chronodp.errors import UnsupportedCost
from chronodp.privacy import Cost, GaussianCost, LaplaceCost

__all__ = ["epsilon_at", "price_words"]


def epsilon_at(cost: Cost, delta: float) -> float:
    """Return the epsilon that a cost amounts to at a delta, rounded up; infinite where no epsilon covers it.

    >>> from chronodp.privacy import PureCost
    >>> epsilon_at(PureCost(0.5), 0.0), round(epsilon_at(GaussianCost(1.0, gaussian.sigma(0.5, 0.03)), 1e-6), 2)
    (0.5, 1.85)
    """
    spending = gather(cost)
    concentrated = gaussian.epsilon(spending, delta) if delta else math.inf
    return concentrated if spending.gaussian else min(concentrated, basic.epsilon(spending, delta))


def price_words(cost: Cost, delta: float) -> str:
    """Return a cost as a price.

    >>> price_words(GaussianCost(136.382, 576.17), 1e-6), price_words(LaplaceCost(3.0, 6.0), 0.0)
    ('ε = 1 at δ = 1e-06 (noise σ 576)', 'ε = 0.5 (noise scale 6)')
    """
    try:
        epsilon = epsilon_at(cost, delta)
    except UnsupportedCost:
        epsilon = math.inf
    if math.isinf(epsilon):
        return str(cost)
    price = f"ε = {amount(epsilon, 3)}" + (f" at δ = {delta:g}" if delta else "")
    match cost:
        case GaussianCost(sigma=sigma):
            return f"{price} (noise σ {amount(sigma, 3)})"
        case LaplaceCost(scale=scale):
            return f"{price} (noise scale {amount(scale, 3)})"
    return price
