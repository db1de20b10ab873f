"""Linear readings: weighted sums of released numbers that know their weights, and so how they hang together.

With w = s C⁻ᵀ a the weights of draws in a·y, two readings have the covariance v (w_a · w_b), where v is the variance of
a draw of scale 1. "Covariances" of ``docs/explanation/proofs/release.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess import Law
from chronodp.series.readings.covariance import PlaceCovariance, time_covariance
from chronodp.series.readings.weights import Floats, Weights, Wholes
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shaping import ReleasedShape

__all__ = ["Linear", "Source", "Term"]


@dataclass(frozen=True, eq=False)
class Source:
    """The noisy numbers of one kind of one release.

    Attributes:
        key: tells numbers apart: the same numbers, read twice, have the same noise.
        named: the release it comes from, in words.
        numbers: periods × places.
        law: of the noise.
        scale: of the noise.
        shape: of the noise over time.
        places: of the noise over places.
        apart: whether places have noise of their own.
    """

    key: str
    named: str
    numbers: Floats = field(repr=False)
    law: Law
    scale: float
    shape: ReleasedShape
    places: PlaceCovariance
    apart: bool = True

    @property
    def variance(self) -> float:
        """Of one draw."""
        return self.scale**2 * (2.0 if self.law == "laplace" else 1.0)

    @property
    def white(self) -> bool:
        """Whether every number has noise of its own."""
        return self.apart and isinstance(self.shape, White)

    def time_covariance(self, one: Weights, other: Weights) -> Floats:
        """Return the covariance over time of two readings, for draws of variance 1."""
        return time_covariance(self.shape, len(self.numbers), one, other)


@dataclass(frozen=True, eq=False)
class Term:
    """Numbers of one source, weighted over time and over places.

    Attributes:
        source: where they come from.
        times: a row of weights for every row of the reading, on running sums.
        places: a row of weights for every column.
    """

    source: Source
    times: Weights
    places: Weights

    def values(self) -> Floats:
        """Return what the term comes to, rows × columns."""
        across = self.places.apply(self.source.numbers.T).T
        horizon = len(across)
        single = np.stack((np.arange(horizon), np.arange(1, horizon + 1)), axis=1)
        if self.times.points.shape == single.shape and np.array_equal(self.times.points, single):
            factors = self.times.weights[:, 1]  # single periods: no sums to take apart again
            whole = across if bool(np.all(factors == 1.0)) else across * factors[:, None]
            return whole if np.array_equal(self.times.which, np.arange(horizon)) else whole[self.times.which]
        before = np.concatenate((np.zeros((1, across.shape[1])), np.cumsum(across, axis=0)))
        return self.times.apply(before)


@dataclass(frozen=True, eq=False)
class Linear:
    """A sum of terms, rows × columns."""

    terms: tuple[Term, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns it has."""
        return len(self.terms[0].times), len(self.terms[0].places)

    @property
    def law(self) -> Law:
        """Of its noise: Laplace where any of it is, whose tails are the longer."""
        return "laplace" if any(term.source.law == "laplace" for term in self.terms) else "gaussian"

    @property
    def sources(self) -> dict[str, Source]:
        """Where its noise comes from."""
        return {term.source.key: term.source for term in self.terms}

    def values(self) -> Floats:
        """Return the numbers."""
        found, *more = (term.values() for term in self.terms)
        for another in more:
            found = found + another
        return found

    def rows(self, chosen: NDArray[np.int64]) -> Linear:
        """Return chosen rows, which may repeat."""
        return Linear(tuple(Term(term.source, term.times.take(chosen), term.places) for term in self.terms))

    def columns(self, chosen: NDArray[np.int64]) -> Linear:
        """Return chosen columns, which may repeat."""
        return Linear(tuple(Term(term.source, term.times, term.places.take(chosen)) for term in self.terms))

    def mixed_columns(self, groups: Wholes) -> Linear:
        """Return sums of columns, the ones of each row of ``groups`` together."""
        summed = []
        for term in self.terms:
            chosen = term.places.which[groups]
            width = groups.shape[1] * term.places.points.shape[1]
            # The columns' own weights side by side, and a point of no weight where nothing is added up.
            points = np.zeros((len(groups), max(1, width)), np.int64)
            weights = np.zeros((len(groups), max(1, width)))
            points[:, :width] = term.places.points[chosen].reshape(len(groups), width)
            weights[:, :width] = term.places.weights[chosen].reshape(len(groups), width)
            summed.append(Term(term.source, term.times, Weights(points, weights, np.arange(len(groups)))))
        return Linear(tuple(summed))

    def over_rows(self, starts: Wholes, stops: Wholes) -> Linear:
        """Return sums over rows start to stop, stop left out."""
        return Linear(tuple(Term(term.source, _summed(term.times, starts, stops), term.places) for term in self.terms))

    def averaged(self, chosen: Sequence[Wholes]) -> Linear:
        """Return a row for each set of rows: their mean."""
        most = max(len(rows) for rows in chosen)
        index, factors = np.zeros((len(chosen), most), np.int64), np.zeros((len(chosen), most))
        for row, rows in enumerate(chosen):
            index[row, : len(rows)], factors[row, : len(rows)] = rows, 1 / len(rows)
        return Linear(tuple(Term(term.source, term.times.gathered(index, factors), term.places) for term in self.terms))

    def scaled(self, factors: float | Floats) -> Linear:
        """Return it times a factor, one for all or one for each row."""
        return Linear(tuple(Term(term.source, term.times.scaled(factors), term.places) for term in self.terms))

    def plus(self, other: Linear, sign: float = 1.0) -> Linear:
        """Return the sum with another; weights on the same numbers are added."""
        signed = (Term(term.source, term.times, term.places.scaled(sign)) for term in other.terms)
        return _gathered((*self.terms, *signed))

    def covariance(self, other: Linear) -> Floats:
        """Return the covariance with another of the same shape, rows × columns, or 1 where all are alike."""
        found = np.zeros((1, 1))
        for one, two in self._common(other):
            over_time = one.source.time_covariance(one.times, two.times)
            over_places = one.source.places.of(one.places, two.places)
            found = found + one.source.variance * _alike(over_time)[:, None] * _alike(over_places)[None, :]
        return found

    def variance(self) -> Floats:
        """Return the variance, rows × columns, or 1 where all are alike."""
        return np.maximum(self.covariance(self), 0.0)

    def same_as(self, other: Linear) -> NDArray[np.bool_]:
        """Return where both are the very same weights on the same numbers, rows × columns."""
        mine, theirs = self.terms, other.terms
        if len(mine) != 1 or len(theirs) != 1 or mine[0].source.key != theirs[0].source.key:
            less = self.plus(other, -1.0)
            nothing = np.ones(self.shape, np.bool_)
            for term in less.terms:
                empty = Weights(np.zeros((1, 1), np.int64), np.zeros((1, 1)), np.zeros(len(term.times), np.int64))
                none = Weights(empty.points, empty.weights, np.zeros(len(term.places), np.int64))
                nothing &= term.times.same_rows(empty)[:, None] | term.places.same_rows(none)[None, :]
            return nothing
        return mine[0].times.same_rows(theirs[0].times)[:, None] & mine[0].places.same_rows(theirs[0].places)[None, :]

    def _common(self, other: Linear) -> Iterator[tuple[Term, Term]]:
        for one in self.terms:
            for two in other.terms:
                if one.source.key == two.source.key:
                    yield one, two


