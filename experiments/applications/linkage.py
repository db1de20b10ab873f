"""Points that are shared by k people each, and trajectories that are not."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from experiments.applications.panels import (
    Panel,
    make_meters,
    make_pulses,
    make_steps,
    read_loads,
    read_panel,
    read_pulses,
)
from experiments.claims import Claim, Given, Pair, above, computation, every, existence, order, rising
from experiments.claims.computations import scaled

__all__ = ["coarsen", "linkage_claims", "singled_out", "smallest_class"]

Labels = NDArray[np.int64]
Role = Literal["steps", "loads", "vitals"]

K = 5
SNIPPETS = (1, 3, 6)
FORTNIGHT = 14
_MADE_UP = {"steps": "33 walkers", "loads": "100 households", "vitals": "1,000 patients"}


def coarsen(panel: Panel, k: int) -> Labels:
    """Return the class of each value in its hour: at least k people in each, equal values in one."""
    labels = np.zeros(panel.values.shape, dtype=np.int64)
    for hour, values in enumerate(panel.values.T):
        order_ = np.argsort(values, kind="stable")
        label, size = 0, 0
        left = len(values)
        for place, person in enumerate(order_):
            fresh = place == 0 or values[person] != values[order_[place - 1]]
            if size >= k and fresh and left >= k:  # what is left is enough for a class of its own
                label, size = label + 1, 0
            labels[person, hour] = label
            size += 1
            left -= 1
    return labels


def smallest_class(labels: Labels) -> int:
    """Return how many people the smallest class of any hour has."""
    return min(int(np.unique(hour, return_counts=True)[1].min()) for hour in labels.T)


def singled_out(labels: Labels, hours: int) -> float:
    """Return how often a person's classes in so many hours in a row are nobody else's, over people and hours by day."""
    starts = (start + shift for start in range(8, labels.shape[1] - hours, 24) for shift in range(0, 12, 3))
    return float(np.mean([np.mean(_alone(labels[:, start : start + hours])) for start in starts]))


@computation(tenth=scaled(0.1))
def fewest_in_a_class(role: Role, path: Path | None) -> float:
    """Return how many people share a point at least."""
    return float(smallest_class(_labels(role, path)))


@computation(none=scaled(0.0))
def unique_days(role: Role, path: Path | None) -> float:
    """Return for how many people the first day is nobody else's."""
    return float(np.mean(_alone(_labels(role, path)[:, :24])))


@computation(none=scaled(0.0))
def found_by(role: Role, path: Path | None, hours: int, *, shuffled: bool = False) -> float:
    """Return how many people a snippet of so many hours singles out."""
    return singled_out(_labels(role, path, shuffled=shuffled), hours)


@computation()
def left_after_two_releases() -> float:
    """Return how many people fit two 2-anonymous releases of overlapping groups, for who is known to be in both."""
    first, second = {"Ada", "Ben"}, {"Ada", "Cleo"}
    return float(len(first & second))


def linkage_claims(given: Given) -> list[Claim]:
    """Return the claims on anonymised trajectories."""
    roles: tuple[Role, ...] = ("steps", "vitals", "loads")
    return [
        *(_unique(given, role, f"A01{mark}") for role, mark in zip(roles, ("", "b", "c"), strict=True)),
        Claim(
            id="A02",
            source="applications",
            place="Applications, introduction",
            says="Syntactic anonymity has no account of what repeated releases leak together.",
            rule=existence,
            stated="two 2-anonymous releases single somebody out",
            readings={"two overlapping pairs of people": lambda: [left_after_two_releases() == 1.0]},
            tokens=("lack a formal way to account for cumulative",),
            parameters="ours: two releases, two people in each",
        ),
        *(_snippets(given, role, f"A16{mark}") for role, mark in zip(roles, ("", "b", "c"), strict=True)),
        Claim(
            id="N24",
            source="applications",
            place="beside A17",
            says="Correlation in time makes people harder to single out, not easier: pulses whose hours are shuffled "
            "within each patient are singled out more often by six hours.",
            rule=order,
            stated="as they are < shuffled",
            readings={
                "six hours": lambda: [
                    Pair(
                        found_by("vitals", given.path("vitals"), 6),
                        found_by("vitals", given.path("vitals"), 6, shuffled=True),
                        "six hours",
                    )
                ]
            },
            origin="ours",
            data=given.mark("vitals", _MADE_UP["vitals"]),
            files=("vitals",),
        ),
    ]


def _unique(given: Given, role: Role, name: str) -> Claim:
    path = given.path(role)
    return Claim(
        id=name,
        source="applications",
        place="Applications, introduction",
        says="Points that are each shared by k people can still form a trajectory that is nobody else's.",
        rule=every(above, above),
        stated=(K - 0.5, 0.0),
        readings={
            f"{role}: fewest people at a point, share with a unique first day": lambda: (
                fewest_in_a_class(role, path),
                unique_days(role, path),
            )
        },
        tokens=("$k$-anonymous, the sequence of points can form a unique pattern",),
        parameters=f"ours: k = {K}",
        data=given.mark(role, _MADE_UP[role]),
        files=(role,),
    )


def _snippets(given: Given, role: Role, name: str) -> Claim:
    path = given.path(role)
    return Claim(
        id=name,
        source="applications",
        place="Applications, Wearable Sensors and Digital Phenotyping",
        says="A short, correctly timed snippet of a routine singles out a whole trajectory.",
        rule=every(rising, above),
        stated=("the share singled out rises with the hours known", 0.5),
        readings={
            f"{role}: 1, 3, 6 hours between 8 h and 20 h; of 6": lambda: (
                [found_by(role, path, hours) for hours in SNIPPETS],
                found_by(role, path, SNIPPETS[-1]),
            )
        },
        tokens=("small, correctly-timed snippet",),
        parameters=f"ours: points shared by {K} people",
        data=given.mark(role, _MADE_UP[role]),
        files=(role,),
    )


@cache
def _panel(role: Role, path: Path | None) -> Panel:
    match role:
        case "steps":
            return read_panel(path, days=FORTNIGHT) if path else make_steps(days=FORTNIGHT)
        case "loads":
            return read_loads(path) if path else make_meters(100, days=FORTNIGHT)
        case "vitals":
            return read_pulses(path) if path else make_pulses()


@cache
def _labels(role: Role, path: Path | None, *, shuffled: bool = False) -> Labels:
    panel = _panel(role, path)
    values = np.random.default_rng(1).permuted(panel.values, axis=1) if shuffled else panel.values
    return coarsen(Panel(panel.start, values), K)


def _alone(rows: Labels) -> NDArray[np.bool_]:
    _, place, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    alone: NDArray[np.bool_] = count[place.ravel()] == 1
    return alone
