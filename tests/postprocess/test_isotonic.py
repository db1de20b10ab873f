"""Totals that only grow: the nearest there are, as near to the truth as reference runs say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.signal import lfilter
from tests.conftest import Trials

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Growing, grow, smooth

FAR = 6.1  # standard errors, beyond which chance gets once in 1e9
LENGTH, SIGMA = 1024, 4.0
# Mean square errors of 300 reference runs: how often something happens, raw, isotonic, clipped and rounded, running
# maximum. Their own standard errors are below REFERENCE_ERROR.
REFERENCE = [
    (0.005, 150.09, 44.00, 26.32, 834.5),
    (0.05, 153.21, 63.76, 58.95, 532.3),
    (0.3, 157.66, 94.56, 94.10, 274.8),
]
REFERENCE_ERROR = 3.5
Floats = NDArray[np.float64]

series = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)


def highest_of_lowest(values: Floats, weights: Floats) -> Floats:
    """The formula: at t the largest over starts s <= t of the smallest over ends u >= t of the mean from s to u."""
    count = len(values)
    means = np.full((count, count), np.nan)
    for start in range(count):
        for end in range(start, count):
            means[start, end] = np.average(values[start : end + 1], weights=weights[start : end + 1])
    return np.array([max(means[start, t:].min() for start in range(t + 1)) for t in range(count)])


@given(series, st.data())
def test_the_nearest_that_never_falls(values: list[float], data: st.DataObject) -> None:
    deviation = data.draw(st.lists(st.floats(0.1, 10), min_size=len(values), max_size=len(values)))
    noisy = np.array(values)
    for spread in (1.0, np.array(deviation)):
        weights = np.broadcast_to(1 / np.square(spread), noisy.shape)
        found = grow(noisy, deviation=spread, least=None)[:, 0]
        size = 1e-9 * (1 + np.abs(noisy).max())
        assert found == pytest.approx(highest_of_lowest(noisy, weights), abs=size)
        assert np.all(np.diff(found) >= 0)
        assert weights @ found == pytest.approx(weights @ noisy, abs=size * weights.sum())
        assert grow(found, deviation=spread, least=None)[:, 0] == pytest.approx(found, abs=size)


@given(series, st.data())
def test_no_error_grows(values: list[float], data: st.DataObject) -> None:
    truth = np.cumsum(data.draw(st.lists(st.integers(0, 50), min_size=len(values), max_size=len(values))))
    noisy = np.array(values)
    for whole, allowance in ((False, 0.0), (True, 0.5)):
        error = grow(noisy, whole=whole)[:, 0] - truth
        assert np.abs(error).max() <= np.abs(noisy - truth).max() * (1 + 1e-9) + allowance
    error = grow(noisy)[:, 0] - truth
    assert error @ error <= (noisy - truth) @ (noisy - truth) * (1 + 1e-9)


@given(series)
def test_order_survives_clipping_and_rounding(values: list[float]) -> None:
    found = grow(values, whole=True)
    assert found.min() >= 0
    assert np.all(np.diff(found, axis=0) >= 0)
    assert np.array_equal(found, np.rint(found))
    assert np.array_equal(grow(found, whole=True), found)
    assert grow([-3.0, -2.0], least=-2.5).ravel().tolist() == [-2.5, -2.0]


def running_totals(often: float, replicas: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """True and noisy running totals with noise shaped by a square root, of l2 sensitivity 1; the noise's deviation."""
    random = np.random.default_rng(seed)
    steps = np.arange(1, LENGTH)
    shape = np.concatenate(([1.0], np.cumprod((2 * steps - 1) / (2 * steps))))
    scale = SIGMA * float(np.sqrt(shape @ shape))
    truth = np.cumsum(random.random((LENGTH, replicas)) < often, axis=0).astype(np.float64)
    noise = scale * lfilter(shape, [1.0], random.standard_normal((LENGTH, replicas)), axis=0)
    return truth, truth + noise, scale * np.sqrt(np.cumsum(shape**2))


@pytest.mark.parametrize(("often", "raw", "isotonic", "tidied", "maximum"), REFERENCE)
def test_reference_errors(
    often: float, raw: float, isotonic: float, tidied: float, maximum: float, trials: Trials
) -> None:
    truth, noisy, _ = running_totals(often, trials(4000, least=200), seed=1)
    estimates = {
        raw: noisy,
        isotonic: grow(noisy, least=None),
        tidied: grow(noisy, whole=True),
        maximum: np.maximum.accumulate(noisy, axis=0),
    }
    seen = {}
    for reference, estimate in estimates.items():
        errors = ((estimate - truth) ** 2).mean(axis=0)
        seen[reference] = float(errors.mean())
        if reference != maximum:
            own = float(errors.std()) / np.sqrt(len(errors))
            assert abs(seen[reference] - reference) < FAR * np.hypot(REFERENCE_ERROR, own)
        else:
            assert seen[reference] == pytest.approx(reference, rel=0.15)
    # A running maximum never falls either, and is worse than doing nothing.
    assert seen[tidied] <= seen[isotonic] < seen[raw] < seen[maximum]


def missed(lower: Floats, upper: Floats, truth: Floats) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (truth < lower) | (truth > upper)
    return found


def test_cut_intervals_still_cover_and_are_narrower(trials: Trials) -> None:
    truth, noisy, deviation = running_totals(0.005, trials(4000, least=400), seed=2)
    found = smooth(noisy, deviation, method=Growing(whole=True), level=0.9)
    assert np.all((found.lower <= found.value) & (found.value <= found.upper))
    assert (found.upper - found.lower).mean() < 0.65 * 2 * 1.6449 * deviation.mean()
    for period in (0, 10, 100, LENGTH - 1):
        misses = int(missed(found.lower[period], found.upper[period], truth[period]).sum())
        assert stats.binom.sf(misses - 1, truth.shape[1], 0.1) > 1e-9


def test_refusals() -> None:
    with pytest.raises(InvalidArgument, match="values must be numbers, periods × places, none of them missing"):
        grow([1.0, float("nan")])
    with pytest.raises(InvalidArgument, match="in one or two dimensions"):
        grow([])
    with pytest.raises(InvalidArgument, match="deviation must be above 0 and finite"):
        grow([1.0, 2.0], deviation=0.0)
