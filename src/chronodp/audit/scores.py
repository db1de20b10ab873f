"""Scores that tell two inputs apart by an output: high where the first input is likelier.

The likelihood ratio is the best score there is (Neyman and Pearson). Where it is not known, scores are learnt from
samples: how often each output came, each number by itself, its last binary digit, and a small classifier of them all.
A score may be as bad as it likes: the bounds that are drawn from it stay true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.case import Likelihood
from chronodp.audit.outputs import Outputs

__all__ = ["Score", "by_likelihood", "learn"]

Floats = NDArray[np.float64]
Score: TypeAlias = Callable[[Outputs], Floats]

_COLUMNS = 12  # numbers of an output that are looked at one by one
_PRODUCTS = 6  # numbers of an output up to which their products are looked at too
_BINS = 40
_ROUNDS, _RIDGE = 6, 1e-3
_PRIOR = 2.0  # counted on top, so that an output seen once does not seem to tell everything


def by_likelihood(likelihood: Likelihood, first: Any, second: Any) -> Score:
    """Return the log-likelihood ratio of two inputs."""

    def score(outputs: Outputs) -> Floats:
        return np.array([likelihood(output, first) - likelihood(output, second) for output in outputs.raw])

    return score


def learn(first: Outputs, second: Outputs) -> Iterator[tuple[str, Score]]:
    """Yield scores, each with its name, learnt from outputs on two inputs."""
    if _repeats(first) or _repeats(second):
        yield "how often each output comes", _by_frequency(Counter(first.labels()), Counter(second.labels()))
    width = max(first.width, second.width)
    if not width:
        return
    for place in range(min(width, _COLUMNS)):
        yield f"number {place + 1}", _column(place)
        yield f"number {place + 1} by bins", _by_bins(_column(place), first, second)
        digits = _last_digits(place)
        if len({*digits(first).tolist(), *digits(second).tolist()}) > 1:
            yield f"the last binary digit of number {place + 1}", _by_bins(digits, first, second)
    for name, features in (("a line through all numbers", _plain), ("a small classifier", _products)):
        found = _classifier(features, width, first, second)
        yield name, found
        yield f"{name}, by bins", _by_bins(found, first, second)


def _repeats(outputs: Outputs) -> bool:
    """Whether outputs come again often enough for counting them to tell anything."""
    some = outputs.part(0, 2_000).labels()
    return len(set(some)) <= len(some) // 2


def _by_frequency(first: Counter[Any], second: Counter[Any]) -> Score:
    ratios = {key: float(np.log((first[key] + _PRIOR) / (second[key] + _PRIOR))) for key in first | second}

    def score(outputs: Outputs) -> Floats:
        return np.array([ratios.get(key, 0.0) for key in outputs.labels()])

    return score


def _column(place: int) -> Score:
    def score(outputs: Outputs) -> Floats:
        return np.asarray(np.nan_to_num(outputs.table(place + 1)[:, place], nan=np.inf))

    return score


def _last_digits(place: int) -> Score:
    """The exponent of the last binary digit: floating-point noise betrays its input there (Mironov 2012)."""

    def score(outputs: Outputs) -> Floats:
        mantissas, exponents = np.frexp(np.nan_to_num(outputs.table(place + 1)[:, place], posinf=0.0, neginf=0.0))
        whole = np.abs(mantissas * 2.0**53).astype(np.int64)
        lowest = np.where(whole > 0, whole & -whole, 1)
        return np.asarray(exponents + np.log2(lowest))

    return score


def _by_bins(base: Score, first: Outputs, second: Outputs) -> Score:
    """How often each stretch of another score comes: for scores that tell both when high and when low."""
    one, two = base(first), base(second)
    pooled = np.concatenate([one, two])
    finite = pooled[np.isfinite(pooled)]
    edges = np.unique(np.quantile(finite, np.linspace(0, 1, _BINS + 1))) if len(finite) else np.zeros(1)
    sizes = len(edges) + 1
    counts = [np.bincount(np.searchsorted(edges, part, side="right"), minlength=sizes) for part in (one, two)]
    ratios = np.log((counts[0] + _PRIOR) / (counts[1] + _PRIOR))

    def score(outputs: Outputs) -> Floats:
        return np.asarray(ratios[np.searchsorted(edges, base(outputs), side="right")])

    return score


def _plain(numbers: Floats) -> Floats:
    return numbers


def _products(numbers: Floats) -> Floats:
    width = numbers.shape[1]
    if width > _PRODUCTS:
        return np.asarray(np.column_stack([numbers, np.abs(numbers)]))
    upper = np.triu_indices(width)
    return np.asarray(np.column_stack([numbers, np.abs(numbers), numbers[:, upper[0]] * numbers[:, upper[1]]]))


@dataclass(frozen=True, slots=True, eq=False)
class _Scaling:
    """Numbers about their middle, in units of their spread; what is missing or far out is brought in."""

    middle: Floats
    spread: Floats

    @classmethod
    def of(cls, rows: Floats) -> _Scaling:
        finite = np.where(np.isfinite(rows), rows, 0.0)
        spread = finite.std(axis=0)
        return cls(np.median(finite, axis=0), np.where(spread > 0, spread, 1.0))

    def __call__(self, rows: Floats) -> Floats:
        return np.clip(np.nan_to_num((rows - self.middle) / self.spread, nan=-2.0), -1e3, 1e3)


def _classifier(features: Callable[[Floats], Floats], width: int, first: Outputs, second: Outputs) -> Score:
    """Return a logistic regression, by a few steps of Newton's method with a small ridge."""
    tables = [first.table(width), second.table(width)]
    scaling = _Scaling.of(np.concatenate(tables))
    rows = np.concatenate([features(scaling(part)) for part in tables])
    labels = np.concatenate([np.ones(len(first)), np.zeros(len(second))])
    # Noise shared by several numbers cancels in some combination of them, however faint: so all get equal weight.
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    turn = vectors / np.sqrt(np.maximum(values, 1e-10 * max(float(values.max()), 1e-300)))
    design = np.column_stack([np.ones(len(rows)), rows @ turn])
    weights = np.zeros(design.shape[1])
    for _ in range(_ROUNDS):
        chances = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        slope = design.T @ (labels - chances) - _RIDGE * weights
        curvature = (design * (chances * (1 - chances))[:, None]).T @ design + _RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curvature, slope)

    by_feature = (turn @ weights[1:]).tolist()

    def score(outputs: Outputs) -> Floats:
        # Added up one by one: a matrix product may round an output's score by what else is in the batch.
        total = np.zeros(len(outputs))
        for column, weight in zip(features(scaling(outputs.table(width))).T, by_feature, strict=True):
            total += column * weight
        return total

    return score
