"""Differencing: two questions that overlap in all but one person."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.dataset import Aggregate
from chronodp.privacy import User
from tests.audit.attacks.attempt import Attempt
from tests.audit.cases.ledgers import temporary_ledger

__all__ = ["attack"]

_CROWD = 50
_FEWEST = 10


def attack(trials: int, ours: int | None = None) -> Attempt:
    """Ask for everybody's total and for everybody's but one, and guess the person's bit by the difference."""
    crowds = np.random.default_rng().integers(0, 2, (trials, _CROWD))
    totals = np.column_stack([crowds.sum(axis=1), crowds[:, 1:].sum(axis=1)])
    return Attempt(
        name="differencing of overlapping questions",
        naive=f"exact totals, refused for fewer than {_FEWEST} people",
        epsilon=1.0,
        naive_guesses=trials,
        our_guesses=len(totals[:ours]),
        naive_hits=_hits(crowds[:, 0], totals.astype(np.float64)),
        our_hits=_hits(crowds[:ours, 0], np.array([_released(row) for row in totals[:ours]])),
    )


def _hits(secrets: NDArray[np.int64], totals: NDArray[np.float64]) -> int:
    return int(np.count_nonzero((totals[:, 0] - totals[:, 1] > 0.5) == secrets))


def _released(totals: NDArray[np.int64]) -> list[float]:
    """Two releases of epsilon 0.5 each, about the same people: together they cost 1."""
    with temporary_ledger(User()) as ledger:
        found = []
        for name, total in zip(("all", "all but one"), totals.tolist(), strict=True):
            plan = Aggregate([float(total)], change=1.0, unit=User(), max_periods=1).plan(epsilon=0.5)
            made = plan.release(ledger, dataset="audit", request=name, progress=lambda _: None)
            found.append(float(made.to_pandas()["value"].iloc[0]))
    return found
