"""Every table of a few people in a few bins, and the exact law of bins drawn of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from chronodp.privacy import decimal_value
from chronodp.selection import ExponentialMechanism, exponents_of
from chronodp.selection.score_gaps import run_gaps
from chronodp.series.quantiles.choices import ByChoice, bin_utilities, choice_of, few_allowance

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


@lru_cache(maxsize=2**16)
def chances(way: ByChoice, q: float, counts: Counts, per_one: int = 1) -> tuple[float, ...]:
    """Return the probability of each bin, and of "too few" last, as the library weighs them.

    Utilities are whole in units of a person: with more parts of a person in each of them they are rounded finer.
    """
    exact = decimal_value(q)
    design = choice_of(way, exact, len(counts), per_one)
    utilities = bin_utilities(np.array([counts], np.int64) * per_one, exact, few_allowance(design))[0]
    odds = np.exp(-exponents_of(design, run_gaps(design, utilities, np.array([len(utilities)]))))
    if isinstance(way.mechanism, ExponentialMechanism):
        return tuple((odds / odds.sum()).tolist())
    # Each falls in with its odds, and one of those that did is taken: p ∫ Π (1 - p' t) dt, by exact quadrature.
    nodes, weights = np.polynomial.legendre.leggauss(len(odds))
    times = 1 - np.outer((nodes + 1) / 2, odds)
    return tuple(float(odds[i] * (weights / 2 @ np.delete(times, i, axis=1).prod(axis=1))) for i in range(len(odds)))


def law_of(way: ByChoice, quantiles: tuple[float, ...], counts: Counts, per_one: int = 1) -> Law:
    """Return the probability of every outcome of all quantiles' bins, before they are put in order."""
    each = [chances(way, q, counts, per_one) for q in quantiles]
    places = itertools.product(range(len(counts) + 1), repeat=len(quantiles))
    return {drawn: math.prod(one[place] for one, place in zip(each, drawn, strict=True)) for drawn in places}


def ratios(one: Law, other: Law) -> tuple[float, float]:
    """Return the least and the largest log-likelihood ratio of two laws."""
    logs = [math.log(one[outcome] / other[outcome]) for outcome in one]
    return min(logs), max(logs)