def _alike(numbers: Floats) -> Floats:
    return numbers[:1] if len(numbers) and bool(np.all(numbers == numbers[0])) else numbers


def _summed(times: Weights, starts: Wholes, stops: Wholes) -> Weights:
    if times.abuts:
        # Each row begins where the last one ended: running sums between them cancel, and two points are left.
        first, last = times.which[starts], times.which[stops - 1]
        points = np.stack((times.points[first, 0], times.points[last, 1]), axis=1)
        weights = np.stack((times.weights[first, 0], times.weights[last, 1]), axis=1)
        return Weights(points, weights, np.arange(len(starts)))
    return times.added(starts, stops)


def _gathered(terms: tuple[Term, ...]) -> Linear:
    """Add up terms of one source that have the same weights over places, or over time."""
    kept: list[Term] = []
    for term in terms:
        for index, known in enumerate(kept):
            if known.source.key != term.source.key:
                continue
            if bool(np.all(known.times.same_rows(term.times))):
                kept[index] = Term(known.source, known.times, known.places.plus(term.places))
                break
            sign = next((s for s in (1.0, -1.0) if np.all(known.places.same_rows(term.places.scaled(s)))), None)
            if sign is not None:
                kept[index] = Term(known.source, known.times.plus(term.times.scaled(sign)), known.places)
                break
        else:
            kept.append(term)
    return Linear(tuple(kept))
