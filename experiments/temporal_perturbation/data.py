"""Series to experiment with: a file's, or made up alike."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def option(name: str) -> Path | None:
    """Return the path given after ``--name`` on the command line, if any."""
    words = sys.argv[1:]
    return Path(words[words.index(f"--{name}") + 1]) if f"--{name}" in words[:-1] else None


def daily_prices(path: Path | None, days: int = 14_058) -> Floats:
    """Return closing prices: of a CSV with a column Close, or a made-up walk with drift and changing volatility."""
    if path is not None:
        return pd.read_csv(path)["Close"].to_numpy(dtype=np.float64)
    rng = np.random.default_rng(1962)
    calm = np.exp(np.cumsum(rng.normal(0, 0.02, days)) * 0.2)
    return 0.62 * np.exp(np.cumsum(rng.normal(0.0003, 0.012, days) * calm))


def trajectories(path: Path | None, people: int, length: int) -> Floats:
    """Return people by times: hourly pulses of a CSV with patient, ICULOS and HR, or made-up walks of six kinds."""
    if path is not None:
        table = pd.read_csv(path, usecols=["patient", "ICULOS", "HR"])
        wide = table.pivot_table(index="patient", columns="ICULOS", values="HR").interpolate(axis=1).bfill(axis=1)
        return wide.iloc[:, :length].dropna().to_numpy(dtype=np.float64)[:people]
    rng = np.random.default_rng(6)
    hours = np.arange(length)
    kinds = rng.integers(0, 6, people)
    level = np.array([60, 75, 90, 105, 75, 90])[kinds, None]
    wave = np.where(kinds[:, None] >= 4, 15 * np.sin(2 * np.pi * hours / 24), 0)
    return np.asarray(level + wave + rng.normal(0, 4, (people, length)), dtype=np.float64)
