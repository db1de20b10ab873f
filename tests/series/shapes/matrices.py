"""Shapes and workloads written out as matrices, for small horizons."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.series.shapes import GroupAlgebra, Shape, Tree, skew_product
from chronodp.series.workloads import CausalFilter

__all__ = ["lower", "matrix_of", "workload_matrix"]

Matrix = NDArray[np.float64]


def lower(column: Matrix) -> Matrix:
    """The lower triangular matrix with constant diagonals and this first column."""
    horizon = len(column)
    lags = np.subtract.outer(np.arange(horizon), np.arange(horizon))
    return np.where(lags >= 0, column[np.maximum(lags, 0)], 0.0)


def matrix_of(shape: Shape, horizon: int) -> Matrix:
    """All numbers that the shape releases, one row each."""
    unit = np.eye(horizon)
    if isinstance(shape, Tree):
        return np.concatenate(shape.blocks(unit))
    if isinstance(shape, GroupAlgebra):
        return np.concatenate((np.ones((1, horizon)), skew_product(shape.root(horizon), unit)))
    return lower(shape.coefficients(horizon))


def workload_matrix(workload: CausalFilter, horizon: int) -> Matrix:
    return lower(workload.response(horizon))
