"""Intervals of means: what a sum about the middle of a clip over a count may be, inside the clip.

*Means* under "Intervals" of ``docs/explanation/proofs/release.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chronodp.postprocess import FiellerSets, Law, deviations, mixed_sets, quadratic_sets
from chronodp.series.measures.base import Floats

__all__ = ["mean_ends"]


def mean_ends(
    law: Law,
    draws: Sequence[tuple[float, float]],
    sums: Floats,
    counts: Floats,
    terms: Floats,
    *,
    half: float,
    level: float,
) -> tuple[Floats, Floats]:
    """Return Fieller's interval: all means m inside ± half for which sum - m * count is within its own noise of 0.

    Each draw of a period stands with its scale in the sum and in the count; row i adds up ``terms[i]`` such draws. Of
    shaped noise that is the sum of their squared weights, and need not be whole.
    """
    lower, upper = np.full(sums.shape, -half), np.full(sums.shape, half)
    for count in np.unique(terms):
        rows = terms == count
        sets = _sets(law, draws, sums[rows], counts[rows], float(count), half, level)
        # Nobody, or fewer, is there as far as the noise tells: the mean may be anything inside the clip.
        told = (counts[rows] > 0) & ~((sets.kind == "empty") & np.isnan(sets.value))
        lower[rows] = np.where(told, sets.lower, -half)
        upper[rows] = np.where(told, sets.upper, half)
    return lower, upper


def _sets(
    law: Law,
    draws: Sequence[tuple[float, float]],
    sums: Floats,
    counts: Floats,
    count: float,
    half: float,
    level: float,
) -> FiellerSets:
    within = (-half, half)
    if law == "laplace" and count.is_integer():
        kinds = [(on_sum, on_count, int(count)) for on_sum, on_count in draws]
        return mixed_sets(sums, counts, kinds, scale=1.0, level=level, within=within)
    aa, ab, bb = (count * sum(draw[i] * draw[j] for draw in draws) for i, j in ((0, 0), (0, 1), (1, 1)))
    multiplier = deviations(law, level)
    return quadratic_sets(sums, counts, aa=aa, ab=ab, bb=bb, multiplier=multiplier, within=within)
