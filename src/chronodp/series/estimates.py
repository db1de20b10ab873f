"""From noisy numbers to estimates with intervals, over any stretches of periods.

Intervals cover noise, exactly as it was added, at the stated level and evenly on both sides; what bounding takes away
is not in them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chronodp.postprocess import Estimates, Floats, quantiles
from chronodp.series.design import Design
from chronodp.series.place_reading import place_halves
from chronodp.series.shapes.errors import window_variances
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shapes.tree import Tree
from chronodp.series.windows import Windows

__all__ = ["Estimates", "Floats", "estimate", "in_units", "noise_terms"]


def estimate(design: Design, parts: tuple[Floats, ...], windows: Windows, *, average: bool, level: float) -> Estimates:
    """Return sums over stretches of periods, or their averages by period; of means and variances always these."""
    measure = design.table.measure
    if measure.ratio:
        sums, terms = tuple(windows.sums(part) for part in parts), noise_terms(design, windows)
        found = Estimates(*measure.read_out(sums, terms, noises=design.noises, level=level))
        return in_units(found, design.table.scales)
    lengths = windows.lengths
    divisor = np.ones(len(lengths))
    if average or measure.averages:
        divisor *= lengths
    if measure.divisor is not None:
        divisor *= measure.divisor
    value = windows.sums(parts[0]) / divisor[:, None]
    if design.measured is not None:
        wide = place_halves(design, noise_terms(design, windows), lengths, level) / divisor[:, None]
        return Estimates(value, value - wide, value + wide)
    half = (quantiles(design.law, noise_terms(design, windows), level) * design.noises[0].scale / divisor)[:, None]
    return in_units(Estimates(value, value - half, value + half), design.table.scales)


def in_units(found: Estimates, scales: Sequence[float] | Floats | None) -> Estimates:
    """Return estimates of groups whose numbers were divided by scales, in units of the column again."""
    if scales is None:
        return found
    by = np.array(scales)
    return Estimates(found.value * by, found.lower * by, found.upper * by)


def noise_terms(design: Design, windows: Windows) -> Floats:
    """Return the sum of squared weights with which draws enter the sum over each stretch of periods."""
    horizon, shape = design.table.horizon, design.shape
    if isinstance(shape, White):
        return windows.lengths.astype(np.float64)
    if not windows.starts.any() and not isinstance(shape, Tree):  # running totals: one pass, where each has its length
        return np.cumsum(np.cumsum(shape.inverse(horizon)) ** 2)[windows.stops - 1]
    return window_variances(shape, windows.starts, windows.stops, horizon)
