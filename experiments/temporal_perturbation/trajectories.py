"""Table II: clusters of trajectories before and after perturbation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from chronodp.randomness import seeded
from chronodp.temporal import Threshold
from experiments.claims import Claim, Given, Pair, computation, every, number, order, rising
from experiments.claims.computations import inverted, scaled
from experiments.temporal_perturbation.applications import BUDGETS, NOISE
from experiments.temporal_perturbation.clustering import k_medoids, mutual_information
from experiments.temporal_perturbation.costs import KINDS
from experiments.temporal_perturbation.data import MADE_UP_PULSES, Floats, flights, pulses
from experiments.temporal_perturbation.rows import row

__all__ = ["CELLS", "RUNS", "StandIn", "agreement", "rows", "stand_ins"]

WINDOW = 10
CLUSTERS = 6
RUNS = 3
CELLS = {
    NOISE: (0.003, 0.003, 0.004, 0.005, 0.006, 0.005, 0.006, 0.007),
    "Threshold": (0.572, 0.590, 0.610, 0.616, 0.699, 0.705, 0.706, 0.768),
}
"""Table II as printed, for ε = 1 to 8."""


@dataclass(frozen=True)
class StandIn:
    """Trajectories in the place of the paper's taxis: what they are, how they count, and their file."""

    name: str
    mark: str
    path: Path | None = None


def stand_ins(given: Given) -> list[StandIn]:
    """Return what stands in for the taxis here, the nearest in kind first."""
    path = given.path("vitals")
    found = [StandIn("pulses", given.mark("vitals", MADE_UP_PULSES), path)]
    if flights() is not None:
        found.insert(0, StandIn("flights", "stand-in: flights over Switzerland, the sample of the package traffic"))
    return found


def rows(given: Given) -> list[Claim]:
    """Return the cells of Table II, and what is said of them."""
    here = stand_ins(given)
    return [*(_cell(place, here) for place in range(len(BUDGETS))), _whole(here)]


@computation(inverted=inverted, other_sign=scaled(-1.0))
def agreement(where: StandIn, kind: str, epsilon: float) -> float:
    """Return the normalised mutual information of clusters before and after, the mean of some runs."""
    return _agreement(where, kind, epsilon)


@computation(one_more=lambda f: lambda *a: [*f(*a), 9.0])
def extended_budgets(window: int) -> list[float]:
    """Return the budgets of the table that only the extended mechanism reaches."""
    return [epsilon for epsilon in BUDGETS if Threshold(window, epsilon).choice.extended]


def _cell(place: int, here: list[StandIn]) -> Claim:
    epsilon = BUDGETS[place]
    noise, moved = (CELLS[kind][place] for kind in (NOISE, "Threshold"))
    return row(
        id=f"L47.{place + 1}",
        place=f"Table II, ε = {epsilon:g}",
        says=f"clusters agree with the true ones by {noise:.3f} after Laplace noise, by {moved:.3f} after Threshold",
        rule=order,
        stated=f"{noise:.3f} below {moved:.3f}",
        readings={one.name: partial(_pair, one, epsilon) for one in here},
        tokens=(f"{noise:.3f}", f"{moved:.3f}"),
        data=here[0].mark,
        files=("vitals",),
    )


def _pair(where: StandIn, epsilon: float) -> list[Pair]:
    return [Pair(agreement(where, NOISE, epsilon), agreement(where, "Threshold", epsilon), f"ε = {epsilon:g}")]


def _whole(here: list[StandIn]) -> Claim:
    def values(where: StandIn, *, halves: bool = False) -> tuple[list[Pair], list[float], list[float]]:
        moved = [agreement(where, "Threshold", epsilon) for epsilon in BUDGETS]
        pairs = [pair for epsilon in BUDGETS for pair in _pair(where, epsilon)]
        rise = [float(np.mean(moved[:4])), float(np.mean(moved[4:]))] if halves else moved
        return pairs, rise, extended_budgets(WINDOW)

    return row(
        id="L48",
        place="Table II",
        says="Threshold is always above Laplace noise and rises with the budget; up to ε = 3 it is the extended one",
        rule=every(order, rising, number),
        stated=("noise below Threshold at all 8", "Threshold rises", (1.0, 2.0, 3.0)),
        readings={one.name: partial(values, one) for one in here}
        | {f"{one.name}, ε = 1 to 4 against 5 to 8": partial(values, one, halves=True) for one in here},
        tokens=("0.572*", "0.590*", "0.610*"),
        data=here[0].mark,
        files=("vitals",),
        note="only the order may be judged here: the cells need the taxis",
    )


@cache
def _rows_of(where: StandIn) -> Floats:
    found = flights() if where.name == "flights" else pulses(where.path)
    if found is None:
        raise ValueError("the sample of flights is not installed")
    return found


@cache
def _truth(where: StandIn) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    return k_medoids(_flat(_rows_of(where)), CLUSTERS)


@cache
def _agreement(where: StandIn, kind: str, epsilon: float) -> float:
    people, entropy = _rows_of(where), seeded(f"{where.name} {kind} {epsilon}")
    found = []
    for _ in range(RUNS):
        if kind == NOISE:
            scale = 2 * np.ptp(people, axis=(0, 1)) / epsilon  # of each channel, the range that its values have
            moved = people + scale / 2**20 * entropy.laplace(2.0**20, people.shape)
        else:
            released = KINDS[kind](WINDOW, epsilon).perturb_panel(people, entropy=entropy).values
            moved = _carried(np.asarray(released.filled(np.nan), dtype=np.float64))
        found.append(mutual_information(_truth(where), k_medoids(_flat(moved), CLUSTERS)))
    return float(np.mean(found))


def _flat(people: Floats) -> Floats:
    return people.reshape(len(people), -1)


def _carried(people: Floats) -> Floats:
    """Return people with the value before it at each empty time, and their mean at the first ones."""
    there = np.isfinite(people)
    times = np.arange(people.shape[1]).reshape(1, -1, *[1] * (people.ndim - 2))
    last = np.maximum.accumulate(np.where(there, times, -1), axis=1)
    found = np.take_along_axis(people, np.maximum(last, 0), axis=1)
    return np.where(last < 0, np.nanmean(people, axis=1, keepdims=True), found)
