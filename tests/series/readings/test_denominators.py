"""Every reading at every level, however small its denominator is, with every law and shape; and the wrong ways."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from benchmarks.coverage import LEVELS, NOISES, READINGS, Counted, count, exact
from scipy import stats
from tests.conftest import SCALE, Trials

from chronodp.postprocess import Law

pytestmark = pytest.mark.slow

FALSE_ALARM = 1e-9


def levels(law: Law, shape: str) -> tuple[float, ...]:
    """All levels of one noise of either law, and of every noise at stated counts; else the one with wrong ways too."""
    every = SCALE >= 1 or (law, shape) in {("gaussian", "white"), ("laplace", "tree")}
    return LEVELS if every else (0.95,)


@functools.cache
def counted(law: Law, shape: str, runs: int) -> dict[str, Counted]:
    return dict(count(law, shape, runs=runs, seed="tests", levels=levels(law, shape)))


def test_sets_hold_however_small_the_denominator(trials: Trials, subtests: pytest.Subtests) -> None:
    for law, shape in NOISES:
        with subtests.test(law=law, shape=shape):
            runs = trials(20_000, least=2_000)
            for reading, found in counted(law, shape, runs).items():
                for level, row in zip(levels(law, shape), found.held, strict=True):
                    for held in np.rint(row * runs).astype(int).tolist():
                        if exact(law, shape, reading):
                            assert stats.binomtest(held, runs, level).pvalue > FALSE_ALARM, (
                                reading,
                                level,
                                held / runs,
                            )
                        else:
                            assert stats.binom.cdf(held, runs, level) > FALSE_ALARM, (reading, level, held / runs)


def test_small_denominators_have_no_end_and_large_ones_do(trials: Trials, subtests: pytest.Subtests) -> None:
    for law, shape in NOISES:
        with subtests.test(law=law, shape=shape):
            for found in counted(law, shape, trials(20_000, least=2_000)).values():
                assert found.unbounded[0] > 0.9
                assert found.unbounded[-1] == 0


@pytest.mark.parametrize("shape", ["white", "square root", "buffered"])
def test_the_delta_method_is_caught(shape: str, trials: Trials) -> None:
    """0.685 for 0.95, where the ratio is 2.5 and its denominator a quarter of its noise."""
    runs = trials(20_000, least=2_000)
    found = counted("gaussian", shape, runs)["ratio of two groups"].delta
    assert found is not None
    assert abs(found[0] - 0.6854) < 6 * np.sqrt(0.6854 * 0.3146 / runs)
    assert stats.binom.cdf(round(found[1] * runs), runs, 0.95) < FALSE_ALARM


@pytest.mark.parametrize(
    ("shape", "reading", "short"),
    [
        ("square root", "change against the mean of five weeks", True),
        ("buffered", "change against the mean of five weeks", True),
        ("white", "share of both groups", False),
        ("buffered", "running total over an earlier one", False),
    ],
)
def test_sets_without_the_covariance_are_caught(shape: str, reading: str, short: bool, trials: Trials) -> None:
    runs = trials(20_000, least=2_000)
    found = counted("gaussian", shape, runs)[reading].without
    assert found is not None
    held, many = round(float(found.sum()) * runs), runs * len(found)  # each size has noise of its own
    tail = stats.binom.cdf(held, many, 0.95) if short else stats.binom.sf(held - 1, many, 0.95)
    assert tail < FALSE_ALARM


def test_every_reading_is_here() -> None:
    assert set(READINGS) == set(counted("gaussian", "white", 2_000))
