"""How many harmonics are worth their noise: predicted from a public example, before anything is spent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from chronodp.errors import InvalidArgument
from chronodp.postprocess import as_columns
from chronodp.privacy import Unit
from chronodp.spectrum.design import design_spectrum
from chronodp.spectrum.harmonics import count_numbers, highest, numbers_of, transform
from chronodp.spectrum.wanted import Lowest

if TYPE_CHECKING:
    import pandas

__all__ = ["compare_lowest"]

_MOST = 128  # counts that are tried


def compare_lowest(
    example: ArrayLike, *, change: float, unit: Unit, max_periods: int | None = None, epsilon: float, delta: float = 0.0
) -> pandas.DataFrame:
    """Return the predicted error of the series rebuilt from the lowest harmonics, the best count first.

    Mean square error = (energy of the harmonics above) / T + (2 m / T²) σ², where

    * T is the number of periods and m that of released numbers,
    * σ is the deviation of their noise, which itself grows with m.

    Columns: count, noise, sigma, rmse_left_out, rmse_noise, rmse. Of a long series not every count is tried.

    Args:
        example: PUBLIC numbers that move as the private ones do: last year's release, another town, a model. Trying
            counts on the private series would be a release that nobody paid for.
        change: the most that one unit changes one period.
        unit: who is protected.
        max_periods: how many periods one unit changes, for `User` and `UserPeriod`.
        epsilon: of the guarantee.
        delta: of the guarantee.

    >>> import chronodp as cdp
    >>> day = 0.5 + 0.25 * np.sin(2 * np.pi * np.arange(168) / 24)
    >>> table = compare_lowest(day, change=1.0, unit=cdp.Event(), epsilon=5.0, delta=1e-5)
    >>> int(table["count"][0])
    8
    """
    import pandas

    columns = as_columns("example", example)
    if columns.shape[1] != 1:
        raise InvalidArgument("example", f"shape {columns.shape}", "one public number a period")
    series = columns[:, 0]
    horizon = len(series)
    every = tuple(range(highest(horizon) + 1))
    energy = np.concatenate(([0.0], np.cumsum(numbers_of(transform(series), every, horizon) ** 2))) * 2 / horizon
    rows = []
    for count in _counts(len(every)):
        design = design_spectrum(
            Lowest(count),
            horizon=horizon,
            change=change,
            unit=unit,
            max_periods=max_periods,
            epsilon=epsilon,
            delta=delta,
        )
        numbers = count_numbers(design.harmonics, horizon)
        left_out = max(float(energy[-1] - energy[numbers]), 0.0) / horizon
        noise = 2 * numbers / horizon**2 * design.deviation**2
        rows.append(
            {
                "count": count,
                "noise": design.noise.law,
                "sigma": design.deviation,
                "rmse_left_out": math.sqrt(left_out),
                "rmse_noise": math.sqrt(noise),
                "rmse": math.sqrt(left_out + noise),
            }
        )
    return pandas.DataFrame(rows).sort_values("rmse", ignore_index=True)


def _counts(most: int) -> list[int]:
    if most <= _MOST:
        return list(range(1, most + 1))
    return sorted({round(number) for number in np.geomspace(1, most, _MOST)})
