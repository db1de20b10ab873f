"""Quantiles of sums of noise against two independent computations: closed forms and a sum over frequencies."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from chronodp.postprocess.tails import Law, deviations, mixed_quantile, quantiles

LAWS: tuple[Law, Law] = ("laplace", "gaussian")
LEVELS = (0.5, 0.9, 0.95, 0.999)
Kinds = tuple[tuple[float, int], ...]

# How far a quantile may be off, relative, where the Cornish-Fisher expansion takes over at 64 terms. Terms of the next
# order fall with the cube of the number of terms.
EXPANDED = {0.5: 3e-7, 0.9: 1e-6, 0.95: 2e-6, 0.999: 2.5e-5, 0.999999: 5e-4}


def beyond(kinds: Kinds, x: float) -> float:
    """P(S > x) for a sum of weighted Laplace draws, of scale 1, by a sum over frequencies.

    The midpoint rule on Gil-Pelaez's integral adds P(S > x + 2πj/h) with alternating signs, which is nothing once 2π/h
    lies that far out; what is cut off at high frequencies falls with the power 2n of n terms.
    """
    largest = max(weight for weight, _ in kinds)
    spread = math.sqrt(2 * sum(count * weight**2 for weight, count in kinds))
    step = 2 * math.pi / (abs(x) + 45 * largest + 12 * spread)
    points = 1000
    while points < 2_000_000 and sum(count * math.log1p((weight * points * step) ** 2) for weight, count in kinds) < 40:
        points *= 2
    t = (np.arange(points) + 0.5) * step
    log_characteristic = sum(-count * np.log1p((weight * t) ** 2) for weight, count in kinds)
    return float(0.5 - step / math.pi * np.sum(np.sin(t * x) * np.exp(log_characteristic) / t))


def beyond_closed(count: int, x: float) -> float:
    """P(S > x) for a sum of ``count`` Laplace draws, by its polynomial times e^-x, in 40 digits."""
    with mpmath.workdps(40):
        total = mpmath.mpf(0)
        for j in range(count):
            ways = mpmath.binomial(count - 1 + j, j) / mpmath.factorial(count - 1 - j)
            total += ways * mpmath.gammainc(count - j, x) / mpmath.mpf(2) ** j
        return float(total / mpmath.mpf(2) ** count)


def beyond_of_two(weight: float, x: float) -> float:
    """P(S > x) for two Laplace draws, of scale 1 and of another, by partial fractions."""
    return (math.exp(-x) - weight**2 * math.exp(-x / weight)) / (2 * (1 - weight**2))


def shortfall(kinds: Kinds, quantile: float, level: float) -> float:
    """By how much, relative, a quantile misses the right one: the error of its tail over the tail's slope."""
    wanted = (1 - level) / 2
    if [count for _, count in kinds] == [1, 1]:  # of two draws the frequencies reach far, and the closed form is there
        (first, _), (second, _) = kinds
        tail, next_tail = (beyond_of_two(second / first, x / first) for x in (quantile, quantile * (1 + 1e-4)))
    else:
        tail, next_tail = beyond(kinds, quantile), beyond(kinds, quantile * (1 + 1e-4))
    slope = (tail - next_tail) * 1e4
    return abs(tail - wanted) / slope


def test_the_two_computations_agree(subtests: pytest.Subtests) -> None:
    for x in [0.3, 2.0, 9.0, 30.0]:
        for count in [2, 3, 10, 63]:
            with subtests.test(count=count, x=x):
                assert beyond(((1.0, count),), x) == pytest.approx(beyond_closed(count, x), abs=1e-13)
                assert beyond(((0.75, count - 1), (0.75, 1)), 0.75 * x) == pytest.approx(
                    beyond_closed(count, x), abs=1e-13
                )


def test_few_terms_are_exact(subtests: pytest.Subtests) -> None:
    for count in [1, 2, 3, 10, 63]:
        for level in [*LEVELS, 0.999999]:
            with subtests.test(level=level, count=count):
                quantile = float(quantiles("laplace", [count], level)[0])
                assert beyond_closed(count, quantile) == pytest.approx((1 - level) / 2, rel=1e-10)
                # The Gaussian of the same deviation is told apart.
                normal = float(stats.norm.ppf((1 + level) / 2)) * math.sqrt(2 * count)
                assert beyond_closed(count, normal) != pytest.approx((1 - level) / 2, rel=1e-3)


def test_many_terms_to_the_stated_digits(subtests: pytest.Subtests) -> None:
    for count in [64, 65, 100, 1000]:
        for level, share in EXPANDED.items():
            with subtests.test(level=level, count=count):
                allowed = share * (64 / count) ** 2.5
                quantile = float(quantiles("laplace", [count], level)[0])
                assert shortfall(((1.0, count),), quantile, level) < allowed + 1e-9
                deviate = float(stats.norm.ppf((1 + level) / 2))
                spread = math.sqrt(2 * count)
                first_order = spread * (deviate + (deviate**3 - 3 * deviate) / (8 * count))
                for wrong in (spread * deviate, first_order):
                    assert shortfall(((1.0, count),), wrong, level) > 3 * allowed


