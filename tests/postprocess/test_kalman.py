"""Filter, smoother and likelihood: the same as one large normal law, steady where theory says, covering as they say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats
from tests.conftest import Trials

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Motion, RandomWalk, Trend, kalman_filter, kalman_smoother, likeliest, log_likelihood

Floats = NDArray[np.float64]
FALSE_ALARM = 1e-9
MOTIONS: list[Motion] = [RandomWalk(0.4), RandomWalk(0.0), RandomWalk(30.0)]
MOTIONS += [Trend(0.3, 0.2), Trend(0.0, 0.1), Trend(0.5, 0.0), Trend(0.0, 0.0)]
pace = st.sampled_from([0.0, 0.01, 0.3, 2.0, 20.0])


@dataclass(frozen=True)
class Dense:
    """One series of samples (NaN where missing) under a motion with known paces and an unknown start."""

    values: Floats
    deviation: Floats
    motion: Motion

    @property
    def order(self) -> int:
        return 2 if isinstance(self.motion, Trend) else 1

    @cached_property
    def starts(self) -> Floats:
        """What a start of 1 in each number adds to each period."""
        times = np.arange(len(self.values), dtype=np.float64)
        return np.stack((np.ones_like(times), times), axis=1)[:, : self.order]

    @cached_property
    def moves(self) -> Floats:
        """The covariance of what the truth has moved since the start."""
        count = len(self.values)
        lower = np.tril(np.ones((count, count)), -1)  # a step at t moves all later values
        covariance = np.square(self.motion.step or 0.0) * lower @ lower.T
        if isinstance(self.motion, Trend):
            twice = lower @ lower  # a bend at t moves all later slopes
            covariance += np.square(self.motion.bend or 0.0) * twice @ twice.T
        return np.asarray(covariance)

    def estimate(self, period: int, until: int) -> tuple[float, float]:
        """The best linear unbiased estimate of a period from the samples before ``until``, and its variance."""
        seen = np.flatnonzero(~np.isnan(self.values[:until]))
        if len(seen) < self.order:
            return np.nan, np.inf
        inverse = np.linalg.inv(self.moves[np.ix_(seen, seen)] + np.diag(self.deviation[seen] ** 2))
        starts, shared = self.starts[seen], self.moves[period, seen]
        covariance = np.linalg.inv(starts.T @ inverse @ starts)
        start = covariance @ starts.T @ inverse @ self.values[seen]
        reach = self.starts[period] - shared @ inverse @ starts
        value = self.starts[period] @ start + shared @ inverse @ (self.values[seen] - starts @ start)
        return float(value), float(self.moves[period, period] - shared @ inverse @ shared + reach @ covariance @ reach)

    def log_likelihood(self) -> float:
        """Of all contrasts that no start can change, scaled as if the start had a flat prior."""
        seen = np.flatnonzero(~np.isnan(self.values))
        covariance = self.moves[np.ix_(seen, seen)] + np.diag(self.deviation[seen] ** 2)
        starts, inverse = self.starts[seen], np.linalg.inv(covariance)
        information = starts.T @ inverse @ starts
        rest = inverse - inverse @ starts @ np.linalg.inv(information) @ starts.T @ inverse
        logs = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]
        free = (len(seen) - self.order) * np.log(2 * np.pi)
        return float(-0.5 * (logs + self.values[seen] @ rest @ self.values[seen] + free))


def moving(step: float, bend: float, shape: tuple[int, int], seed: int = 1) -> tuple[Floats, Floats]:
    """A truth, and the truth with noise of deviation 1."""
    random = np.random.default_rng(seed)
    slope = np.cumsum(bend * random.standard_normal(shape), axis=0)
    truth = np.cumsum(slope + step * random.standard_normal(shape), axis=0)
    return truth, truth + random.standard_normal(shape)


def test_likelihood_is_that_of_one_large_normal_law(subtests: pytest.Subtests) -> None:
    motions: list[Motion] = [RandomWalk(0.7), RandomWalk(0.0), Trend(0.4, 0.2), Trend(0.0, 0.3), Trend(0.2, 0.0)]
    for motion in motions:
        with subtests.test(motion=motion):
            random = np.random.default_rng(1)
            values, deviation = np.cumsum(random.normal(size=30)), random.uniform(0.5, 2, size=30)
            values[[0, 5, 6]] = np.nan
            expected = Dense(values, deviation, motion).log_likelihood()
            assert log_likelihood(values, deviation, motion)[0] == pytest.approx(expected, rel=1e-10)


def test_the_quick_way_without_gaps_finds_the_same(subtests: pytest.Subtests) -> None:
    for step in [0.05, 0.3, 2.0]:
        with subtests.test(step=step):
            _, noisy = moving(step, 0.0, (150, 4))
            quick = likeliest(noisy, 1.0, RandomWalk()).step
            # A period that is not there changes nothing but the way that is taken.
            slow = likeliest(np.vstack((noisy, np.full((1, 4), np.nan))), 1.0, RandomWalk()).step
            assert quick == pytest.approx(slow, rel=2e-3)
            assert isinstance(quick, tuple)
            assert len(quick) == 4


def paces(motion: Motion) -> tuple[float, float]:
    step, bend = motion.step, motion.bend if isinstance(motion, Trend) else 0.0
    assert isinstance(step, float)
    assert isinstance(bend, float)
    return step, bend


@pytest.mark.slow
def test_no_neighbour_is_likelier(subtests: pytest.Subtests) -> None:
    motions: list[Motion] = [RandomWalk(), Trend(), Trend(step=0.0), Trend(bend=0.1)]
    for motion in motions:
        with subtests.test(motion=motion):
            _, noisy = moving(0.5, 0.1, (200, 1))
            found = likeliest(noisy, 1.0, motion)
            top = log_likelihood(noisy, 1.0, found)[0]
            step, bend = paces(found)
            others: list[Motion] = []
            for more in (0.95, 1.05):
                if isinstance(motion, RandomWalk):
                    others.append(RandomWalk(step * more))
                else:
                    others += [Trend(step * more, bend)] if motion.step is None else []
                    others += [Trend(step, bend * more)] if motion.bend is None else []
                    others += [Trend(step * more, bend / more)] if motion == Trend() else []
            assert len(others) >= 2
            for other in others:
                assert log_likelihood(noisy, 1.0, other)[0] < top


@pytest.mark.slow
def test_a_ridge_is_climbed_to_its_top() -> None:
    _, noisy = moving(0.2, 0.05, (1500, 1))
    top = log_likelihood(noisy, 1.0, likeliest(noisy, 1.0, Trend()))[0]
    smooth_line = likeliest(noisy, 1.0, Trend(step=0.0))
    assert log_likelihood(noisy, 1.0, smooth_line)[0] < top  # where a search that narrows too early ends
    gained = top - log_likelihood(noisy, 1.0, Trend(0.2, 0.05))[0]
    assert 0 <= gained < stats.chi2.isf(1e-9, 2) / 2
    for step in (0.1, 0.2):
        assert log_likelihood(noisy, 1.0, likeliest(noisy, 1.0, Trend(step=step)))[0] <= top + 1e-5


def test_paces_that_made_the_values_are_found(trials: Trials) -> None:
    places = trials(400, least=40)
    _, noisy = moving(0.3, 0.0, (1000, places))
    found = np.array(likeliest(noisy, 1.0, RandomWalk()).step)
    # Twice what is gained over the truth is chi squared with one degree of freedom.
    truth = RandomWalk(0.3)
    gained = 2 * (log_likelihood(noisy, 1.0, RandomWalk(tuple(found))) - log_likelihood(noisy, 1.0, truth))
    assert gained.min() > -1e-4
    assert stats.kstest(gained, stats.chi2(1).cdf).pvalue > 1e-9
    assert np.log(found).mean() == pytest.approx(np.log(0.3), abs=0.05)


def test_what_stands_still_is_found_so() -> None:
    noisy = np.random.default_rng(1).standard_normal((500, 40))
    steps = np.array(likeliest(noisy, 1.0, RandomWalk()).step)
    assert 0.4 < (steps == 0).mean() < 0.9  # theory: about two in three
    assert steps.max() < 0.2
    assert likeliest(np.zeros(10), 1.0, RandomWalk()) == RandomWalk(0.0)
    assert likeliest(np.arange(20.0), 1.0, Trend()) == Trend(0.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(("periods", "least"), [(100, 0.88), (744, 0.935)])
def test_intervals_with_estimated_paces_are_a_little_too_narrow(periods: int, least: float, trials: Trials) -> None:
    truth, noisy = moving(0.1**0.5, 0.0, (periods, trials(4000, least=200)))

    def covered(motion: Motion) -> float:
        found = kalman_smoother(noisy, 1.0, motion)
        return float((np.abs(found.value - truth) < 1.96 * found.deviation).mean())

    known, estimated = covered(RandomWalk(0.1**0.5)), covered(likeliest(noisy, 1.0, RandomWalk()))
    assert known == pytest.approx(0.95, abs=0.012)
    assert least < estimated < known


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
    for variance in (0.001, 0.01, 0.1, 1.0):
        with subtests.test(variance=variance):
            motion = RandomWalk(variance**0.5)
            values = np.zeros(3001)
            root = np.sqrt(variance**2 + 4 * variance)
            assert kalman_filter(values, 1.0, motion).deviation[-1, 0] ** 2 == pytest.approx(
                (root - variance) / 2, rel=1e-12
            )
            middle = kalman_smoother(values, 1.0, motion).deviation[1500, 0] ** 2
            assert middle == pytest.approx(variance / root, rel=1e-12)
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
        absent = np.where(np.isnan(values), np.inf, deviation)
        assert method(np.nan_to_num(values), absent, RandomWalk(steps)).value == pytest.approx(
            together.value, nan_ok=True
        )


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
    assert likeliest([1.0], 1.0, RandomWalk(0.5)) == RandomWalk(0.5)
    with pytest.raises(InvalidArgument, match="at least 2 samples in every place to estimate a RandomWalk"):
        likeliest([1.0], 1.0, RandomWalk())
    with pytest.raises(InvalidArgument, match="at least 4 samples"):
        likeliest([1.0, 2.0, 3.0], 1.0, Trend())
    with pytest.raises(InvalidArgument, match="one whose paces are given"):
        log_likelihood([1.0, 2.0], 1.0, RandomWalk())
