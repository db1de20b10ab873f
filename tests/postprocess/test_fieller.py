"""Sets of ratios: against published values, their own definition, and what the noise really does."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.conftest import Trials
from tests.postprocess.noise import ONE_EACH, delta_method, draw, errors, golden, normal, sets_of

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law, deviations, mixed_quantiles, mixed_sets, quadratic_sets, simultaneous_level

LEVELS = (0.9, 0.95, 0.99)
LAWS: tuple[Law, Law] = ("gaussian", "laplace")
EXACT = golden("exact_values")
STRUCTURE = golden("ratio_structure")
numbers = st.floats(-40, 40).map(lambda x: round(x, 3))
weights = st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 1.5])


def check_row(found: Any, expected: list[Any]) -> None:
    kind, low, high = expected
    assert found.kind == kind
    ends = (found.lower, found.upper) if kind == "interval" else (found.not_above, found.not_below)
    if kind == "line":
        assert np.isneginf(found.lower)
        assert np.isposinf(found.upper)
        assert np.isnan(ends).all()
    else:
        assert ends == (pytest.approx(low, abs=1e-5), pytest.approx(high, abs=1e-5))
    assert np.isnan(found.value) == (kind != "interval")


def test_sets_are_the_published_ones(subtests: pytest.Subtests) -> None:
    for row in EXACT["gaussian_fieller_95"]:
        with subtests.test(row=row):
            parts = {"aa": row["Vaa"], "ab": row["Vab"], "bb": row["Vbb"]}
            check_row(quadratic_sets(row["N"], row["D"], **parts, multiplier=normal(0.95)), row["set"])
    for scale, row in product([1.0, 0.125], EXACT["laplace_fieller_95_scale_1"]):
        with subtests.test(row=row, scale=scale):
            check_row(mixed_sets(row["N"] * scale, row["D"] * scale, ONE_EACH, scale=scale, level=0.95), row["set"])


def test_nothing_cancels_near_the_end_of_bounded_sets(subtests: pytest.Subtests) -> None:
    """Ends against the same in 60 digits: |D| just above its noise, and running totals that share nearly all noise."""
    shared = (1000.5, 1000.0, 1.000001, 1.0, 1.96)
    for n, d, aa, ab, z in [*((3.0, 2 * (1 + far), 1.0, 0.0, 2.0) for far in (1e-3, 1e-7, 1e-11, 1e-15)), shared]:
        with subtests.test(d=d):
            sets = quadratic_sets(n, d, aa=aa, ab=ab, bb=1.0, multiplier=z)
            with mpmath.workdps(60):
                top, below, noise = mpmath.mpf(n), mpmath.mpf(d), mpmath.mpf(z) ** 2
                lead, rest, cross = below**2 - noise, top**2 - noise * aa, top * below - noise * ab
                away = cross + mpmath.sqrt(cross**2 - lead * rest)
                near, far_end = rest / away, away / lead
                assert sets.kind == "interval"
                assert sets.lower == pytest.approx(float(near), rel=1e-14 if ab == 0 else 1e-8)
                assert sets.upper == pytest.approx(float(far_end), rel=1e-14 if ab == 0 else 1e-8)
                assert sets.upper - sets.lower == pytest.approx(float(far_end - near), rel=1e-8)


@given(numbers, numbers, st.floats(0.1, 5), st.floats(0.1, 5), st.floats(-0.99, 0.99), st.data())
def test_a_gaussian_set_is_what_it_is_defined_as(
    n: float, d: float, on_n: float, on_d: float, correlation: float, data: st.DataObject
) -> None:
    aa, ab, bb, z = on_n**2, correlation * on_n * on_d, on_d**2, normal(0.95)
    sets = quadratic_sets(n, d, aa=aa, ab=ab, bb=bb, multiplier=z)
    ends = [float(end) for end in (sets.lower, sets.upper, sets.not_above, sets.not_below) if np.isfinite(end)]
    near = [end + shift for end in ends for shift in (-1e-3, -1e-6, 1e-6, 1e-3)]
    for rho in [*near, *(data.draw(numbers) for _ in range(5)), -1e6, 1e6, 0.0]:
        slack = z * math.sqrt(aa - 2 * rho * ab + rho**2 * bb) - abs(n - rho * d)
        if abs(slack) > 1e-9 * (1 + abs(n) + abs(rho * d)):
            assert bool(sets.contain(rho)) == (slack > 0)
    assert (sets.kind == "interval") == (abs(d) > z * on_d)


@pytest.mark.slow
@given(
    st.tuples(numbers, numbers),
    st.lists(st.tuples(weights, weights, st.integers(1, 6)), min_size=1, max_size=4),
    st.sampled_from([0.5, 0.9, 0.95, 0.99]),
    st.lists(numbers, min_size=6, max_size=6),
)
def test_a_laplace_set_is_what_it_is_defined_as(
    pair: tuple[float, float], kinds: list[tuple[float, float, int]], level: float, asked: list[float]
) -> None:
    a, b, counts = np.array(kinds).T
    sets = mixed_sets(*pair, kinds, scale=1.0, level=level)
    ends = [float(end) for end in (sets.lower, sets.upper, sets.not_above, sets.not_below) if np.isfinite(end)]
    rhos = np.array([*asked, *(end + shift for end in ends for shift in (-1e-3, 1e-3)), -1e5, 1e5])
    reach = mixed_quantiles("laplace", a - rhos[:, None] * b, counts, level)
    slack = reach - np.abs(pair[0] - rhos * pair[1])
    held = sets.contain(rhos)
    share = (counts @ (a * b)) / (counts @ b**2) if b.any() else 0.0
    if b.any() and np.allclose(a, share * b) and math.isclose(pair[0], share * pair[1], abs_tol=1e-12):
        assert sets.lower == sets.upper == pytest.approx(share)  # the same reading: the ratio is known
    elif not b.any() and not pair[1]:
        assert sets.kind == "line"
    else:
        # Chords are farther out by up to 1.2e-6 of the reach, and never nearer.
        assert np.all(held[slack > 1e-11])
        assert not np.any(held[slack < -3e-6 * reach - 1e-11])
        bound = float(mixed_quantiles("laplace", b[None, :], counts, level)[0])
        assert (sets.kind == "interval") == (abs(pair[1]) > bound)


@given(numbers, numbers, st.floats(0.5, 3), st.floats(-0.9, 0.9), st.tuples(numbers, numbers).map(sorted))
def test_a_public_range_keeps_what_lies_in_it(
    n: float, d: float, on_n: float, correlation: float, ends: list[float]
) -> None:
    free, kept = (
        quadratic_sets(n, d, aa=on_n**2, ab=correlation * on_n, bb=1.0, multiplier=normal(0.95), within=within)
        for within in (None, (ends[0], ends[1]))
    )
    rhos = np.linspace(ends[0], ends[1], 301)
    assert kept.contain(rhos).tolist() == free.contain(rhos).tolist()
    assert not kept.contain([ends[0] - 1e-6, ends[1] + 1e-6]).any()
    if kept.kind == "empty":
        assert kept.lower == kept.upper
        assert kept.lower in ends
        assert not free.contain(rhos).any()
    else:  # an end that is shown belongs to the set
        assert kept.contain([kept.lower, kept.upper]).all()
    assert np.isnan(kept.value) == np.isnan(free.value)
    if not np.isnan(kept.value):
        assert kept.value == np.clip(free.value, ends[0], ends[1])


def test_an_empty_set_is_the_nearer_end() -> None:
    sets = quadratic_sets([50, -50, 9], [10, 10, 0.1], aa=1, ab=0, bb=1, multiplier=1.96, within=(0, 1))
    assert sets.kind.tolist() == ["empty", "empty", "empty"]
    assert sets.value[:2].tolist() == [1, 0]
    assert np.isnan(sets.value[2])  # the denominator cannot be told from 0
    assert sets.lower.tolist() == sets.upper.tolist() == [1, 0, 1]
    sets = quadratic_sets(8, 1, aa=1, ab=0, bb=1, multiplier=1.959964, within=(0, 10))
    assert sets.kind == "outside"
    assert sets.lower == pytest.approx(2.578847, abs=1e-5)
    assert sets.upper == 10
    beside = quadratic_sets(8, 1, aa=1, ab=0, bb=1, multiplier=1.959964, within=(3, 10))
    assert (str(beside.kind), float(beside.lower), float(beside.upper)) == ("line", 3, 10)
    assert np.isnan(beside.not_above)
    with pytest.raises(InvalidArgument, match="within"):
        quadratic_sets(1, 1, aa=1, ab=0, bb=1, multiplier=2, within=(1, 0))


# A reading so small that its multiple has fewer digits is no multiple of it any more.
@given(
    st.floats(-50, 50).filter(lambda d: not 0 < abs(d) < 1e-300),
    st.sampled_from([0.1, 1 / 3, 1.0, 7.0, -2.5]),
    st.floats(1e-3, 1e3),
)
def test_a_reading_over_a_multiple_of_itself_is_known(d: float, c: float, sd: float) -> None:
    """Also where the noise is larger than the reading, and where the variances were rounded on their way."""
    n, aa, ab, bb = c * d, (c * sd) ** 2 * (1 + 2e-16), c * sd**2 * (1 - 3e-16), sd**2
    for sets in (
        quadratic_sets(n, d, aa=aa, ab=ab, bb=bb, multiplier=1.96),
        mixed_sets(n, d, [(c, 1.0, 3), (2 * c, 2.0, 1)], scale=sd, level=0.95),
    ):
        assert sets.kind == "interval"
        assert sets.lower == sets.upper == sets.value == pytest.approx(c, rel=1e-12)


def test_a_denominator_without_noise_divides() -> None:
    sets = quadratic_sets([10, 10], [4, 0], aa=1, ab=0, bb=0, multiplier=2)
    assert (sets.kind.tolist(), float(sets.lower[0]), float(sets.upper[0])) == (["interval", "line"], 2.0, 3.0)
    plain = mixed_sets([10, 10], [4, 0], [(1.0, 0.0, 1)], scale=1.0, level=0.95)
    assert plain.kind.tolist() == ["interval", "line"]
    assert (plain.upper[0] - plain.lower[0]) * 2 == pytest.approx(-math.log(0.05))


def test_sets_hold_what_they_say_however_small_the_denominator(trials: Trials, subtests: pytest.Subtests) -> None:
    for row in [r for r in golden("ratio_coverage")["rows"] if r["level"] in LEVELS]:
        with subtests.test(row=row):
            count = trials(40_000, least=4_000)
            law, level, d, ratio = row["law"], row["level"], row["D_in_sd"], row["ratio"]
            rng = np.random.default_rng([int(1000 * d), int(10 * ratio), int(100 * level), law == "laplace"])
            noise = draw(law, rng, (2, count))
            n_seen, d_seen = ratio * d + noise[0], d + noise[1]
            sets = sets_of(law, n_seen, d_seen, level)
            assert errors(float(np.mean(sets.contain(ratio))), count, expected=level) < 4
            unbounded = float(np.mean(np.isin(sets.kind, ["outside", "line"])))
            assert errors(unbounded, count, expected=row["unbounded"], of=40_000) < 4
            if law == "gaussian":
                assert errors(float(np.mean(sets.kind == "line")), count, expected=row["line"], of=40_000) < 4


def test_the_broken_twins_are_caught(trials: Trials) -> None:
    """The delta method, a floor under the count, and hiding sets without ends fall short by far."""
    count, d, ratio = trials(40_000, least=4_000), 0.25, 2.5
    noise = draw("gaussian", np.random.default_rng(5), (2, count))
    n_seen, d_seen = ratio * d + noise[0], d + noise[1]
    low, high = delta_method("gaussian", n_seen, d_seen, 0.95)
    assert errors(float(np.mean((low <= ratio) & (ratio <= high))), count, expected=0.6854) < 5
    low, high = delta_method("gaussian", n_seen, np.maximum(d_seen, 1), 0.95)
    assert errors(float(np.mean((low <= ratio) & (ratio <= high))), count, expected=0.5246) < 5
    noise = draw("gaussian", np.random.default_rng(6), (2, 4 * count))
    sets = sets_of("gaussian", 1 + noise[0], 0.5 + noise[1], 0.95)
    shown = sets.kind == "interval"
    assert np.mean(sets.contain(2.0)[shown]) < 0.7
    assert errors(float(np.mean(sets.contain(2.0))), 4 * count, expected=0.95) < 4


def test_sets_that_end_hold_as_seldom_as_published(trials: Trials, subtests: pytest.Subtests) -> None:
    """The twin that shows sets with an end alone: 0.64 for 0.95 where the denominator is half its noise."""
    for row in golden("suppression")["bounded_only"]:
        with subtests.test(row=row):
            count, d, ratio = trials(200_000, least=40_000), row["D_in_sd"], row["ratio"]
            noise = draw("gaussian", np.random.default_rng([int(10 * d), int(10 * ratio)]), (2, count))
            sets = sets_of("gaussian", ratio * d + noise[0], d + noise[1], 0.95)
            shown = sets.kind == "interval"
            assert errors(float(np.mean(shown)), count, expected=row["bounded"], of=100_000) < 4.5
            among = int(shown.sum())
            assert (
                errors(
                    float(np.mean(sets.contain(ratio)[shown])),
                    among,
                    expected=row["coverage_given_bounded"],
                    of=100_000 * row["bounded"],
                )
                < 4.5
            )


def test_a_set_without_the_covariance_is_caught(trials: Trials) -> None:
    """A week against the five before it under shaped noise, correlation -0.36: 0.9395 for 0.95."""
    count = trials(200_000, least=60_000)
    sd = 1 / math.sqrt(5)
    ab = -0.36 * sd
    noise = np.random.default_rng(9).multivariate_normal([0, 0], [[1, ab], [ab, sd**2]], size=count).T
    seen = 20 + noise[0], 20 + noise[1]
    right = quadratic_sets(*seen, aa=1, ab=ab, bb=sd**2, multiplier=normal(0.95))
    wrong = quadratic_sets(*seen, aa=1, ab=0, bb=sd**2, multiplier=normal(0.95))
    assert errors(float(np.mean(right.contain(1.0))), count, expected=0.95) < 4
    assert np.mean(wrong.contain(1.0)) < 0.93


def test_shares_of_a_total_hold(trials: Trials, subtests: pytest.Subtests) -> None:
    for law in LAWS:
        for row in STRUCTURE["share"]:
            with subtests.test(row=row, law=law):
                count, groups, share = trials(40_000, least=4_000), row["groups"], row["share"]
                noise = draw(law, np.random.default_rng(groups), (2, count))
                others = draw(law, np.random.default_rng(groups + 1), (count, groups - 1)).sum(axis=1)
                total = 20.0 * math.sqrt(groups)
                n, d = share * total + noise[0], total + noise[0] + others
                if law == "gaussian":
                    parts = {"aa": 1, "bb": groups, "multiplier": normal(0.95), "within": (0, 1)}
                    sets, without = quadratic_sets(n, d, ab=1, **parts), quadratic_sets(n, d, ab=0, **parts)
                    free = [quadratic_sets(n, d, ab=ab, aa=1, bb=groups, multiplier=normal(0.95)) for ab in (1, 0)]
                    widths = [np.median(one.upper - one.lower) for one in free]
                    assert widths[1] / widths[0] == pytest.approx(row["width_ratio"], rel=0.03)
                    assert errors(float(np.mean(without.contain(share))), count, expected=row["without_covariance"]) < 5
                else:
                    sets = mixed_sets(n, d, [(1, 1, 1), (0, 1, groups - 1)], scale=1.0, level=0.95, within=(0, 1))
                assert errors(float(np.mean(sets.contain(share))), count, expected=0.95) < 4


@pytest.mark.slow
@given(st.lists(st.tuples(weights, weights, st.integers(1, 4)), min_size=2, max_size=4), st.sampled_from(LEVELS))
def test_the_reach_of_laplace_noise_is_convex(kinds: list[tuple[float, float, int]], level: float) -> None:
    """Half the sum of two reaches is not below the reach half-way between, and no slope is above that of b."""
    a, b, counts = np.array(kinds).T
    rhos = np.linspace(-4, 4, 65)
    reach = mixed_quantiles("laplace", a - rhos[:, None] * b, counts, level)
    bound = float(mixed_quantiles("laplace", b[None, :], counts, level)[0])
    assert np.all((reach[:-2] + reach[2:]) / 2 - reach[1:-1] >= -1e-10 * (1 + reach[1:-1]))
    assert np.all(np.abs(np.diff(reach)) <= bound * np.diff(rhos) * (1 + 1e-9) + 1e-12)


def test_many_weights_hold_with_the_multiplier_for_any(trials: Trials, subtests: pytest.Subtests) -> None:
    """Laplace draws whose weights fall like a square root's: the multiplier that holds for any sum."""
    for level in LEVELS:
        with subtests.test(level=level):
            count = trials(40_000, least=4_000)
            a = np.concatenate((1 / np.sqrt(np.arange(1, 13)), np.zeros(4)))
            b = np.roll(a, 4) / 2
            noise = np.random.default_rng(3).laplace(size=(count, len(a)))
            sets = quadratic_sets(
                6 + noise @ a,
                4 + noise @ b,
                aa=2 * a @ a,
                ab=2 * a @ b,
                bb=2 * b @ b,
                multiplier=deviations("laplace", level),
            )
            assert np.mean(sets.contain(1.5)) > level - 4 * math.sqrt(level * (1 - level) / count)


def test_ratios_to_one_denominator_hold_together(trials: Trials, subtests: pytest.Subtests) -> None:
    for level in LEVELS:
        for law in LAWS:
            with subtests.test(law=law, level=level):
                count, periods = trials(20_000, least=2_000), 12
                rng = np.random.default_rng(12)
                n = 3 + draw(law, rng, (count, periods))
                d = 2 + draw(law, rng, (count, 1))
                each = simultaneous_level(level, periods, product=True)
                held = np.all(sets_of(law, n, np.broadcast_to(d, n.shape), each).contain(1.5), axis=1)
                assert np.mean(held) > level - 4 * math.sqrt(level * (1 - level) / count)
                assert simultaneous_level(level, periods, product=False) > each
                assert simultaneous_level(level, 1, product=False) == level
