"""Releases of a small town: visits by day, county and kind, with noise of either law."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import chronodp as cdp
from chronodp.randomness import seeded

START, END, DAYS = "2026-01-01", "2026-03-12", 70
COUNTIES = {"a": 200, "b": 40, "c": 4}
KINDS = ("home", "shop")


@cache
def visits() -> pd.DataFrame:
    """So many people a day of each county, each of one kind; everybody comes once."""
    dice = np.random.default_rng(5)
    days = pd.date_range(START, periods=DAYS, freq="D", tz="UTC")
    rows = [
        (f"{county}{day}{who}", moment, county, KINDS[int(dice.random() < 0.4)], dice.uniform(0, 4))
        for day, moment in enumerate(days)
        for county, mean in COUNTIES.items()
        for who in range(dice.poisson(mean))
    ]
    return pd.DataFrame(rows, columns=["who", "at", "county", "purpose", "kwh"])


def town(**changes: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {
        "time": "at", "user": "who", "every": "1D", "start": START, "end": END, "unit": cdp.UserPeriod("1D"),
    }  # fmt: skip
    return cdp.TimeSeries(visits(), **(options | changes))


def rows_of(query: Any, ledger: cdp.Ledger, request: str, *, dataset: str = "town", **plan: Any) -> cdp.Release:
    """Release a query under a seed of its name."""
    options: dict[str, Any] = {"epsilon": 1.0}
    release: cdp.Release = query.plan(**(options | plan)).release(
        ledger, dataset=dataset, request=request, progress=lambda _: None, entropy=seeded(request)
    )
    return release


@cache
def released() -> dict[str, cdp.Release]:
    """Releases by name."""
    import tempfile
    from pathlib import Path

    by_county = town().count().by(county=list(COUNTIES))
    person = town(unit=cdp.User(), max_periods=DAYS).count().by(county=list(COUNTIES))
    few = town(unit=cdp.User(), max_periods=8).count().by(county=list(COUNTIES))
    with cdp.Ledger(Path(tempfile.mkdtemp()) / "budget.db") as ledger:
        ledger.open("town", unit=cdp.UserPeriod("1D"), epsilon=1e6, delta=0.1)
        ledger.open("people", unit=cdp.User(), epsilon=1e6, delta=0.1)
        return {
            "laplace": rows_of(by_county, ledger, "laplace"),
            "tree": rows_of(by_county, ledger, "tree", tuned_for=cdp.RunningTotal()),
            "gaussian": rows_of(person, ledger, "gaussian", dataset="people", epsilon=8.0, delta=1e-6),
            "shaped": rows_of(
                few, ledger, "shaped", dataset="people", epsilon=2.0, delta=1e-6, tuned_for=cdp.RunningTotal()
            ),
            "another": rows_of(by_county, ledger, "another"),
            "kinds": rows_of(
                town().count().by(county=list(COUNTIES), purpose=list(KINDS)), ledger, "kinds", epsilon=2.0
            ),
            "mean": rows_of(town().mean("kwh", clip=(0.0, 4.0), of="totals").by(county=list(COUNTIES)), ledger, "mean"),
            "variance": rows_of(town().variance("kwh", clip=(0.0, 4.0)), ledger, "variance", epsilon=9.0),
            "bins": rows_of(town().histogram("kwh", edges=[0.0, 1.0, 2.0, 4.0]), ledger, "bins"),
            "signed": rows_of(town().sum("kwh", clip=(-1.0, 4.0)).by(county=list(COUNTIES)), ledger, "signed"),
            "shorter": rows_of(town(start="2026-01-08").count().by(county=list(COUNTIES)), ledger, "shorter"),
            "elsewhere": rows_of(town().count().by(county=["a", "b"]), ledger, "elsewhere"),
            "numbered": rows_of(
                cdp.Aggregate([5.0, 9.0, 7.0, 8.0], change=1.0, unit=cdp.User(), max_periods=4),
                ledger,
                "numbered",
                dataset="people",
            ),
        }
