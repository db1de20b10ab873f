"""Linkage: a few known points find a person among pseudonymous trajectories, though k people share every point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.dataset import Aggregate
from chronodp.privacy import User
from tests.audit.attacks.attempt import Attempt
from tests.audit.cases.ledgers import temporary_ledger

__all__ = ["attack"]

Integers = NDArray[np.int64]

_PEOPLE, _HOURS, _ZONES, _SHARED, _SEEN = 200, 12, 6, 5, 5


def attack(trials: int, ours: int | None = None) -> Attempt:
    """Know where somebody was at five hours of the day, find the trajectory, and read off where they were at night."""
    draws = np.random.default_rng()
    naive = hits = tried = 0
    for _ in range(trials):
        places = draws.integers(0, _ZONES, (_PEOPLE, _HOURS))
        nights = draws.integers(0, 2, _PEOPLE)
        target = int(draws.integers(_PEOPLE))
        hours = draws.choice(_HOURS, _SEEN, replace=False)
        truth = int(nights[target])
        fits = np.flatnonzero(np.all(_suppressed(places)[:, hours] == places[target, hours], axis=1))
        naive += int((int(nights[fits[0]]) if len(fits) == 1 else int(draws.integers(2))) == truth)
        if ours is None or tried < ours:
            hits, tried = hits + int(_guess(nights, target) == truth), tried + 1
    return Attempt(
        name="linkage of trajectories",
        naive=f"names removed, points shared by fewer than {_SHARED} people left out",
        epsilon=1.0,
        naive_guesses=trials,
        our_guesses=tried,
        naive_hits=naive,
        our_hits=hits,
    )


def _suppressed(places: Integers) -> Integers:
    """Return trajectories in which every point is shared by enough people; others are -1."""
    shown = places.copy()
    for hour in range(_HOURS):
        counts = np.bincount(places[:, hour], minlength=_ZONES)
        shown[counts[places[:, hour]] < _SHARED, hour] = -1
    return shown


def _guess(nights: Integers, target: int) -> int:
    """Guess from the released count of the night, knowing everybody else."""
    plan = Aggregate([float(nights.sum())], change=1.0, unit=User(), max_periods=1).plan(epsilon=1.0)
    with temporary_ledger(User()) as ledger:
        made = plan.release(ledger, dataset="audit", request="night", progress=lambda _: None)
        count = float(made.to_pandas()["value"].iloc[0])
    return int(count - (nights.sum() - nights[target]) > 0.5)
