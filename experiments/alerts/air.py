"""Minutes of carbon dioxide in a room: from a file, or made up in the likeness of one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Days = list[NDArray[np.float64]]

_MINUTES = 1440


def read_days(path: Path) -> Days:
    """Return the column CO2 of a CSV file with a column date, day by day."""
    import pandas as pd

    frame = pd.read_csv(path, usecols=["date", "CO2"], parse_dates=["date"]).sort_values("date")
    return [day["CO2"].to_numpy(dtype=np.float64) for _, day in frame.groupby(frame["date"].dt.date)]


def make_days(count: int = 16, *, seed: int = 1) -> Days:
    """Return made-up days: quiet ones near 450 ppm, and working days with a crowded stretch about 1,300 ppm."""
    generator = np.random.default_rng(seed)
    minutes = np.arange(_MINUTES)
    days = []
    for number in range(count):
        level = 450 + 20 * np.sin(2 * np.pi * minutes / _MINUTES) + generator.normal(0, 5, _MINUTES)
        if number % 2:
            begin, length = generator.integers(480, 600), generator.integers(180, 420)
            rise = np.clip((minutes - begin) / 60, 0, 1) * np.clip((begin + length - minutes) / 60, 0, 1)
            level += 850 * np.maximum(rise, 0)
        days.append(level)
    return days
