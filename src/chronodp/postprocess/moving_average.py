"""The error of a private moving average: sensor noise and privacy noise apart, for each place where noise can go."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from chronodp.accounting import gaussian
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_delta, check_epsilon, check_number, check_positive, check_whole
from chronodp.report import Line, series_figure

if TYPE_CHECKING:
    import pandas

__all__ = [
    "AverageError",
    "NoiseOnAverages",
    "NoiseOnReadings",
    "Placement",
    "average_error",
    "compare_averages",
    "plot_averages",
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
        charged_windows: how many windows you mean to charge for one reading; None for as many as hold it. Fewer are
            refused: the charge would be wrong.
    """

    stride: int | None = None
    charged_windows: int | None = None

    def __post_init__(self) -> None:
        if self.stride is not None:
            check_whole("stride", self.stride)
        if self.charged_windows is not None:
            check_whole("charged_windows", self.charged_windows)

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
            windows = _windows(placement, readings)
            part = most / readings
            privacy = _variance(windows * part, math.sqrt(windows) * part, epsilon, delta)
        case _:
            if not isinstance(placement, Placement):
                raise InvalidArgument("placement", placement, "NoiseOnReadings() or NoiseOnAverages(stride)")
            assert_never(placement)
    return AverageError(sensor_deviation**2 / readings, privacy, windows)


def compare_averages(
    windows: Sequence[int], *, sensor_deviation: float, change: float, epsilon: float, delta: float = 0.0
) -> pandas.DataFrame:
    """Return the error of each placement for each window. Columns: window, placement, sensor, privacy, total, rmse.

    >>> table = compare_averages([10], sensor_deviation=2.0, change=1.0, epsilon=1.0)
    >>> table["total"].round(2).tolist()
    [0.6, 0.42, 2.4]
    """
    import pandas

    if not len(windows):
        raise InvalidArgument("windows", "none", "at least one window")
    rows = []
    for window in windows:
        for placement in (NoiseOnReadings(), NoiseOnAverages(), NoiseOnAverages(stride=1)):
            found = average_error(
                placement,
                window=window,
                sensor_deviation=sensor_deviation,
                change=change,
                epsilon=epsilon,
                delta=delta,
            )
            parts = {"sensor": found.sensor, "privacy": found.privacy, "total": found.total}
            rows.append({"window": window, "placement": str(placement), **parts, "rmse": math.sqrt(found.total)})
    return pandas.DataFrame(rows)


def plot_averages(table: pandas.DataFrame) -> Any:
    """Return a Plotly figure of `compare_averages`: the error of each placement above what the sensor alone leaves."""
    lines = []
    for placement, part in table.sort_values("window").groupby("placement", sort=False):
        rmse, floor = part["rmse"].tolist(), (part["sensor"] ** 0.5).tolist()
        lines.append(Line(str(placement), part["window"].tolist(), rmse, floor, rmse))
    figure = series_figure(lines, title="Error of a private moving average", value_name="root mean square error")
    figure.update_xaxes(title_text="window", rangeslider_visible=False)
    return figure


def _windows(placement: NoiseOnAverages, window: int) -> int:
    """How many windows hold one reading; a charge for fewer is refused."""
    stride = window if placement.stride is None else placement.stride
    held = -(-window // stride)
    charged = held if placement.charged_windows is None else placement.charged_windows
    if charged < held:
        raise InvalidArgument(
            "charged_windows",
            charged,
            f"at least {held}: with a new window every {stride} readings one reading is in {held} windows of {window}. "
            f"Charged as {charged}, a release that says ε spends {held / charged:g} ε",
        )
    return charged


def _variance(l1: float, l2: float, epsilon: float, delta: float) -> float:
    laplace = 2 * (l1 / check_epsilon(epsilon)) ** 2
    return min(laplace, gaussian.sigma(epsilon, delta, sensitivity=l2) ** 2) if check_delta(delta) else laplace
