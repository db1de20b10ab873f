"""Reconstruction: many questions about random subsets, and one solution that fits them all (Dinur and Nissim 2003)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chronodp.dataset import Aggregate
from chronodp.errors import ChronodpError
from chronodp.ledger import Ledger
from chronodp.privacy import User
from tests.audit.attacks.attempt import Attempt

__all__ = ["attack"]

Floats = NDArray[np.float64]

_PEOPLE, _QUESTIONS, _SHARE = 20, 160, 0.02


def attack(trials: int, ours: int | None = None) -> Attempt:
    """Ask for totals of random halves of twenty people, and find all their bits by least squares."""
    draws = np.random.default_rng()
    naive = hits = guessed = tried = 0
    while tried < trials:
        bits = draws.integers(0, 2, _PEOPLE)
        subsets = draws.integers(0, 2, (_QUESTIONS, _PEOPLE))
        exact = (subsets @ bits).astype(np.float64)
        naive += _hits(bits, subsets, exact + draws.uniform(-1.0, 1.0, _QUESTIONS))
        if ours is None or guessed < ours:
            hits, guessed = hits + _hits(bits, subsets, _released(exact)), guessed + _PEOPLE
        tried += _PEOPLE
    return Attempt(
        name="reconstruction from many questions",
        naive="each total is off by up to 1, however many are asked",
        epsilon=1.0,
        naive_guesses=tried,
        our_guesses=guessed,
        naive_hits=naive,
        our_hits=hits,
    )


def _hits(bits: NDArray[np.int64], subsets: NDArray[np.int64], answers: Floats) -> int:
    solution = np.linalg.lstsq(subsets[: len(answers)].astype(np.float64), answers, rcond=None)[0]
    return int(np.count_nonzero((solution > 0.5) == bits))


def _released(exact: Floats) -> Floats:
    """Return the answers that a budget of 1 pays for."""
    answers = []
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("audit", unit=User(), epsilon=1.0)
        for number, total in enumerate(exact.tolist()):
            plan = Aggregate([total], change=1.0, unit=User(), max_periods=1).plan(epsilon=_SHARE)
            try:
                made = plan.release(ledger, dataset="audit", request=f"{number}", progress=lambda _: None)
            except ChronodpError:
                break
            answers.append(float(made.to_pandas()["value"].iloc[0]))
    return np.array(answers)
