"""Replay and rewind: a stream is set back and asked for the same step again."""

from __future__ import annotations

from chronodp.errors import StreamConflict
from chronodp.privacy import Event
from chronodp.series import EachPeriod, Stream
from tests.audit.attacks.attempt import Attempt
from tests.audit.attacks.means import guess_by_mean
from tests.audit.cases.ledgers import temporary_ledger

__all__ = ["attack"]

_REWINDS = 100


def attack(trials: int, ours: int | None = None) -> Attempt:
    """Open a stream, keep its first state, release the first step from it as often as that works; guess by the mean."""
    return guess_by_mean(
        trials,
        ours,
        name="replay and rewind of a stream",
        naive="a stream whose state is a file that can be put back",
        scale=1.0,
        count=_REWINDS,
        answers=_answers,
    )


def _answers(secret: int) -> list[float]:
    seen: list[float] = []
    with temporary_ledger(Event()) as ledger:
        first = Stream(
            EachPeriod(),
            horizon=2,
            change=1.0,
            unit=Event(),
            epsilon=1.0,
            ledger=ledger,
            dataset="audit",
            name="audit",
        )
        copies = [first, *(Stream.resume(ledger, "audit") for _ in range(3))]  # all of the first state
        for live in copies:
            try:
                seen.append(live.step(float(secret)).value)
            except StreamConflict:
                continue
        for _ in range(3):
            try:
                seen.append(Stream.resume(ledger, "audit").step(float(secret), period=0).value)
            except StreamConflict:
                break
    return seen
