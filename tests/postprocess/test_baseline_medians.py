"""Medians as baselines: how far they are off at worst, by formula, by integral and by draws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.conftest import SCALE, Trials
from tests.postprocess.noise import draw, errors, golden, sets_of

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law, bonferroni_median_sets, median_sets, mixed_quantiles, mixed_sets, quantiles
from chronodp.postprocess.baseline_medians import _beyond, median_reach
from chronodp.postprocess.worst_medians import worst_density, worst_half

LAWS: tuple[Law, Law] = ("gaussian", "laplace")
SHAPES = ("equal", "worst", "spread")
# The mean of the two largest of weeks/2 + 1 draws, 95 %, as published to five digits.
# The reach at ratios 0.15, 0.95 and 1.75 for nine weeks of Laplace noise at level 0.2, by quadrature in 30 digits.
NOT_CONVEX = (0.473400546505, 1.79202321022, 3.07224551948)
EVEN = {2: (1.38590, 2.05650), 4: (1.66098, 2.55200), 6: (1.82146, 2.87069)}


def test_half_widths_are_the_published_ones(subtests: pytest.Subtests) -> None:
    for law in LAWS:
        with subtests.test(law=law):
            for weeks, half in golden("exact_values")["median_baseline_half_width"][law].items():
                assert worst_half(law, int(weeks), 0.95) == pytest.approx(half, abs=1e-9)
            for weeks, halves in EVEN.items():
                assert worst_half(law, weeks, 0.95) == pytest.approx(halves[LAWS.index(law)], abs=1e-5)


def test_one_week_and_two_are_sums(subtests: pytest.Subtests) -> None:
    for level in [0.1, 0.5, 0.9, 0.999999]:
        with subtests.test(level=level):
            for law in LAWS:
                assert worst_half(law, 1, level) == pytest.approx(quantiles(law, [1], level)[0], rel=1e-9)
                two = float(mixed_quantiles(law, [[0.5]], [2], level)[0])
                assert worst_half(law, 2, level) == pytest.approx(two, rel=1e-9)


@pytest.mark.slow
def test_reaches_are_the_published_ones_and_bend_one_way(subtests: pytest.Subtests) -> None:
    for row in golden("median_fieller_q")["rows"]:
        with subtests.test(row=row):
            reach = median_reach(row["law"], row["weeks"], row["level"])
            assert reach.at(np.array([1.0]))[0] == pytest.approx(row["q1"], abs=1e-5)
            slopes = np.diff(reach.values) / np.diff(reach.knots)
            assert np.min(np.diff(slopes)) > 0
            assert np.max(slopes) < reach.steepest == worst_half(row["law"], row["weeks"], row["level"])


def few(*values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """All combinations at stated counts; otherwise one for each pair of the first two, the others in turn."""
    if SCALE >= 1:
        return list(itertools.product(*values))
    pairs = enumerate(itertools.product(*values[:2]))
    return [
        (*pair, *(other[(place + place // len(other)) % len(other)] for other in values[2:])) for place, pair in pairs
    ]


# Odd numbers of weeks and even ones have densities of their own, levels below one half a reach that need not be convex.
@pytest.mark.slow
def test_the_reach_is_bent_one_way_and_holds(subtests: pytest.Subtests) -> None:
    """From one half on it is the reach itself, as far as is seen; below it is above it and convex all the same."""
    for law, level, weeks in few(LAWS, [0.02, 0.2, 0.5, 0.9, 0.999], [2, 9, 4, 52, 6]):
        with subtests.test(law=law, level=level, weeks=weeks):
            reach = median_reach(law, weeks, level)
            slopes = np.diff(reach.values) / np.diff(reach.knots)
            assert np.min(np.diff(slopes)) > -1e-9
            assert np.max(slopes) <= reach.steepest * (1 + 1e-12)
            ratios = np.array([0.013, 0.31, 0.77, 1.9, 30.0])
            tails = _beyond(law, worst_density(law, weeks), ratios, reach.at(ratios))[0]
            assert np.all(tails <= (1 - level) / 2 * (1 + 1e-9))
            if level >= 0.5:
                assert tails == pytest.approx((1 - level) / 2, rel=1e-4)
                assert reach.steepest == worst_half(law, weeks, level)


def test_a_reach_that_is_not_convex_is_met_on_the_safe_side() -> None:
    """Nine weeks of Laplace noise at level 0.2: three true values of the reach, found apart in 30 digits."""
    reach = median_reach("laplace", 9, 0.2)
    ratios = np.array([0.15, 0.95, 1.75])
    true = np.array(NOT_CONVEX)
    chord = true[0] + (true[2] - true[0]) / 2
    assert true[1] > chord + 0.01
    assert np.all(reach.at(ratios) >= true)


@pytest.mark.slow
def test_one_week_is_a_plain_ratio() -> None:
    n, d = np.array([8.0, 8.0, 0.5, 70.0]), np.array([5.0, 1.0, 1.0, 100.0])
    for law in LAWS:
        plain = sets_of(law, n, d, 0.95)
        one = median_sets(n, d, law=law, weeks=1, level=0.95, numerator_scale=1.0, denominator_scale=1.0)
        assert one.kind.tolist() == plain.kind.tolist()
        for name in ("value", "lower", "upper", "not_above", "not_below"):
            assert getattr(one, name) == pytest.approx(getattr(plain, name), rel=1e-5, nan_ok=True)


@pytest.mark.slow
def test_two_weeks_are_their_mean() -> None:
    n, d = np.array([8.0, 8.0, 70.0]), np.array([5.0, 1.0, 100.0])
    two = median_sets(n, d, law="laplace", weeks=2, level=0.95, numerator_scale=1.0, denominator_scale=1.0)
    mean = mixed_sets(n, d, [(1.0, 0.0, 1), (0.0, 0.5, 2)], scale=1.0, level=0.95)
    assert two.lower == pytest.approx(mean.lower, rel=1e-5)
    assert two.not_below == pytest.approx(mean.not_below, rel=1e-5, nan_ok=True)


@given(st.floats(0.1, 50), st.floats(0.1, 50), st.floats(-200, 200), st.floats(-200, 200))
def test_scales_are_units(on_n: float, on_d: float, n: float, d: float) -> None:
    given_ = {"law": "gaussian", "weeks": 5, "level": 0.95}
    sets = median_sets(n * on_n, d * on_d, **given_, numerator_scale=on_n, denominator_scale=on_d)  # type: ignore[arg-type]
    plain = median_sets(n, d, **given_, numerator_scale=1.0, denominator_scale=1.0)  # type: ignore[arg-type]
    if abs(abs(d) - worst_half("gaussian", 5, 0.95)) > 1e-9:
        assert sets.kind == plain.kind
        for name in ("lower", "upper", "not_above", "not_below"):
            expected = getattr(plain, name) * on_n / on_d
            assert getattr(sets, name) == pytest.approx(expected, rel=1e-7, abs=1e-9 * on_n / on_d, nan_ok=True)


def weeks_of(shape: str, weeks: int) -> Any:
    """True numbers: all equal, the worst case (just over half equal, the rest far above), or spread out."""
    if shape == "equal":
        return np.zeros(weeks)
    low = weeks // 2 + 1
    return np.concatenate((np.zeros(low), np.full(weeks - low, 1e6))) if shape == "worst" else np.arange(weeks) * 1.5


def test_medians_miss_no_more_than_they_may(trials: Trials, subtests: pytest.Subtests) -> None:
    for shape in SHAPES:
        for weeks in [3, 4, 5, 6]:
            for law in LAWS:
                with subtests.test(law=law, weeks=weeks, shape=shape):
                    count = trials(200_000, least=20_000)
                    true = weeks_of(shape, weeks)
                    seen = np.median(
                        true + draw(law, np.random.default_rng(weeks), (count, weeks)), axis=1
                    ) - np.median(true)
                    half = worst_half(law, weeks, 0.95)
                    for missed in (np.mean(seen > half), np.mean(seen < -half)):
                        assert missed < 0.025 + 4 * math.sqrt(0.025 / count)
                    if shape == "worst":  # nothing is given away: here one side uses all it may
                        assert np.mean(seen > half) > 0.025 - 4 * math.sqrt(0.025 / count)


@pytest.mark.slow
def test_ratios_to_a_median_hold(trials: Trials, subtests: pytest.Subtests) -> None:
    """Weeks of unequal noise too, taken as the largest."""
    for shape, law, ratio, weeks in few(SHAPES, LAWS, [-0.6, 1.0, 1.4], [4, 5]):
        with subtests.test(shape=shape, law=law, ratio=ratio, weeks=weeks):
            count = trials(40_000, least=4_000)
            rng = np.random.default_rng([weeks, int(10 * abs(ratio))])
            true = weeks_of(shape, weeks) + 5.0
            for scales in (np.ones(weeks), np.linspace(0.3, 1.0, weeks)):
                baseline = np.median(true + scales * draw(law, rng, (count, weeks)), axis=1)
                seen = ratio * np.median(true) + draw(law, rng, (count,))
                sets = median_sets(
                    seen, baseline, law=law, weeks=weeks, level=0.95, numerator_scale=1, denominator_scale=1
                )
                assert np.mean(sets.contain(ratio)) > 0.95 - 4 * math.sqrt(0.05 * 0.95 / count)


def test_ratios_to_a_median_hold_as_often_as_published(trials: Trials, subtests: pytest.Subtests) -> None:
    for row in [r for r in golden("ratio_structure")["median_fieller"] if r["weeks"] != "weeks"]:
        with subtests.test(row=row):
            count, law, ratio = trials(40_000, least=4_000), row["law"], row["ratio"]
            rng = np.random.default_rng(int(10 * ratio + row["baseline"]))
            true = row["baseline"] + weeks_of("equal" if row["weeks"] == "equal" else "worst", 5)
            seen = ratio * row["baseline"] + draw(law, rng, (count,))
            baseline = np.median(true + draw(law, rng, (count, 5)), axis=1)
            sets = median_sets(seen, baseline, law=law, weeks=5, level=0.95, numerator_scale=1, denominator_scale=1)
            assert errors(float(np.mean(sets.contain(ratio))), count, expected=row["coverage"], of=20_000) < 4


def test_weeks_that_depend_hold_by_their_sum(trials: Trials) -> None:
    count, weeks, level = trials(40_000, least=4_000), 5, 0.95
    rng = np.random.default_rng(8)
    shared = rng.normal(size=(count, 1))
    noise = 0.8 * shared + 0.6 * rng.normal(size=(count, weeks + 1))
    each = float(quantiles("gaussian", [1], 1 - (1 - level) / (weeks + 1))[0])
    n, d = 15 + noise[:, 0], np.median(10 + noise[:, 1:], axis=1)
    sets = bonferroni_median_sets(n, d, numerator_half=each, denominator_half=each, within=(0, 4))
    assert np.mean(sets.contain(1.5)) > level
    edge = sets.upper[sets.upper < 4][0], np.flatnonzero(sets.upper < 4)[0]
    assert abs(n[edge[1]] - edge[0] * d[edge[1]]) == pytest.approx(each * (1 + edge[0]))


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="weeks"):
        median_sets(1.0, 1.0, law="gaussian", weeks=0, level=0.95, numerator_scale=1.0, denominator_scale=1.0)
    with pytest.raises(InvalidArgument, match="half"):
        bonferroni_median_sets(1.0, 1.0, numerator_half=0.0, denominator_half=1.0)
