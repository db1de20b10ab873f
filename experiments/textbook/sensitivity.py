"""Defining privacy in time series: adjacency and sensitivity."""

from __future__ import annotations

import math

from chronodp import Event, User
from chronodp.privacy import Bounds, Contribution, per_period, running_total
from experiments.verdicts import Verdict


def check(horizon: int = 1440) -> list[Verdict]:
    bounds, count = Bounds(horizon=horizon, max_periods=horizon), Contribution.count()
    events = per_period(Event(), bounds, count).l1
    users = per_period(User(), bounds, count).l1
    totals = running_total(User(), bounds, count)
    l1 = horizon * (horizon + 1) / 2
    l2 = math.sqrt(horizon * (horizon + 1) * (2 * horizon + 1) / 6)
    return [
        Verdict("counts, one event: Δ₁", "1", f"{events:g}", "holds" if events == 1 else "false"),
        Verdict("counts, one user: Δ₁", f"T = {horizon}", f"{users:g}", "holds" if users == horizon else "false"),
        Verdict(
            "running counts, one user: Δ₁",
            f"T(T+1)/2 = {l1:g}",
            f"{totals.l1:g}",
            "holds" if totals.l1 == l1 else "false",
        ),
        Verdict(
            "running counts, one user: Δ₂",
            f"√(T(T+1)(2T+1)/6) = {l2:.6g}",
            f"{totals.l2:.6g}",
            "holds" if math.isclose(totals.l2, l2, rel_tol=1e-12) else "false",
        ),
    ]
