"""Streams of a series: every shape of noise, and values that follow the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.case import AuditCase, Check
from chronodp.audit.numerical import Linear
from chronodp.audit.statistical import Sampled
from chronodp.ledger import Ledger
from chronodp.privacy import Claim, User
from chronodp.randomness import Entropy
from chronodp.series import CausalFilter, EachPeriod, Ewm, Rolling, RunningTotal, Stream
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry

__all__ = ["ENTRIES"]

Series = tuple[float, ...]
Floats = NDArray[np.float64]
Adversary = Callable[[Floats | None], Floats]
"""The next value of every stream, from the answers to the last step; None before the first."""

_LOOSE = 0.01
_PERSON = User()


@dataclass(frozen=True, slots=True)
class _Kind:
    """A stream to open: what it answers, for how long, and how often one person is in it."""

    workload: CausalFilter
    delta: float = 0.0
    horizon: int | None = 8
    periods: int = 1

    def open(self, ledger: Ledger, keys: int, entropy: Entropy | None) -> Stream:
        return Stream(
            self.workload,
            horizon=self.horizon,
            change=1.0,
            unit=_PERSON,
            max_periods=self.periods,
            epsilon=1.0,
            delta=self.delta,
            keys=keys,
            ledger=ledger,
            dataset="audit",
            name="audit",
            entropy=entropy,
        )


def _streams() -> Iterator[AuditCase]:
    loud, often = (Linear(), Sampled()), (Linear(),)
    total = RunningTotal()
    yield _stream("a running total, decaying buffers", _Kind(total, _LOOSE), loud)
    yield _stream("a running total, a person in two steps", _Kind(total, _LOOSE, periods=2), often)
    yield _stream("a running total without end, decaying buffers", _Kind(total, _LOOSE, None), often)
    yield _stream("a running total, a tree", _Kind(total, horizon=30), often, steps=30)
    yield _stream("a running total without end, a tree", _Kind(total, horizon=None), often, steps=32)
    yield _stream("a running total, plain Laplace noise", _Kind(total), loud)
    yield _stream("each period, plain Laplace noise", _Kind(EachPeriod()), loud)
    yield _stream("each period, plain Gaussian noise", _Kind(EachPeriod(), _LOOSE, periods=3), often)
    yield _stream("a moving average", _Kind(Rolling(12), _LOOSE, 16, periods=2), often, steps=16)
    yield _stream("a weighted average", _Kind(Ewm(0.1), _LOOSE, 16, periods=2), often, steps=16)
    yield _adaptive("a running total whose one visit follows its answers", _when_noise_is_far)
    yield _adaptive("a running total whose values follow its answers", _pressing)


def _stream(name: str, kind: _Kind, checks: tuple[Check, ...], *, steps: int = 8) -> AuditCase:
    def run(series: Series, *, entropy: Entropy) -> tuple[float, ...]:
        return tuple(_answers(kind, np.array(series)[:, None], entropy)[0].tolist())

    def runs(series: Series, count: int, *, entropy: Entropy) -> Floats:
        return _answers(kind, np.array(series)[:, None].repeat(count, axis=1), entropy)

    quiet = (0.0,) * steps
    return AuditCase(
        name=name,
        mechanism=run,
        many=runs,
        neighbours=tuple((quiet, change) for change in _visits(steps, kind.periods)),
        claim=_claim(kind),
        delta=kind.delta,
        checks=checks,
    )


def _visits(steps: int, periods: int) -> list[Series]:
    """A person who comes so many times in a row from each step on, and one who comes at both ends."""
    places = [range(first, first + periods) for first in range(steps - periods + 1)]
    rows = [tuple(float(step in some) for step in range(steps)) for some in places]
    return [*rows, tuple(float(step in (0, steps - 1)) for step in range(steps))] if periods == 2 else rows


def _answers(kind: _Kind, values: Floats, entropy: Entropy) -> Floats:
    """Return the answers of streams side by side: one stream of as many series, each with its own noise."""
    keys = values.shape[1]
    with temporary_ledger(_PERSON, delta=min(0.5, 2 * kind.delta)) as ledger:
        told = np.asarray(kind.open(ledger, keys, entropy).steps(values if keys > 1 else values[:, 0]).value)
    return told.reshape(len(values), keys).T


def _adaptive(name: str, strategy: Callable[[int, int], Adversary]) -> AuditCase:
    """A game of eight steps in which the adversary sees every answer before choosing the next two values."""
    kind = _Kind(RunningTotal(), _LOOSE)

    def runs(side: int, count: int, *, entropy: Entropy) -> Floats:
        choose = strategy(side, count)
        told: Floats | None = None
        rows = []
        with temporary_ledger(_PERSON, delta=2 * _LOOSE) as ledger:
            live = kind.open(ledger, count, entropy)
            for _ in range(8):
                values = choose(told)
                made = live.step(values if count > 1 else float(values[0])).value
                told = np.atleast_1d(np.asarray(made, dtype=np.float64))
                rows.append(told)
        return np.column_stack(rows)

    return AuditCase(
        name=name,
        mechanism=lambda side, *, entropy: runs(side, 1, entropy=entropy)[0],
        many=runs,
        neighbours=((0, 1),),
        claim=_claim(kind),
        delta=_LOOSE,
        checks=(Sampled(),),
    )


def _when_noise_is_far(side: int, count: int) -> Adversary:
    """The one visit goes to the first step after an answer that noise has carried far."""
    used = np.zeros(count, dtype=np.bool_)

    def choose(answers: Floats | None) -> Floats:
        far = np.zeros(count, dtype=np.bool_) if answers is None else np.abs(answers) > 1.0
        now = ~used & far
        np.logical_or(used, now, out=used)
        return np.where(now, float(side), 0.0)

    return choose


def _pressing(side: int, count: int) -> Adversary:
    """The visit comes first; then public values press every total back to where it is told to be 0."""

    def choose(answers: Floats | None) -> Floats:
        return np.full(count, float(side)) if answers is None else -answers

    return choose


@cache
def _claim(kind: _Kind) -> Claim:
    with temporary_ledger(_PERSON, delta=min(0.5, 2 * kind.delta)) as ledger:
        return kind.open(ledger, 1, None).certificate.claim


ENTRIES = (
    Entry(
        name="stream of a series",
        covers=(Stream,),
        precision="whole numbers on a grid; what rounding adds over all steps is in the sensitivity",
        cases=_streams,
    ),
)
