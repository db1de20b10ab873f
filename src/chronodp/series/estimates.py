"""From noisy numbers to estimates with intervals, over any stretches of periods.

Intervals cover noise, exactly as it was added, at the stated level and evenly on both sides; what bounding takes away
is not in them.
"""

from __future__ import annotations

import numpy as np

from chronodp.postprocess import Estimates, Floats, mixed_quantile, quantiles
from chronodp.series.design import Design
from chronodp.series.shapes.errors import window_variances
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shapes.tree import Tree
from chronodp.series.windows import Windows

__all__ = ["Estimates", "Floats", "estimate", "estimate_quantile", "noise_terms"]


def estimate(design: Design, parts: tuple[Floats, ...], windows: Windows, *, average: bool, level: float) -> Estimates:
    """Return sums over stretches of periods, or their averages by period; of means and variances always these."""
    measure = design.table.measure
    if measure.ratio:
        sums, terms = tuple(windows.sums(part) for part in parts), noise_terms(design, windows)
        return Estimates(*measure.read_out(sums, terms, noises=design.noises, level=level))
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
