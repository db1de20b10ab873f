"""Moving averages: the textbook's decomposition, by simulation and by brute force over windows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from experiments.applications.moving_averages import NoiseOnAverages, NoiseOnReadings, Placement, average_error
from scipy import stats
from tests.conftest import Trials

from chronodp.accounting import gaussian

EVERY: list[Placement] = [NoiseOnReadings(), NoiseOnAverages(), NoiseOnAverages(stride=1), NoiseOnAverages(stride=3)]


@pytest.mark.parametrize("window", [1, 2, 7, 30])
def test_the_textbook_formulas(window: int) -> None:
    sensor, reach, epsilon = 0.3, 2.0, 0.5
    expected: dict[Placement, float] = {
        NoiseOnReadings(): 2 * reach**2 / (window * epsilon**2),
        NoiseOnAverages(): 2 * reach**2 / (window * epsilon) ** 2,
        NoiseOnAverages(stride=1): 2 * reach**2 / epsilon**2,
    }
    for placement, privacy in expected.items():
        found = average_error(placement, window=window, sensor_deviation=sensor, change=reach, epsilon=epsilon)
        assert found.sensor == pytest.approx(sensor**2 / window)
        assert found.privacy == pytest.approx(privacy)
        assert found.total == found.sensor + found.privacy


@pytest.mark.parametrize(("window", "stride"), [(7, 1), (7, 3), (6, 3), (5, 5), (4, 9), (1, 1)])
def test_one_reading_is_in_as_many_windows_as_are_charged(window: int, stride: int) -> None:
    horizon = 60
    rows = [np.arange(first, first + window) for first in range(0, horizon - window + 1, stride)]
    averages = np.zeros((len(rows), horizon))
    for row, places in enumerate(rows):
        averages[row, places] = 1 / window
    found = average_error(
        NoiseOnAverages(stride), window=window, sensor_deviation=0.0, change=1.0, epsilon=1.0, delta=1e-6
    )
    l1, l2 = float(averages.sum(axis=0).max()), float(np.sqrt((averages**2).sum(axis=0).max()))
    assert found.windows == (averages > 0).sum(axis=0).max()
    assert found.privacy == pytest.approx(min(2 * l1**2, gaussian.sigma(1.0, 1e-6, sensitivity=l2) ** 2))


@pytest.mark.parametrize("placement", EVERY, ids=str)
def test_simulated_error(placement: Placement, trials: Trials) -> None:
    window, sensor, count = 6, 0.8, trials(200_000, least=20_000)
    found = average_error(placement, window=window, sensor_deviation=sensor, change=1.0, epsilon=1.5)
    chance = np.random.default_rng(1)
    readings = chance.normal(0, sensor, size=(count, window))
    if isinstance(placement, NoiseOnReadings):
        errors = (readings + chance.laplace(0, 1 / 1.5, size=readings.shape)).mean(axis=1)
    else:
        errors = readings.mean(axis=1) + chance.laplace(0, found.windows / window / 1.5, size=count)
    spread = float(np.std(errors**2)) / math.sqrt(count)
    reach = float(stats.norm.isf(5e-10)) * spread
    assert abs(float(np.mean(errors**2)) - found.total) < reach
    assert abs(float(np.mean((errors * 1.1) ** 2)) - found.total) > reach
