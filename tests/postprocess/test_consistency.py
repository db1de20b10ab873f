"""Tiers that add up: the same as generalised least squares written out, whatever the blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats
from tests.conftest import Trials

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Tier, add_up
from chronodp.privacy import Calendar
from chronodp.series.windows import coarser

Floats = NDArray[np.float64]


def summing(lengths: Sequence[int] | NDArray[np.int64], periods: int) -> Floats:
    """The matrix that adds up periods to blocks; every period by itself if there are none."""
    if not len(lengths):
        return np.eye(periods)
    matrix, begin = np.zeros((len(lengths), periods)), 0
    for block, length in enumerate(lengths):
        matrix[block, begin : begin + length] = 1
        begin += length
    return matrix


def least_squares(tiers: Sequence[Tier]) -> list[tuple[Floats, Floats]]:
    """Values and deviations of every tier by solving for all periods at once."""
    periods = len(np.asarray(tiers[0].value))
    matrices = [summing(tier.lengths, periods) for tier in tiers]
    deviations = [np.broadcast_to(tier.deviation, len(matrix)) for tier, matrix in zip(tiers, matrices, strict=True)]
    weights = np.concatenate(deviations) ** -2.0
    design = np.vstack(matrices)
    covariance = np.linalg.inv(design.T @ (weights[:, None] * design))
    values = np.concatenate([np.asarray(tier.value) for tier in tiers])
    found = covariance @ (design.T @ (weights * values))
    return [(matrix @ found, np.sqrt(np.diag(matrix @ covariance @ matrix.T))) for matrix in matrices]


@st.composite
def hierarchies(draw: st.DrawFn) -> list[Tier]:
    periods = draw(st.integers(1, 14))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    tiers = [Tier(random.normal(scale=10, size=periods), random.uniform(0.3, 3, size=periods))]
    edges = list(range(periods + 1))
    for _ in range(draw(st.integers(0, 3))):
        inner = edges[1:]
        kept = sorted(draw(st.sets(st.sampled_from(inner), min_size=1)))
        edges = [0, *kept]
        lengths = tuple(int(length) for length in np.diff(edges))
        deviation = random.uniform(0.3, 3, size=len(lengths))
        deviation[random.random(len(lengths)) < 0.2] = np.inf
        tiers.append(Tier(random.normal(scale=10, size=len(lengths)), deviation, lengths))
        edges = edges if edges[-1] == periods else [*edges, periods]
    return tiers


@given(hierarchies())
@pytest.mark.slow
def test_generalised_least_squares(tiers: list[Tier]) -> None:
    found = add_up(tiers)
    for track, (value, deviation), tier in zip(found, least_squares(tiers), tiers, strict=True):
        assert track.value[:, 0] == pytest.approx(value, abs=1e-8)
        assert track.deviation[:, 0] == pytest.approx(deviation, rel=1e-8)
        assert np.all(track.deviation[:, 0] <= np.asarray(tier.deviation) * (1 + 1e-12))
        assert summing(tier.lengths, len(found[0].value)) @ found[0].value == pytest.approx(track.value, abs=1e-8)


def test_hours_days_and_months_with_a_day_of_25_hours() -> None:
    calendar = Calendar("1h", "2026-10-01", "2026-12-01", timezone="Europe/London")
    windows = [coarser(calendar, every) for every in ("1D", "1mo")]
    random = np.random.default_rng(1)
    truth = random.poisson(20, size=(len(calendar), 3)).astype(np.float64)
    tiers = [Tier(truth + 4 * random.standard_normal(truth.shape), 4.0)]
    for window in windows:
        sums = window.sums(truth)
        tiers.append(Tier(sums + 4 * random.standard_normal(sums.shape), 4.0, window.lengths))
    assert 25 in windows[0].lengths
    hours, days, months = add_up(tiers)
    for window, track in zip(windows, (days, months), strict=True):
        assert window.sums(hours.value) == pytest.approx(track.value, abs=1e-6)
    # Adding up 24 hours would have a deviation of 20.
    assert days.deviation.max() < 4.0
    assert hours.deviation.max() < 4.0


def test_exact_totals_are_met_and_leftovers_are_free() -> None:
    hours, halves = add_up([Tier([1.0, 2.0, 3.0, 4.0, 9.0], 1.0), Tier([5.0, 5.0], [0.0, np.inf], (2, 2))])
    assert hours.value.ravel().tolist() == [2.0, 3.0, 3.0, 4.0, 9.0]
    assert halves.value.ravel().tolist() == [5.0, 7.0]
    assert halves.deviation.ravel().tolist() == pytest.approx([0.0, 2**0.5])
    assert hours.deviation.ravel().tolist() == pytest.approx([0.5**0.5, 0.5**0.5, 1.0, 1.0, 1.0])
    exact = add_up([Tier([1.0, 2.0], 1.0), Tier([5.0], 0.0, (2,)), Tier([6.0], 0.0, (2,))])
    assert [track.value.sum() for track in exact] == [5.0, 5.0, 5.0]


def test_errors_are_as_large_as_stated(trials: Trials) -> None:
    random = np.random.default_rng(1)
    replicas = trials(400_000, least=20_000)
    lengths = (3, 2, 1)
    truth = np.arange(6.0)[:, None]
    noisy = [
        matrix @ truth + deviation * random.standard_normal((len(matrix), replicas))
        for matrix, deviation in ((np.eye(6), 2.0), (summing(lengths, 6), 1.0), (np.ones((1, 6)), 0.5))
    ]

    def matches(believed: float) -> list[bool]:
        found = add_up([Tier(noisy[0], 2.0), Tier(noisy[1], believed, lengths), Tier(noisy[2], 0.5, (6,))])
        squares = [
            (((track.value - matrix @ truth) / track.deviation) ** 2).sum(axis=1)
            for track, matrix in zip(found, (np.eye(6), summing(lengths, 6), np.ones((1, 6))), strict=True)
        ]
        laws = stats.chi2(replicas)
        return [bool(2 * min(laws.sf(one), laws.cdf(one)) > 1e-9) for one in np.concatenate(squares)]

    assert all(matches(1.0))
    assert not any(matches(0.5)[6:9])


def test_refusals() -> None:
    fine = Tier([1.0, 2.0, 3.0, 4.0], 1.0)
    with pytest.raises(InvalidArgument, match="at least one Tier"):
        add_up([])
    with pytest.raises(InvalidArgument, match="left out for the finest tier"):
        add_up([Tier([1.0], 1.0, (1,))])
    with pytest.raises(InvalidArgument, match="whole blocks of tier 1"):
        add_up([fine, Tier([1.0, 2.0], 1.0, (2, 2)), Tier([1.0], 1.0, (3,))])
    with pytest.raises(InvalidArgument, match="at most 4 periods"):
        add_up([fine, Tier([1.0, 2.0], 1.0, (2, 3))])
    with pytest.raises(InvalidArgument, match="lengths must be whole numbers"):
        add_up([fine, Tier([1.0, 2.0], 1.0, (0, 4))])
    with pytest.raises(InvalidArgument, match="2 blocks × 1 places"):
        add_up([fine, Tier([1.0, 2.0, 3.0], 1.0, (2, 2))])
    with pytest.raises(InvalidArgument, match="deviation must be above 0 and finite"):
        add_up([Tier([1.0, 2.0], [1.0, np.inf])])
