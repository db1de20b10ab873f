"""Covariances of readings over time and over places, for noise of variance 1, without any matrix of periods.

With r the running sums of a shape's inverse, the running sum before period t carries the noise Σ_{i<t} r_{t-1-i} z_i.
Two of them, u ≥ t, have the covariance Σ_{m<t} r_m r_{m+u-t}. "Covariances" of ``docs/explanation/proofs/release.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from chronodp.series.readings.weights import Floats, Weights, Wholes
from chronodp.series.shapes.power_series import product
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shapes.tree import Tree
from chronodp.series.shaping import ReleasedShape

__all__ = ["IndependentPlaces", "PlaceCovariance", "time_covariance"]

_SHORT = 64  # pairs of points up to which rows are compared point by point
_COLUMNS = 64  # rows on one side up to which each is laid against all of time


class PlaceCovariance(Protocol):
    """How the noise of places of one release hangs together, for noise of variance 1 on each draw."""

    def of(self, one: Weights, other: Weights) -> Floats:
        """Return the covariance of the sums with these weights over places, row by row."""
        ...


@dataclass(frozen=True, slots=True)
class IndependentPlaces:
    """Every place has noise of its own.

    Attributes:
        places: how many there are.
    """

    places: int

    def of(self, one: Weights, other: Weights) -> Floats:
        """Return the products of weights on the same places, added up."""
        pairs, which = one.distinct_pairs(other)
        first, second = pairs[:, 0], pairs[:, 1]
        if one.points.shape[1] * other.points.shape[1] <= _SHORT:
            found = np.zeros(len(pairs))
            for left in range(one.points.shape[1]):
                for right in range(other.points.shape[1]):
                    same = one.points[first, left] == other.points[second, right]
                    found += same * one.weights[first, left] * other.weights[second, right]
            return found[which]
        if len(np.unique(first)) < len(np.unique(second)):
            one, other, first, second = other, one, second, first
        return self._against(one, other, first, second)[which]

    def _against(self, one: Weights, other: Weights, first: Wholes, second: Wholes) -> Floats:
        """Each distinct row of the second laid out over all places, and the first's places looked up in it."""
        found = np.zeros(len(first))
        for row in np.unique(second):
            chosen = np.flatnonzero(second == row)
            spread = np.bincount(other.points[row], weights=other.weights[row], minlength=self.places)
            rows = first[chosen]
            found[chosen] = (one.weights[rows] * spread[one.points[rows]]).sum(axis=1)
        return found


def time_covariance(shape: ReleasedShape, horizon: int, one: Weights, other: Weights) -> Floats:
    """Return the covariance of sums with these weights on running sums, row by row, for draws of variance 1."""
    pairs, which = one.distinct_pairs(other)
    first, second = pairs[:, 0], pairs[:, 1]
    if isinstance(shape, White | Tree):
        return _pairwise(shape, horizon, one, other, first, second, None)[which]
    running = np.cumsum(shape.inverse(horizon))
    for fixed, moving, fixed_rows, moving_rows in ((other, one, second, first), (one, other, first, second)):
        distinct = np.unique(fixed_rows)
        if len(distinct) <= min(_COLUMNS, len(pairs) - 1):
            return _against(running, fixed, moving, fixed_rows, moving_rows, distinct)[which]
    return _pairwise(shape, horizon, one, other, first, second, running)[which]


def _against(
    running: Floats, fixed: Weights, moving: Weights, fixed_rows: Wholes, moving_rows: Wholes, distinct: Wholes
) -> Floats:
    """Each of few rows against all of time at once: one product of power series for each."""
    horizon = len(running)
    found = np.empty(len(fixed_rows))
    for row in distinct:
        drawn = np.zeros(horizon)  # the weight of every draw in the fixed row
        for point, weight in zip(fixed.points[row].tolist(), fixed.weights[row].tolist(), strict=True):
            if weight:
                drawn[:point] += weight * running[:point][::-1]
        along = np.concatenate(([0.0], product(drawn, running, horizon)))
        chosen = np.flatnonzero(fixed_rows == row)
        others = moving_rows[chosen]
        found[chosen] = (moving.weights[others] * along[moving.points[others]]).sum(axis=1)
    return found


def _pairwise(
    shape: ReleasedShape,
    horizon: int,
    one: Weights,
    other: Weights,
    first: Wholes,
    second: Wholes,
    running: Floats | None,
) -> Floats:
    found = np.zeros(len(first))
    for left in range(one.points.shape[1]):
        for right in range(other.points.shape[1]):
            weight = one.weights[first, left] * other.weights[second, right]
            used = np.flatnonzero(weight)
            early, late = one.points[first[used], left], other.points[second[used], right]
            early, late = np.minimum(early, late), np.maximum(early, late)
            found[used] += weight[used] * _of_running_sums(shape, horizon, early, late, running)
    return found


def _of_running_sums(shape: ReleasedShape, horizon: int, early: Wholes, late: Wholes, running: Floats | None) -> Floats:
    if isinstance(shape, White):
        return early.astype(np.float64)
    if isinstance(shape, Tree):
        # Var(u - t) = Var(t) + Var(u) - 2 Cov(t, u), all of them whole numbers.
        apart = shape.window_variances(early, late, horizon)
        return (shape.variances(early, horizon) + shape.variances(late, horizon) - apart) / 2
    if running is None:
        raise AssertionError("filters have running sums")
    found, lags = np.empty(len(early)), late - early
    for lag in np.unique(lags):
        chosen = lags == lag
        # One pass for each distance between two points: rolling and coarser rows have few.
        summed = np.concatenate(([0.0], np.cumsum(running[: horizon - lag] * running[lag:])))
        found[chosen] = summed[early[chosen]]
    return found
