"""A made-up town: a month of hourly electricity of many households, for demonstrations."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.report import watching

__all__ = ["END", "START", "make_town", "write_town"]

START, END = "2026-01-01", "2026-02-01"
_HOURS = 31 * 24
_HOLIDAYS = (0, 5)  # New Year and Epiphany
_CHUNK = 500


def make_town(path: Path, *, households: int) -> None:
    """Write the town if it is not there, all of it or nothing."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
    with watching("Making up a town") as tell:
        write_town(fresh, households=households, progress=tell)
    fresh.replace(path)


def write_town(path: Path, *, households: int, progress: Callable[[float], None]) -> None:
    """Write a Parquet file with meter_id, district, read_at and kwh, one row a household and hour.

    Days and weeks have their rhythm, cold days cost more, holidays look like Sundays. A few households use many times
    what others do, one in five heats with electricity, some meters miss hours and some send no number.
    """
    import pyarrow
    import pyarrow.parquet

    chance = np.random.default_rng(20260101)  # the made-up data only; noise comes from secure entropy
    hours = np.arange(_HOURS)
    instants = np.datetime64(START, "us") + hours.astype("timedelta64[h]")
    rhythm, heating = _rhythm(hours), _heating(hours, chance)
    fields: list[pyarrow.Field[Any]] = [
        pyarrow.field("meter_id", pyarrow.string()),
        pyarrow.field("district", pyarrow.string()),
        pyarrow.field("read_at", pyarrow.timestamp("us", tz="UTC")),
        pyarrow.field("kwh", pyarrow.float64()),
    ]
    schema = pyarrow.schema(fields)
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for first in range(0, households, _CHUNK):
            count = min(_CHUNK, households - first)
            kwh = _readings(count, rhythm, heating, chance)
            kept = chance.random(kwh.shape) > 0.004
            numbers = range(first, first + count)
            meters = pyarrow.array([f"m{number:06}" for number in numbers])
            districts = pyarrow.array(["north" if number % 5 < 2 else "south" for number in numbers])
            whose = kept.nonzero()[0]
            columns: list[pyarrow.Array[Any]] = [
                meters.take(whose),
                districts.take(whose),
                pyarrow.array(np.tile(instants, count)[kept.ravel()], pyarrow.timestamp("us", tz="UTC")),
                pyarrow.array(kwh[kept]),
            ]
            writer.write_table(pyarrow.table(columns, schema=schema))
            progress((first + count) / households)


def _rhythm(hours: NDArray[np.int64]) -> NDArray[np.float64]:
    """Low at night, a rise in the morning, a peak in the evening; later and flatter on days off."""
    day, hour = hours // 24, hours % 24
    off = np.isin(day, _HOLIDAYS) | ((day + 3) % 7 >= 5)  # the first is a Thursday
    morning = np.exp(-((hour - np.where(off, 10.0, 7.5)) ** 2) / np.where(off, 9.0, 3.0))
    evening = np.exp(-((hour - 19.0) ** 2) / 7.0)
    load: NDArray[np.float64] = 0.25 + 0.45 * morning + 0.75 * evening + 0.12 * off
    return load


def _heating(hours: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.float64]:
    """How much colder than mild it is, hour by hour: a cold spell on top of days and nights."""
    days = np.cumsum(chance.normal(0.0, 1.2, 31)) * 0.6
    spell = 6.0 * np.exp(-(((np.arange(31) - 18) / 4.0) ** 2))
    cold = 12.0 + spell + days - days.mean()
    by_hour = cold[hours // 24] - 2.5 * np.sin((hours % 24 - 9) / 24 * 2 * math.pi)
    demand: NDArray[np.float64] = np.maximum(by_hour, 0.0) / 12.0
    return demand


def _readings(
    count: int, rhythm: NDArray[np.float64], heating: NDArray[np.float64], chance: np.random.Generator
) -> NDArray[np.float64]:
    size = chance.lognormal(0.0, 0.55, (count, 1)) * np.where(chance.random((count, 1)) < 0.01, 8.0, 1.0)
    heats = np.where(chance.random((count, 1)) < 0.2, chance.gamma(4.0, 0.3, (count, 1)), 0.0)
    kwh = size * rhythm * chance.gamma(3.0, 1 / 3.0, (count, len(rhythm))) * 0.55 + heats * heating
    kwh[chance.random(kwh.shape) < 0.0005] = np.nan
    return np.round(kwh, 3)
