"""Running totals that can only grow: the nearest series that never falls.

Noise makes a running total of non-negative numbers fall in places where the truth cannot. The nearest non-decreasing
series is found by pooling neighbours that are out of order; it is never further from the truth than the noisy one, and
often much nearer where little happens. All of this reads released numbers only, so it is free.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from chronodp.postprocess.columns import Floats, as_columns, as_deviations
from chronodp.privacy import check_flag, check_number

__all__ = ["grow"]


def grow(values: ArrayLike, *, deviation: ArrayLike = 1.0, least: float | None = 0.0, whole: bool = False) -> Floats:
    """Return the nearest series that never falls, for each column.

    It minimises, over f_1 <= f_2 <= ..., the sum of w_t (y_t - f_t)^2, where

    * y_t is the noisy running total of period t,
    * w_t = 1 / deviation_t^2.

    Then values below ``least`` are raised to it, and with ``whole`` values are rounded: both keep the order.

    Bias: the weighted mean of a column stays as it is before ``least``; the first values are pulled down and the last
    ones pushed up. ``least`` pushes up where the truth is near it. Error: the weighted sum of squares never grows,
    nor does the largest error; errors of running totals go together, and only the weights are known here, so the
    fit is not the most likely one. A running maximum also never falls, and is far worse: it keeps every upward error.

    Args:
        values: noisy running totals, periods × places.
        deviation: of their noise: one for all, or one a period. Only ratios matter.
        least: the smallest value that the truth can have; None if there is none.
        whole: whether the truth is a whole number.

    Guarantee: free, and exactly as private as the values. It is right only if the truth never falls.

    >>> grow([1.0, 3.0, 2.0, 2.5, 5.0]).ravel().tolist()
    [1.0, 2.5, 2.5, 2.5, 5.0]
    >>> noisy = np.cumsum(np.random.default_rng(1).normal(size=6))
    >>> grow(noisy, whole=True).ravel().tolist()
    [0.0, 1.0, 1.0, 1.0, 1.0, 2.0]

    References:
        Barlow, Bartholomew, Bremner, Brunk (1972), Statistical inference under order restrictions, chapter 1.
        Yang, Barber (2019), Contraction and uniform convergence of isotonic regression.
    """
    from scipy.optimize import isotonic_regression

    check_flag("whole", whole)
    if least is not None:
        check_number("least", least)
    columns = as_columns("values", values)
    weights = as_deviations("deviation", deviation, (columns.shape[0], columns.shape[1])) ** -2.0
    fitted = np.empty_like(columns)
    for place in range(columns.shape[1]):
        # Weights of one are left out: pooling is quicker, and means of equals stay exact.
        shares = weights[:, place] / weights[0, place]
        fitted[:, place] = isotonic_regression(columns[:, place], weights=None if np.all(shares == 1) else shares).x
    if least is not None:
        fitted = np.maximum(fitted, least)
    return np.rint(fitted) + 0.0 if whole else fitted
