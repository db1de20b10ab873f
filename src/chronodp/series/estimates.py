"""From noisy numbers to estimates with intervals, over any stretches of periods.

Intervals cover noise, exactly as it was added, at the stated level and evenly on both sides; what bounding takes away
is not in them.
"""

from __future__ import annotations

import numpy as np

from chronodp.postprocess.columns import Estimates, Floats
from chronodp.postprocess.tails import mixed_quantile, quantiles
from chronodp.series.design import Design
from chronodp.series.measures import Mean
from chronodp.series.shapes.errors import window_variances
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shapes.tree import Tree
from chronodp.series.windows import Windows

__all__ = ["Estimates", "Floats", "estimate", "estimate_quantile", "middle", "noise_terms"]

_POINTS = 129  # values of a mean at which Laplace noise is tabulated


def estimate(design: Design, parts: tuple[Floats, ...], windows: Windows, *, average: bool, level: float) -> Estimates:
    """Return sums over stretches of periods, or their averages by period; of means always the mean."""
    measure = design.table.measure
    if measure.ratio:
        return _ratio(design, windows.sums(parts[0]), windows.sums(parts[1]), noise_terms(design, windows), level)
    lengths = windows.lengths
    divisor = np.ones(len(lengths))
    if average or measure.averages:
        divisor *= lengths
    if measure.divisor is not None:
        divisor *= measure.divisor
    value = windows.sums(parts[0]) / divisor[:, None]
    half = (quantiles(design.law, noise_terms(design, windows), level) * design.noises[0].scale / divisor)[:, None]
    return Estimates(value, value - half, value + half)


def noise_terms(design: Design, windows: Windows) -> Floats:
    """Return the sum of squared weights with which draws enter the sum over each stretch of periods."""
    horizon, shape = design.table.horizon, design.shape
    if isinstance(shape, White):
        return windows.lengths.astype(np.float64)
    if not windows.starts.any() and not isinstance(shape, Tree):  # running totals: one pass, where each has its length
        return np.cumsum(np.cumsum(shape.inverse(horizon)) ** 2)[windows.stops - 1]
    return window_variances(shape, windows.starts, windows.stops, horizon)


def estimate_quantile(
    counts: Floats, edges: Floats, q: float, *, design: Design, terms: Floats, level: float
) -> Estimates:
    """Return where a fraction ``q`` of people lies below, from noisy counts by bin (rows, groups, bins).

    With D_j the people below edge j less q times all, the quantile is past edge j as long as D_j < 0. From each side
    edges are given up as long as their D_j is surely on the wrong side; the first that is not stops the walk, so that
    the true one is passed with at most half the missing level.
    """
    bins = counts.shape[-1]
    below = np.cumsum(counts, axis=-1) - q * counts.sum(axis=-1, keepdims=True)
    scale = design.noises[0].scale
    # Edge j+1 stands on the noise of j+1 bins with weight 1-q and of the others with weight q.
    kinds, which = np.unique(terms, return_inverse=True)
    half = scale * np.array(
        [[_edge_quantile(design, q, edge, bins, kind, level) for edge in range(bins)] for kind in kinds]
    )
    half = half[which][:, None, :]
    low = np.cumprod(below[..., :-1] + half[..., :-1] < 0, axis=-1).sum(axis=-1)
    high = np.cumprod((below[..., :-1] - half[..., :-1] > 0)[..., ::-1], axis=-1).sum(axis=-1)
    lower, upper = edges[low], edges[bins - high]
    # The estimate itself: the noisy distribution made monotone, then read between edges.
    rising = np.maximum.accumulate(np.concatenate((np.full((*below.shape[:-1], 1), -np.inf), below), axis=-1), axis=-1)
    crossing = np.argmax(rising[..., 1:] >= 0, axis=-1)
    crossing = np.where(np.all(rising[..., 1:] < 0, axis=-1), bins - 1, crossing)
    start, stop = edges[crossing], edges[crossing + 1]
    inside = np.take_along_axis(counts, crossing[..., None], axis=-1)[..., 0]
    left = np.take_along_axis(below, crossing[..., None], axis=-1)[..., 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(inside > 0, 1 - left / inside, 0.5)
    value = start + np.clip(np.nan_to_num(share, nan=0.5), 0.0, 1.0) * (stop - start)
    return Estimates(np.clip(value, lower, upper), lower, upper)


def _edge_quantile(design: Design, q: float, edge: int, bins: int, terms: float, level: float) -> float:
    inside, outside = terms * (edge + 1), terms * (bins - edge - 1)
    if design.law == "gaussian":
        weighted = (1 - q) ** 2 * inside + q**2 * outside
        return float(quantiles("gaussian", [weighted], level)[0])
    return mixed_quantile("laplace", (1 - q, round(inside)), (q, round(outside)), level)


def _ratio(design: Design, sums: Floats, counts: Floats, terms: Floats, level: float) -> Estimates:
    """Fieller's interval: all means m inside the clip for which sum - m * count is within its own noise of 0."""
    half, centre = _mean_of(design).half, middle(design)
    value = np.clip(sums / np.maximum(counts, 1.0), -half, half)
    ends = _gaussian_ends if design.law == "gaussian" else _laplace_ends
    lower, upper = ends(design, sums, counts, terms, half, level)
    return Estimates(centre + value, centre + lower, centre + upper)


def middle(design: Design) -> float:
    """Return what was taken from each person's total before adding up: the middle of the clip on the grid."""
    return _mean_of(design).middle(design.noises[0].step)


def _mean_of(design: Design) -> Mean:
    if not isinstance(design.table.measure, Mean):
        raise AssertionError("asked of means only")
    return design.table.measure


def _gaussian_ends(
    design: Design, sums: Floats, counts: Floats, terms: Floats, half: float, level: float
) -> tuple[Floats, Floats]:
    reach = (quantiles("gaussian", terms, level) ** 2)[:, None]
    on_sum, on_count = (reach * noise.scale**2 for noise in design.noises)
    square, cross, rest = counts**2 - on_count, sums * counts, sums**2 - on_sum
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.maximum(cross**2 - square * rest, 0.0))
        low, high = (cross - root) / square, (cross + root) / square
    # Too few people to tell the count from 0: the mean may be anything inside the clip.
    known = (square > 0) & (counts > 0)
    return np.where(known, np.clip(low, -half, half), -half), np.where(known, np.clip(high, -half, half), half)


def _laplace_ends(
    design: Design, sums: Floats, counts: Floats, terms: Floats, half: float, level: float
) -> tuple[Floats, Floats]:
    points = np.linspace(0.0, half, _POINTS)
    on_sum, on_count = (noise.scale for noise in design.noises)
    lower, upper = np.full(sums.shape, -half), np.full(sums.shape, half)
    for count in np.unique(terms):
        rows = np.flatnonzero(terms == count)
        widths = np.array(
            [mixed_quantile("laplace", (on_sum, int(count)), (on_count * mean, int(count)), level) for mean in points]
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
