"""Streams of keys: one record holds a key alone, carries it over the threshold, or brings it early."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.case import AuditCase
from chronodp.audit.statistical import Sampled
from chronodp.ledger import Ledger
from chronodp.privacy import Claim, Event
from chronodp.randomness import Entropy
from chronodp.series.key_streams import KeyStream
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry

__all__ = ["ENTRIES"]

Newcomers = tuple[int, ...]
"""How many people meet a key for the first time in each step."""

_DELTA = 0.02
_UNIT = Event()


def _open(ledger: Ledger, entropy: Entropy | None) -> KeyStream:
    return KeyStream(
        unit=_UNIT,
        horizon=4,
        looks=2,
        epsilon=1.0,
        delta=_DELTA,
        ledger=ledger,
        dataset="audit",
        name="audit",
        entropy=entropy,
    )


def _told(new: Newcomers, count: int, *, entropy: Entropy) -> NDArray[np.float64]:
    """Return what is told of so many keys with the same newcomers, each with its own noise: look, then totals."""
    told = np.full((count, 3), -1.0)
    told[:, 1:] = 0.0
    with temporary_ledger(_UNIT, delta=2 * _DELTA, reserve=_DELTA) as ledger:
        live = _open(ledger, entropy)
        people = 0
        for coming in new:
            numbers = range(people, people + coming)
            people += coming
            answer = live.step((f"{key}/{number}", str(key)) for key in range(count) for number in numbers)
            for key, path in answer.past.items():
                told[int(key), 0] = float(answer.look or 0)
                told[int(key), 1 : 1 + len(path)] = path
            for key, value in answer.values.items():
                told[int(key), 1 + (answer.look or 0)] = value
    return told


def _key_streams() -> tuple[AuditCase, ...]:
    def run(new: Newcomers, *, entropy: Entropy) -> tuple[float, ...]:
        return tuple(_told(new, 1, entropy=entropy)[0].tolist())

    def case(name: str, one: Newcomers, other: Newcomers) -> AuditCase:
        return AuditCase(
            name=f"a stream of keys, {name}",
            mechanism=run,
            many=_told,
            neighbours=((one, other),),
            claim=_claim(),
            epsilon=1.0,
            delta=_DELTA,
            checks=(Sampled(),),
        )

    return (
        case("a record alone", (0, 0, 0, 0), (0, 1, 0, 0)),
        case("a record at the threshold", (6, 0, 0, 0), (6, 0, 0, 1)),
        case("a record that brings a key early", (0, 0, 9, 0), (1, 0, 9, 0)),
    )


@cache
def _claim() -> Claim:
    with temporary_ledger(_UNIT, delta=2 * _DELTA, reserve=_DELTA) as ledger:
        return _open(ledger, None).certificate.claim


ENTRIES = (
    Entry(
        name="stream of keys",
        covers=(KeyStream,),
        precision="whole numbers on a grid; what rounding adds is in the sensitivity and in the thresholds",
        cases=_key_streams,
    ),
)
