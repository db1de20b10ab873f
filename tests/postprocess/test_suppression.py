"""Leaving out unreliable numbers: what it does to the intervals of the rest, and what mends it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from tests.conftest import Trials
from tests.postprocess.noise import Floats, draw, golden, sets_of

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law, given_publication, published_level, quantiles, reliable_relative

ROWS = golden("suppression")["relative"]
CELLS = 3_000
LAWS: tuple[Law, Law] = ("gaussian", "laplace")


def true_cells(kind: str) -> Floats:
    """Cells like the published ones: many small, all small, or about the threshold."""
    if kind == "zipf":
        return 3_000 / np.arange(1, CELLS + 1)
    if kind == "all_small":
        return np.full(CELLS, 3.0)
    return np.linspace(2, 30, CELLS) if kind == "threshold" else np.exp(np.linspace(-2, 6, CELLS))


def test_of_the_published_few_miss(trials: Trials, subtests: pytest.Subtests) -> None:
    for relative in [0.2, 0.5]:
        for law in LAWS:
            for kind in ["zipf", "all_small", "threshold", "lognormal"]:
                with subtests.test(kind=kind, law=law, relative=relative):
                    true, rates = true_cells(kind), []
                    half = float(quantiles(law, [1], 0.95)[0])
                    rng = np.random.default_rng(11)
                    for _ in range(trials(400, least=40)):
                        seen = true + draw(law, rng, true.shape)
                        shown = reliable_relative(seen, seen - half, seen + half, relative=relative)
                        wide = float(quantiles(law, [1], published_level(0.95, int(shown.sum()), CELLS))[0])
                        rates.append(float(np.mean(np.abs(seen - true)[shown] > wide)) if shown.any() else 0.0)
                    assert np.mean(rates) < 0.05 + 4 * np.std(rates) / math.sqrt(len(rates))


def test_without_the_correction_they_miss_often(trials: Trials, subtests: pytest.Subtests) -> None:
    for row in [r for r in ROWS if r["cells"] in ("all_small", "zipf") and r["r"] == 0.5]:
        with subtests.test(row=row):
            true, law = true_cells(row["cells"]), row["law"]
            half = float(quantiles(law, [1], 0.95)[0])
            seen = true + draw(law, np.random.default_rng(2), (trials(400, least=60), CELLS))
            shown = reliable_relative(seen, seen - half, seen + half, relative=0.5)
            assert np.mean(np.abs(seen - true)[shown] <= half) < 0.94
            if row["cells"] == "all_small":
                covered = float(np.mean((np.abs(seen - true) <= half)[shown]))
                assert covered == pytest.approx(row["naive_coverage"], abs=0.01)
                assert np.mean(shown) == pytest.approx(row["published_share"], abs=0.005)


def test_intervals_given_publication_are_the_published_ones(subtests: pytest.Subtests) -> None:
    for sd in [1.0, 7.5]:
        for row in golden("exact_values")["published_interval_gaussian_given_abs_y_at_least_c"]:
            with subtests.test(row=row, sd=sd):
                y, c = row["y"] * sd, row["c"] * sd
                lower, upper = given_publication("gaussian", [y, -y], deviation=sd, threshold=c, level=0.95)
                assert (lower / sd).tolist() == pytest.approx([row["set"][0], -row["set"][1]], abs=1e-9)
                assert (upper / sd).tolist() == pytest.approx([row["set"][1], -row["set"][0]], abs=1e-9)


@given(st.floats(0, 40), st.floats(0, 60), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_both_ends_have_their_tails(c: float, beyond: float, level: float) -> None:
    import mpmath

    y, tail = c + beyond, (1 - level) / 2
    lower, upper = (float(end) for end in given_publication("gaussian", y, deviation=1, threshold=c, level=level))
    assert lower < upper
    assert lower <= y - stats.norm.isf(tail) + 1e-9
    assert upper <= y + stats.norm.isf(tail) + 1e-9
    with mpmath.workdps(60):

        def above(x: float, mean: float) -> Any:
            return mpmath.erfc((mpmath.mpf(x) - mpmath.mpf(mean)) / mpmath.sqrt(2)) / 2

        for mean, wanted in ((lower, tail), (upper, 1 - tail)):
            chosen = above(c, mean) + above(c, -mean)
            slope = 1 + abs(y) + abs(mean)  # an error of one rounding in the mean moves the tail by so many
            assert float(above(y, mean) / chosen) == pytest.approx(wanted, rel=1e-7, abs=1e-13 * slope)


def test_given_publication_holds_for_every_truth(trials: Trials) -> None:
    rng = np.random.default_rng(4)
    for true in (0.0, 1.0, 3.0, 5.0, -4.0):
        seen = true + rng.normal(size=trials(2_000_000, least=200_000))
        seen = seen[np.abs(seen) >= 3.92][:20_000]
        if len(seen) < 10:
            continue
        lower, upper = given_publication("gaussian", seen, deviation=1.0, threshold=3.92, level=0.95)
        covered = float(np.mean((lower <= true) & (true <= upper)))
        assert abs(covered - 0.95) < 4 * math.sqrt(0.05 * 0.95 / len(seen)) + 1 / len(seen)


def test_laplace_noise_is_refused_with_a_mend() -> None:
    with pytest.raises(InvalidArgument, match="decide on another release"):
        given_publication("laplace", [5.0], deviation=1.0, threshold=3.0, level=0.95)
    with pytest.raises(InvalidArgument, match="threshold") as caught:
        given_publication("gaussian", [5.123], deviation=1.0, threshold=6.0, level=0.95)
    assert "5.123" not in str(caught.value)


def test_what_has_no_ends_is_not_published() -> None:
    sets = sets_of("gaussian", np.array([8.0, 0.5, 300.0]), np.array([1.0, 1.0, 100.0]), 0.95)
    assert reliable_relative(sets.value, sets.lower, sets.upper, relative=0.5).tolist() == [False, False, True]
    assert not reliable_relative(0.0, -1.0, 1.0, relative=0.5)


def test_levels_of_the_published() -> None:
    assert published_level(0.95, 100, 100) == pytest.approx(0.95)
    assert published_level(0.95, 0, 100) == 0.95
    assert published_level(0.9, 1, 4, any_dependence=True) == pytest.approx(1 - 0.1 / 4 / (25 / 12))
    with pytest.raises(InvalidArgument, match="published"):
        published_level(0.95, 5, 4)
    with pytest.raises(InvalidArgument, match="relative"):
        reliable_relative(1.0, 0.0, 2.0, relative=0.0)
