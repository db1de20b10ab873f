"""Releases of a series, attacked through their public call."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.case import AuditCase
from chronodp.audit.numerical import GridNoise, Linear, OnGrid
from chronodp.audit.statistical import Sampled
from chronodp.audit.walked import Enumerated
from chronodp.dataset import Aggregate, Query, TimeSeries
from chronodp.privacy import Event, User
from chronodp.randomness import Entropy
from chronodp.series import Design, Ewm, Noise, Plan, Rolling, RunningTotal, Workload, make_plan
from chronodp.series.shapes import White
from tests.audit.cases.ledgers import stored_release
from tests.audit.registry import Entry

__all__ = ["ENTRIES", "coarse_plan", "noisy_numbers"]

_DELTA = 1e-5
_STEPS, _LOOSE = 8, 0.01  # few steps, at a delta at which shapes pay
_QUIET = (0.0,) * _STEPS

Series = tuple[float, ...]


def noisy_numbers(plan: Plan, entropy: Entropy) -> NDArray[np.int64]:
    """Release a plan, ledger and all, and return its noisy numbers in steps of the grid."""
    stored = stored_release(plan, entropy, unit=plan.design.table.unit, delta=min(0.5, 2 * plan.delta))
    return np.array(stored["noisy"][0], dtype=np.int64)


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


def _releases() -> Iterator[AuditCase]:
    yield _release("laplace", 0.0)
    yield _release("gaussian", _DELTA)
    yield from _shaped()
    yield _counted()


def _release(law: str, delta: float) -> AuditCase:
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
    return AuditCase(
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


def _shaped() -> tuple[AuditCase, ...]:
    """A whole series with noise of every shape that a plan can take, one person in two periods of eight."""
    found: dict[tuple[str, str, type], tuple[Workload, Plan]] = {}
    workloads: tuple[Workload, ...] = (RunningTotal(), Rolling(3), Ewm(0.5))
    for workload, delta in itertools.product(workloads, (0.0, _LOOSE)):
        plan = _aggregate(_QUIET).plan(epsilon=1.0, delta=delta, tuned_for=workload)
        for design in (plan.design, *plan.others):
            kind = (str(workload), design.law, type(design.shape))
            if type(design.shape) not in {shape for _, law, shape in found if law == design.law}:
                found[kind] = (workload, replace(plan, design=design))
    return tuple(_shaped_release(workload, plan) for workload, plan in found.values())


def _shaped_release(workload: Workload, like: Plan) -> AuditCase:
    def release(series: Series, *, entropy: Entropy) -> tuple[int, ...]:
        plan = _aggregate(series).plan(epsilon=1.0, delta=like.delta, tuned_for=workload)
        return tuple(noisy_numbers(replace(plan, design=like.design), entropy).tolist())

    return AuditCase(
        name=f"a series with {like.design.law} noise, {like.design.shape}",
        mechanism=release,
        neighbours=tuple((_QUIET, change) for change in _person_changes(_STEPS, 2)),
        claim=like.claim,
        delta=_LOOSE if like.design.law == "gaussian" else 0.0,
        checks=(Linear(),),
    )


def _aggregate(series: Series) -> Aggregate:
    return Aggregate(series, change=1.0, unit=User(), max_periods=2)


def _counted() -> AuditCase:
    def release(visits: tuple[str, ...], *, entropy: Entropy) -> int:
        return int(noisy_numbers(coarse_plan(visits), entropy)[0])

    return AuditCase(
        name="people counted, from rows to release",
        mechanism=release,
        neighbours=((("ann", "ann", "bo"), ("ann",)),),
        claim=coarse_plan(("ann",)).claim,
        checks=(Enumerated(),),
    )


def _person_changes(horizon: int, periods: int) -> Iterator[tuple[float, ...]]:
    """Yield what a person who adds 1 in so many periods can change."""
    for places in itertools.combinations(range(horizon), periods):
        yield tuple(float(place in places) for place in range(horizon))


ENTRIES = (
    Entry(
        name="release of a series",
        covers=(Plan, make_plan, Noise, Aggregate, TimeSeries, Query),
        precision="whole numbers on a grid; noise of exactly the stated law; rounding of shapes is in the sensitivity",
        cases=_releases,
    ),
)
