"""Neighbouring datasets and sensitivity: what one event or one person changes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

from chronodp import Event, User
from chronodp.accounting import gaussian
from chronodp.privacy import Bounds, Contribution, Sensitivity, per_period, running_total
from experiments.claims import Claim, Pair, Tolerance, computation, equal, every, number, order, rising

__all__ = ["adjacency_claims"]

UnitName = Literal["event", "user"]
Query = Literal["counts", "running counts"]
People = tuple[tuple[int, ...], ...]  # one row of presences a person

PLACE = "Principles and Mechanisms, Adjacency and Sensitivity"
HORIZONS = (7, 1440)
GUARANTEE = (1.0, 1e-5)


def neighbours(unit: UnitName, people: People) -> Iterator[People]:
    """Yield the datasets that a unit calls neighbours: one presence turned, or one person gone."""
    for who, days in enumerate(people):
        before, after = people[:who], people[who + 1 :]
        if unit == "user":
            yield before + after
        else:
            for at in range(len(days)):
                yield (*before, (*days[:at], 1 - days[at], *days[at + 1 :]), *after)


@computation()
def count_neighbours(unit: UnitName, people: int, times: int) -> float:
    """Return how many neighbours every dataset of that size has, without additions of people."""
    sizes = {len(set(neighbours(unit, data))) for data in _datasets(people, times) if len(set(data)) == people}
    (size,) = sizes
    return float(size)


@computation()
def steps_to_absence(unit: UnitName, times: int) -> float:
    """Return how many neighbours lie between a person who is always there and one of whom nothing is seen."""
    present: People = ((1,) * times, (0,) * times)
    absent = {((0,) * times, (0,) * times), ((0,) * times,)}
    seen, edge, steps = {present}, {present}, 0
    while not edge & absent:
        edge = {other for data in edge for other in neighbours(unit, data)} - seen
        seen |= edge
        steps += 1
    return float(steps)


@computation()
def largest_change(unit: UnitName, query: Query, times: int, power: int) -> float:
    """Return the most that a neighbour changes a query, over all datasets of two people."""
    most = max(
        sum(abs(here - there) ** power for here, there in zip(_answer(query, data), _answer(query, other), strict=True))
        for data in _datasets(2, times)
        for other in neighbours(unit, data)
    )
    return float(most ** (1 / power))


@computation()
def sensitivity(unit: UnitName, query: Query, horizon: int, power: int) -> float:
    """Return the library's sensitivity, for someone who may be there all the time."""
    found = _sensitivity(unit, query, horizon)
    return found.l1 if power == 1 else found.l2


@computation()
def noise_of_last_total(horizon: int, *, summed: bool) -> float:
    """Return the deviation of the last running count: noise on running counts, or on counts that are then summed."""
    if summed:
        return gaussian.sigma(*GUARANTEE, sensitivity=_sensitivity("user", "counts", horizon).l2) * math.sqrt(horizon)
    return gaussian.sigma(*GUARANTEE, sensitivity=_sensitivity("user", "running counts", horizon).l2)


