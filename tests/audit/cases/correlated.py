"""Coupled sequences: each record at its plain price, the present under the model, counts for fitting a model."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from chronodp.audit.case import AuditCase
from chronodp.audit.numerical import Linear
from chronodp.audit.walked import Enumerated
from chronodp.correlated import CouplingMarkovChain, Fran, LeakageModel, Sum, fit_privately
from chronodp.correlated.fran import (
    FranDesign,
    FranState,
    about_the_present,
    advance,
    begin,
    design_fran,
    release_aged,
)
from chronodp.ledger import Ledger
from chronodp.privacy import Claim, Window
from chronodp.randomness import Entropy
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry

__all__ = ["ENTRIES"]

Snapshots = tuple[tuple[int, ...], ...]

_ARGUMENT = "docs/explanation/proofs/correlated.md"
_RECORD = Window(1, relation="replace")
_SWAYING = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[1.0]])
_STAYS = (7, 10)  # and so it does backwards in time: the chain is reversible


def _releases() -> tuple[AuditCase, ...]:
    return (_records(), _stream(), _whole(), _present(1), _present(2))


def _records() -> AuditCase:
    """Two sequences read at different ages; each record that a release reads is changed in turn."""
    design = FranDesign(Sum(), 2, 2, (1, 2), (4.0,), _RECORD, None, 1.0)
    snapshots = ((0, 1), (1, 1), (0, 0), (1, 0))

    def release(rows: Snapshots, *, entropy: Entropy) -> tuple[float, ...]:
        state, told = begin(design), []
        for row in rows:
            state, made = advance(design, state, row, entropy)
            told += [] if made is None else [float(np.clip(made[0], -2, 5))]
        return tuple(told)

    return AuditCase(
        name="records of two sequences, read at ages 1 and 2",
        mechanism=release,
        neighbours=tuple((snapshots, _changed(snapshots, *place)) for place in ((0, 1), (1, 0), (1, 1), (2, 0))),
        claim=Claim(design.unit, design.cost, _ARGUMENT),
        checks=(Enumerated(),),
    )


def _changed(snapshots: Snapshots, period: int, sequence: int) -> Snapshots:
    rows = [list(row) for row in snapshots]
    rows[period][sequence] = 1 - rows[period][sequence]
    return tuple(tuple(row) for row in rows)


def _stream() -> AuditCase:
    """The public call, ledger and all, on a grid so coarse that it can be walked."""

    def release(record: int, *, entropy: Entropy) -> float:
        with temporary_ledger(_RECORD) as ledger:
            live = Fran.open(coarse, ledger=ledger, dataset="audit", name="a", entropy=entropy)
            live.step([record])
            value: float = live.step([0]).value
            return value

    with temporary_ledger(_RECORD) as ledger:
        opened = Fran(_SWAYING, query=Sum(), ages=1, epsilon=2.0, ledger=ledger, dataset="audit", name="a")
        coarse, claim = replace(opened.design, step=1.0), opened.certificate.claim
    return AuditCase(
        name="the stream of aged answers",
        mechanism=release,
        neighbours=((0, 1),),
        claim=claim,
        checks=(Enumerated(),),
    )


def _whole() -> AuditCase:
    """A whole series released at once, ledger and all; each record in turn, among them the last, which is not read."""
    design = replace(design_fran(_SWAYING, query=Sum(), ages=1, epsilon=2.0, horizon=3), step=1.0)

    def release(rows: Snapshots, *, entropy: Entropy) -> tuple[float, ...]:
        with temporary_ledger(_RECORD) as ledger:
            made = release_aged(rows, design, ledger=ledger, dataset="audit", request="a", entropy=entropy)
            return tuple(np.clip(made.values[1:, 0], -2, 3).tolist())

    snapshots = ((0,), (1,), (1,))
    return AuditCase(
        name="a whole series of aged answers",
        mechanism=release,
        neighbours=tuple((snapshots, _changed(snapshots, period, 0)) for period in range(3)),
        claim=Claim(design.unit, design.cost, _ARGUMENT),
        checks=(Enumerated(),),
    )


def _present(age: int) -> AuditCase:
    """What a release reveals about the present, if the data follow the model: the past is drawn from the present."""
    design = FranDesign(Sum(), 1, 2, (age,), (1.0,), _RECORD, None, 0.25)

    def release(now: int, *, entropy: Entropy) -> float:
        past = [now]
        for _ in range(age):
            past.append(past[-1] if entropy.coins(*_STAYS) else 1 - past[-1])
        state = FranState(age, np.array(past[:0:-1])[:, None])
        _, made = advance(design, state, [now], entropy)
        if made is None:
            raise AssertionError("the state is old enough")
        return float(made[0])

    return AuditCase(
        name=f"the present, from states {age} period{'s' * (age > 1)} old",
        mechanism=release,
        neighbours=((0, 1),),
        claim=about_the_present(LeakageModel(_SWAYING), design).claim,
        checks=(Enumerated(),),
    )


def _fits() -> tuple[AuditCase, ...]:
    def fit(series: tuple[int, ...], *, entropy: Entropy) -> tuple[int, ...]:
        with temporary_ledger(_RECORD) as ledger:
            _fit(series, ledger, entropy)
            return tuple(count for table in json.loads(ledger.seen[0]) for count in table)

    series = (0, 1, 1, 0, 0, 0, 1)
    with temporary_ledger(_RECORD) as ledger:
        claim = _fit(series, ledger, None)
    return (
        AuditCase(
            name="counts of transitions",
            mechanism=fit,
            neighbours=tuple(
                (series, tuple(state ^ (at == place) for at, state in enumerate(series)))
                for place in range(len(series))
            ),
            claim=claim,
            checks=(Linear(),),
        ),
    )


def _fit(series: tuple[int, ...], ledger: Ledger, entropy: Entropy | None) -> Claim:
    made = fit_privately(
        np.array(series)[:, None],
        states=2,
        epsilon=1.0,
        ledger=ledger,
        dataset="audit",
        request="a",
        entropy=entropy,
    )
    return made.certificate.claim


ENTRIES = (
    Entry(
        name="aged answers about coupled sequences",
        covers=(Fran, advance, release_aged),
        precision="whole numbers on a grid; scales of noise rounded up",
        cases=_releases,
    ),
    Entry(
        name="model of coupled sequences",
        covers=(fit_privately,),
        precision="whole numbers",
        cases=_fits,
    ),
)
