"""Ratios of Stirling numbers of the second kind, which the dispatch of the Threshold mechanism is made of.

The numbers themselves overflow, and the printed alternating sums lose every digit near a window of 50. Ratios of
neighbours obey a recurrence with positive terms only, which is stable.

ρ of "Dispatch of the Threshold mechanism" in ``docs/explanation/proofs/temporal.md``.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.privacy import check_whole

__all__ = ["LONGEST", "stirling_ratios"]

LONGEST = 1000
"""The longest window: beyond it the smallest ratios fall below what a float holds."""


@lru_cache(maxsize=16)
def stirling_ratios(most: int) -> NDArray[np.float64]:
    """Return the table of ρ(K, c) = S(K, c - 1) / S(K, c) for 1 <= c <= K <= ``most``.

    Where S(K, c) counts the ways to part K things into c groups, and
    ρ(K, c) = ρ(K-1, c) (c - 1 + ρ(K-1, c-1)) / (c + ρ(K-1, c)), ρ(K, K) = K (K-1) / 2 and ρ(K, 1) = 0.

    Entries that are no such ratio are NaN.

    >>> round(6 * float(stirling_ratios(4)[4, 3]), 12)         # S(4, 2) / S(4, 3) = 7 / 6
    7.0
    """
    check_whole("most", most, most=LONGEST)
    table = np.full((most + 1, most + 1), np.nan)
    table[1, 1] = 0.0
    for size in range(2, most + 1):
        above = table[size - 1, 1:size]
        groups = np.arange(2, size)
        table[size, 1] = 0.0
        table[size, 2:size] = above[1:] * (groups - 1 + above[:-1]) / (groups + above[1:])
        table[size, size] = size * (size - 1) / 2
    table.setflags(write=False)
    return table
