"""With which weights independent draws enter one reading or two: what quantiles of Laplace noise are computed from.

Where noise is white every number has a draw of its own. Over a stretch of periods and places with equal weights all
draws enter alike, so a reading is told by few kinds: a weight in the first, one in the second, and how many draws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.series.readings.linear import Linear, Source, Term
from chronodp.series.readings.weights import Floats, Weights, Wholes

__all__ = ["Kind", "KindsOf", "kinds_of"]

Kind: TypeAlias = tuple[float, float, int]
_Classes: TypeAlias = tuple[tuple[tuple[float, ...], int], ...]

_LOOKED = 2**14  # rows × columns that differ, up to which their kinds are looked at
_SHORT = 4  # points of a row over places up to which it is looked at point by point


@dataclass(frozen=True, eq=False)
class KindsOf:
    """Cells that stand on the same kinds of draws.

    Attributes:
        kinds: weight in the first reading, in the second, and how many draws; scales are in the weights.
        rows: of the cells.
        columns: of the cells.
    """

    kinds: tuple[Kind, ...]
    rows: Wholes
    columns: Wholes


def kinds_of(one: Linear, other: Linear | None = None, *, most: int) -> list[KindsOf] | None:
    """Return the kinds of draws of every cell; None where draws are shared by numbers, or there are too many kinds."""
    readings = (one,) if other is None else (one, other)
    sources: dict[str, Source] = {key: source for reading in readings for key, source in reading.sources.items()}
    if not all(source.white and source.law == "laplace" for source in sources.values()):
        return None
    by_row, by_column = [], []
    for key, source in sources.items():
        every = [(side, term) for side, reading in enumerate(readings) for term in reading.terms]
        own = [(side, term) for side, term in every if term.source.key == key]
        by_row.append((source, [side for side, _ in own], *_segments([term for _, term in own])))
        by_column.append(_classes([term.places for _, term in own], source.numbers.shape[1]))
    rows, which_row = _together([found[-1] for found in by_row])
    columns, which_column = _together([which for _, which in by_column])
    if len(rows) * len(columns) > _LOOKED:
        return None
    found: dict[tuple[tuple[Kind, ...], int], list[Wholes]] = {}
    for row, row_parts in enumerate(rows):
        for column, column_parts in enumerate(columns):
            kinds: Counter[tuple[float, float]] = Counter()
            for index, (source, sides, lengths, weights, _) in enumerate(by_row):
                classes = by_column[index][0][column_parts[index]]
                segments = row_parts[index]
                for first, second, count in _products(sides, lengths[segments], weights[segments], classes):
                    kinds[(source.scale * first, source.scale * second)] += count
            kept = tuple(sorted((*pair, count) for pair, count in kinds.items() if any(pair)))
            # Rows whose stretches lie elsewhere may stand on the same kinds.
            found.setdefault((kept, column), []).append(np.flatnonzero(which_row == row))
            if len(found) > most:
                return None
    return [
        KindsOf(kinds, np.concatenate(chosen), np.flatnonzero(which_column == column))
        for (kinds, column), chosen in found.items()
    ]


def _products(
    sides: Sequence[int], lengths: Floats, weights: Floats, classes: _Classes
) -> Iterator[tuple[float, float, int]]:
    for vector, places in classes:
        for length, over_time in zip(lengths.tolist(), weights.tolist(), strict=True):
            if length:
                sums = [0.0, 0.0]
                for side, across, along in zip(sides, vector, over_time, strict=True):
                    sums[side] += across * along
                yield sums[0], sums[1], int(length) * places


def _segments(terms: Sequence[Term]) -> tuple[Floats, Floats, Wholes]:
    """Return stretches of periods with equal weights: lengths, weights by term, and which of them each row has."""
    points = np.concatenate([term.times.points[term.times.which] for term in terms], axis=1)
    jumps = np.zeros((*points.shape, len(terms)))
    at = 0
    for index, term in enumerate(terms):
        width = term.times.points.shape[1]
        jumps[:, at : at + width, index] = term.times.weights[term.times.which]
        at += width
    order = np.argsort(points, axis=1, kind="stable")
    points = np.take_along_axis(points, order, axis=1)
    jumps = np.take_along_axis(jumps, order[..., None], axis=1)
    # A weight on the running sum before a point is one on every period before it.
    weights = np.cumsum(jumps[:, ::-1], axis=1)[:, ::-1]
    lengths = np.diff(points, axis=1, prepend=0).astype(np.float64)
    # What is left of sums that cancel is rounding.
    weights = np.where(np.abs(weights) > 1e-12 * np.abs(jumps).sum(axis=1, keepdims=True), weights, 0.0)
    lengths = np.where(weights.any(axis=2), lengths, 0.0)
    weights = weights * (lengths > 0)[..., None]
    rows = np.concatenate((lengths, weights.reshape(len(points), -1)), axis=1)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    width = lengths.shape[1]
    return distinct[:, :width], distinct[:, width:].reshape(len(distinct), width, len(terms)), which.ravel()


def _classes(places: Sequence[Weights], size: int) -> tuple[list[_Classes], Wholes]:
    """Return how many places have which weights in every term, for distinct columns, and which each column is."""
    terms, columns = len(places), len(places[0])
    long = [index for index, one in enumerate(places) if one.points.shape[1] > _SHORT]
    stacked = np.stack([places[index].which for index in long] or [np.zeros(columns, np.int64)], axis=1)
    combinations, combined = np.unique(stacked, axis=0, return_inverse=True)
    found: list[_Classes] = []
    which = np.empty(columns, np.int64)
    for row, combination in enumerate(combinations):
        chosen = np.flatnonzero(combined.ravel() == row)
        spread = np.zeros((size, terms))
        for index, distinct in zip(long, combination, strict=False):
            np.add.at(spread[:, index], places[index].points[distinct], places[index].weights[distinct])
        vectors, counts = np.unique(spread[spread.any(axis=1)], axis=0, return_counts=True)
        everywhere = Counter({tuple(v): int(c) for v, c in zip(vectors.tolist(), counts.tolist(), strict=True)})
        short, at = _short(places, long, chosen)
        placed: NDArray[np.bool_] = np.asarray(short.any(axis=2))
        short = (short + spread[at]) * placed[..., None]
        flat = np.concatenate((short.reshape(len(chosen), -1), placed), axis=1)
        _, first, inverse = np.unique(flat, axis=0, return_index=True, return_inverse=True)
        which[chosen] = len(found) + inverse.ravel()
        for column in first:
            classes = everywhere.copy()
            for entry in np.flatnonzero(placed[column]):
                if spread[at[column, entry]].any():
                    classes[tuple(spread[at[column, entry]].tolist())] -= 1
                classes[tuple(short[column, entry].tolist())] += 1
            found.append(tuple(sorted((vector, count) for vector, count in classes.items() if count)))
    return found, which


def _short(places: Sequence[Weights], long: Sequence[int], chosen: Wholes) -> tuple[Floats, Wholes]:
    """Return the weights of every place with few in some term, once: columns × entries × terms, and the places."""
    at, weights, owner = [np.zeros((len(chosen), 0), np.int64)], [np.zeros((len(chosen), 0))], []
    for index, one in enumerate(places):
        if index not in long:
            at.append(one.points[one.which[chosen]])
            weights.append(one.weights[one.which[chosen]])
            owner += [index] * one.points.shape[1]
    points, amounts = np.concatenate(at, axis=1), np.concatenate(weights, axis=1)
    found = np.zeros((*points.shape, len(places)))
    for entry in range(points.shape[1]):
        same = (points == points[:, entry : entry + 1]) & (amounts != 0)
        # The first entry of a place takes what all of them have.
        leads = ~same[:, :entry].any(axis=1) & same[:, entry]
        for other in range(entry, points.shape[1]):
            found[:, entry, owner[other]] += leads * same[:, other] * amounts[:, other]
    return found, points


def _together(parts: Sequence[Wholes]) -> tuple[list[tuple[int, ...]], Wholes]:
    distinct, which = np.unique(np.stack(parts, axis=1), axis=0, return_inverse=True)
    return [tuple(row) for row in distinct.tolist()], which.ravel()
