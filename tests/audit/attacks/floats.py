"""The float attack: which floating-point numbers can come out tells what went in (Mironov 2012)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.dataset import Aggregate
from chronodp.privacy import Event
from tests.audit.attacks.attempt import Attempt
from tests.audit.cases.ledgers import temporary_ledger

__all__ = ["attack"]

Floats = NDArray[np.float64]


def attack(trials: int, ours: int | None = None) -> Attempt:
    """Guess 0 or 1 behind Laplace noise, wherever last digits are finer than a number that was added to 1 can have."""
    secrets = np.random.default_rng().integers(0, 2, 20 * trials)
    naive = _guessed(secrets, secrets + np.random.default_rng().laplace(0.0, 1.0, len(secrets)))
    tried = secrets[: None if ours is None else 20 * ours]
    told = _guessed(tried, _released(tried))
    return Attempt(
        name="last digits of floating-point noise",
        naive="numpy.random.laplace added to a float",
        epsilon=1.0,
        naive_hits=naive[0],
        naive_guesses=naive[1],
        our_hits=told[0],
        our_guesses=told[1],
    )


def _guessed(secrets: NDArray[np.int64], outputs: Floats) -> tuple[int, int]:
    """Return how many guesses of 0 were right, and how many were made."""
    fine = (outputs * 2.0**53) % 1 != 0
    return int(np.count_nonzero(secrets[fine] == 0)), int(np.count_nonzero(fine))


def _released(secrets: NDArray[np.int64]) -> Floats:
    """Each secret is one period of a release under `Event`: each has noise of its own, and epsilon 1."""
    plan = Aggregate(secrets.astype(np.float64), change=1.0, unit=Event()).plan(epsilon=1.0)
    with temporary_ledger(Event()) as ledger:
        released = plan.release(ledger, dataset="audit", request="floats", progress=lambda _: None)
        return np.asarray(released.to_pandas()["value"].to_numpy(), dtype=np.float64)
