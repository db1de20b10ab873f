"""The error of a workload answered from a shaped release, exactly and without any n by n matrix.

All figures are for noise of variance 1 on every released number; multiply by what the sensitivity demands. The noise on
the answers of a causal filter a is white noise through the filter a * d, d the inverse of the shape: its variance at
time t is the sum of the first t squares.

"Errors" of ``docs/explanation/proofs/shapes.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.differenced import Differenced
from chronodp.series.shapes.power_series import Floats, product
from chronodp.series.shapes.toeplitz import Banded, SquareRoot, White
from chronodp.series.shapes.tree import Tree
from chronodp.series.workloads import CausalFilter, EachPeriod, Ewm, Filter, Hierarchy, Rolling, RunningTotal, Workload

__all__ = [
    "CausalShape",
    "Errors",
    "Shape",
    "answer_variances",
    "errors_of",
    "filter_variances",
    "lower_bound",
    "sum_variances",
    "window_variances",
]

CausalShape: TypeAlias = White | SquareRoot | BufferedLinear | Banded | Differenced
Shape: TypeAlias = CausalShape | Tree


@dataclass(frozen=True, slots=True)
class Errors:
    """Root mean squared errors for noise of variance 1: over all answers, and of the worst one."""

    rmse_mean: float
    rmse_max: float


@lru_cache(maxsize=256)
def errors_of(workload: Workload, shape: Shape, horizon: int) -> Errors:
    """Return the error of a workload at every period up to the horizon.

    For a `Hierarchy` the mean is over levels, each the mean over its blocks, so that every level counts alike.

    >>> errors = errors_of(RunningTotal(), White(), 4)
    >>> round(errors.rmse_mean**2, 9), errors.rmse_max
    (2.5, 2.0)
    """
    if isinstance(shape, Tree) and not isinstance(workload, RunningTotal):
        raise InvalidArgument("workload", str(workload), f"running totals: {shape} is for nothing else")
    if isinstance(shape, Tree):
        return Errors(math.sqrt(shape.mean_variance(horizon)), math.sqrt(shape.most_variance(horizon)))
    if not isinstance(workload, Hierarchy):
        variances = answer_variances(workload, shape, horizon)
        return Errors(math.sqrt(float(variances.mean())), math.sqrt(float(variances[-1])))
    means, largest = [], 0.0
    running = np.cumsum(shape.inverse(horizon))
    for level in workload.levels:
        starts = np.arange(0, horizon, level)
        found = sum_variances(running, starts, np.minimum(starts + level, horizon))
        means.append(float(found.mean()))
        largest = max(largest, float(found.max()))
    return Errors(math.sqrt(math.fsum(means) / len(means)), math.sqrt(largest))


def answer_variances(workload: CausalFilter, shape: CausalShape, horizon: int) -> Floats:
    """Return the variance of the answer at each period; it never falls.

    >>> answer_variances(RunningTotal(), SquareRoot(RunningTotal()), 3).tolist()
    [1.0, 1.25, 1.390625]
    """
    check_whole("horizon", horizon)
    if isinstance(shape, SquareRoot) and shape.workload == workload:
        # a = a_0 c², so a / c is a_0 c again.
        through = workload.response(1)[0] * shape.coefficients(horizon)
        return np.cumsum(through**2)
    return filter_variances(workload, shape.inverse(horizon))


def filter_variances(workload: CausalFilter, inverse: Floats) -> Floats:
    """Return the variance of the answer at each period for any shape, by the first column of its inverse."""
    with np.errstate(under="ignore"):
        return np.cumsum(_through(workload, inverse) ** 2)


def window_variances(
    shape: Shape, starts: NDArray[np.int64], stops: NDArray[np.int64], horizon: int
) -> NDArray[np.float64]:
    """Return the variance of the estimated sums over periods start to stop, stop left out.

    >>> window_variances(White(), np.array([0, 3]), np.array([2, 8]), 8).tolist()
    [2.0, 5.0]
    """
    first, last = np.asarray(starts, dtype=np.int64), np.asarray(stops, dtype=np.int64)
    if first.shape != last.shape or (len(first) and not (first.min() >= 0 and (first < last).all())):
        raise InvalidArgument("starts", "windows", "starts from 0 on, each before its stop")
    if len(last) and last.max() > horizon:
        raise InvalidArgument("stops", int(last.max()), f"at most the horizon, {horizon}")
    if isinstance(shape, Tree):
        return shape.window_variances(first, last, horizon)
    return sum_variances(np.cumsum(shape.inverse(horizon)), first, last)


def sum_variances(running: Floats, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> Floats:
    """Return the variance of sums over windows, by the running sums r of a shape's inverse.

    A sum over [s, t) has the noise of the filter r_m - r_{m-(t-s)} at time t: the sum of its first t squares. The work
    is one pass for each length of window.
    """
    variances = np.empty(len(starts))
    lengths = stops - starts
    for length in np.unique(lengths):
        chosen = lengths == length
        squares = np.cumsum(_difference(running, int(length)) ** 2)
        variances[chosen] = squares[stops[chosen] - 1]
    return variances


def lower_bound(horizon: int) -> float:
    """Return the least mean error that any shape can have on running totals, for sensitivity 1 and one period.

        (1 / 2n) Σ_{k=1}^{n} 1 / sin((2k - 1) π / (4n + 2))

    where n is the horizon: the sum of the singular values of the matrix of running totals, over n.

    >>> round(lower_bound(1024), 6)
    2.909584

    References:
        Edmonds, Nikolov, Ullman (2020), The power of factorization mechanisms in local and central privacy.
    """
    odd = 2.0 * np.arange(1, check_whole("horizon", horizon) + 1) - 1
    return float((1 / np.sin(odd * np.pi / (4 * horizon + 2))).sum()) / (2 * horizon)


def _through(workload: CausalFilter, inverse: Floats) -> Floats:
    """The filter from the noise to the answers."""
    match workload:
        case EachPeriod():
            return inverse
        case RunningTotal():
            return np.cumsum(inverse)
        case Rolling(periods=periods):
            return _difference(np.cumsum(inverse), periods) / periods
        case Ewm(alpha=alpha):
            from scipy.signal import lfilter

            return np.asarray(lfilter([alpha], [1.0, alpha - 1.0], inverse), dtype=np.float64)
        case Filter(weights=weights):
            return product(np.array(weights), inverse, len(inverse))


def _difference(running: Floats, length: int) -> Floats:
    """r_m - r_{m-length}, with r 0 before its beginning."""
    apart = running.copy()
    apart[length:] -= running[: max(0, len(running) - length)]
    return apart
