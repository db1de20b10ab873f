"""One call for all: values in their intervals, coverage where it is promised, notes that say what was done."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats
from tests.conftest import Trials

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Growing, NonNegative, RandomWalk, Trend, kalman_smoother, smooth

FIRM: list[Growing | NonNegative] = [Growing(), Growing(whole=True), NonNegative(), NonNegative(whole=True)]
FIRM += [NonNegative(keep_total=False), NonNegative(keep_total=False, whole=True)]


@pytest.mark.parametrize("method", FIRM, ids=str)
@given(st.lists(st.floats(-50, 50), min_size=1, max_size=20), st.floats(0.01, 20))
def test_intervals_hold_the_estimate_and_what_is_possible(
    method: Growing | NonNegative, values: list[float], deviation: float
) -> None:
    found = smooth(values, deviation, method=method)
    assert np.all((found.lower <= found.value) & (found.value <= found.upper))
    assert found.lower.min() >= 0
    if method.whole:
        for part in (found.value, found.lower, found.upper):
            assert np.array_equal(part, np.rint(part))
    # Whatever possible truth the interval of the noise held, the new one holds.
    noisy = np.array(values)[:, None]
    for truth in (0.0, 1.0, 7.0, 30.0):
        held = np.abs(noisy - truth) <= 1.959 * deviation
        assert np.all(~held | ((found.lower <= truth) & (truth <= found.upper)))


@pytest.mark.slow
@pytest.mark.parametrize("method", FIRM, ids=str)
def test_coverage_is_kept(method: Growing | NonNegative, trials: Trials) -> None:
    random = np.random.default_rng(1)
    level, replicas = 0.9, trials(200_000, least=20_000)
    single = np.array([0.0, 1.0, 0.0, 0.0, 2.0, 9.0])[:, None]
    truth = np.cumsum(single, axis=0) if isinstance(method, Growing) else single

    def rarities(noise: float) -> NDArray[np.float64]:
        """How rare so many misses would be in each period, if intervals covered at their level."""
        noisy = truth + noise * random.standard_normal((6, replicas))
        found = smooth(noisy, 2.0, method=method, level=level)
        misses = ((truth < found.lower) | (truth > found.upper)).sum(axis=1)
        return np.asarray(stats.binom.sf(misses - 1, replicas, 1 - level))

    assert rarities(2.0).min() > 1e-9
    if not method.whole:  # drawing in to whole numbers and out to the estimate leaves some room
        assert rarities(2.2).min() < 1e-9


def test_models_give_their_own_intervals() -> None:
    random = np.random.default_rng(1)
    noisy = np.cumsum(random.standard_normal((80, 2)), axis=0)
    noisy[3, 0] = np.nan
    found = smooth(noisy, 2.0, method=Trend(0.3, 0.1), level=0.5)
    track = kalman_smoother(noisy, 2.0, Trend(0.3, 0.1))
    assert found.value == pytest.approx(track.value)
    assert found.upper - found.value == pytest.approx(0.67449 * track.deviation, rel=1e-5)
    assert "too narrow" not in found.note
    assert "too narrow" in smooth(noisy, 2.0, method=RandomWalk()).note


def test_notes_tell_bias_and_interval() -> None:
    noisy = np.random.default_rng(1).standard_normal((10, 6))
    notes = {str(method): smooth(noisy, 1.0, method=method).note for method in (*FIRM, RandomWalk(), RandomWalk(0.1))}
    assert len(set(notes.values())) == len(notes)
    for note in notes.values():
        assert "lean" in note or "flattened" in note
        assert "intervals" in note
    assert "with a pace for each place" in notes["RandomWalk(step=None)"]


def test_refusals() -> None:
    with pytest.raises(InvalidArgument, match="method must be Growing"):
        smooth([1.0], 1.0, method="kalman")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="level must be"):
        smooth([1.0], 1.0, method=Growing(), level=1.0)
    with pytest.raises(InvalidArgument, match="none of them missing"):
        smooth([1.0, float("nan")], 1.0, method=Growing())
