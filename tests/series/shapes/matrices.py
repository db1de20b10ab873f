"""Shapes and workloads written out as matrices, for small horizons."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.series.shapes import Shape, Tree
from chronodp.series.workloads import CausalFilter

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
        sizes = [shape.arity**level for level in range(shape.levels(horizon))]
        return np.concatenate([np.add.reduceat(unit, np.arange(0, horizon, size)) for size in sizes])
    return lower(shape.coefficients(horizon))


def tree_matrices(tree: Tree, horizon: int) -> tuple[Matrix, Matrix]:
    """The sums over all blocks that some running total uses; and how running totals are made of them."""
    uses: dict[tuple[int, int], dict[int, int]] = {}
    for time in range(1, horizon + 1):
        position = 0
        for level in reversed(range(tree.levels(horizon))):
            above = position * tree.arity
            position = above + int(tree.digits(time, horizon)[level])
            for block in range(min(above, position), max(above, position)):
                uses.setdefault((level, block), {})[time] = 1 if position > above else -1
    sums, totals = np.zeros((len(uses), horizon)), np.zeros((horizon, len(uses)))
    for row, ((level, block), times) in enumerate(uses.items()):
        sums[row, block * tree.arity**level : (block + 1) * tree.arity**level] = 1
        for time, sign in times.items():
            totals[time - 1, row] = sign
    return sums, totals


def workload_matrix(workload: CausalFilter, horizon: int) -> Matrix:
    return lower(workload.response(horizon))
