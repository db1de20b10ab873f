"""Releases of every level of a hierarchy of places, attacked through their public call."""

from __future__ import annotations

import itertools
from dataclasses import replace

from chronodp.audit.case import AuditCase
from chronodp.audit.numerical import Linear
from chronodp.dataset import TimeSeries
from chronodp.privacy import User
from chronodp.randomness import Entropy
from chronodp.series import Places, Plan
from tests.audit.cases.series import noisy_numbers
from tests.audit.registry import Entry

__all__ = ["ENTRIES"]

_DELTA = 0.01
_PLACES = (("all", "north", "a"), ("all", "north", "b"), ("all", "north", "c"), ("all", "south", "d"))
_LEAVES = tuple(leaf for *_, leaf in _PLACES)


def _plan(visits: tuple[str, ...], law: str) -> Plan:
    """Return a plan to count people in places, of one person's visits beside those of two others."""
    import pandas

    table = pandas.DataFrame({"county": [*visits, "a", "d"], "who": [*("ann" for _ in visits), "bo", "cy"]})
    table["at"] = pandas.Timestamp("2026-01-01", tz="UTC")
    series = TimeSeries(
        table, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-02", unit=User(), max_periods=1
    )
    query = series.count().by(Places(_PLACES, "country", "part", "county"), max_groups=2)
    plan = query.plan(epsilon=1.0, delta=0.0 if law == "laplace" else _DELTA)
    return replace(plan, design=next(one for one in (plan.design, *plan.others) if one.law == law))


def _cases() -> tuple[AuditCase, ...]:
    return tuple(_case(law) for law in ("gaussian", "laplace"))


def _case(law: str) -> AuditCase:
    def release(visits: tuple[str, ...], *, entropy: Entropy) -> tuple[int, ...]:
        return tuple(noisy_numbers(_plan(visits, law), entropy).tolist())

    nobody: tuple[str, ...] = ()
    return AuditCase(
        name=f"places on three levels with {law} noise",
        mechanism=release,
        neighbours=tuple((nobody, visits) for count in (1, 2) for visits in itertools.combinations(_LEAVES, count)),
        claim=_plan((), law).claim,
        delta=0.0 if law == "laplace" else _DELTA,
        # Estimates of the leaves are all that the noisy numbers of all levels say of them: what a change moves them by
        # is what it moves all levels by.
        checks=(Linear(),),
    )


ENTRIES = (
    Entry(
        name="places of a public hierarchy",
        covers=(Places,),
        precision="whole numbers on one grid; noise of exactly the stated law on every level; what adds up is whole",
        cases=_cases,
    ),
)
