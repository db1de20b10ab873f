"""Membership inference: someone who knows how a person's series goes looks for its trace in the sum of a few."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.attacks import MembershipTest
from chronodp.dataset import Aggregate
from chronodp.privacy import User
from chronodp.series import Plan
from tests.audit.attacks.attempt import Attempt
from tests.audit.cases.ledgers import temporary_ledger

__all__ = ["attack"]

Floats = NDArray[np.float64]

_PEOPLE, _LENGTH, _MEMORY, _SHOCK = 4, 144, 0.8, 0.25
_CHANGE = 2.0  # the most that one person changes a reading: series lie between -1 and 1


def attack(trials: int, ours: int | None = None) -> Attempt:
    """Decide by the likelihood ratio whether a known series is among those added up.

    Their autoregression is public, and so is the noise: whoever looks for a trace weighs readings by both.
    """
    draws = np.random.default_rng()
    exact, noisy = _test(0.0), _test(_noise_variance())
    naive = hits = tried = 0
    for inside in draws.integers(0, 2, trials).tolist():
        crowd = np.array([_series(draws) for _ in range(_PEOPLE)])
        known = crowd[0] if inside else _series(draws)
        total = crowd.sum(axis=0)
        naive += int((exact.log_ratio(total, known) > 0) == bool(inside))
        if ours is None or tried < ours:
            hits += int((noisy.log_ratio(_released(total), known) > 0) == bool(inside))
            tried += 1
    return Attempt(
        name="membership by a known autoregression",
        naive="the exact sum of a few people's series",
        epsilon=1.0,
        naive_guesses=trials,
        our_guesses=tried,
        naive_hits=naive,
        our_hits=hits,
    )


def _series(draws: np.random.Generator) -> Floats:
    """A series between -1 and 1 that remembers."""
    shocks = draws.normal(0.0, _SHOCK, _LENGTH)
    values = np.zeros(_LENGTH)
    for step in range(_LENGTH):
        values[step] = np.clip((_MEMORY * values[step - 1] if step else 0.0) + shocks[step], -1, 1)
    return values


def _test(noise: float) -> MembershipTest:
    """The others are one fewer if the known series is in the sum; noise has so much variance on each reading."""
    back = np.subtract.outer(np.arange(_LENGTH), np.arange(_LENGTH))
    moves = np.where(back >= 0, _MEMORY ** np.maximum(back, 0), 0.0) * _SHOCK
    one, noises = moves @ moves.T, noise * np.eye(_LENGTH)
    return MembershipTest((_PEOPLE - 1) * one + noises, _PEOPLE * one + noises)


def _plan(total: Floats) -> Plan:
    return Aggregate(total, change=_CHANGE, unit=User(relation="replace"), max_periods=_LENGTH).plan(epsilon=1.0)


def _noise_variance() -> float:
    return 2 * _plan(np.zeros(_LENGTH)).design.noises[0].scale ** 2  # Laplace, independent


def _released(total: Floats) -> Floats:
    with temporary_ledger(User(relation="replace")) as ledger:
        made = _plan(total).release(ledger, dataset="audit", request="total", progress=lambda _: None)
        return np.asarray(made.to_pandas()["value"].to_numpy(), dtype=np.float64)
