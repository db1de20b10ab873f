"""Membership inference: someone who knows how a person's series goes looks for its trace in the mean of a few."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.attacks.attempt import Attempt
from chronodp.audit.cases.ledgers import temporary_ledger
from chronodp.dataset import Aggregate
from chronodp.privacy import User

__all__ = ["attack"]

Floats = NDArray[np.float64]

_PEOPLE, _LENGTH, _MEMORY = 4, 144, 0.8


def attack(trials: int) -> Attempt:
    """Decide by the likelihood ratio whether a known series is among those added up; their autoregression is public."""
    draws = np.random.default_rng()
    naive = ours = 0
    for inside in draws.integers(0, 2, trials).tolist():
        crowd = np.array([_series(draws) for _ in range(_PEOPLE)])
        known = crowd[0] if inside else _series(draws)
        total = crowd.sum(axis=0)
        naive += int(_inside(total, known) == bool(inside))
        ours += int(_inside(_released(total), known) == bool(inside))
    return Attempt(
        name="membership by a known autoregression",
        naive="the exact sum of a few people's series",
        epsilon=1.0,
        naive_guesses=trials,
        our_guesses=trials,
        naive_hits=naive,
        our_hits=ours,
    )


def _series(draws: np.random.Generator) -> Floats:
    """A series between -1 and 1 that remembers."""
    shocks = draws.normal(0.0, 0.25, _LENGTH)
    values = np.zeros(_LENGTH)
    for step in range(_LENGTH):
        values[step] = np.clip((_MEMORY * values[step - 1] if step else 0.0) + shocks[step], -1, 1)
    return values


def _inside(total: Floats, known: Floats) -> bool:
    # Whitened by the known autoregression, what others add is independent noise, and the best score a product.
    def whiten(series: Floats) -> Floats:
        return series[1:] - _MEMORY * series[:-1]

    trace = whiten(known)
    return bool(whiten(total) @ trace > trace @ trace / 2)


def _released(total: Floats) -> Floats:
    plan = Aggregate(total, change=2.0, unit=User(relation="replace"), max_periods=_LENGTH).plan(epsilon=1.0)
    with temporary_ledger(User(relation="replace")) as ledger:
        made = plan.release(ledger, dataset="audit", request="total", progress=lambda _: None)
        return np.asarray(made.to_pandas()["value"].to_numpy(), dtype=np.float64)
