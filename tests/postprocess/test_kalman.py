"""Filter and smoother: the same as one large normal law, steady where theory says, covering as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from tests.conftest import Trials
from tests.postprocess.models import Dense

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Motion, RandomWalk, Trend, kalman_filter, kalman_smoother

FALSE_ALARM = 1e-9
MOTIONS: list[Motion] = [
    RandomWalk(0.4),
    RandomWalk(0.0),
    RandomWalk(30.0),
    Trend(0.3, 0.2),
    Trend(0.0, 0.1),
    Trend(0.5, 0.0),
    Trend(0.0, 0.0),
]
pace = st.sampled_from([0.0, 0.01, 0.3, 2.0, 20.0])


def compare(samples: Dense) -> None:
    values, deviation = samples.values, samples.deviation
    size = 1e-8 * (1 + np.nanmax(np.abs(values)))
    smoothed = kalman_smoother(values, deviation, samples.motion)
    filtered = kalman_filter(values, deviation, samples.motion)
    first = int(np.flatnonzero(~np.isnan(values))[0])
    for period in range(len(values)):
        value, variance = samples.estimate(period, len(values))
        assert smoothed.value[period, 0] == pytest.approx(value, abs=size)
        assert smoothed.deviation[period, 0] ** 2 == pytest.approx(variance, rel=1e-6, abs=1e-9)
        value, variance = samples.estimate(period, period + 1)
        if period == first:  # even a trend knows its first sample
            value, variance = values[period], deviation[period] ** 2
        assert filtered.value[period, 0] == pytest.approx(value, abs=size, nan_ok=True)
        assert filtered.deviation[period, 0] ** 2 == pytest.approx(variance, rel=1e-6, abs=1e-9)


def test_against_one_large_normal_law(subtests: pytest.Subtests) -> None:
    for motion in MOTIONS:
        with subtests.test(motion=motion):
            random = np.random.default_rng(1)
            values = 1e3 + np.cumsum(random.normal(size=40))
            values[[0, 7, 8, 9, 39]] = np.nan
            compare(Dense(values, random.uniform(0.5, 2.0, size=40), motion))
            compare(Dense(1e3 + np.cumsum(random.normal(size=40)), np.ones(40), motion))  # where variances settle


@given(st.lists(st.none() | st.floats(-100, 100), min_size=2, max_size=12), pace, st.none() | pace, st.data())
def test_against_one_large_normal_law_at_random(
    values: list[float | None], step: float, bend: float | None, data: st.DataObject
) -> None:
    given_values = np.array([np.nan if value is None else value for value in values])
    given_values[[0, -1]] = np.nan_to_num(given_values[[0, -1]])
    deviation = data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=len(values), max_size=len(values)))
    compare(Dense(given_values, np.array(deviation), RandomWalk(step) if bend is None else Trend(step, bend)))


def test_steady_state(subtests: pytest.Subtests) -> None:
    for variance, filter_reference, smoother_reference in [
        (0.001, 0.03112672920173694, 0.015809412247806517),
        (0.01, 0.09512492197250393, 0.04993761694389223),
        (0.1, 0.27015621187164246, 0.15617376188860607),
        (1.0, 0.6180339887498949, 0.4472135954999579),
    ]:
        with subtests.test(variance=variance, filter_reference=filter_reference, smoother_reference=smoother_reference):
            motion = RandomWalk(variance**0.5)
            values = np.zeros(3001)
            root = np.sqrt(variance**2 + 4 * variance)
            assert kalman_filter(values, 1.0, motion).deviation[-1, 0] ** 2 == pytest.approx(
                (root - variance) / 2, rel=1e-12
            )
            middle = kalman_smoother(values, 1.0, motion).deviation[1500, 0] ** 2
            assert middle == pytest.approx(variance / root, rel=1e-12)
            assert (root - variance) / 2 == pytest.approx(filter_reference, rel=1e-12)
            assert variance / root == pytest.approx(smoother_reference, rel=1e-12)
            for scale in (1e-3, 1e4):  # in other units
                scaled = kalman_smoother(values, scale, RandomWalk(scale * variance**0.5))
                assert scaled.deviation[1500, 0] == pytest.approx(scale * middle**0.5, rel=1e-12)


def test_no_motion_is_a_mean_or_a_line() -> None:
    values = np.random.default_rng(1).normal(size=(50, 3)) + 1e6
    still = kalman_smoother(values, 2.0, RandomWalk(0.0))
    assert still.value == pytest.approx(np.broadcast_to(values.mean(axis=0), (50, 3)), rel=1e-13)
    assert still.deviation == pytest.approx(np.full((50, 3), 2 / 50**0.5))
    line = np.polynomial.Polynomial.fit(np.arange(50), values[:, 0] - 1e6, 1)(np.arange(50)) + 1e6
    assert kalman_smoother(values, 2.0, Trend(0.0, 0.0)).value[:, 0] == pytest.approx(line, rel=1e-13)


def test_many_places_at_once_are_each_alone() -> None:
    random = np.random.default_rng(1)
    values, deviation = random.normal(size=(60, 5)), random.uniform(1, 2, size=(60, 5))
    values[random.random((60, 5)) < 0.2] = np.nan
    deviation[:, 3] = deviation[:, 4]
    steps = (0.1, 0.2, 0.3, 0.4, 0.4)
    for method in (kalman_filter, kalman_smoother):
        together = method(values, deviation, RandomWalk(steps))
        for place, step in enumerate(steps):
            alone = method(values[:, place], deviation[:, place], RandomWalk(step))
            assert together.value[:, [place]] == pytest.approx(alone.value, nan_ok=True)
            assert together.deviation[:, [place]] == pytest.approx(alone.deviation)


def test_symmetries(subtests: pytest.Subtests) -> None:
    motions: list[Motion] = [RandomWalk(0.3), Trend(0.1, 0.05)]
    for motion in motions:
        with subtests.test(motion=motion):
            random = np.random.default_rng(1)
            values = random.normal(size=80)
            values[20:25] = np.nan
            found = kalman_smoother(values, 1.0, motion)
            moved = kalman_smoother(3 * values + 1000.0, 3.0, type(motion)(*(3 * pace for pace in paces_of(motion))))
            assert moved.value == pytest.approx(3 * found.value + 1000.0)
            backwards = kalman_smoother(values[::-1], 1.0, motion)
            assert backwards.deviation[::-1] == pytest.approx(found.deviation)
            assert backwards.value[::-1] == pytest.approx(found.value)
            absent = np.where(np.isnan(values), np.inf, 1.0)
            assert kalman_smoother(np.nan_to_num(values), absent, motion).value == pytest.approx(found.value)
            assert kalman_filter(values, 1.0, motion).value[-1] == pytest.approx(found.value[-1])
            if isinstance(motion, Trend):
                line = 7.0 * np.arange(80)
                assert kalman_smoother(values + line, 1.0, motion).value[:, 0] == pytest.approx(
                    found.value[:, 0] + line
                )


def paces_of(motion: Motion) -> list[float]:
    found = [motion.step] if isinstance(motion, RandomWalk) else [motion.step, motion.bend]
    return [pace for pace in found if isinstance(pace, float)]


@pytest.mark.slow
@pytest.mark.parametrize("method", [kalman_filter, kalman_smoother])
def test_errors_are_as_large_as_stated(method: type, trials: Trials) -> None:
    random = np.random.default_rng(1)
    replicas, step = trials(200_000, least=20_000), 0.1**0.5
    truth = np.cumsum(step * random.standard_normal((25, replicas)), axis=0)
    noisy = truth + random.standard_normal(truth.shape)

    def matches(believed: float) -> bool:
        """Whether squared errors in deviations follow the law of chi squared, in the middle of the series."""
        found = method(noisy, believed, RandomWalk(step))
        squares = (((found.value - truth) / found.deviation)[12] ** 2).sum()
        return bool(2 * min(stats.chi2.sf(squares, replicas), stats.chi2.cdf(squares, replicas)) > FALSE_ALARM)

    assert matches(1.0)
    assert not matches(0.9)
    assert not matches(1.1)


def test_refusals() -> None:
    with pytest.raises(InvalidArgument, match="at least 2 samples in every place for a Trend"):
        kalman_smoother([1.0, float("nan"), float("nan")], 1.0, Trend(0.1, 0.1))
    with pytest.raises(InvalidArgument, match="likeliest"):
        kalman_filter([1.0, 2.0], 1.0, RandomWalk())
    with pytest.raises(InvalidArgument, match="2 numbers"):
        kalman_filter([1.0, 2.0], 1.0, RandomWalk((0.1, 0.2)))
    with pytest.raises(InvalidArgument, match="step must be a finite number of at least 0"):
        RandomWalk(-1.0)
    with pytest.raises(InvalidArgument, match="bend must be a finite number"):
        Trend(0.1, ())
    with pytest.raises(InvalidArgument, match="motion must be a RandomWalk or a Trend"):
        kalman_filter([1.0, 2.0], 1.0, "walk")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="values must be numbers or NaN"):
        kalman_filter([1.0, float("inf")], 1.0, RandomWalk(1.0))
