"""Noise that changes over time, by a public rule: by how much errors matter."""

from __future__ import annotations

import math

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_epsilon, check_positive

__all__ = ["share_over_time"]


def share_over_time(importances: tuple[float, ...], *, epsilon: float) -> tuple[float, ...]:
    """Return how to share an epsilon over periods so that errors, weighted by importance, are least together.

    Σ_t weight_t · 2 (Δ_f / ε_t)² under Σ_t ε_t = epsilon is least at ε_t proportional to the cube root of weight_t.

    >>> [round(part, 4) for part in share_over_time((1.0, 8.0, 1.0), epsilon=1.0)]
    [0.25, 0.5, 0.25]
    """
    if not isinstance(importances, tuple) or not importances:
        raise InvalidArgument("importances", importances, "a tuple of numbers above 0, one a period")
    roots = [math.cbrt(check_positive("importances", weight)) for weight in importances]
    total = check_epsilon(epsilon) * (1 - 1e-12)  # so that the parts never add up to more
    return tuple(total * root / sum(roots) for root in roots)