def test_gaussian_sums_are_exact(subtests: pytest.Subtests) -> None:
    for level in [*LEVELS, 1e-9, 0.999999]:
        with subtests.test(level=level):
            deviate = float(mpmath.sqrt(2) * mpmath.erfinv(level))
            terms = [1, 2, 64, 10_000]
            assert quantiles("gaussian", terms, level) == pytest.approx(
                [deviate * math.sqrt(n) for n in terms], rel=1e-9
            )
            assert mixed_quantile("gaussian", (3.0, 4), (-4.0, 4), level) == pytest.approx(10 * deviate, rel=1e-9)


MIXTURES: list[Kinds] = [((1.0, 1), (other, 1)) for other in (0.999, 0.5, 0.01)]
MIXTURES += [((1.0, 1), (0.1, 60)), ((0.9, 1), (0.1, 9)), ((0.5, 10), (0.25, 30)), ((1.0, 20), (0.7, 20))]
MIXTURES += [((1.0, 50), (0.2, 100)), ((2.0, 3), (0.002, 40)), ((1000.0, 2), (300.0, 5))]
MANY: list[Kinds] = [((1.0, 64), (0.5, 1)), ((1.0, 64), (0.1, 300)), ((1.0, 30), (0.9, 60))]


@pytest.mark.slow
def test_two_weights_together(subtests: pytest.Subtests) -> None:
    for kinds in MIXTURES + MANY:
        for level in LEVELS:
            with subtests.test(level=level, kinds=kinds):
                first, second = kinds
                quantile = mixed_quantile("laplace", first, second, level)
                unit = first[0]
                scaled = tuple((weight / unit, count) for weight, count in kinds)
                assert shortfall(scaled, quantile / unit, level) < (EXPANDED[level] if kinds in MANY else 1e-6)
                # What a mean's or a median's interval would be if the second kind of noise were forgotten.
                forgotten = first[0] * float(quantiles("laplace", [first[1]], level)[0])
                if kinds in MIXTURES and second[0] ** 2 * second[1] > 0.01 * first[0] ** 2 * first[1]:
                    assert shortfall(scaled, forgotten / unit, level) > 1e-4


@given(
    weight=st.floats(1e-3, 1e3),
    other=st.floats(0.0, 1.0),
    counts=st.tuples(st.integers(0, 30), st.integers(0, 30)),
    level=st.sampled_from([0.5, 0.8, 0.95, 0.99]),
    law=st.sampled_from(["laplace", "gaussian"]),
)
def test_weights_scale_and_change_places(
    weight: float, other: float, counts: tuple[int, int], level: float, law: Law
) -> None:
    first, second = (1.0, counts[0]), (other, counts[1])
    quantile = mixed_quantile(law, first, second, level)
    assert mixed_quantile(law, second, first, level) == pytest.approx(quantile, rel=1e-9)
    assert mixed_quantile(law, (-1.0, counts[0]), (other, counts[1]), level) == quantile
    scaled = mixed_quantile(law, (weight, counts[0]), (weight * other, counts[1]), level)
    assert scaled == pytest.approx(weight * quantile, rel=1e-6)
    alone = float(quantiles(law, [counts[0]], level)[0]) if counts[0] else 0.0
    everything = float(quantiles(law, [sum(counts)], level)[0]) if sum(counts) else 0.0
    assert alone * (1 - 1e-6) <= quantile <= everything * (1 + 1e-6)


def test_no_weighted_sum_reaches_beyond_its_deviations(subtests: pytest.Subtests) -> None:
    """Equal weights, and one weight beside others of every size: one draw alone would be too little at low levels."""
    for level in [0.5, 0.8, 0.9, 0.905, 0.907, 0.909, 0.95, 0.999]:
        with subtests.test(level=level):
            stated = deviations("laplace", level)
            for count in (1, 2, 3, 5, 20, 200):
                assert quantiles("laplace", [count], level)[0] / math.sqrt(2 * count) <= stated
            for weight in (0.1, 0.4, 0.7, 0.9):
                for count in (1, 2, 6, 30):
                    found = mixed_quantile("laplace", (1.0, 1), (weight, count), level)
                    assert found / math.sqrt(2 * (1 + count * weight**2)) <= stated
            if level < 0.9:
                assert quantiles("laplace", [1], level)[0] / math.sqrt(2) < 0.99 * stated


def test_the_least_and_the_highest_level_have_quantiles(subtests: pytest.Subtests) -> None:
    for level in [5e-324, 2.0**-52, 1e-12, 1 - 2.0**-53]:
        with subtests.test(level=level):
            reached = [
                *quantiles("laplace", [1, 2, 30, 10_000], level),
                mixed_quantile("laplace", (1.0, 2), (0.5, 3), level),
            ]
            assert np.isfinite(reached).all()
            assert min(reached) > 0
    for level in [1e-6, 0.001, 1 - 1e-9]:
        with subtests.test(level=level):
            tail = beyond_of_two(0.01, mixed_quantile("laplace", (1.0, 1), (0.01, 1), level))
            assert tail == pytest.approx((1 - level) / 2, rel=1e-3)
            assert 1 - 2 * tail == pytest.approx(level, rel=1e-3)
    for law in ("laplace", "gaussian"):
        assert mixed_quantile(law, (0.0, 5), (1.0, 0), 0.95) == 0
        assert mixed_quantile(law, (1.0, 3), (0.0, 9), 0.95) == pytest.approx(quantiles(law, [3], 0.95)[0], rel=1e-12)
