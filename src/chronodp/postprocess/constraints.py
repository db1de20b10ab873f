"""Numbers that cannot be negative, and numbers that are whole: the nearest ones that keep their total.

Setting negative numbers to 0 looks harmless and is not: noise around 0 then only ever adds, and totals over many
periods grow without end. The projections here move the rest down by as much as the negative ones move up.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from chronodp.errors import InvalidArgument
from chronodp.postprocess.columns import Floats, as_columns, as_deviations
from chronodp.postprocess.tails import Law
from chronodp.privacy import check_flag, check_number, check_positive, check_word

__all__ = ["clip_at_zero", "clipping_bias", "project", "round_whole"]


def clip_at_zero(values: ArrayLike) -> Floats:
    """Return the values with negative ones set to 0.

    Bias: upwards, by `clipping_bias` in each period, the most where the truth is 0; in a sum of periods these add up.
    Error: that of a single value never grows. An interval cut at 0 keeps its coverage.

    >>> clip_at_zero([-1.0, 2.0]).ravel().tolist()
    [0.0, 2.0]
    """
    return np.maximum(as_columns("values", values), 0.0)


def clipping_bias(truth: float, deviation: float, *, law: Law = "gaussian") -> float:
    """Return how far above the truth a clipped value lies on average.

    Gaussian noise: s φ(x / s) - x Φ(-x / s). Laplace noise of scale b = s / √2: b/2 exp(-x / b), where

    * x is the truth, at least 0,
    * s is the standard deviation of the noise.

    A public planning figure: ask it of a truth you suppose, not of your data.

    >>> round(clipping_bias(0.0, 1.0), 4), round(clipping_bias(0.0, 1.0, law="laplace"), 4)
    (0.3989, 0.3536)
    """
    from scipy.special import ndtr

    true, spread = check_number("truth", truth), check_positive("deviation", deviation)
    if true < 0:
        raise InvalidArgument("truth", truth, "at least 0: only then is clipping right")
    if check_word("law", law, ("laplace", "gaussian")) == "laplace":
        scale = spread / math.sqrt(2)
        return scale / 2 * math.exp(-true / scale)
    ratio = true / spread
    return spread * math.exp(-ratio * ratio / 2) / math.sqrt(2 * math.pi) - true * float(ndtr(-ratio))


def project(values: ArrayLike, *, deviation: ArrayLike = 1.0, total: ArrayLike | None = None) -> Floats:
    """Return the nearest non-negative numbers with the same total, for each column.

    It minimises, over x >= 0 with sum s, the sum of (y_t - x_t)^2 / v_t. The answer is x_t = max(y_t - λ v_t, 0) with
    the one λ for which the sum is s, where

    * y_t is the noisy value of period t and v_t = deviation_t^2,
    * s is the sum of the noisy values, or ``total``; if that is negative, 0.

    Bias: none in the total, as long as it is above 0. Single periods with little in them are pushed up, the others
    pulled down. Error: if the truth is non-negative and has the total s, the weighted sum of squares never grows. An
    interval cut at 0 keeps its coverage.

    Args:
        values: noisy numbers, periods × places.
        deviation: of their noise: one for all, one a period, or one each. Only ratios matter.
        total: public or released totals to keep instead, one for all or one a place.

    Guarantee: free, and exactly as private as the values and the total. It is right only if the truth is non-negative.

    >>> project([4.0, 1.0, -2.0]).ravel().tolist()
    [3.0, 0.0, 0.0]
    >>> project([4.0, 1.0, -2.0], total=4.0).ravel().tolist()
    [3.5, 0.5, 0.0]

    References:
        Held, Wolfe, Crowder (1974), Validation of subgradient optimization.
    """
    columns = as_columns("values", values)
    variance = as_deviations("deviation", deviation, (columns.shape[0], columns.shape[1])) ** 2
    wanted = np.maximum(_totals(columns, total), 0.0)
    # Values leave at λ = y / v. With the first k of them still there, λ is (sum of y - s) / (sum of v).
    ratios = columns / variance
    order = np.argsort(-ratios, axis=0, kind="stable")
    sums = np.cumsum(np.take_along_axis(columns, order, axis=0), axis=0) - wanted
    multipliers = sums / np.cumsum(np.take_along_axis(variance, order, axis=0), axis=0)
    # The k-th belongs to those that stay as long as its own λ is above; they come first.
    staying = np.take_along_axis(ratios, order, axis=0) > multipliers
    last = np.maximum(staying.sum(axis=0), 1) - 1
    multiplier = np.take_along_axis(multipliers, last[None, :], axis=0)
    projected: Floats = np.where(wanted > 0, np.maximum(columns - multiplier * variance, 0.0), 0.0)
    return projected


def round_whole(values: ArrayLike, *, keep_total: bool = True) -> Floats:
    """Return whole numbers near the values, whose sum is the rounded sum of each column.

    Every value goes down to a whole number, and those that lost most go up again, as many as the sum needs: the
    nearest whole numbers of that sum. Without ``keep_total`` each value is rounded by itself.

    Bias: less than a half in each total; single values move by less than 1 (by at most a half without ``keep_total``).
    Error: that of a single value rounded by itself grows by at most a half. An interval drawn in to whole numbers
    keeps its coverage. Non-negative values stay so.

    >>> round_whole([0.4, 0.4, 0.4, 1.9]).ravel().tolist()
    [1.0, 0.0, 0.0, 2.0]
    >>> round_whole([0.4, 0.4, 0.4, 1.9], keep_total=False).ravel().tolist()
    [0.0, 0.0, 0.0, 2.0]
    """
    check_flag("keep_total", keep_total)
    columns = as_columns("values", values)
    if not keep_total:
        return np.rint(columns) + 0.0
    down = np.floor(columns)
    lost = columns - down
    # From what was lost, since the sum of large values has no digits left for it.
    missing = np.rint(lost.sum(axis=0)).astype(np.int64)
    rank = np.empty(columns.shape, dtype=np.int64)
    np.put_along_axis(rank, np.argsort(-lost, axis=0, kind="stable"), np.arange(len(columns))[:, None], axis=0)
    rounded: Floats = down + (rank < missing)
    return rounded


def _totals(columns: Floats, total: ArrayLike | None) -> Floats:
    if total is None:
        sums: Floats = columns.sum(axis=0)
        return sums
    allowed = f"finite, one for all or one for each of {columns.shape[1]} places"
    try:
        given = np.array(total, dtype=np.float64)
        wide = np.broadcast_to(given, (columns.shape[1],))
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument("total", total, allowed) from None
    if not np.isfinite(wide).all():
        raise InvalidArgument("total", total, allowed)
    return wide
