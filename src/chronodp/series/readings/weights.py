"""Weights of readings: few points a row, over places or over running sums of time.

A sum over periods start to stop is the running sum before stop less the one before start: two points, however long it
is. So rows stay short where a matrix of rows by periods would not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Weights", "Wholes", "identity", "of_windows"]

Floats: TypeAlias = NDArray[np.float64]
Wholes: TypeAlias = NDArray[np.int64]

_FEW = 16  # points up to which they are added one after the other


@dataclass(frozen=True, eq=False)
class Weights:
    """Rows of weights, each at few points; every distinct row is kept once.

    Attributes:
        points: where weight is, distinct rows × points.
        weights: how much is there; 0 fills short rows up.
        which: the distinct row of every row.
    """

    points: Wholes
    weights: Floats
    which: Wholes

    def __len__(self) -> int:
        return len(self.which)

    def take(self, rows: NDArray[np.int64]) -> Weights:
        """Return chosen rows, which may repeat."""
        return Weights(self.points, self.weights, self.which[rows])

    def scaled(self, factors: float | Floats) -> Weights:
        """Return the rows times a factor, one for all or one each."""
        if isinstance(factors, float):
            return Weights(self.points, factors * self.weights, self.which)
        return Weights(self.points[self.which], self.weights[self.which] * factors[:, None], np.arange(len(self.which)))

    def plus(self, other: Weights) -> Weights:
        """Return row by row the sum."""
        pairs, which = _pairs(self, other)
        points = np.concatenate((self.points[pairs[:, 0]], other.points[pairs[:, 1]]), axis=1)
        weights = np.concatenate((self.weights[pairs[:, 0]], other.weights[pairs[:, 1]]), axis=1)
        return Weights(*_merged(points, weights), which)

    @property
    def abuts(self) -> bool:
        """Whether rows are sums over stretches that follow each other, all with one factor."""
        if self.points.shape[1] != 2 or not len(self.which):
            return False
        starts, stops = self.points[self.which, 0], self.points[self.which, 1]
        before, after = self.weights[self.which, 0], self.weights[self.which, 1]
        factor = after[0]
        follow = bool(np.all(starts[1:] == stops[:-1]) and np.all(starts < stops))
        return follow and bool(np.all(after == factor) and np.all((before == -factor) | (starts == 0)))

    def added(self, starts: Wholes, stops: Wholes) -> Weights:
        """Return the sums over rows start to stop, stop left out."""
        lengths = stops - starts
        offsets = np.arange(int(lengths.max(initial=1)))
        inside = offsets < lengths[:, None]
        return self.gathered(np.where(inside, starts[:, None] + offsets, 0), inside.astype(np.float64))

    def gathered(self, rows: Wholes, factors: Floats) -> Weights:
        """Return sums of chosen rows, each times a factor: one row of both for every sum."""
        which = self.which[rows]
        points = self.points[which].reshape(len(rows), -1)
        weights = (self.weights[which] * factors[..., None]).reshape(len(rows), -1)
        return Weights(*_merged(points, weights), np.arange(len(rows)))

    def distinct_pairs(self, other: Weights) -> tuple[Wholes, Wholes]:
        """Return the distinct pairs of rows that stand side by side, and which of them each row is."""
        return _pairs(self, other)

    def apply(self, values: Floats) -> Floats:
        """Return the weighted sums of values along their first axis."""
        if self.is_identity(len(values)):
            return values
        if not len(values):  # no key was found: sums of nothing
            return np.zeros((len(self.which), *values.shape[1:]))
        count, most = self.points.shape
        found = np.zeros((count, *values.shape[1:]))
        if most <= _FEW:
            for point in range(most):
                column = self.weights[:, point].reshape(-1, *[1] * (values.ndim - 1))
                found += column * values[self.points[:, point]]
        else:
            for row in range(count):
                used = self.weights[row] != 0
                found[row] = np.tensordot(self.weights[row, used], values[self.points[row, used]], axes=1)
        taken: Floats = found[self.which]
        return taken

    def is_identity(self, size: int) -> bool:
        """Return whether every row is its own point, with weight 1."""
        every = np.arange(size)
        return (
            self.points.shape == (size, 1)
            and np.array_equal(self.points[:, 0], every)
            and np.array_equal(self.which, every)
            and bool(np.all(self.weights == 1.0))
        )

    def same_rows(self, other: Weights) -> NDArray[np.bool_]:
        """Return for every row whether both have the very same weights there."""
        pairs, which = _pairs(self, other)
        less = Weights(other.points, -other.weights, other.which)
        both = Weights(self.points, self.weights, pairs[:, 0]).plus(Weights(less.points, less.weights, pairs[:, 1]))
        nothing: NDArray[np.bool_] = ~np.any(both.weights, axis=1)[both.which]
        return nothing[which]


def identity(size: int) -> Weights:
    """Return every point by itself."""
    every = np.arange(size)
    return Weights(every[:, None], np.ones((size, 1)), every)


def of_windows(starts: Wholes, stops: Wholes, factors: Floats | None = None) -> Weights:
    """Return the weights of sums over periods start to stop on running sums, times a factor each."""
    points = np.stack((starts, stops), axis=1).astype(np.int64)
    weights = np.tile(np.array([-1.0, 1.0]), (len(starts), 1))
    if factors is not None:
        weights *= factors[:, None]
    # The running sum before the first period is 0, noise and all.
    weights[points == 0] = 0.0
    return Weights(points, weights, np.arange(len(starts)))


def _pairs(one: Weights, other: Weights) -> tuple[Wholes, Wholes]:
    if len(one) != len(other):
        raise AssertionError("as many rows on either side")
    size = len(other.points)
    keys, which = np.unique(one.which * size + other.which, return_inverse=True)
    return np.stack(np.divmod(keys, size), axis=1), which


def _merged(points: Wholes, weights: Floats) -> tuple[Wholes, Floats]:
    """Return rows with every point once and no weight of 0 but at the end."""
    rows, most = points.shape
    if not points.size:
        return np.zeros((rows, 1), np.int64), np.zeros((rows, 1))
    size = int(points.max()) + 1
    keys, where = np.unique(np.repeat(np.arange(rows), most) * size + points.ravel(), return_inverse=True)
    sums = np.bincount(where, weights=weights.ravel(), minlength=len(keys))
    kept = sums != 0
    row, point = np.divmod(keys[kept], size)
    counts = np.bincount(row, minlength=rows)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = max(1, int(counts.max(initial=0)))
    found, amounts = np.zeros((rows, width), np.int64), np.zeros((rows, width))
    found[row, place], amounts[row, place] = point, sums[kept]
    return found, amounts
