"""Coupled sequences: each record at its plain price, the present under the model, counts for fitting; mistakes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache

import numpy as np

from chronodp.audit.case import AuditCase
from chronodp.audit.numerical import Linear
from chronodp.audit.walked import Enumerated
from chronodp.correlated import CouplingMarkovChain, Fran, LeakageModel, Mean, Sum, fit_privately, theorem_1
from chronodp.correlated.fran import (
    FranDesign,
    FranState,
    about_the_present,
    advance,
    begin,
    design_fran,
    largest_epsilon,
    release_aged,
)
from chronodp.ledger import Ledger
from chronodp.privacy import AssumedCost, Assumption, Claim, LaplaceCost, PureCost, Window
from chronodp.randomness import Entropy
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry, Mutant, on_trial

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

    return on_trial(
        "records of two sequences, read at ages 1 and 2",
        release,
        tuple((snapshots, _changed(snapshots, *place)) for place in ((0, 1), (1, 0), (1, 1), (2, 0))),
        Claim(design.unit, design.cost, _ARGUMENT),
        Enumerated(),
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
    return on_trial("the stream of aged answers", release, ((0, 1),), claim, Enumerated())


def _whole() -> AuditCase:
    """A whole series released at once, ledger and all; each record in turn, among them the last, which is not read."""
    design = replace(design_fran(_SWAYING, query=Sum(), ages=1, epsilon=2.0, horizon=3), step=1.0)

    def release(rows: Snapshots, *, entropy: Entropy) -> tuple[float, ...]:
        with temporary_ledger(_RECORD) as ledger:
            made = release_aged(rows, design, ledger=ledger, dataset="audit", request="a", entropy=entropy)
            return tuple(np.clip(made.values[1:, 0], -2, 3).tolist())

    snapshots = ((0,), (1,), (1,))
    return on_trial(
        "a whole series of aged answers",
        release,
        tuple((snapshots, _changed(snapshots, period, 0)) for period in range(3)),
        Claim(design.unit, design.cost, _ARGUMENT),
        Enumerated(),
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

    return on_trial(
        f"the present, from states {age} period{'s' * (age > 1)} old",
        release,
        ((0, 1),),
        about_the_present(LeakageModel(_SWAYING), design).claim,
        Enumerated(),
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
        on_trial(
            "counts of transitions",
            fit,
            tuple(
                (series, tuple(state ^ (at == place) for at, state in enumerate(series)))
                for place in range(len(series))
            ),
            claim,
            Linear(),
        ),
    )


def _fit(series: tuple[int, ...], ledger: Ledger, entropy: Entropy | None) -> Claim:
    made = fit_privately(
        np.array(series)[:, None], states=2, epsilon=1.0, ledger=ledger, dataset="audit", request="a", entropy=entropy
    )
    return made.certificate.claim


_PAGE = "docs/explanation/proofs/correlated.md"
_CHAIN = Assumption("coupling Markov chain", "the sequence follows the chain named")

_LAZY = CouplingMarkovChain([[0.99, 0.5], [0.01, 0.5]], [[1.0]])
_LAZY_PAST = ((99, 100), (1, 2))  # P(0 a step ago | now)

_TURNING = CouplingMarkovChain([[0.0, 0.2, 0.2], [0.2, 0.0, 0.0], [0.8, 0.8, 0.8]], [[1.0]])
_TURNING_PAST = ((24, 25), (0, 1), (4, 5))  # P(2 a step ago | now)
_IS_TWO = Sum(scores=(0.0, 0.0, 1.0))
_FORWARD = math.log1p(0.2 * math.expm1(1.0))  # two columns of the matrix differ by a fifth
_THEOREM_1 = theorem_1(_LAZY, query=Sum(), ages=1, epsilon=1.0)

_SLOW = LeakageModel(CouplingMarkovChain([[0.999, 0.001], [0.001, 0.999]], [[0.5, 0.5], [0.5, 0.5]]))
_YOUNGER = 3.0  # the leakage of a mean of both at age 0 and ε_C = 3; at age 1 it is 4.673


def release_by_theorem_1(now: int, *, entropy: Entropy) -> float:
    """Take ε_C from d(k) Δ_k ε_C = 0.49, though the truth is 0.6031."""
    return _released(_lazy(1.0), 0 if entropy.coins(*_LAZY_PAST[now]) else 1, now, entropy)


def release_by_exact_leakage(now: int, *, entropy: Entropy) -> float:
    """Take ε_C from the exact leakage."""
    return _released(
        _lazy(_mended(_LAZY, Sum(), _THEOREM_1)), 0 if entropy.coins(*_LAZY_PAST[now]) else 1, now, entropy
    )


def release_by_forward_spread(now: int, *, entropy: Entropy) -> float:
    """Take how a difference spreads forward in time for how it came about, of a chain that is not reversible."""
    return _released(_turning(1.0), 2 if entropy.coins(*_TURNING_PAST[now]) else 0, now, entropy)


def release_by_backward_law(now: int, *, entropy: Entropy) -> float:
    """Take ε_C from the exact law of the past."""
    return _released(
        _turning(_mended(_TURNING, _IS_TWO, _FORWARD)), 2 if entropy.coins(*_TURNING_PAST[now]) else 0, now, entropy
    )


def release_by_a_younger_age(now: tuple[int, int], *, entropy: Entropy) -> float:
    """Take the leakage at age 0 for a bound at age 1, though there are two sequences."""
    return _released(_mean_of_two(_YOUNGER), _slow_past(now, entropy), now, entropy)


def release_by_any_two_presents(now: tuple[int, int], *, entropy: Entropy) -> float:
    """Take what the release at age 0 reveals about any two presents, which holds at every age."""
    return _released(_mean_of_two(_quiet()), _slow_past(now, entropy), now, entropy)


def release_with_public_noise(record: int, *, entropy: Entropy) -> float:
    """Add noise whose scale was fixed before the record was seen."""
    return _released(_lazy(1.0), record, 0, entropy)


def release_with_noise_from_the_data(record: int, *, entropy: Entropy) -> float:
    """Add noise whose scale is set by the error that the realised record allows."""
    return _released(_lazy(1.0 if record else 1.5), record, 0, entropy)


def _released(design: FranDesign, past: int | tuple[int, int], now: int | tuple[int, int], entropy: Entropy) -> float:
    _, released = advance(design, FranState(1, np.atleast_2d(past)), np.atleast_1d(now), entropy)
    return math.nan if released is None else float(released[0])


def _slow_past(now: tuple[int, int], entropy: Entropy) -> tuple[int, int]:
    """Draw the snapshot a step ago: any, if the two differ now; else nearly always the same, and at times apart."""
    if now[0] != now[1]:
        return int(entropy.coins(1, 2)), int(entropy.coins(1, 2))
    if entropy.coins(998_001, 1_000_000):
        return now
    if entropy.coins(1, 1_999):
        return 1 - now[0], 1 - now[1]
    return (0, 1) if entropy.coins(1, 2) else (1, 0)


@cache
def _quiet() -> float:
    return _YOUNGER * _YOUNGER / _SLOW.any_pair(query=Mean(), ages=0, epsilon=_YOUNGER)


@cache
def _mended(model: CouplingMarkovChain, query: Sum, target: float) -> float:
    return largest_epsilon(model, query=query, ages=1, target=target, adversary="knows_others")


@cache
def _lazy(epsilon: float) -> FranDesign:
    return FranDesign(Sum(), 1, 2, (1,), (epsilon,), _RECORD, None, 0.25)


@cache
def _mean_of_two(epsilon: float) -> FranDesign:
    return FranDesign(Mean(), 2, 2, (1,), (epsilon,), _RECORD, None, 0.125)


@cache
def _turning(epsilon: float) -> FranDesign:
    return FranDesign(_IS_TWO, 1, 3, (1,), (epsilon,), _RECORD, None, 0.25)


ENTRIES = (
    Entry("aged answers about coupled sequences", (Fran, advance, release_aged),
          "whole numbers on a grid; scales of noise rounded up", _releases),
    Entry("model of coupled sequences", (fit_privately,), "whole numbers", _fits),
)  # fmt: skip


MUTANTS: tuple[Mutant, ...] = (
    Mutant("the paper's Theorem 1 as a guarantee", Claim(_RECORD, AssumedCost(PureCost(_THEOREM_1), _CHAIN), _PAGE),
           release_by_exact_leakage, release_by_theorem_1, ((0, 1),)),
    Mutant("forward Dobrushin on a chain that is not reversible",
           Claim(_RECORD, AssumedCost(PureCost(_FORWARD), _CHAIN), _PAGE), release_by_backward_law,
           release_by_forward_spread, ((0, 1), (1, 2), (0, 2))),
    Mutant("leakage at one age taken for that at an older one",
           Claim(_RECORD, AssumedCost(PureCost(_YOUNGER), _CHAIN), _PAGE), release_by_any_two_presents,
           release_by_a_younger_age, (((0, 0), (1, 0)), ((0, 1), (1, 1)))),
    Mutant("noise whose scale is taken from the record", Claim(_RECORD, LaplaceCost(sensitivity=1.0, scale=1.0), _PAGE),
           release_with_public_noise, release_with_noise_from_the_data, ((0, 1),)),
)  # fmt: skip
