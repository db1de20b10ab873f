"""Readings of numbers that nobody released, beside the matrices they stand for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import toeplitz

from chronodp.postprocess import Law
from chronodp.series.readings.covariance import IndependentPlaces
from chronodp.series.readings.linear import Linear, Source, Term
from chronodp.series.readings.weights import Weights, identity, of_windows
from chronodp.series.shapes import Banded, SquareRoot, Tree, White, buffers_near
from chronodp.series.shaping import ReleasedShape
from chronodp.series.workloads import Rolling, RunningTotal

Floats = NDArray[np.float64]

SHAPES: dict[str, ReleasedShape] = {
    "white": White(),
    "square root": SquareRoot(RunningTotal()),
    "root of rolling": SquareRoot(Rolling(3)),
    "banded": Banded((1.0, 0.5, 0.2)),
    "buffered": next(iter(buffers_near(64, 1).values())),
    "tree of 3": Tree(3),
    "tree of 5": Tree(5),
}


def source(
    shape: ReleasedShape, law: Law, *, horizon: int = 14, places: int = 4, scale: float = 1.5, key: str = "one"
) -> Source:
    numbers = np.random.default_rng(len(key)).normal(50, 20, (horizon, places))
    return Source(key, "request", numbers, law, scale, shape, IndependentPlaces(places))


def single(one: Source) -> Linear:
    """Every period and place by itself."""
    horizon, places = one.numbers.shape
    periods = np.arange(horizon)
    return Linear((Term(one, of_windows(periods, periods + 1), identity(places)),))


def running_sums(shape: ReleasedShape, horizon: int) -> Floats:
    """The weights of draws in every running sum, built draw by draw."""
    if not isinstance(shape, Tree):
        inverse = toeplitz(shape.inverse(horizon), np.zeros(horizon))
        return np.vstack((np.zeros((1, horizon)), np.cumsum(inverse, axis=0)))
    used = []
    for digits in shape.digits(np.arange(horizon + 1), horizon).T:
        blocks, place = {}, 0
        for level in reversed(range(len(digits))):
            place *= shape.arity
            digit = int(digits[level])
            for block in range(min(place, place + digit), max(place, place + digit)):
                blocks[level, block] = 1.0 if digit > 0 else -1.0
            place += digit
        used.append(blocks)
    names = sorted({name for blocks in used for name in blocks})
    return np.array([[blocks.get(name, 0.0) for name in names] for blocks in used])


def spread(weights: Weights, size: int) -> Floats:
    """All weights as rows × points."""
    found = np.zeros((len(weights), size))
    for row, which in enumerate(weights.which):
        np.add.at(found[row], weights.points[which], weights.weights[which])
    return found


def dense(linear: Linear, key: str) -> Floats:
    """The weights of a source's draws in every cell: rows × columns × draws over time × places."""
    total: Floats | None = None
    for term in linear.terms:
        if term.source.key != key:
            continue
        horizon, places = term.source.numbers.shape
        along = spread(term.times, horizon + 1) @ running_sums(term.source.shape, horizon)
        across = spread(term.places, places)
        part = term.source.scale * along[:, None, :, None] * across[None, :, None, :]
        total = part if total is None else total + part
    return np.zeros((*linear.shape, 1, 1)) if total is None else total
