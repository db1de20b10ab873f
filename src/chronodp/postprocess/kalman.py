"""Kalman filter and smoother for noise of known size: what each period was, seen through what is around it.

The noise of a release is known exactly; only how the truth moves is supposed (`RandomWalk`, `Trend`). The unknown start
is no prior belief: it is estimated from the same values, so that nothing is pulled towards 0. Variances do not depend
on the values, so they are computed once for all columns that share them; time and memory grow with the number of
values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess.columns import Floats, NormalEstimates, as_columns, as_deviations
from chronodp.postprocess.motion import Motion, Trend, paces
from chronodp.postprocess.recursions import Variances, filter_variances, pass_back, pass_forward

__all__ = ["Samples", "kalman_filter", "kalman_smoother", "samples"]

_CELLS = 2**20  # variances that are held at a time


@dataclass(frozen=True, slots=True)
class Samples:
    """Noisy values, some of which may be missing.

    Attributes:
        values: periods × places, 0 where there is none.
        noise: the variance of each, infinite where there is none.
        order: how many numbers describe the state: 1 for a walk, 2 for a trend.
    """

    values: Floats
    noise: Floats
    order: int


def samples(values: ArrayLike, deviation: ArrayLike, motion: Motion) -> Samples:
    """Return checked samples: each place must have enough of them for its motion's start."""
    columns = as_columns("values", values, gaps=True)
    noise = as_deviations("deviation", deviation, (columns.shape[0], columns.shape[1]), absent=True) ** 2
    missing = np.isnan(columns) | np.isinf(noise)
    order = 2 if isinstance(motion, Trend) else 1
    if np.any((~missing).sum(axis=0) < order):
        raise InvalidArgument("values", "too few", f"at least {order} samples in every place for a {motion}")
    return Samples(np.where(missing, 0.0, columns), np.where(missing, np.inf, noise), order)


def kalman_filter(values: ArrayLike, deviation: ArrayLike, motion: Motion) -> NormalEstimates:
    """Return what each period was, from the values up to it.

    A random walk settles at the variance (-Q + √(Q² + 4QR)) / 2, where

    * R is the variance of the noise, deviation²,
    * Q is that of the steps, step².

    Bias: none if the truth moves as supposed; otherwise the estimate lags behind turns. The deviations are those of the
    model: right if the truth moves so, and then the smallest that a linear estimate can have.

    Args:
        values: noisy numbers, periods × places; NaN where a sample is missing.
        deviation: of their noise, independent from period to period: one for all, one a period, or one each.
        motion: a `RandomWalk` or a `Trend` with its paces; `likeliest` estimates those that are None.

    Returns:
        Values and deviations. Before there are samples enough for a start (one, or two for a trend) they are NaN and
        infinity, but for the first sample itself.

    Guarantee: free, and exactly as private as the values, if the paces come from them or from public knowledge.

    >>> from chronodp.postprocess.motion import RandomWalk
    >>> track = kalman_filter(np.random.default_rng(1).normal(size=200), 1.0, RandomWalk(step=0.1**0.5))
    >>> round(float(track.deviation[-1, 0]) ** 2, 4)
    0.2702

    References:
        Durbin, Koopman (2012), Time series analysis by state space methods, sections 2.2, 4.3 and 5.7.
    """
    given = samples(values, deviation, motion)
    value, spread = np.full(given.values.shape, np.nan), np.full(given.values.shape, np.inf)
    for places, variances in _settings(given, motion):
        passage = pass_forward(given.values[:, places], variances)
        weighted = passage.responses * variances.precision[:, None]
        information = np.cumsum(weighted[:, :, None] * passage.responses[:, None, :], axis=0)
        evidence = np.cumsum(weighted[:, :, None] * passage.surprises[:, None, :], axis=0)
        seen = np.cumsum(variances.precision > 0)
        known = np.flatnonzero(seen >= given.order)
        covariance = np.linalg.inv(information[known])
        reach = passage.reach[known, :1]
        value[np.ix_(known, places)] = (passage.states[known, :1] + reach @ covariance @ evidence[known])[:, 0]
        variance = variances.filtered[known, :1, :1] + reach @ covariance @ reach.transpose(0, 2, 1)
        spread[np.ix_(known, places)] = np.sqrt(variance[:, 0])
        first = int(np.argmax(seen > 0))
        value[first, places], spread[first, places] = given.values[first, places], np.sqrt(given.noise[first, places])
    return NormalEstimates(value, spread)


def kalman_smoother(values: ArrayLike, deviation: ArrayLike, motion: Motion) -> NormalEstimates:
    """Return what each period was, from all values, before and after.

    Far from both ends of a random walk the variance is QR / √(Q² + 4QR), where

    * R is the variance of the noise, deviation²,
    * Q is that of the steps, step².

    Bias: none if the truth moves as supposed; otherwise peaks and jumps are flattened. The deviations are those of the
    model, right if the truth moves so. Missing samples are filled in, with the deviation that this has.

    Arguments, guarantee and references are those of `kalman_filter`.

    >>> from chronodp.postprocess.motion import RandomWalk
    >>> track = kalman_smoother(np.random.default_rng(1).normal(size=200), 1.0, RandomWalk(step=0.1**0.5))
    >>> round(float(track.deviation[100, 0]) ** 2, 4)
    0.1562
    """
    given = samples(values, deviation, motion)
    value, spread = np.empty(given.values.shape), np.empty(given.values.shape)
    for places, variances in _settings(given, motion):
        passage = pass_forward(given.values[:, places], variances)
        scores, later = pass_back(np.hstack((passage.responses, passage.surprises)), variances)
        # Later values move a state by its covariance times their score.
        moved = variances.filtered[:, :1] @ scores
        reach = passage.reach[:, :1] - moved[:, :, : given.order]
        weighted = (passage.responses * variances.precision[:, None]).T
        covariance = np.linalg.inv(weighted @ passage.responses)
        start = covariance @ (weighted @ passage.surprises)
        value[:, places] = (passage.states[:, :1] + moved[:, :, given.order :] + reach @ start)[:, 0]
        own = variances.filtered[:, :1, :1] - variances.filtered[:, :1] @ later @ variances.filtered[:, :, :1]
        variance = own + reach @ covariance @ reach.transpose(0, 2, 1)
        spread[:, places] = np.sqrt(np.maximum(variance[:, 0], 0.0))
    return NormalEstimates(value, spread)


def _settings(given: Samples, motion: Motion) -> Iterator[tuple[NDArray[np.int64], Variances]]:
    """Yield the places that share noise and motion, with their variances."""
    step, bend = paces(motion, given.values.shape[1])
    moves = np.stack((step, bend), axis=1)[:, : given.order] ** 2
    if np.isnan(moves).any():
        raise InvalidArgument("motion", str(motion), "one whose paces are given: likeliest(...) estimates them")
    alike: dict[bytes, list[int]] = {}
    for place in range(len(moves)):
        alike.setdefault(given.noise[:, place].tobytes() + moves[place].tobytes(), []).append(place)
    groups = [np.array(group) for group in alike.values()]
    together = max(1, _CELLS // len(given.values))
    for begin in range(0, len(groups), together):
        some = groups[begin : begin + together]
        firsts = [int(group[0]) for group in some]
        yield from zip(some, filter_variances(given.noise[:, firsts], moves[firsts]), strict=True)
