"""People who were active lately, attacked through the public call: from rows to the release."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chronodp.audit.case import AuditCase
from chronodp.audit.numerical import Linear
from chronodp.dataset import TimeSeries
from chronodp.privacy import RecordUnit, User, Window
from chronodp.randomness import Entropy
from chronodp.series import Active, Design, Plan
from chronodp.series.shapes import Differenced
from tests.audit.cases.series import noisy_numbers
from tests.audit.registry import Entry

__all__ = ["ENTRIES"]

_DELTA = 0.01
_DAYS = 8  # released, after two that are only read
Days = tuple[int, ...]


def _plan(days: Days, unit: RecordUnit, max_stays: int | None) -> Plan:
    """Return a plan to count who was active in three days, of one person on these days of ten and one on the fifth."""
    import pandas

    visits = [("ann", day) for day in days] + [("bo", 4)]
    begin = pandas.Timestamp("2026-01-01", tz="UTC")
    table = pandas.DataFrame({"who": [who for who, _ in visits]})
    table["at"] = [begin + pandas.Timedelta(days=day) for _, day in visits]
    series = TimeSeries(
        table, time="at", user="who", every="1D", start="2026-01-03", end=f"2026-01-{_DAYS + 3:02}", unit=unit
    )
    return series.active("3D", max_stays=max_stays).plan(epsilon=1.0, delta=_DELTA)


def _case(name: str, unit: RecordUnit, max_stays: int | None, days: tuple[tuple[Days, Days], ...]) -> AuditCase:
    def wanted(design: Design) -> bool:
        measure = design.table.measure
        shaped = isinstance(design.shape, Differenced)
        return isinstance(measure, Active) and measure.max_stays == max_stays and shaped

    def plan_of(one: Days) -> Plan:
        plan = _plan(one, unit, max_stays)
        return replace(plan, design=next(design for design in (plan.design, *plan.others) if wanted(design)))

    def release(one: Days, *, entropy: Entropy) -> tuple[int, ...]:
        return tuple(noisy_numbers(plan_of(one), entropy).tolist())

    return AuditCase(
        name=name, mechanism=release, neighbours=days, claim=plan_of(()).claim, delta=_DELTA, checks=(Linear(),)
    )


def _actives() -> Iterator[AuditCase]:
    # Those that reach farthest: two stays as long as they can be, or one; and others that are cut.
    lives: tuple[Days, ...] = ((2, 6), (2, 3, 7), (2, 4, 8), (0, 5, 6), tuple(range(_DAYS)), (0, 4, 8), (1, 5, 6, 9))
    whole: tuple[tuple[Days, Days], ...] = tuple(((), days) for days in lives)
    parts: tuple[tuple[Days, Days], ...] = tuple(((1, 8), (1, day, day + 1, 8)) for day in range(2, 7))
    yield _case("active people, two stays of a person", User(), 2, whole)
    yield _case("active people, two days of a person", Window(2), None, parts)


ENTRIES = (
    Entry(
        name="people who were active lately",
        covers=(Active, Differenced),
        precision="whole numbers on a grid; noise of exactly the stated law; rounding of shapes is in the sensitivity",
        cases=_actives,
    ),
)