def adjacency_claims() -> list[Claim]:
    """Return the claims on neighbours and sensitivity."""
    claim = partial(Claim, source="textbook", place=PLACE)
    return [
        claim(
            id="T01",
            says="Neighbours at the level of events differ in one reading of one time, so one presence is protected "
            "and no more: two people over three times have six neighbours, and a whole day is three steps away.",
            rule=number,
            stated=[6, 3],
            readings={
                "neighbours, steps to a day": lambda: [count_neighbours("event", 2, 3), steps_to_absence("event", 3)]
            },
            tokens=("**Event-level adjacency**",),
            parameters="ours: two people, three times",
        ),
        claim(
            id="T02",
            says="Neighbours at the level of users differ in one person's whole trajectory: two people have two "
            "neighbours with one person fewer, and a whole day is one step away.",
            rule=number,
            stated=[2, 1],
            readings={
                "neighbours, steps to a day": lambda: [count_neighbours("user", 2, 3), steps_to_absence("user", 3)]
            },
            tokens=("**user-level adjacency**",),
            parameters="ours: two people, three times",
        ),
        claim(
            id="T03",
            says="Occupancy counts change by 1 in l1 when one presence changes.",
            rule=equal,
            stated="Δ₁ = 1",
            readings={"enumerated, and the library's": lambda: _pairs("event", "counts", 1, lambda _: 1.0)},
            tokens=(r"\Delta_1(f) = 1",),
        ),
        claim(
            id="T04",
            says="Occupancy counts change by up to T in l1 when a person's trajectory goes.",
            rule=equal,
            stated="Δ₁ = T",
            readings={"enumerated, and the library's": lambda: _pairs("user", "counts", 1, float)},
            tokens=("= T",),
            parameters="ours: T = 3, 7 and 1,440",
        ),
        claim(
            id="T05",
            place=f"{PLACE}, formula of Δ₁",
            says="Running counts change by up to (1, 2, …, T) with one person: T(T+1)/2 in l1.",
            rule=equal,
            stated="Δ₁ = T(T+1)/2",
            readings={
                "enumerated, and the library's": lambda: _pairs("user", "running counts", 1, lambda t: t * (t + 1) / 2)
            },
            tokens=(r"\frac{T(T+1)}{2}", "O(T^2)"),
            parameters="ours: T = 3, 7 and 1,440",
        ),
        claim(
            id="T06",
            place=f"{PLACE}, formula of Δ₂",
            says="Running counts change by up to √(T(T+1)(2T+1)/6) in l2 with one person.",
            rule=equal,
            stated="Δ₂ = √(T(T+1)(2T+1)/6)",
            tolerance=Tolerance(relative=1e-12),
            readings={
                "enumerated, and the library's": lambda: _pairs(
                    "user", "running counts", 2, lambda t: math.sqrt(t * (t + 1) * (2 * t + 1) / 6)
                )
            },
            tokens=(r"\frac{T(T+1)(2T+1)}{6}", "O(T^{1.5})"),
            parameters="ours: T = 3, 7 and 1,440",
        ),
        claim(
            id="T07",
            says="Noise scaled to that sensitivity makes running counts useless over long horizons: beside the most "
            "that one person can count, T, it grows; noise on the counts, summed afterwards, is less.",
            rule=every(rising, order),
            stated=("noise / T rises with T", "noise on the running counts is more than noise on counts, summed"),
            readings={
                "Gaussian noise at (1, 1e-5), T = 64, 256, 1,440": lambda: (
                    [noise_of_last_total(t, summed=False) / t for t in (64, 256, 1440)],
                    [
                        Pair(noise_of_last_total(t, summed=True), noise_of_last_total(t, summed=False), f"T = {t:,}")
                        for t in (64, 1440)
                    ],
                )
            },
            tokens=("uselessly noisy",),
            parameters="ours: Gaussian noise, (ε, δ) = (1, 1e-5)",
        ),
    ]


def _pairs(unit: UnitName, query: Query, power: int, formula: Callable[[int], float]) -> list[Pair]:
    found = [
        Pair(sensitivity(unit, query, horizon, power), formula(horizon), f"T = {horizon:,}") for horizon in HORIZONS
    ]
    return [Pair(largest_change(unit, query, 3, power), formula(3), "T = 3, enumerated"), *found]


def _sensitivity(unit: UnitName, query: Query, horizon: int) -> Sensitivity:
    bounds = Bounds(horizon=horizon, max_periods=horizon)
    protected = Event() if unit == "event" else User()
    return (per_period if query == "counts" else running_total)(protected, bounds, Contribution.count())


def _datasets(people: int, times: int) -> Iterator[People]:
    return itertools.product(itertools.product((0, 1), repeat=times), repeat=people)


def _answer(query: Query, people: People) -> list[int]:
    counts = [sum(at) for at in zip(*people, strict=True)]
    return counts if query == "counts" else list(itertools.accumulate(counts))
