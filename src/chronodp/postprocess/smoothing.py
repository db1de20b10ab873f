"""Smoothing noisy series in one call: the estimate, its interval, and a note of what became of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import ArrayLike

from chronodp.errors import InvalidArgument
from chronodp.postprocess.columns import Estimates, Floats, as_columns, as_deviations
from chronodp.postprocess.constraints import clip_at_zero, project, round_whole
from chronodp.postprocess.isotonic import grow
from chronodp.postprocess.kalman import kalman_smoother
from chronodp.postprocess.likelihood import likeliest
from chronodp.postprocess.motion import Motion, RandomWalk, Trend
from chronodp.privacy import check_fraction

__all__ = ["Growing", "Method", "NonNegative", "Smoothed", "check_method", "smooth", "smooth_within"]


@dataclass(frozen=True, slots=True)
class Growing:
    """Running totals of numbers that are never negative: see `grow`.

    Attributes:
        whole: whether they are whole numbers.
    """

    whole: bool = False


@dataclass(frozen=True, slots=True)
class NonNegative:
    """Single periods that are never negative: see `project`, and `clip_at_zero` for what happens without a total.

    Attributes:
        keep_total: whether each place keeps its total over all periods.
        whole: whether they are whole numbers.
    """

    keep_total: bool = True
    whole: bool = False


Method: TypeAlias = Growing | NonNegative | RandomWalk | Trend


@dataclass(frozen=True, slots=True)
class Smoothed:
    """Estimates and their intervals, periods × places.

    Attributes:
        value: the smoothed series.
        lower: end of each period's interval; a place's band is not simultaneous.
        upper: the other end.
        note: what was done, and what it did to bias and interval.
    """

    value: Floats
    lower: Floats
    upper: Floats
    note: str


def smooth(values: ArrayLike, deviation: ArrayLike, *, method: Method, level: float = 0.95) -> Smoothed:
    """Return the values of each place smoothed, with intervals.

    `Growing` and `NonNegative` use what is surely true. Their intervals are y ± q·s, cut to what is possible and
    widened to hold the estimate: they cover at least as often as ``level``. `RandomWalk` and `Trend` use what is
    supposed. Their intervals are those of the model, x ± q·v: narrower, and right only as far as the truth moves so.
    Here

    * y is a noisy value, s its deviation, and q the normal quantile for ``level``,
    * x and v are the smoothed value and its deviation.

    Args:
        values: noisy numbers, periods × places; NaN for a missing sample, with `RandomWalk` and `Trend` only.
        deviation: of their Gaussian noise: one for all, one a period, or one each. For `RandomWalk` and `Trend` it must
            be independent from period to period.
        method: what is known or supposed of the truth.
        level: of the intervals.

    Guarantee: free, and exactly as private as the values.

    >>> noisy = np.cumsum(np.random.default_rng(1).normal(size=6))
    >>> found = smooth(noisy, 2.0, method=Growing(whole=True))
    >>> found.value.ravel().tolist(), found.upper.ravel().tolist()
    ([0.0, 1.0, 1.0, 1.0, 1.0, 2.0], [4.0, 5.0, 5.0, 4.0, 5.0, 5.0])
    >>> smooth(noisy, 2.0, method=RandomWalk(step=0.5)).note
    'Kalman smoothing as RandomWalk(step=0.5): peaks and jumps are flattened; intervals hold if the truth moves so'
    """
    from scipy.special import ndtri

    gaps = isinstance(method, RandomWalk | Trend)
    columns = as_columns("values", values, gaps=gaps)
    spread = as_deviations("deviation", deviation, (columns.shape[0], columns.shape[1]), absent=gaps)
    half = float(ndtri((1 + check_fraction("level", level)) / 2)) * spread
    return smooth_within(Estimates(columns, columns - half, columns + half), spread, method=method, level=level)


def smooth_within(estimates: Estimates, deviation: Floats, *, method: Method, level: float) -> Smoothed:
    """Return the same for estimates that come with intervals of their own, of whatever noise.

    >>> counts = Estimates(np.array([[-1.0], [4.0]]), np.array([[-4.0], [1.0]]), np.array([[2.0], [7.0]]))
    >>> found = smooth_within(counts, np.ones((2, 1)), method=NonNegative(), level=0.95)
    >>> found.value.ravel().tolist(), found.lower.ravel().tolist(), found.upper.ravel().tolist()
    ([0.0, 3.0], [0.0, 1.0], [2.0, 7.0])
    """
    check_method(method)
    match method:
        case Growing():
            value = grow(estimates.value, deviation=deviation, whole=method.whole)
            note = "made to grow by isotonic regression: the first totals lean down, the last ones up"
            return _within(value, estimates, note, whole=method.whole)
        case NonNegative(keep_total=True):
            value = project(estimates.value, deviation=deviation)
            note = "made non-negative, totals kept: periods with little in them lean up, the others down"
            return _within(round_whole(value) if method.whole else value, estimates, note, whole=method.whole)
        case NonNegative():
            value = clip_at_zero(estimates.value)
            note = "negative values set to 0: near 0 they lean up by as much as 0.4 deviations, sums of them by more"
            value = round_whole(value, keep_total=False) if method.whole else value
            return _within(value, estimates, note, whole=method.whole)
        case RandomWalk() | Trend():
            return _model(estimates.value, deviation, method, level)
        case _:
            assert_never(method)


def check_method(method: object) -> None:
    """Refuse what is no method of ours."""
    if not isinstance(method, Method):
        raise InvalidArgument("method", method, "Growing(), NonNegative(), RandomWalk() or Trend()")


def _within(value: Floats, given: Estimates, note: str, *, whole: bool) -> Smoothed:
    """Cut intervals to what is possible: an interval that holds a possible truth still does."""
    lower, upper = np.maximum(given.lower, 0.0), np.maximum(given.upper, 0.0)
    if whole:
        lower, upper = np.ceil(lower), np.floor(upper)
    cut = "whole and non-negative numbers" if whole else "what is not negative"
    rounded = ", rounded" if whole else ""
    note = f"{note}{rounded}; intervals stay as they were, cut to {cut} and widened to hold the estimate"
    return Smoothed(value, np.minimum(lower, value), np.maximum(upper, value), note)


def _model(values: Floats, deviation: Floats, motion: Motion, level: float) -> Smoothed:
    from scipy.special import ndtri

    found = likeliest(values, deviation, motion)
    track = kalman_smoother(values, deviation, found)
    half = -float(ndtri((1 - level) / 2)) * track.deviation
    note = f"Kalman smoothing as {_brief(found)}: peaks and jumps are flattened; intervals hold if the truth moves so"
    if found != motion:
        note += ", and are somewhat too narrow, since the paces were estimated from the values"
    return Smoothed(track.value, track.value - half, track.value + half, note)


def _brief(motion: Motion) -> str:
    """The motion as it prints, unless it has many places."""
    paces = [motion.step] if isinstance(motion, RandomWalk) else [motion.step, motion.bend]
    if all(not isinstance(pace, tuple) or len(pace) <= 4 for pace in paces):
        return str(motion)
    return f"{type(motion).__name__} with a pace for each place"
