"""Averaging: the same question again and again, until the noise is gone."""

from __future__ import annotations

import tempfile
from pathlib import Path

from chronodp.dataset import Aggregate
from chronodp.errors import ChronodpError
from chronodp.ledger import Ledger
from chronodp.privacy import Event
from tests.audit.attacks.attempt import Attempt
from tests.audit.attacks.means import guess_by_mean

__all__ = ["attack"]

_ASKED = 1_000
_SHARE = 0.5  # epsilon of one answer; the budget is 1


def attack(trials: int, ours: int | None = None) -> Attempt:
    """Ask for one total as often as answers come, under old and new names, and guess it by their mean."""
    return guess_by_mean(
        trials,
        ours,
        name="averaging repeated releases",
        naive="fresh noise for every request, and nobody counts them",
        scale=1 / _SHARE,
        count=_ASKED,
        answers=_answers,
    )


def _answers(secret: int) -> list[float]:
    plan = Aggregate([float(secret)], change=1.0, unit=Event()).plan(epsilon=_SHARE)
    seen: list[float] = []
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("audit", unit=Event(), epsilon=1.0)
        for number in range(_ASKED):
            try:
                made = plan.release(ledger, dataset="audit", request=f"again {number // 2}", progress=lambda _: None)
            except ChronodpError:
                break
            seen.append(float(made.to_pandas()["value"].iloc[0]))
    return seen
