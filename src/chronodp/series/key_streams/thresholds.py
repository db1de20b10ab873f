"""From how many noisy people on a key is published at each look, and how far one unit reaches.

"Thresholds" and "How far one unit reaches" in ``docs/explanation/proofs/key-streams.md``.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from chronodp.series.recursion import Floats
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.reach import above
from chronodp.series.shapes.toeplitz import White

__all__ = ["KeyShape", "chance_of_a_key", "moved_length", "noise_lengths", "thresholds"]

KeyShape: TypeAlias = White | BufferedLinear
"""Shapes of Gaussian noise that go on with a few numbers of memory; their coefficients are never negative."""

_SLACK = 2.0**-40  # far above what sums, roots and quantiles lose in floating point


def moved_length(column: Floats, *, may_return: bool) -> float:
    """Return the most that one person's first meeting with a key changes C x, rounded up.

    It comes or goes at one look: ‖c‖. Where the rest of what the person does stays, it may come back at a later look:
    then also ‖C (e_a - e_b)‖, with a < b. Of pairs at one distance the first is the longest, since later columns are
    cut off earlier.

    Args:
        column: the first column of C, with no number below 0.
        may_return: whether a later meeting of the same person with the key stays when an earlier one goes.
    """
    lengths = [float(column @ column)]
    if may_return:
        for apart in range(1, len(column)):
            head, rest = column[:apart], column[apart:] - column[: len(column) - apart]
            lengths.append(float(head @ head + rest @ rest))
    return above(math.sqrt(max(lengths)), 2 * len(column))


def noise_lengths(shape: KeyShape, looks: int) -> tuple[Floats, Floats]:
    """Return the l2 and l1 length of the row of each look in A C⁻¹, with A the running total.

    The noise of a total is that row times the draws.
    """
    row = np.cumsum(shape.inverse(looks))
    return np.sqrt(np.cumsum(row**2)), np.cumsum(np.abs(row))


def chance_of_a_key(delta: float, keys: int) -> float:
    """Return how likely one of so many keys may be told, so that any is with probability at most ``delta``."""
    return -math.expm1(math.log1p(-delta) / keys) * (1 - _SLACK)


def thresholds(deviations: Floats, chance: float, *, lift: float = 1.0, allowance: Floats | float = 0.0) -> Floats:
    """Return a threshold for each look, such that a key which one unit holds alone passes any with ``chance`` at most.

        τ_i = lift + sd_i z(chance / n) + allowance_i

    where z(p) is passed by a standard normal variate with probability p, and n is the number of looks.

    Args:
        deviations: sd_i, the standard deviation of the noise of each look.
        chance: of the key, over all looks together.
        lift: the most that one unit alone makes a total.
        allowance: how far rounding may carry the noise of each look beyond that of ideal draws.

    >>> thresholds(np.array([6.25, 6.25]), 2e-6).round(3).tolist()
    [30.709, 30.709]
    """
    from scipy.special import ndtri

    passed = -float(ndtri(chance / len(deviations))) * (1 + _SLACK)
    return lift + deviations * max(passed, 0.0) + allowance
