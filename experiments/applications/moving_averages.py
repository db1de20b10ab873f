"""The error of a private moving average: sensor noise and privacy noise apart, for each place where noise can go."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from chronodp.accounting import gaussian
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_delta, check_epsilon, check_number, check_positive, check_whole

__all__ = [
    "AverageError",
    "NoiseOnAverages",
    "NoiseOnReadings",
    "Placement",
    "average_error",
]


@dataclass(frozen=True, slots=True)
class NoiseOnReadings:
    """Noise on each reading once; every average is read from the noisy readings for free."""

    def __str__(self) -> str:
        return "noise on readings"


@dataclass(frozen=True, slots=True)
class NoiseOnAverages:
    """Noise on each average, with a new window every ``stride`` readings.

    Attributes:
        stride: readings from one window's beginning to the next; None for windows that do not overlap.
    """

    stride: int | None = None

    def __post_init__(self) -> None:
        if self.stride is not None:
            check_whole("stride", self.stride)

    def __str__(self) -> str:
        if self.stride is None:
            return "noise on averages of windows one after the other"
        return f"noise on averages of a window every {'reading' if self.stride == 1 else f'{self.stride} readings'}"


Placement: TypeAlias = NoiseOnReadings | NoiseOnAverages


@dataclass(frozen=True, slots=True)
class AverageError:
    """Mean square error of an average, in its two parts.

    Attributes:
        sensor: what the sensor's own noise leaves, s² / W.
        privacy: what privacy adds.
        windows: in how many averages with noise of their own one reading is.
    """

    sensor: float
    privacy: float
    windows: int

    @property
    def total(self) -> float:
        """Both together: they are independent."""
        return self.sensor + self.privacy


def average_error(
    placement: Placement, *, window: int, sensor_deviation: float, change: float, epsilon: float, delta: float = 0.0
) -> AverageError:
    """Return the error of an average of ``window`` readings, as an estimate of a level that stands still meanwhile.

    Mean square error = s² / W + V, where

    * s is the sensor's deviation and W the window,
    * on readings, V = v(Δ, Δ) / W; on averages, V = v(m Δ / W, √m Δ / W), since one reading is in m = ⌈W / stride⌉
      windows and changes each by Δ / W,
    * v(l1, l2) is the variance of the noise for these sensitivities: 2 (l1 / ε)² of Laplace noise, or if delta is above
      0 and that is less, (l2 σ₁)² of Gaussian noise.

    With Laplace noise that is s²/W + 2Δ²/(W ε²) on readings, s²/W + 2Δ²/(W ε)² on windows one after the other, and
    s²/W + 2Δ²/ε² on a window for every reading: W² times as much for W times as many numbers.

    Guarantee: none is made here; the figures are for (epsilon, delta) and `Event`, one reading, all releases together.

    Args:
        placement: NoiseOnReadings(), or NoiseOnAverages(stride).
        window: readings in an average.
        sensor_deviation: of a reading's own noise, independent from reading to reading.
        change: the most that one event changes one reading.
        epsilon: of the guarantee.
        delta: of the guarantee.

    >>> for placement in (NoiseOnReadings(), NoiseOnAverages(), NoiseOnAverages(stride=1)):
    ...     found = average_error(placement, window=10, sensor_deviation=2.0, change=1.0, epsilon=1.0)
    ...     print(f"{found.sensor:.2f} + {found.privacy:.2f}: {placement}")
    0.40 + 0.20: noise on readings
    0.40 + 0.02: noise on averages of windows one after the other
    0.40 + 2.00: noise on averages of a window every reading
    """
    readings = check_whole("window", window)
    if check_number("sensor_deviation", sensor_deviation) < 0:
        raise InvalidArgument("sensor_deviation", sensor_deviation, "a deviation of at least 0")
    most = check_positive("change", change)
    match placement:
        case NoiseOnReadings():
            windows, privacy = 1, _variance(most, most, epsilon, delta) / readings
        case NoiseOnAverages():
            windows = -(-readings // (placement.stride or readings))
            part = most / readings
            privacy = _variance(windows * part, math.sqrt(windows) * part, epsilon, delta)
        case _:
            assert_never(placement)
    return AverageError(sensor_deviation**2 / readings, privacy, windows)


def _variance(l1: float, l2: float, epsilon: float, delta: float) -> float:
    laplace = 2 * (l1 / check_epsilon(epsilon)) ** 2
    return min(laplace, gaussian.sigma(epsilon, delta, sensitivity=l2) ** 2) if check_delta(delta) else laplace
