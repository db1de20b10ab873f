"""Laplace draws that enter a number with one weight up to sign: their sum has a known law, of a tree too."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronodp.postprocess import quantiles
from chronodp.series.readings.linear import Linear
from chronodp.series.readings.weights import Floats, Weights
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shapes.tree import Tree

__all__ = ["EvenDraws", "even_draws"]


@dataclass(frozen=True, slots=True, eq=False)
class EvenDraws:
    """How many draws each cell stands on, and with which weight: each the product of its row's and its column's.

    Attributes:
        rows: how many draws over time.
        row_weights: with which weight.
        columns: over how many places.
        column_weights: with which weight, the scale of the noise included.
    """

    rows: Floats
    row_weights: Floats
    columns: Floats
    column_weights: Floats

    def half_widths(self, level: float) -> Floats:
        """Return how far the noise of each cell reaches."""
        over_time, row = np.unique(self.rows, return_inverse=True)
        places, column = np.unique(self.columns, return_inverse=True)
        reach = quantiles("laplace", np.outer(over_time, places).ravel(), level).reshape(len(over_time), len(places))
        found: Floats = reach[row][:, column] * self.row_weights[:, None] * self.column_weights[None, :]
        return found


def even_draws(linear: Linear) -> EvenDraws | None:
    """Return the draws of every cell where they all enter alike; None where weights differ.

    A window of a tree is the difference of two running totals. No block is added in the one and taken away in the
    other: both would have to reach more than half a block's parent to meet. So all its draws have the weight 1 or -1.
    """
    if len(linear.terms) != 1:
        return None
    (term,) = linear.terms
    source = term.source
    if source.law != "laplace" or not source.apart or not isinstance(source.shape, White | Tree):
        return None
    row_weights, column_weights = _window_weights(term.times), _even_weights(term.places)
    if row_weights is None or column_weights is None:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        rows = source.time_covariance(term.times, term.times) / row_weights**2
        columns = source.places.of(term.places, term.places) / column_weights**2
    rows, columns = np.nan_to_num(rows), np.nan_to_num(columns)
    return EvenDraws(np.rint(rows), row_weights, np.rint(columns), column_weights * source.scale)


def _window_weights(times: Weights) -> Floats | None:
    """The factor of every row that is one stretch of periods; None where some row is not."""
    weights = times.weights
    used = weights != 0
    size = np.abs(weights).max(axis=1)
    alone = (used.sum(axis=1) == 1) & (weights.sum(axis=1) != 0)
    opposite = (used.sum(axis=1) == 2) & (weights.sum(axis=1) == 0)
    if not bool(np.all(alone | opposite | ~used.any(axis=1))):
        return None
    found: Floats = size[times.which]
    return found


def _even_weights(places: Weights) -> Floats | None:
    size = np.abs(places.weights).max(axis=1, initial=0.0)
    if not bool(np.all((places.weights == 0) | (np.abs(places.weights) == size[:, None]))):
        return None
    found: Floats = size[places.which]
    return found
