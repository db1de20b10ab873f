"""The bounds that the fast path relies on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from chronodp.randomness import variates
from chronodp.randomness.variates import EXPONENTIAL, GAUSSIAN, LAPLACE, Workspace
from tests.conftest import Trials
from tests.randomness.replay import edge_words, random_words


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
        root = mpmath.mpf(variates._CENTRE)
        widest = max((1 - root) / (1 + root), (root - mpmath.mpf(0.5)) / (root + mpmath.mpf(0.5)))
        square = widest**2
        tail = 2 * square**40 / (1 - square) / 81
        logarithm = (
            polynomial_error(variates._ATANH, lambda k: mpmath.mpf(2) / (2 * k + 1), 40, square) + tail
        ) * widest
        assert logarithm < mpmath.mpf(2) ** -53.4

        quarter = mpmath.pi / 4
        tail = mpmath.sqrt(2) * quarter**41 / mpmath.factorial(41)
        sine = (
            polynomial_error(
                variates._SINE,
                lambda k: mpmath.sqrt(2) * (-1) ** k * quarter ** (2 * k + 1) / mpmath.factorial(2 * k + 1),
                20,
                mpmath.mpf(1),
            )
            + tail
        )
        assert sine < mpmath.mpf(2) ** -47.5
        assert abs(mpmath.log(2) - mpmath.mpf(variates._LOG_TWO)) < mpmath.mpf(2) ** -55
        assert abs(mpmath.log(root) - mpmath.mpf(variates._LOG_CENTRE)) < mpmath.mpf(2) ** -55


def test_laplace_variates_are_within_tolerance_for_every_unseen_bit(trials: Trials) -> None:
    words = np.concatenate([edge_words(), random_words(trials(20_000, least=2_000), 3)])
    words = np.concatenate([words, np.abs(random_words(2_000, 4)) >> 22])  # around the smallest that is decided
    values = np.empty(len(words))
    LAPLACE.transform(words, values, Workspace(len(words)))
    sizes = np.empty(len(words))
    EXPONENTIAL.transform(words, sizes, Workspace(len(words)))
    assert np.array_equal(np.where(words < 0, values, -values), sizes, equal_nan=True)
    assert (EXPONENTIAL.tolerance, EXPONENTIAL.largest) == (LAPLACE.tolerance, LAPLACE.largest)
    decided = np.flatnonzero(~np.isnan(values))
    assert np.array_equal(np.isnan(values), np.abs(words.astype(float)) < 2.0**40)
    assert np.abs(values[decided]).max() <= LAPLACE.largest
    with mpmath.workprec(150):
        for index in decided:
            word = int(words[index])
            for end in (word, word + 1):
                size = mpmath.log(mpmath.mpf(abs(end)) / 2**63)
                ideal = size if word >= 0 else -size
                assert abs(mpmath.mpf(float(values[index])) - ideal) <= LAPLACE.tolerance, word


@pytest.mark.long
def test_gaussian_variates_are_within_tolerance_for_every_unseen_bit(trials: Trials) -> None:
    edges = edge_words()
    half = len(edges) + trials(10_000, least=1_000)
    radius = np.concatenate([edges, random_words(half - len(edges), 5)])
    angle = np.concatenate([random_words(half - len(edges), 6), edges])
    values = np.empty(2 * half)
    GAUSSIAN.transform(np.concatenate([radius, angle]), values, Workspace(2 * half))
    sines, cosines = values[:half], values[half:]
    assert np.array_equal(np.isnan(sines), np.isnan(cosines))
    assert np.nanmax(np.abs(values)) <= GAUSSIAN.largest
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
                    assert abs(mpmath.mpf(float(found)) - ideal) <= GAUSSIAN.tolerance, (first, second)


@pytest.mark.parametrize("family", [LAPLACE, EXPONENTIAL, GAUSSIAN])
def test_few_variates_are_left_to_the_slow_path(family: variates.Family) -> None:
    words = random_words(2**20, 8)
    values = np.empty(len(words))
    family.transform(words, values, Workspace(len(words)))
    assert np.isnan(values).mean() < 3e-5
