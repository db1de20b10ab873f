"""Paces from the values: likelihoods by one large normal law, tops that neighbours do not reach, known paces found."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.conftest import Trials
from tests.postprocess.models import Dense

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Motion, RandomWalk, Trend, kalman_smoother, likeliest, log_likelihood

Floats = NDArray[np.float64]


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


def test_refusals() -> None:
    assert likeliest([1.0], 1.0, RandomWalk(0.5)) == RandomWalk(0.5)
    with pytest.raises(InvalidArgument, match="at least 2 samples in every place to estimate a RandomWalk"):
        likeliest([1.0], 1.0, RandomWalk())
    with pytest.raises(InvalidArgument, match="at least 4 samples"):
        likeliest([1.0, 2.0, 3.0], 1.0, Trend())
    with pytest.raises(InvalidArgument, match="one whose paces are given"):
        log_likelihood([1.0, 2.0], 1.0, RandomWalk())
