"""Made-up clinics: hourly pulse, temperature and breathing of their patients, some of whom fall ill."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["COLUMNS", "HOURS", "make_patients"]

HOURS = 12
COLUMNS = {"pulse": (40.0, 160.0), "temperature": (34.0, 41.0), "breaths": (5.0, 45.0)}


def make_patients(count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (patients, hours, columns), some of it missing, and who fell ill."""
    chance = np.random.default_rng(seed)
    ill = chance.random(count) < 0.2
    usual = np.array([82.0, 36.9, 18.0]) + chance.normal(0.0, 1.0, (count, 1, 3)) * np.array([10.0, 0.4, 3.0])
    wander = np.cumsum(chance.normal(0.0, 1.0, (count, HOURS, 3)), axis=1) * np.array([2.5, 0.1, 0.8])
    drift = np.linspace(0.0, 1.0, HOURS)[None, :, None] * np.array([28.0, 1.3, 8.0])
    values = usual + wander + ill[:, None, None] * drift
    values[chance.random(values.shape) < 0.15] = np.nan
    return values, ill.astype(np.float64)
