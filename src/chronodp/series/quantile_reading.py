"""Quantiles read from noisy counts by bin, with intervals of edges.

*Reading* of ``docs/explanation/proofs/quantiles.md``: the interval's ends by a walk over edges, which the noise's own
law makes hold; the value by the nearest counts that never fall, all quantiles from one such fit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chronodp.postprocess import Estimates, Floats, mixed_quantile, quantiles as sum_quantiles
from chronodp.series.design import Design

__all__ = ["estimate_quantile", "read_quantiles"]


def estimate_quantile(
    counts: Floats, edges: Floats, q: float, *, design: Design, terms: Floats, level: float
) -> Estimates:
    """Return where a fraction ``q`` of people lies below, from counts by bin (rows, groups, bins) with noise on each.

    ``terms`` are the sums of squared weights with which draws enter the counts of each row.
    """
    bins = counts.shape[-1]
    kinds, which = np.unique(terms, return_inverse=True)
    # Edge j stands on the noise of j bins with weight 1-q and of the others with weight q.
    half = [[_edge_quantile(design, q, edge, bins, kind, level) for edge in range(1, bins)] for kind in kinds]
    widths = design.noises[0].scale * np.array(half).reshape(len(kinds), bins - 1)[which]
    found = read_quantiles(counts, edges, (q,), [widths])
    return Estimates(found.value[..., 0], found.lower[..., 0], found.upper[..., 0])


def read_quantiles(counts: Floats, edges: Floats, fractions: Sequence[float], half: Sequence[Floats]) -> Estimates:
    """Return where these fractions of people lie below, from noisy counts (rows, groups, bins), as a last axis.

    With D_j the people below edge j less q times all, the quantile is past edge j as long as D_j < 0. From each side
    edges are given up as long as their D_j is surely on the wrong side; the first that is not stops the walk, so that
    the true one is passed with at most half the missing level.

    Args:
        counts: noisy counts by bin.
        edges: of the bins, in order.
        fractions: the quantiles, ascending.
        half: for each of them, how far noise carries D_j (rows, edges between bins), at the level.
    """
    rows, groups, bins = counts.shape
    running = np.zeros((rows, groups, bins + 1))
    np.cumsum(counts, axis=-1, out=running[..., 1:])
    value = np.empty((rows, groups, len(fractions)))
    lower, upper = np.empty_like(value), np.empty_like(value)
    for index, (q, width) in enumerate(zip(fractions, half, strict=True)):
        apart = running[..., 1:-1] - q * running[..., -1:]
        low = np.cumprod(apart + width[:, None, :] < 0, axis=-1).sum(axis=-1)
        high = np.cumprod((apart - width[:, None, :] > 0)[..., ::-1], axis=-1).sum(axis=-1)
        lower[..., index], upper[..., index] = edges[low], edges[bins - high]
        value[..., index] = _crossings(running - q * running[..., -1:], edges)
    # The one fit keeps quantiles in order, so the interval gives way and not the value.
    return Estimates(value, np.minimum(lower, value), np.maximum(upper, value))


def _crossings(apart: Floats, edges: Floats) -> Floats:
    """Return where the nearest numbers that never fall cross 0, in proportion between two edges, or amid equal ones.

    That fit is below 0 before the first least of the running sums of ``apart``, and above it after the last. Next to
    them it is the largest mean that ends there, and the least that begins there: no fit need be made. A running maximum
    would keep every upward error, and lie too far down the axis.
    """
    last = apart.shape[-1] - 1
    sums = np.zeros((*apart.shape[:-1], last + 2))
    np.cumsum(apart, axis=-1, out=sums[..., 1:])
    first = np.argmin(sums, axis=-1)[..., None]
    final = last + 1 - np.argmin(sums[..., ::-1], axis=-1)[..., None]
    places = np.arange(last + 2)
    least = np.take_along_axis(sums, first, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        before = np.where(places < first, (least - sums) / (first - places), -np.inf).max(axis=-1)
        after = np.where(places > final, (sums - least) / (places - final), np.inf).min(axis=-1)
        share = np.where(np.isfinite(before) & np.isfinite(after), before / (before - after), 0.5)
    start, stop = first[..., 0], final[..., 0]
    # Equal to 0 from edge ``start`` to ``stop`` - 1; where nothing is, 0 is crossed between these two edges.
    low, high = (
        np.clip(np.where(start < stop, start, start - 1), 0, last),
        np.clip(np.where(start < stop, stop - 1, start), 0, last),
    )
    share = np.where(start < stop, 0.5, share)
    return np.asarray(edges[low] + share * (edges[high] - edges[low]))


def _edge_quantile(design: Design, q: float, edge: int, bins: int, terms: float, level: float) -> float:
    inside, outside = terms * edge, terms * (bins - edge)
    if design.law == "gaussian":
        weighted = (1 - q) ** 2 * inside + q**2 * outside
        return float(sum_quantiles("gaussian", [weighted], level)[0])
    return mixed_quantile("laplace", (1 - q, round(inside)), (q, round(outside)), level)
