"""Averaging: the same question again and again, until the noise is gone."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from chronodp.audit.attacks.attempt import Attempt
from chronodp.dataset import Aggregate
from chronodp.errors import ChronodpError
from chronodp.ledger import Ledger
from chronodp.privacy import Event

__all__ = ["attack"]

_ASKED = 1_000
_SHARE = 0.5  # epsilon of one answer; the budget is 1


def attack(trials: int) -> Attempt:
    """Ask for one total as often as answers come, under old and new names, and guess it by their mean."""
    secrets = np.random.default_rng().integers(0, 2, trials).tolist()
    noise = np.random.default_rng().laplace(0.0, 1 / _SHARE, (trials, _ASKED))
    naive = [int(secret + row.mean() > 0.5) for secret, row in zip(secrets, noise, strict=True)]
    ours = [_guess(secret) for secret in secrets]
    return Attempt(
        name="averaging repeated releases",
        naive="fresh noise for every request, and nobody counts them",
        epsilon=1.0,
        naive_guesses=trials,
        our_guesses=trials,
        naive_hits=sum(map(int.__eq__, naive, secrets)),
        our_hits=sum(map(int.__eq__, ours, secrets)),
    )


def _guess(secret: int) -> int:
    plan = Aggregate([float(secret)], change=1.0, unit=Event()).plan(epsilon=_SHARE)
    seen = []
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("audit", unit=Event(), epsilon=1.0)
        for number in range(_ASKED):
            try:
                made = plan.release(ledger, dataset="audit", request=f"again {number // 2}", progress=lambda _: None)
            except ChronodpError:
                break
            seen.append(float(made.to_pandas()["value"].iloc[0]))
    return int(float(np.mean(seen)) > 0.5)
