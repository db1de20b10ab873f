"""The smart grid's month: hourly load, daily peak and daily total of households under one budget."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import chronodp as cdp
from chronodp.dataset import PlanTogether
from chronodp.randomness import seeded
from experiments.applications.panels import Panel
from experiments.verdicts import Verdict

CLIP = 5.0
EPSILON, DELTA = 1.0, 1e-6
UNITS: dict[str, cdp.privacy.RecordUnit] = {
    "one row": cdp.Event(),
    "a household's day": cdp.UserPeriod("1D"),
    "a household": cdp.User(),
}


def plan_month(
    panel: Panel, unit: cdp.privacy.RecordUnit, *, delta: float, weights: tuple[float, ...] | None
) -> PlanTogether:
    """Return the plan of the three queries."""
    end = np.datetime64(panel.start) + np.timedelta64(panel.days, "D")
    meters = cdp.TimeSeries(
        panel.rows(),
        time="at",
        user="who",
        every="1h",
        start=panel.start,
        end=str(end),
        unit=unit,
        max_periods=24 * panel.days if isinstance(unit, cdp.User) else None,
    )
    load = meters.sum("value", clip=(0.0, CLIP))
    queries = {"load": load, "peak": load.peak(every="1D"), "total": load.total(every="1D")}
    return cdp.plan_together(queries, epsilon=EPSILON, delta=delta, weights=weights)


def check_month(name: str, panel: Panel) -> list[Verdict]:
    """Return verdicts on splitting a month's budget."""
    verdicts = []
    for who, unit in UNITS.items():
        plan = plan_month(panel, unit, delta=0.0, weights=(1.0, 1.0, 1.0))
        errors = plan.strategies.set_index("strategy")["error"]
        gain, more = 1 - errors["optimal"] / errors["equal"], 1 - errors.iloc[0] / errors["optimal"]
        verdicts.append(
            Verdict(
                f"hourly, peak and total over {panel.days} days, {who}: the best split by Lagrange multipliers",
                "minimises the total squared error",
                f"{gain:.0%} below equal shares; "
                + (f"{more:.0%} below that if totals are read from the hours" if plan.chosen.sources else "the best"),
                "holds, not tight" if plan.chosen.sources else "holds",
            )
        )
    return [*verdicts, *_measured(name, panel)]


def _measured(name: str, panel: Panel) -> list[Verdict]:
    """One release for households, compared with the truth: what was planned, and how far noise lifts a peak."""
    plan = plan_month(panel, cdp.User(), delta=DELTA, weights=None)
    with tempfile.TemporaryDirectory() as folder, cdp.Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=EPSILON, delta=DELTA)
        made = plan.release(ledger, dataset="meters", request="month", entropy=seeded(6), progress=lambda _: None)
    hours = np.clip(panel.values, 0.0, CLIP).sum(axis=0)[: 24 * panel.days]
    days = hours.reshape(panel.days, 24)
    truth = {"load": hours, "peak": days.max(axis=1), "total": days.sum(axis=1)}
    found = {query: made.view(query).to_pandas()["value"].to_numpy() for query in truth}
    ratios = {query: _rms(found[query] - truth[query]) / plan.chosen.rmse[query] for query in truth}
    # Each ratio's deviation is at most √(3/2n) for n numbers with Laplace or Gaussian noise.
    near = all(abs(ratio - 1) < 5 * math.sqrt(1.5 / len(truth[query])) for query, ratio in ratios.items())
    lifted = found["load"].reshape(panel.days, 24).max(axis=1) - truth["peak"]
    direct = _rms(found["peak"] - truth["peak"])
    return [
        Verdict(
            f"{name}, {len(panel.values)} households at (ε, δ) = ({EPSILON:g}, {DELTA:g}): errors are those planned",
            "known before anything is spent",
            ", ".join(f"{query} {ratio:.2f}" for query, ratio in ratios.items()) + " of the planned deviation; "
            f"load ± {plan.chosen.rmse['load'] / hours.mean():.0%} of its mean",
            "holds" if near else "false",
        ),
        Verdict(
            f"{name}: a daily peak has a budget of its own",
            "hourly, peak and total are paid for",
            f"noise on the peak itself: off by {direct:.3g}; the largest noisy hour, free: off by {_rms(lifted):.3g}, "
            f"{lifted.mean():+.3g} on average",
            "holds" if _rms(lifted) > direct else "false",
        ),
    ]


def _rms(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(values**2)))
