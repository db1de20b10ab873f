"""Several queries at one price: counts, peaks, totals and a spectrum of the same people, in one release."""

from __future__ import annotations

from typing import Any

from chronodp.audit.case import AuditCase
from chronodp.audit.numerical import Linear
from chronodp.dataset import PlanTogether, Query, TimeSeries, plan_together
from chronodp.privacy import User
from chronodp.randomness import Entropy
from chronodp.series import Plan
from chronodp.spectrum import Lowest, Spectrum
from tests.audit.cases.ledgers import stored_release
from tests.audit.registry import Entry

__all__ = ["ENTRIES"]

Visits = tuple[tuple[str, int], ...]
"""Who came on which day."""

_DAYS = 4
_LOOSE = 0.01
_OTHERS: Visits = (("bo", 0), ("bo", 1), ("cy", 1), ("cy", 2))
_NEIGHBOURS: tuple[tuple[Visits, Visits], ...] = (
    ((*_OTHERS, ("ann", 1), ("ann", 2)), _OTHERS),
    ((*_OTHERS, ("ann", 0), ("ann", 3)), _OTHERS),
    ((("ann", 0), ("ann", 2)), ()),
)


def _count(visits: Visits) -> Query[Plan]:
    import pandas

    table = pandas.DataFrame({"who": pandas.Series([person for person, _ in visits], dtype=str)})
    table["at"] = pandas.to_datetime([f"2026-06-0{day + 1}" for _, day in visits], utc=True)
    series = TimeSeries(
        table, time="at", user="who", every="1D", start="2026-06-01", end="2026-06-05", unit=User(), max_periods=2
    )
    return series.count()


def _spectrum(visits: Visits) -> Any:
    totals = [float(sum(day == on for _, day in visits)) for on in range(_DAYS)]
    return Spectrum(totals, change=1.0, unit=User(), max_periods=2).plan(Lowest(2), epsilon=1.0)


def _queries(visits: Visits) -> dict[str, Any]:
    days = _count(visits)
    peaks = {"peak": days.peak(every="2D"), "trough": days.trough(every="2D")}
    return {"days": days, "total": days.total(every="2D"), **peaks, "spectrum": _spectrum(visits)}


def _together() -> tuple[AuditCase, ...]:
    return (_shared(0.0), _shared(_LOOSE), _peaks())


def _shared(delta: float) -> AuditCase:
    def plan_of(visits: Visits) -> PlanTogether:
        return plan_together(_queries(visits), epsilon=1.0, delta=delta)

    plan = plan_of(())
    return AuditCase(
        name=f"five queries together, {plan.chosen.law} noise",
        mechanism=lambda visits, *, entropy: _released(plan_of(visits), entropy),
        neighbours=_NEIGHBOURS,
        claim=plan.claim,
        epsilon=plan.epsilon,
        delta=plan.delta,
        checks=(Linear(),),
    )


def _peaks() -> AuditCase:
    def plan_of(visits: Visits) -> PlanTogether:
        return plan_together({"peak": _count(visits).peak(every="2D")}, epsilon=1.0)

    return AuditCase(
        name="peaks of two days each",
        mechanism=lambda visits, *, entropy: _released(plan_of(visits), entropy),
        neighbours=_NEIGHBOURS,
        claim=plan_of(()).claim,
        checks=(Linear(),),
    )


def _released(plan: PlanTogether, entropy: Entropy) -> tuple[int, ...]:
    """All noisy numbers, query by query."""
    parts = stored_release(plan, entropy, unit=User(), delta=2 * _LOOSE)["parts"]
    return tuple(number for name in sorted(parts) for number in _flat(parts[name]["noisy"]))


def _flat(numbers: Any) -> list[int]:
    return [one for part in numbers for one in _flat(part)] if isinstance(numbers, list) else [numbers]


ENTRIES = (
    Entry(
        name="several queries together",
        covers=(PlanTogether, plan_together),
        precision="whole numbers, each query on a grid of its own; what rounding adds is in the sensitivities",
        cases=_together,
    ),
)
