"""The smart grid's month: hourly load, daily peak and daily total of households under one budget."""

from __future__ import annotations

import math
import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import chronodp as cdp
from chronodp.dataset import PlanTogether
from chronodp.dataset.joint import best_shares
from chronodp.randomness import seeded
from experiments.applications.panels import Panel, make_meters, read_panel
from experiments.claims import Claim, Given, Pair, Tolerance, computation, equal, optimum, order

__all__ = ["grid_claims"]

PLACE = "Applications, Smart Grid and Energy Management"
DAYS = 30
CLIP = 5.0
EPSILON, DELTA = 1.0, 1e-6
UNITS: dict[str, cdp.privacy.RecordUnit] = {
    "one row": cdp.Event(),
    "a household's day": cdp.UserPeriod("1D"),
    "a household": cdp.User(),
}
TOUCHED = {"one row": (1, 1, 1), "a household's day": (24, 1, 1), "a household": (24 * DAYS, DAYS, DAYS)}
"""Of the hours, peaks and totals, how many one unit changes."""
_SEEDS = range(1, 11)


@computation()
def error_of_shares(who: str) -> float:
    """Return the total squared error at the shares that Lagrange multipliers give: ε_i ∝ (n_i s_i²)^(1/3)."""
    errors = _errors(who)
    return _total(errors, best_shares(errors, law="laplace", whole=EPSILON))


@computation()
def least_error(who: str) -> float:
    """Return the least total squared error over all shares, searched numerically."""
    errors = _errors(who)

    def total(logits: NDArray[np.float64]) -> float:
        shares = np.exp(np.append(logits, 0.0))
        return math.log(_total(errors, list(EPSILON * shares / shares.sum())))

    return math.exp(float(minimize(total, np.zeros(len(errors) - 1), method="BFGS", tol=1e-12).fun))


@computation()
def strategy_error(who: str, strategy: str) -> float:
    """Return the library's planned error of a strategy; ``chosen`` reads daily totals from the hours where it helps."""
    plan = plan_month(make_meters(2, days=DAYS), UNITS[who], delta=0.0, weights=(1.0, 1.0, 1.0))
    errors = plan.strategies.set_index("strategy")["error"]
    return float(errors.iloc[0] if strategy == "chosen" else errors[strategy])


@computation()
def error_over_planned(path: Path | None, query: str) -> float:
    """Return the root mean square error of ten releases of a query, as a multiple of what was planned."""
    plan = _plan(path)
    squares = [np.mean((found[query] - _truth(path)[query]) ** 2) for found in _released(path)]
    return float(np.sqrt(np.mean(squares))) / plan.chosen.rmse[query]


@computation()
def peak_error(path: Path | None, *, free: bool) -> float:
    """Return the error of daily peaks: paid for, or read for free as the largest noisy hour."""
    peaks = [found["load"].reshape(DAYS, 24).max(axis=1) if free else found["peak"] for found in _released(path)]
    return float(np.sqrt(np.mean([(peak - _truth(path)["peak"]) ** 2 for peak in peaks])))


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


def grid_claims(given: Given) -> list[Claim]:
    """Return the claims on a month's budget."""
    claim = partial(Claim, source="applications", place=PLACE)
    path = given.path("meters")
    mark = given.mark("meters", "100 households")
    return [
        claim(
            id="A15",
            says="Lagrange multipliers give the split of a month's budget over hours, peaks and totals with the least "
            "total squared error.",
            rule=optimum,
            stated="no split has less error",
            tolerance=Tolerance(relative=1e-9),
            readings={
                "against a numerical search": lambda: [
                    Pair(error_of_shares(who), least_error(who), who) for who in UNITS
                ]
            },
            tokens=("Lagrange multipliers",),
            parameters="ours: 30 days, 5 kWh an hour, ε = 1, three units",
            note="Reading totals from the hours is better still (N23).",
        ),
        claim(
            id="N23",
            place="beside A15",
            says="The best split is well below equal shares, and reading daily totals from the hours is below the best "
            "split.",
            rule=order,
            stated="totals from the hours < best split < equal shares",
            readings={
                "planned total squared errors": lambda: [
                    pair
                    for who in UNITS
                    for pair in (
                        Pair(strategy_error(who, "optimal"), strategy_error(who, "equal"), f"best split, {who}"),
                        Pair(
                            strategy_error(who, "chosen"), strategy_error(who, "optimal"), f"totals from hours, {who}"
                        ),
                    )
                ]
            },
            origin="ours",
        ),
        claim(
            id="N04",
            place="beside A15",
            says="Errors of the month's queries are those planned, known before anything is spent.",
            rule=equal,
            stated="as planned",
            # A ratio of n numbers over ten releases deviates by at most √(3/2n): 0.07 for 300 peaks.
            tolerance=Tolerance(relative=0.3),
            readings={
                "ten releases at (1, 1e-6) for a household": lambda: [
                    Pair(error_over_planned(path, query), 1.0, query) for query in ("load", "peak", "total")
                ]
            },
            origin="ours",
            data=mark,
            files=("meters",),
        ),
        claim(
            id="N04b",
            place="beside A15",
            says="A daily peak has a budget of its own: the largest noisy hour, for free, is further off.",
            rule=order,
            stated="paid for < for free",
            readings={
                "error of the peak": lambda: [
                    Pair(peak_error(path, free=False), peak_error(path, free=True), "ten releases")
                ]
            },
            origin="ours",
            data=mark,
            files=("meters",),
        ),
    ]


def _errors(who: str) -> list[float]:
    """Return n 2 (m D)² of the hours, the peaks and the totals; a unit changes m numbers, a total by a whole day's."""
    hours, peaks, totals = TOUCHED[who]
    day = 24.0 if who != "one row" else 1.0
    sizes = ((24 * DAYS, hours * CLIP), (DAYS, peaks * CLIP), (DAYS, totals * day * CLIP))
    return [2 * count * reach**2 for count, reach in sizes]


def _total(errors: list[float], shares: list[float]) -> float:
    return math.fsum(error / share**2 for error, share in zip(errors, shares, strict=True))


@cache
def _panel(path: Path | None) -> Panel:
    return read_panel(path, days=DAYS) if path else make_meters(100, days=DAYS)


@cache
def _plan(path: Path | None) -> PlanTogether:
    return plan_month(_panel(path), cdp.User(), delta=DELTA, weights=None)


@cache
def _truth(path: Path | None) -> dict[str, NDArray[np.float64]]:
    hours = np.clip(_panel(path).values, 0.0, CLIP).sum(axis=0)[: 24 * DAYS]
    days = hours.reshape(DAYS, 24)
    return {"load": hours, "peak": days.max(axis=1), "total": days.sum(axis=1)}


@cache
def _released(path: Path | None) -> tuple[dict[str, NDArray[np.float64]], ...]:
    plan, made = _plan(path), []
    with tempfile.TemporaryDirectory() as folder, cdp.Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=EPSILON * len(_SEEDS), delta=DELTA * len(_SEEDS))
        for seed in _SEEDS:
            release = plan.release(
                ledger, dataset="meters", request=f"month {seed}", entropy=seeded(seed), progress=lambda _: None
            )
            made.append({query: release.view(query).to_pandas()["value"].to_numpy() for query in _truth(path)})
    return tuple(made)
