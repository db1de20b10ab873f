"""Series to experiment with: a file's, an installed package's, or made up alike."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from chronodp.randomness import seeded

__all__ = ["MADE_UP_PRICES", "MADE_UP_PULSES", "Floats", "daily_prices", "flights", "pulses", "synthetic", "tracks"]

Floats = NDArray[np.float64]

MADE_UP_PRICES = "a walk of 14,058 days with drift and changing volatility"
MADE_UP_PULSES = "hourly pulses of 700 people of six kinds"


@cache
def daily_prices(path: Path | None, days: int = 14_058) -> Floats:
    """Return closing prices: of a CSV with a column Close, or a made-up walk with drift and changing volatility."""
    if path is not None:
        return pd.read_csv(path)["Close"].to_numpy(dtype=np.float64)
    rng = np.random.default_rng(1962)
    calm = np.exp(np.cumsum(rng.normal(0, 0.02, days)) * 0.2)
    return 0.62 * np.exp(np.cumsum(rng.normal(0.0003, 0.012, days) * calm))


@cache
def pulses(path: Path | None, people: int = 700, hours: int = 48) -> Floats:
    """Return people by hours: pulses of a CSV with patient, ICULOS and HR, or made-up ones of six kinds."""
    if path is not None:
        table = pd.read_csv(path, usecols=["patient", "ICULOS", "HR"])
        wide = table.pivot_table(index="patient", columns="ICULOS", values="HR").interpolate(axis=1).bfill(axis=1)
        return wide.iloc[:, :hours].dropna().to_numpy(dtype=np.float64)[:people]
    rng = np.random.default_rng(6)
    times = np.arange(hours)
    kinds = rng.integers(0, 6, people)
    level = np.array([60, 75, 90, 105, 75, 90])[kinds, None]
    wave = np.where(kinds[:, None] >= 4, 15 * np.sin(2 * np.pi * times / 24), 0)
    return np.asarray(level + wave + rng.normal(0, 4, (people, hours)), dtype=np.float64)


@cache
def flights(people: int = 700, points: int = 60) -> Floats | None:
    """Return flights over Switzerland by times by latitude and longitude, from the package ``traffic`` if it is there.

    Its sample has a position every ten seconds. Nothing of it is kept here.
    """
    try:
        sample = importlib.import_module("traffic.data.samples").switzerland
    except (ImportError, AttributeError):
        return None
    return tracks((flight.data for flight in sample), people, points)


def tracks(tables: Iterable[pd.DataFrame], people: int, points: int) -> Floats:
    """Return the first positions of those flights that have enough of them."""
    whole = (table[["latitude", "longitude"]].dropna().to_numpy(dtype=np.float64) for table in tables)
    return np.array([track[:points] for track in whole if len(track) >= points][:people])


@cache
def synthetic(length: int = 1_000_000) -> Floats:
    """Return whole numbers drawn evenly from 0 to 100: the paper's SyntheticTS, which its text specifies."""
    return np.asarray(seeded("SyntheticTS").integers(101, length), dtype=np.float64)
