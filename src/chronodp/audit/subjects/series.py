"""Releases and streams of a series, attacked through their public calls."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.numerical import GridNoise, Linear, OnGrid, person_changes
from chronodp.audit.registry import Entry
from chronodp.audit.statistical import Sampled
from chronodp.audit.subject import Subject
from chronodp.audit.subjects.ledgers import temporary_ledger
from chronodp.audit.walked import Enumerated
from chronodp.dataset import Aggregate, Query, TimeSeries
from chronodp.ledger import Ledger
from chronodp.privacy import Claim, Event, User
from chronodp.randomness import Entropy
from chronodp.series import Design, EachPeriod, Noise, Plan, RunningTotal, Stream, make_plan
from chronodp.series.shapes.toeplitz import SquareRoot, White
from chronodp.series.workloads import CausalFilter

__all__ = ["ENTRIES", "coarse_plan", "noisy_numbers"]

_DELTA = 1e-5
_STEPS = 8  # few, and with _LOOSE enough for Gaussian noise of a shape to have the least error
_LOOSE = 0.01
_QUIET = (0.0,) * _STEPS

Series = tuple[float, ...]


def noisy_numbers(plan: Plan, entropy: Entropy) -> NDArray[np.int64]:
    """Release a plan, ledger and all, and return its noisy numbers in steps of the grid."""
    delta = plan.delta
    with temporary_ledger(plan.design.table.unit, delta=min(0.5, 2 * delta)) as ledger:
        made = plan.release(
            ledger,
            dataset="audit",
            request="audit",
            entropy=entropy,
            progress=lambda fraction: None,  # noqa: ARG005
        )
        return np.array(json.loads(made.text)["noisy"][0], dtype=np.int64)


def coarse_plan(visits: tuple[str, ...], *, thin: float = 1.0) -> Plan:
    """Return a plan to count people, on a grid of whole people: so coarse that every outcome can be walked."""
    import pandas

    table = pandas.DataFrame({"who": pandas.Series(visits, dtype=str)})
    table["at"] = pandas.Timestamp("2026-01-01", tz="UTC")
    series = TimeSeries(
        table, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-02", unit=User(), max_periods=1
    )
    plan = series.count().plan(epsilon=8.0)
    (noise,) = plan.design.noises
    coarse = replace(plan.design, noises=(replace(noise, step=1.0, scale=noise.scale * thin),))
    return replace(plan, design=coarse)


def _releases() -> tuple[Subject, ...]:
    return (_release("laplace", 0.0), _release("gaussian", _DELTA), _shaped_release(), _counted())


def _release(law: str, delta: float) -> Subject:
    """One number by itself; many of them are periods of one release, each with noise of its own."""

    def plan_of(totals: Series) -> Plan:
        plan = Aggregate(totals, change=1.0, unit=Event()).plan(epsilon=1.0, delta=delta)
        return _designed(plan, lambda design: design.law == law and isinstance(design.shape, White))

    design = plan_of((0.0,)).design
    (noise,) = design.noises

    def release(value: float, *, entropy: Entropy) -> int:
        return int(noisy_numbers(plan_of((value,)), entropy)[0])

    def releases(value: float, count: int, *, entropy: Entropy) -> NDArray[np.int64]:
        return noisy_numbers(plan_of((value,) * count), entropy)

    shift = math.floor(noise.sensitivity / noise.step)
    return Subject(
        name=f"one total with {law} noise",
        mechanism=release,
        many=releases,
        neighbours=((0.0, 1.0), (1e6, 1e6 + 1)),
        claim=plan_of((0.0,)).claim,
        delta=delta,
        checks=(OnGrid(GridNoise(noise.law, noise.scale / noise.step, shift)), Sampled()),
    )


def _designed(plan: Plan, wanted: Callable[[Design], bool]) -> Plan:
    """Return the plan with the best design of a kind, be it the best of all or one of the alternatives."""
    return replace(plan, design=next(design for design in (plan.design, *plan.others) if wanted(design)))


def _shaped_release() -> Subject:
    """A whole series with noise shaped for running totals, one person in two periods of eight."""

    def plan_of(series: Series) -> Plan:
        total = Aggregate(series, change=1.0, unit=User(), max_periods=2)
        plan = total.plan(epsilon=1.0, delta=_DELTA, tuned_for=RunningTotal())
        return _designed(plan, lambda design: isinstance(design.shape, SquareRoot))

    def release(series: Series, *, entropy: Entropy) -> tuple[int, ...]:
        return tuple(noisy_numbers(plan_of(series), entropy).tolist())

    return Subject(
        name="a series with noise shaped for running totals",
        mechanism=release,
        neighbours=tuple((_QUIET, change) for change in person_changes(_STEPS, 2)),
        claim=plan_of(_QUIET).claim,
        delta=_DELTA,
        checks=(Linear(),),
    )


def _counted() -> Subject:
    def release(visits: tuple[str, ...], *, entropy: Entropy) -> int:
        return int(noisy_numbers(coarse_plan(visits), entropy)[0])

    return Subject(
        name="people counted, from rows to release",
        mechanism=release,
        neighbours=((("ann", "ann", "bo"), ("ann",)),),
        claim=coarse_plan(("ann",)).claim,
        checks=(Enumerated(),),
    )


def _streams() -> tuple[Subject, ...]:
    return (
        _stream("a running total, Gaussian", RunningTotal(), _LOOSE),
        _stream("a running total, Laplace", RunningTotal(), 0.0),
        _stream("each period, Laplace", EachPeriod(), 0.0),
        _adaptive_stream(),
    )


def _stream(name: str, workload: CausalFilter, delta: float) -> Subject:
    claim = _stream_claim(workload, delta)

    def run(series: Series, *, entropy: Entropy) -> tuple[float, ...]:
        return tuple(_answers(workload, delta, 1, lambda _: np.array(series), entropy)[0].tolist())

    def runs(series: Series, count: int, *, entropy: Entropy) -> NDArray[np.float64]:
        return _answers(workload, delta, count, lambda _: np.array(series)[:, None].repeat(count, axis=1), entropy)

    return Subject(
        name=name,
        mechanism=run,
        many=runs,
        neighbours=tuple((_QUIET, change) for change in person_changes(_STEPS, 1)),
        claim=claim,
        delta=delta,
        checks=(Linear(), Sampled()),
    )


def _adaptive_stream() -> Subject:
    """The one event goes to the first step after an answer that noise has carried far, or to the last."""
    claim = _stream_claim(RunningTotal(), _LOOSE)

    def runs(side: int, count: int, *, entropy: Entropy) -> NDArray[np.float64]:
        used = np.zeros(count, dtype=np.bool_)

        def values(answers: NDArray[np.float64] | None) -> NDArray[np.float64]:
            far = np.zeros(count, dtype=np.bool_) if answers is None else np.abs(answers) > 1.0
            now = ~used & far
            np.logical_or(used, now, out=used)
            return np.where(now, float(side), 0.0)

        return _answers(RunningTotal(), _LOOSE, count, values, entropy)

    return Subject(
        name="a running total whose values follow its answers",
        mechanism=lambda side, *, entropy: runs(side, 1, entropy=entropy)[0],
        many=runs,
        neighbours=((0, 1),),
        claim=claim,
        delta=_LOOSE,
        checks=(Sampled(),),
    )


@cache
def _stream_claim(workload: CausalFilter, delta: float) -> Claim:
    with temporary_ledger(Event(), delta=min(0.5, 2 * delta)) as ledger:
        return _open(workload, delta, 1, ledger, None).certificate.claim


def _open(workload: CausalFilter, delta: float, keys: int, ledger: Ledger, entropy: Entropy | None) -> Stream:
    return Stream(
        workload,
        horizon=_STEPS,
        change=1.0,
        unit=Event(),
        epsilon=1.0,
        delta=delta,
        keys=keys,
        ledger=ledger,
        dataset="audit",
        name="audit",
        entropy=entropy,
    )


def _answers(
    workload: CausalFilter,
    delta: float,
    count: int,
    values: Callable[[NDArray[np.float64] | None], NDArray[np.float64]],
    entropy: Entropy,
) -> NDArray[np.float64]:
    """Return the answers of so many streams side by side: one stream of as many series, each with its own noise."""
    with temporary_ledger(Event(), delta=min(0.5, 2 * delta)) as ledger:
        live = _open(workload, delta, count, ledger, entropy)
        told: NDArray[np.float64] | None = None
        rows = []
        for step in range(_STEPS):
            given = values(told)
            told = np.atleast_1d(np.asarray(live.step(_of_step(given, step, count)).value, dtype=np.float64))
            rows.append(told)
    return np.column_stack(rows)


def _of_step(given: NDArray[np.float64], step: int, count: int) -> NDArray[np.float64] | float:
    """Return the values of one step, from those of this step alone or from those of all steps."""
    row = given[step] if len(given) == _STEPS and (given.ndim == 2 or count == 1) else given
    return float(np.ravel(row)[0]) if count == 1 else np.asarray(row)


ENTRIES = (
    Entry(
        name="release of a series",
        covers=(Plan, make_plan, Noise, Aggregate, TimeSeries, Query),
        precision="whole numbers on a grid; noise of exactly the stated law; rounding of shapes is in the sensitivity",
        subjects=_releases,
    ),
    Entry(
        name="stream of a series",
        covers=(Stream,),
        precision="whole numbers on a grid; what rounding adds over all steps is in the sensitivity",
        subjects=_streams,
    ),
)
