"""Every shape side by side for a workload, and what it takes to reach an error: before anything is spent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from chronodp.accounting import gaussian
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import Bounds, Contribution, check_delta, check_epsilon, check_positive, check_whole
from chronodp.privacy.units import RecordUnit, check_record_unit, check_unit
from chronodp.series.shapes.candidates import Candidate, shape_candidates
from chronodp.series.shapes.errors import lower_bound
from chronodp.series.workloads import RunningTotal, Workload, check_workload

if TYPE_CHECKING:
    import pandas

__all__ = ["LONGEST", "compare", "solve"]

LONGEST = 2**20
"""Periods up to which a horizon is solved for."""


def compare(
    workload: Workload,
    *,
    unit: RecordUnit,
    horizon: int,
    max_periods: int | None = None,
    epsilon: float,
    delta: float = 0.0,
    change: float = 1.0,
) -> pandas.DataFrame:
    """Return every candidate shape with its error, the best first.

    Columns: shape, noise, rmse_mean and rmse_max (of the workload's answers), limit (the least mean error that any
    Gaussian shape can have, known for running totals of one period a person), memory (numbers a stream must keep).

    >>> import chronodp as cdp
    >>> table = compare(cdp.RunningTotal(), unit=cdp.Event(), horizon=1024, epsilon=1.0, delta=1e-6)
    >>> bool(table["rmse_mean"].iloc[0] < 1.08 * table["limit"].iloc[0])
    True
    """
    import pandas

    check_positive("change", change)
    rows = []
    for law, candidate in _candidates(workload, unit, horizon, max_periods, delta):
        noise = _multiplier(law, epsilon, delta) * change
        limit = math.nan
        if law == "gaussian" and isinstance(workload, RunningTotal) and (max_periods or 1) == 1:
            limit = lower_bound(horizon) * noise
        rows.append(
            {
                "shape": str(candidate.shape),
                "noise": law,
                "rmse_mean": candidate.rmse_mean * noise,
                "rmse_max": candidate.rmse_max * noise,
                "limit": limit,
                "memory": candidate.shape.memory(horizon),
            }
        )
    return pandas.DataFrame(rows).sort_values("rmse_mean", ignore_index=True)


def solve(
    workload: Workload,
    *,
    unit: RecordUnit,
    rmse: float,
    horizon: int | None = None,
    max_periods: int | None = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    change: float = 1.0,
) -> float:
    """Return the one of epsilon or horizon that is left out, such that the mean error is ``rmse``.

    The least epsilon that reaches it, or the longest horizon that still does: 0 if none does, 2^20 if longer ones may.

    >>> import chronodp as cdp
    >>> needed = solve(cdp.RunningTotal(), unit=cdp.Event(), rmse=20.0, horizon=1024, delta=1e-6)
    >>> table = compare(cdp.RunningTotal(), unit=cdp.Event(), horizon=1024, epsilon=needed, delta=1e-6)
    >>> round(float(table["rmse_mean"].iloc[0]), 6)
    20.0
    """
    check_positive("rmse", rmse)
    check_positive("change", change)
    check_delta(delta)
    if horizon is not None:
        check_whole("horizon", horizon, most=LONGEST)
    least = check_record_unit("unit", unit).periods_touched(max_periods, horizon=horizon)
    if (horizon is None) == (epsilon is None):
        raise InvalidArgument("epsilon", epsilon, "left out, or horizon: one of the two is solved for")

    def best(periods: int, law: Law) -> float:
        found = [
            candidate.rmse_mean
            for kind, candidate in _candidates(workload, unit, periods, max_periods, delta)
            if kind == law
        ]
        return min(found) * change

    laws: tuple[Law, ...] = ("laplace", "gaussian") if delta else ("laplace",)
    if horizon is not None:
        return min(_epsilon_for(rmse / best(horizon, law), law, delta) for law in laws)
    given = check_epsilon(epsilon)

    def reached(periods: int) -> bool:
        return min(best(periods, law) * _multiplier(law, given, delta) for law in laws) <= rmse

    low, high = least - 1, least
    while high <= LONGEST and reached(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle <= LONGEST and reached(middle) else (low, middle)
    return low if low >= least else 0


def _candidates(
    workload: Workload, unit: RecordUnit, horizon: int, max_periods: int | None, delta: float
) -> list[tuple[Law, Candidate]]:
    check_unit("unit", unit)
    check_workload(workload, "workload")
    check_delta(delta)
    bounds = Bounds(check_whole("horizon", horizon, most=LONGEST), max_periods)
    part = Contribution.count()
    laws: tuple[Law, ...] = ("laplace", "gaussian") if delta else ("laplace",)
    return [
        (law, candidate)
        for law in laws
        for candidate in shape_candidates(workload, unit=unit, bounds=bounds, contribution=part, law=law, opposite=0)
    ]


def _multiplier(law: Law, epsilon: float, delta: float) -> float:
    """The noise for a sensitivity of 1; a candidate's errors are for epsilon 1, or for mu 1."""
    return 1 / check_epsilon(epsilon) if law == "laplace" else 1 / gaussian.mu_for(epsilon, delta)


def _epsilon_for(multiplier: float, law: Law, delta: float) -> float:
    return 1 / multiplier if law == "laplace" else gaussian.epsilon_of(1 / multiplier, delta)
