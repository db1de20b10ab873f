"""The bounds that the fast path relies on."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from chronodp.randomness import logarithm, pairs
from chronodp.randomness.logarithm import Floats, Words, Workspace
from chronodp.randomness.pairs import PAIRS
from chronodp.randomness.stairs import FINE
from chronodp.randomness.variates import CERTAIN, Family
from tests.conftest import Trials
from tests.randomness.replay import by_family, edge_words, random_words


def largest_on(coefficients: list[Any], high: Any) -> Any:
    """A proven bound of |polynomial| on [0, high]: the sum of its Chebyshev coefficients' absolute values."""
    half = high / 2
    shifted = [mpmath.mpf(0)] * len(coefficients)
    for power, coefficient in enumerate(coefficients):
        for lower in range(power + 1):
            shifted[lower] += coefficient * mpmath.binomial(power, lower) * half**power
    chebyshev = [mpmath.mpf(0)] * len(coefficients)
    for power, coefficient in enumerate(shifted):
        for step in range(power // 2 + 1):
            degree = power - 2 * step
            share = mpmath.binomial(power, step) * mpmath.mpf(2) ** (1 - power)
            chebyshev[degree] += coefficient * (share / 2 if degree == 0 else share)
    return sum(abs(part) for part in chebyshev)


def polynomial_error(ours: tuple[float, ...], series: Callable[[int], Any], terms: int, high: Any) -> Any:
    ascending = [mpmath.mpf(value) for value in ours[::-1]]
    difference = [(ascending[k] if k < len(ascending) else mpmath.mpf(0)) - series(k) for k in range(terms)]
    return largest_on(difference, high)


def test_the_polynomials_are_as_close_as_stated() -> None:
    with mpmath.workprec(400):
        root = mpmath.mpf(logarithm._CENTRE)
        widest = max((1 - root) / (1 + root), (root - mpmath.mpf(0.5)) / (root + mpmath.mpf(0.5)))
        square = widest**2
        tail = 2 * square**40 / (1 - square) / 81
        found = (polynomial_error(logarithm._ATANH, lambda k: mpmath.mpf(2) / (2 * k + 1), 40, square) + tail) * widest
        assert found < mpmath.mpf(2) ** -53.4

        quarter = mpmath.pi / 4
        tail = mpmath.sqrt(2) * quarter**41 / mpmath.factorial(41)
        sine = (
            polynomial_error(
                pairs._SINE,
                lambda k: mpmath.sqrt(2) * (-1) ** k * quarter ** (2 * k + 1) / mpmath.factorial(2 * k + 1),
                20,
                mpmath.mpf(1),
            )
            + tail
        )
        assert sine < mpmath.mpf(2) ** -47.5
        assert abs(mpmath.log(2) - mpmath.mpf(logarithm._LOG_TWO)) < mpmath.mpf(2) ** -55
        assert abs(mpmath.log(root) - mpmath.mpf(logarithm._LOG_CENTRE)) < mpmath.mpf(2) ** -55


def on_steps(family: Family, words: Words) -> Floats:
    values = np.empty(len(words))
    family.transform(family.stairs, words, words & (family.stairs.layers - 1), values, Workspace(len(words)))
    return values


@by_family
def test_variates_on_steps_are_within_tolerance_for_every_unseen_bit(family: Family, trials: Trials) -> None:
    stairs = family.stairs
    words = np.concatenate([edge_words(), random_words(trials(20_000, least=2_000), 3)])
    values = on_steps(family, words)
    assert np.array_equal(np.isnan(values), (words & 1023) < stairs.spare)
    for word, value in zip(words.tolist(), values.tolist(), strict=True):
        if not math.isnan(value):
            edge = Fraction(stairs.edges[word % 1024 - stairs.spare], FINE)
            for end in (word // 1024, word // 1024 + 1):  # what chose the step is not a part of V
                assert abs(Fraction(value) - edge * end / 2**53) <= 3 * edge / 2**53 < family.bounds.tolerance


@by_family
def test_few_variates_are_left_to_the_rest(family: Family) -> None:
    assert np.isnan(on_steps(family, random_words(2**20, 8))).mean() < 0.0045


def points(family: Family, count: int, seed: int) -> tuple[Words, Words, Words]:
    """Strips, places and heights, with every edge word at each, and the tail as often as all strips together."""
    edges = edge_words()
    across = np.concatenate([edges, random_words(len(edges), seed), random_words(count, seed + 1)])
    heights = np.concatenate([random_words(len(edges), seed + 2), edges, random_words(count, seed + 3)])
    strips = np.random.default_rng(seed).integers(0, len(family.stairs.shares), len(across))
    strips[::2] = 0
    return strips, across, heights


@pytest.mark.slow
@by_family
def test_sizes_of_the_rest_are_within_tolerance_for_every_unseen_bit(family: Family, trials: Trials) -> None:
    stairs = family.stairs
    strips, across, heights = points(family, trials(20_000, least=2_000), 5)
    sizes, apart = family.judge(stairs, strips, across, heights)
    share = np.abs(across.astype(float)) * 2.0**-63
    assert np.array_equal(np.isnan(sizes), (strips == 0) & (share < 2.0**-15))
    assert np.array_equal(np.isnan(apart), np.isnan(sizes) | (np.abs(heights.astype(float)) < 2.0**33))
    assert np.nanmax(sizes) <= family.bounds.largest
    rate, first = stairs.rate, stairs.left(0)
    with mpmath.workprec(150):
        for strip, word, size in zip(strips.tolist(), across.tolist(), sizes.tolist(), strict=True):
            for end in () if math.isnan(size) else (word, word + 1):
                if strip:
                    ideal = stairs.left(strip) + stairs.width(strip) * abs(end) / 2**63
                    found = abs(Fraction(size) - ideal)
                else:
                    fall = -mpmath.log(mpmath.mpf(abs(end)) / 2**63)
                    found = abs(mpmath.mpf(size) - exactly(first) - fall / exactly(rate))
                assert found <= family.bounds.tolerance, (strip, word)


def exactly(number: Fraction) -> Any:
    return mpmath.mpf(number.numerator) / number.denominator


@pytest.mark.slow
@by_family
def test_distances_from_the_curve_are_within_their_bound_for_every_unseen_bit(family: Family, trials: Trials) -> None:
    stairs = family.stairs
    strips, across, heights = points(family, trials(6_000, least=500), 9)
    _, apart = family.judge(stairs, strips, across, heights)
    with mpmath.workprec(200):
        level = [exactly(Fraction(stairs.level(strip, 200)[0], 2**200)) for strip in range(len(stairs.shares))]
        reach = [exactly(stairs.reach(strip)) for strip in range(len(stairs.shares))]
        for index in np.flatnonzero(~np.isnan(apart)).tolist():
            strip, place, height = int(strips[index]), int(across[index]), int(heights[index])
            for one, two in ((place, height), (place + 1, height + 1), (place, height + 1), (place + 1, height)):
                share = mpmath.mpf(abs(one)) / 2**63
                fall = mpmath.log(share) if strip == 0 else mpmath.mpf(0)
                across_it = -fall / exactly(stairs.rate) if strip == 0 else share * exactly(stairs.width(strip))
                depth = stairs.curve.depth_between(mpmath.mp, exactly(stairs.left(strip)) + across_it)
                ideal = -mpmath.log(level[strip] + reach[strip] * abs(two) / 2**63) - fall - depth
                assert abs(mpmath.mpf(float(apart[index])) - ideal) <= CERTAIN, (strip, place, height)


@pytest.mark.slow
def test_variates_in_pairs_are_within_tolerance_for_every_unseen_bit(trials: Trials) -> None:
    edges = edge_words()
    half = len(edges) + trials(10_000, least=1_000)
    radius = np.concatenate([edges, random_words(half - len(edges), 5)])
    angle = np.concatenate([random_words(half - len(edges), 6), edges])
    values = np.empty(2 * half)
    PAIRS.transform(np.concatenate([radius, angle]), values, Workspace(2 * half))
    sines, cosines = values[:half], values[half:]
    assert np.array_equal(np.isnan(sines), np.isnan(cosines))
    assert np.nanmax(np.abs(values)) <= PAIRS.bounds.largest
    with mpmath.workprec(150):
        for index in np.flatnonzero(~np.isnan(sines)):
            first, second = int(radius[index]), int(angle[index])
            for one, two in ((first, second), (first + 1, second + 1), (first, second + 1), (first + 1, second)):
                length = mpmath.sqrt(-2 * mpmath.log(mpmath.mpf(abs(one)) / 2**63))
                turn = mpmath.pi / 2 * mpmath.mpf(two) / 2**63
                cosine = length * mpmath.cos(turn)
                for found, ideal in (
                    (sines[index], length * mpmath.sin(turn)),
                    (cosines[index], cosine if first >= 0 else -cosine),
                ):
                    assert abs(mpmath.mpf(float(found)) - ideal) <= PAIRS.bounds.tolerance, (first, second)


def test_few_pairs_are_left_to_the_slow_path() -> None:
    words = random_words(2**20, 8)
    values = np.empty(len(words))
    PAIRS.transform(words, values, Workspace(len(words)))
    assert np.isnan(values).mean() < 3e-5
