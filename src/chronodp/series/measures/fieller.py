"""Intervals of a ratio of two noisy numbers: a sum about the middle of a clip over a count.

*Means* under "Intervals" of ``docs/explanation/proofs/release.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from chronodp.postprocess import mixed_quantile, quantiles
from chronodp.series.measures.base import Floats
from chronodp.series.noise import Noise

__all__ = ["fieller_ends", "split_ends"]

_POINTS = 129  # values of a mean at which Laplace noise is tabulated


def fieller_ends(
    noises: Sequence[Noise], sums: Floats, counts: Floats, terms: Floats, *, half: float, level: float
) -> tuple[Floats, Floats]:
    """Return Fieller's interval: all means m inside ± half for which sum - m * count is within its own noise of 0."""
    if noises[0].law == "gaussian":
        return _gaussian_ends(noises[:2], sums, counts, terms, half, level)
    on_sum, on_count = (noise.scale for noise in noises[:2])
    return _laplace_ends(lambda mean: (on_sum, on_count * mean), sums, counts, terms, half, level)


def split_ends(
    noise: Noise, sums: Floats, counts: Floats, terms: Floats, *, half: float, level: float
) -> tuple[Floats, Floats]:
    """Return Fieller's interval where sum and count are made of two numbers with the same noise.

    With ``above`` and ``below`` these numbers, the sum is (above - below) / 2 and the count (above + below) / (2 half).
    """
    if noise.law == "gaussian":  # half the difference and the sum of two equal Gaussians are independent
        on_sum, on_count = noise.scale / math.sqrt(2), noise.scale / (math.sqrt(2) * half)
        noises = (replace(noise, scale=on_sum), replace(noise, scale=on_count))
        return _gaussian_ends(noises, sums, counts, terms, half, level)

    # sum - m count is (1 - m / half) / 2 of the one's noise less (1 + m / half) / 2 of the other's.
    def scales(mean: float) -> tuple[float, float]:
        return noise.scale * (1 - mean / half) / 2, noise.scale * (1 + mean / half) / 2

    return _laplace_ends(scales, sums, counts, terms, half, level)


def _gaussian_ends(
    noises: Sequence[Noise], sums: Floats, counts: Floats, terms: Floats, half: float, level: float
) -> tuple[Floats, Floats]:
    reach = (quantiles("gaussian", terms, level) ** 2)[:, None]
    on_sum, on_count = (reach * noise.scale**2 for noise in noises)
    square, cross, rest = counts**2 - on_count, sums * counts, sums**2 - on_sum
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.maximum(cross**2 - square * rest, 0.0))
        low, high = (cross - root) / square, (cross + root) / square
    # Too few people to tell the count from 0: the mean may be anything inside the clip.
    known = (square > 0) & (counts > 0)
    return np.where(known, np.clip(low, -half, half), -half), np.where(known, np.clip(high, -half, half), half)


def _laplace_ends(
    scales: Callable[[float], tuple[float, float]],
    sums: Floats,
    counts: Floats,
    terms: Floats,
    half: float,
    level: float,
) -> tuple[Floats, Floats]:
    """``scales`` are of the two noises in sum - m count for a mean m of 0 or more; for -m its noise is the same."""
    points = np.linspace(0.0, half, _POINTS)
    lower, upper = np.full(sums.shape, -half), np.full(sums.shape, half)
    for count in np.unique(terms):
        rows = np.flatnonzero(terms == count)
        pairs = [scales(float(mean)) for mean in points]
        widths = np.array(
            [mixed_quantile("laplace", (one, int(count)), (other, int(count)), level) for one, other in pairs]
        )
        # As long as the count is above how fast the width can grow, sum - m count crosses each end of it once.
        steepest = float(np.max(np.diff(widths) / np.diff(points)))
        found = counts[rows] > steepest
        for ends, side in ((lower, 1.0), (upper, -1.0)):
            crossing = _crossing(sums[rows], counts[rows], side, points, widths)
            ends[rows] = np.where(found, crossing, -side * half)
    return lower, upper


def _crossing(sums: Floats, counts: Floats, side: float, points: Floats, widths: Floats) -> Floats:
    """Return the mean m inside the clip at which sum - m count falls to the width, or to less it.

    Between two points the width is a straight line: halving finds between which two, and there m is solved for.
    """
    knots = np.concatenate((-points[:0:-1], points))
    goals = side * np.concatenate((widths[:0:-1], widths))
    low, high = np.zeros(sums.shape, np.intp), np.full(sums.shape, len(knots) - 1)
    for _ in range((len(knots) - 1).bit_length() - 1):  # as many stretches between points as a power of 2
        between = (low + high) // 2
        above = sums - knots[between] * counts > goals[between]
        low, high = np.where(above, between, low), np.where(above, high, between)
    excess = sums - knots[low] * counts - goals[low]
    with np.errstate(divide="ignore", invalid="ignore"):  # where counts are too small to tell anything
        step = excess / (counts + (np.diff(goals) / np.diff(knots))[low])
    found: Floats = np.clip(knots[low] + step, knots[low], knots[high])
    return found
