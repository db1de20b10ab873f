"""Every table of a few people in a few bins, and the exact law of edges drawn of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.selection import ExponentialMechanism, exponents_of
from chronodp.selection.score_gaps import run_gaps
from chronodp.series.quantiles.choices import ByChoice, choice_of, edge_utilities
from chronodp.series.quantiles.order import Step, steps_of

Counts = tuple[int, ...]
Law = dict[tuple[int, ...], float]


def tables(most: int, bins: int) -> Iterator[Counts]:
    """Return every table of at most so many people."""
    for counts in itertools.product(range(most + 1), repeat=bins):
        if sum(counts) <= most:
            yield counts


def neighbours(counts: Counts) -> Iterator[Counts]:
    """Return the table with one person more, in each bin."""
    for place in range(len(counts)):
        yield tuple(count + (index == place) for index, count in enumerate(counts))


@lru_cache(maxsize=2**16)  # parts of tables, and tables, meet the same numbers again and again
def chances(way: ByChoice, step: Step, below: Counts, edges: int) -> NDArray[np.float64]:
    """Return the probability of each edge of a part, as the library weighs them."""
    design, people = choice_of(way, step, edges, 1), np.array(below, np.int64)
    odds = np.exp(-exponents_of(design, run_gaps(design, edge_utilities(people, step.target), np.array([len(below)]))))
    if isinstance(way.mechanism, ExponentialMechanism):
        return np.asarray(odds / odds.sum())
    # Each falls in with its odds, and one of those that did is taken: p ∫ Π (1 - p' t) dt, by exact quadrature.
    nodes, weights = np.polynomial.legendre.leggauss(len(odds))
    times = 1 - np.outer((nodes + 1) / 2, odds)
    return np.array([odds[i] * (weights / 2 @ np.delete(times, i, axis=1).prod(axis=1)) for i in range(len(odds))])


def law_of(way: ByChoice, quantiles: tuple[float, ...], counts: Counts) -> Law:
    """Return the probability of every outcome of all quantiles' edges."""
    running = (0, *itertools.accumulate(counts))
    outcomes: dict[tuple[int | None, ...], float] = {(None,) * len(quantiles): 1.0}
    for step in steps_of(quantiles):
        fresh: dict[tuple[int | None, ...], float] = {}
        for chosen, chance in outcomes.items():
            first = 0 if step.low is None else chosen[step.low] or 0
            last = len(counts) if step.high is None else chosen[step.high] or 0
            for place, part in enumerate(chances(way, step, running[first : last + 1], len(counts) + 1)):
                made = (*chosen[: step.index], first + place, *chosen[step.index + 1 :])
                fresh[made] = chance * float(part)
        outcomes = fresh
    return {tuple(place or 0 for place in chosen): chance for chosen, chance in outcomes.items()}


def ratios(one: Law, other: Law) -> tuple[float, float]:
    """Return the least and the largest log-likelihood ratio of two laws."""
    logs = [math.log(one[outcome] / other[outcome]) for outcome in one]
    return min(logs), max(logs)
