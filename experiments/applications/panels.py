"""Hours of many people: from a file, or made up in the likeness of one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Panel:
    """One row a person, one column an hour, from midnight of ``start`` (UTC) on."""

    start: str
    values: NDArray[np.float64]

    @property
    def days(self) -> int:
        """How many whole days there are."""
        return int(self.values.shape[1]) // 24

    def rows(self) -> pd.DataFrame:
        """Return a long table: at, who, value."""
        people, hours = self.values.shape
        times = pd.date_range(self.start, periods=hours, freq="h", tz="UTC")
        table = pd.DataFrame({"at": np.tile(times, people), "who": np.repeat(np.arange(people), hours)})
        return table.assign(value=self.values.ravel())


def read_panel(path: Path, *, days: int) -> Panel:
    """Return hourly sums of a CSV file (person, time, value), of the days with the most people who miss no hour."""
    table = pd.read_csv(path)
    table.columns = pd.Index(["who", "at", "value"])
    table["at"] = pd.to_datetime(table["at"], utc=True).dt.floor("h")
    hours = table.pivot_table(index="at", columns="who", values="value", aggfunc="sum")
    first = hours.index.min().ceil("D")
    hours = hours.reindex(pd.date_range(first, hours.index.max().floor("D"), freq="h", inclusive="left"))
    present = hours.notna()
    starts = range(0, len(hours) - 24 * days + 1, 24)
    best = max(starts, key=lambda start: int(present.iloc[start : start + 24 * days].all().sum()))
    chosen = hours.iloc[best : best + 24 * days].dropna(axis="columns")
    return Panel(str(chosen.index[0].date()), chosen.to_numpy(dtype=np.float64).T)


def read_loads(path: Path) -> Panel:
    """Return hourly sums of a CSV file with one row a consumer and one column a half-hour."""
    halves = pd.read_csv(path).to_numpy(dtype=np.float64)
    return Panel("2026-06-01", halves.reshape(len(halves), -1, 2).sum(axis=2))


def read_pulses(path: Path, *, hours: int = 24, most: int = 4000) -> Panel:
    """Return the first hours of pulses of a CSV file (patient, ICULOS, HR); a gap takes the value before it."""
    table = pd.read_csv(path, usecols=["patient", "ICULOS", "HR"])
    long = table.groupby("patient")["ICULOS"].transform("max") >= hours
    pulses = table[long & (table["ICULOS"] <= hours)].pivot(index="patient", columns="ICULOS", values="HR")
    filled = pulses.ffill(axis="columns").bfill(axis="columns").dropna().head(most)
    return Panel("2026-06-01", filled.to_numpy(dtype=np.float64).round())


def make_meters(people: int = 400, *, days: int = 30, seed: int = 1) -> Panel:
    """Return made-up households: an evening peak of their own hour and height, and appliances that come and go."""
    chance = np.random.default_rng(seed)
    hour = np.arange(24 * days) % 24
    evening = chance.normal(19, 1.5, people)[:, None]
    size = chance.lognormal(0.0, 0.5, people)[:, None]
    shape = 0.25 + np.exp(-(((hour - evening) / 2.5) ** 2)) + 0.4 * np.exp(-(((hour - 7.5) / 1.5) ** 2))
    appliances = (chance.random((people, 24 * days)) < 0.06) * chance.gamma(2.0, 0.8, (people, 24 * days))
    return Panel("2026-06-01", (size * shape * chance.gamma(8.0, 1 / 8, shape.shape) + appliances).round(3))


def make_steps(people: int = 33, *, days: int = 14, seed: int = 1) -> Panel:
    """Return made-up walkers: asleep at night, a walk at hours of their own, an idle hour now and then."""
    chance = np.random.default_rng(seed)
    hour = np.arange(24 * days) % 24
    rises, walks = chance.integers(5, 9, people)[:, None], chance.integers(9, 21, people)[:, None]
    awake = (hour >= rises) & (hour < rises + 16)
    pace = chance.lognormal(5.5, 0.4, people)[:, None]
    steps = awake * (chance.random((people, 24 * days)) < 0.85) * pace * chance.gamma(1.5, 0.7, (people, 24 * days))
    steps += (hour == walks) * (chance.random((people, 24 * days)) < 0.7) * chance.gamma(9.0, 300.0, steps.shape)
    return Panel("2016-04-12", steps.round())


def make_pulses(people: int = 1000, *, hours: int = 24, seed: int = 1) -> Panel:
    """Return made-up patients: a pulse of their own that wanders from hour to hour, in whole beats."""
    chance = np.random.default_rng(seed)
    wander = chance.normal(0.0, 6.0, (people, hours))
    for hour in range(1, hours):
        wander[:, hour] = 0.9 * wander[:, hour - 1] + np.sqrt(1 - 0.9**2) * wander[:, hour]
    return Panel("2026-06-01", (chance.normal(84.0, 14.0, (people, 1)) + wander).round())
