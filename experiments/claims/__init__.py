"""Claims of the sources as data, what we compute for each, and the verdict that follows from both."""

from __future__ import annotations

from experiments.claims.claim import Claim, Finding
from experiments.claims.computations import computation
from experiments.claims.datasets import Given
from experiments.claims.rules import (
    above,
    always,
    argmin_at,
    below,
    bound,
    equal,
    every,
    existence,
    falling,
    limit,
    most,
    number,
    optimum,
    order,
    orders,
    rising,
)
from experiments.claims.tolerance import Tolerance, about_ratio, about_share, printed
from experiments.claims.values import Heights, Pair

__all__ = [
    "Claim",
    "Finding",
    "Given",
    "Heights",
    "Pair",
    "Tolerance",
    "about_ratio",
    "about_share",
    "above",
    "always",
    "argmin_at",
    "below",
    "bound",
    "computation",
    "equal",
    "every",
    "existence",
    "falling",
    "limit",
    "most",
    "number",
    "optimum",
    "order",
    "orders",
    "printed",
    "rising",
]
