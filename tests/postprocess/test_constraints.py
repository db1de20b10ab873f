"""Non-negative and whole numbers: nearest by their conditions and by enumeration, totals kept, biases as stated."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, stats
from tests.conftest import Trials

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law, clip_at_zero, clipping_bias, project, round_whole

FALSE_ALARM = 1e-9
LAWS: tuple[Law, Law] = ("gaussian", "laplace")
series = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=40)


@given(series, st.data())
def test_projection_meets_its_conditions(values: list[float], data: st.DataObject) -> None:
    noisy = np.array(values)
    spread = np.array(data.draw(st.lists(st.floats(0.1, 10), min_size=len(values), max_size=len(values))))
    total = data.draw(st.none() | st.floats(0, 1e5))
    found = project(noisy, deviation=spread, total=total)[:, 0]
    wanted = max(float(noisy.sum()) if total is None else total, 0.0)
    size = 1e-8 * (1 + np.abs(noisy).max() + wanted)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(wanted, abs=size)
    # One multiplier for all that stay, and none that is left out would come in at it: so it is the nearest.
    pull = (noisy - found) / spread**2
    stays = found > size
    assert stays.any() or wanted <= 2 * len(values) * size
    if stays.any():
        multiplier = pull[stays].mean()
        assert pull[stays] == pytest.approx(multiplier, abs=200 * size)
        assert np.all(pull[~stays] <= multiplier + 200 * size)
    assert project(found, deviation=spread, total=total)[:, 0] == pytest.approx(found, abs=size)


@given(series, st.data())
def test_projection_comes_no_further_from_a_truth_of_that_total(values: list[float], data: st.DataObject) -> None:
    truth = np.array(data.draw(st.lists(st.floats(0, 1e4), min_size=len(values), max_size=len(values))))
    noisy = np.array(values)
    error = project(noisy, total=float(truth.sum()))[:, 0] - truth
    assert error @ error <= (noisy - truth) @ (noisy - truth) * (1 + 1e-6) + 1e-6


def test_many_places_at_once_are_each_alone() -> None:
    noisy = np.random.default_rng(1).normal(size=(50, 7))
    noisy[:, 3] -= 5  # a total below 0 is kept at 0
    found = project(noisy)
    for place in range(7):
        assert found[:, place] == pytest.approx(project(noisy[:, place])[:, 0])
    assert not found[:, 3].any()
    assert project(noisy, total=np.arange(7.0)).sum(axis=0) == pytest.approx(np.arange(7.0))


@given(st.lists(st.floats(0, 3), min_size=1, max_size=5))
def test_rounding_is_the_nearest_with_its_total(values: list[float]) -> None:
    given_values = np.array(values)
    found = round_whole(given_values)[:, 0]
    assert found.min() >= 0
    assert np.array_equal(found, np.rint(found))
    assert abs(found.sum() - given_values.sum()) <= 0.5 + 1e-9
    assert np.abs(found - given_values).max() < 1
    assert np.array_equal(round_whole(found)[:, 0], found)
    choices = (np.array(c) for c in itertools.product(range(5), repeat=len(values)) if sum(c) == found.sum())
    nearest = min(float(((choice - given_values) ** 2).sum()) for choice in choices)
    assert ((found - given_values) ** 2).sum() == pytest.approx(nearest, abs=1e-9)


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=5))
def test_projected_then_rounded_is_the_nearest_of_all(values: list[float]) -> None:
    noisy = np.array(values)
    total = round(max(float(noisy.sum()), 0.0))
    found = round_whole(project(noisy, total=float(total)))[:, 0]
    assert found.sum() == total
    choices = (np.array(c) for c in itertools.product(range(total + 1), repeat=len(values)) if sum(c) == total)
    nearest = min(float(((choice - noisy) ** 2).sum()) for choice in choices)
    assert ((found - noisy) ** 2).sum() == pytest.approx(nearest, abs=1e-6)


@given(series)
def test_clipping_and_plain_rounding(values: list[float]) -> None:
    found = clip_at_zero(values)[:, 0]
    assert found.tolist() == [max(value, 0.0) for value in values]
    assert round_whole(values, keep_total=False)[:, 0].tolist() == [float(round(value)) for value in values]


def test_bias_of_clipping(trials: Trials, subtests: pytest.Subtests) -> None:
    for truth in [0.0, 0.3, 2.0, 8.0]:
        for law in LAWS:
            with subtests.test(law=law, truth=truth):
                deviation = 1.7
                noise = (
                    stats.norm(scale=deviation) if law == "gaussian" else stats.laplace(scale=deviation / np.sqrt(2))
                )
                expected = integrate.quad(
                    lambda z, t=truth, n=noise: -(t + z) * n.pdf(z), -60, -truth, points=[-truth - 1]
                )[0]
                bias = clipping_bias(truth, deviation, law=law)
                assert bias == pytest.approx(expected, rel=1e-6, abs=1e-12)
                draws = noise.rvs(size=trials(4_000_000, least=200_000), random_state=np.random.default_rng(1))
                errors = clip_at_zero(truth + draws)[:, 0] - truth
                far = stats.norm.isf(FALSE_ALARM / 2) * errors.std() / np.sqrt(len(errors))
                assert abs(errors.mean() - bias) < far
                if truth < 1:
                    assert abs(errors.mean() - 0.9 * bias) > far


def test_clipping_piles_up_where_projection_does_not() -> None:
    random = np.random.default_rng(1)
    truth = (random.random((1000, 200)) < 0.05).astype(np.float64)
    noisy = truth + 4 * random.standard_normal(truth.shape)
    over = (clip_at_zero(noisy) - truth).sum(axis=0).mean()
    assert over == pytest.approx(1000 * (0.95 * clipping_bias(0.0, 4.0) + 0.05 * clipping_bias(1.0, 4.0)), rel=0.02)
    positive = noisy.sum(axis=0) > 0
    kept = project(noisy[:, positive])
    assert kept.sum(axis=0) == pytest.approx(noisy[:, positive].sum(axis=0))
    errors = [((found - truth) ** 2).mean() for found in (noisy, clip_at_zero(noisy), project(noisy))]
    assert errors == pytest.approx([16.0, 8.0, 0.29], rel=0.15)


def test_refusals() -> None:
    with pytest.raises(InvalidArgument, match="total must be finite, one for all or one for each of 1 places"):
        project([1.0, 2.0], total=[1.0, 2.0, 3.0])
    with pytest.raises(InvalidArgument, match="total must be finite"):
        project([1.0, 2.0], total=float("inf"))
    with pytest.raises(InvalidArgument, match="truth must be at least 0"):
        clipping_bias(-1.0, 1.0)
    with pytest.raises(InvalidArgument, match="deviation must be above 0 and finite"):
        project([1.0, 2.0], deviation=[1.0, 2.0, 3.0])
    with pytest.raises(InvalidArgument, match="values must be numbers"):
        clip_at_zero(["many"])
