"""How a budget is shared among queries: the closed forms with the least error.

A query's squared error, over all its numbers and with its weight, is e / share². Shares of Laplace noise are epsilons
and add up to the whole; shares of Gaussian noise are mus, whose squares do. The argument stands in "The best shares" of
``docs/explanation/proofs/sharing-a-budget.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from chronodp.postprocess import Law

__all__ = ["best_shares", "equal_shares", "squared_error"]


def best_shares(errors: Sequence[float], *, law: Law, whole: float) -> list[float]:
    """Return the shares with the least sum of errors e_i / share_i².

    Laplace: share_i ∝ e_i^(1/3), and the least sum is (Σ e_i^(1/3))³ / whole². Gaussian: share_i² ∝ e_i^(1/2), and the
    least sum is (Σ e_i^(1/2))² / whole²,

    where
        e_i = w n 2 (m D)² for Laplace noise and w n m D² for Gaussian noise, of n numbers with weight w, of which one
        unit changes m by at most D each.

    >>> hourly, peak, total = (2 * n * (m * 5.0) ** 2 for n, m in ((720, 1), (30, 1), (30, 1)))
    >>> [round(share, 6) for share in best_shares((hourly, peak, total), law="laplace", whole=1.0)]
    [0.590541, 0.204729, 0.204729]
    """
    # Divided by the largest, so that no error is too large or too small for its root.
    largest = max(errors)
    if law == "laplace":
        roots = [math.cbrt(error / largest) for error in errors]
        return [whole * root / math.fsum(roots) for root in roots]
    roots = [math.sqrt(error / largest) for error in errors]
    return [whole * math.sqrt(root / math.fsum(roots)) for root in roots]


def equal_shares(count: int, *, law: Law, whole: float) -> list[float]:
    """Return the same share for every query."""
    return [whole / count if law == "laplace" else whole / math.sqrt(count)] * count


def squared_error(errors: Sequence[float], shares: Sequence[float]) -> float:
    """Return Σ e_i / share_i²."""
    return math.fsum(error / share**2 for error, share in zip(errors, shares, strict=True))
