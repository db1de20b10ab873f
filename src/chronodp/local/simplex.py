"""The nearest frequencies: at least 0, and 1 in all."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import as_numbers

__all__ = ["project_rows"]


def project_rows(values: ArrayLike) -> NDArray[np.float64]:
    """Return, for each row, the nearest point (in squared distance) with no negative part and sum 1.

    max(v - θ, 0) with the one θ for which the parts add up to 1. Rows with NaN stay as they are.

    References:
        Held, Wolfe, Crowder (1974), Validation of subgradient optimization.

    >>> project_rows([[0.5, 0.7, -0.1]]).round(3).tolist()
    [[0.4, 0.6, 0.0]]
    """
    given = as_numbers("values", values, "a table with one frequency a column").astype(np.float64)
    if given.ndim != 2 or not given.shape[1]:
        raise InvalidArgument("values", values, "a table with one frequency a column")
    ordered = np.sort(given, axis=1)[:, ::-1]
    excess = np.cumsum(ordered, axis=1) - 1
    counts = np.arange(1, given.shape[1] + 1)
    kept = np.maximum(np.count_nonzero(ordered * counts > excess, axis=1), 1)
    theta = excess[np.arange(len(given)), kept - 1] / kept
    nearest: NDArray[np.float64] = np.maximum(given - theta[:, None], 0.0)
    return nearest
