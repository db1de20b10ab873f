"""Reading a release of places: how many numbers there are, and how far noise carries each.

*Intervals* of ``docs/explanation/proofs/places.md``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess import Floats, deviations
from chronodp.series.design import Design
from chronodp.series.place_noise import axes_of
from chronodp.series.table import Table

__all__ = ["place_count", "place_deviations", "place_halves"]


def place_deviations(design: Design) -> Floats:
    """Return the standard deviation of every number of one period of white noise, nodes by keys as they are shown."""
    covariance = design.place_covariance
    if covariance is None:
        raise AssertionError("asked of places only")
    before, _, after = axes_of(design.table)
    return np.tile(np.repeat(np.sqrt(covariance.variance_of_all), after), before)


def place_halves(design: Design, terms: Floats, lengths: NDArray[np.int64], level: float) -> Floats:
    """Return half-widths of sums over stretches of periods, rows by nodes and keys.

    Exact for Gaussian noise; for a sum of unequal Laplace draws at least the level. One step a period is added for
    rounding.
    """
    spread = deviations(design.law, level) * np.sqrt(terms)[:, None] * place_deviations(design)
    return spread + (design.noises[0].step * lengths.astype(np.float64))[:, None]


def place_count(table: Table) -> int:
    """Return how many numbers a period shows: every node by every other key and bin."""
    if table.levels is None:
        raise AssertionError("asked of places only")
    before, _, after = axes_of(table)
    return math.prod((before, table.levels.tree.nodes, after))
