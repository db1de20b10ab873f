"""Several queries on one budget: their error beside equal shares, and the time beside releasing one by one."""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import chronodp as cdp
from benchmarks.harness import Topic, show
from chronodp.alerts import design_alert
from chronodp.privacy import RecordUnit

PEOPLE, DAYS = 2_000, 30
UNITS: dict[str, RecordUnit] = {"one row": cdp.Event(), "a person's day": cdp.UserPeriod("1D"), "a person": cdp.User()}


def measure() -> Topic:
    topic = Topic(
        f"Hourly load, daily peak and daily total of {DAYS} days at ε = 1: squared error beside equal shares",
        "python -m benchmarks.together",
        ("unit", "noise", "equal shares", "best shares", "best shares, totals read from the load"),
        everywhere=True,
    )
    for (who, unit), delta in itertools.product(UNITS.items(), (0.0, 1e-6)):
        plan = cdp.plan_together(_queries("no.parquet", unit), epsilon=1.0, delta=delta)
        law = "gaussian" if delta else "laplace"
        error = {one.name: one.error for one in (plan.chosen, *plan.others) if one.law == law}
        row = [error[name] / error["equal"] for name in ("equal", "optimal", "shared release")]
        topic.rows.append((who, law, *row))
    topic.notes = ["computed from closed forms, not simulated; errors weighed by public scale"]
    return topic


def measure_time() -> Topic:
    topic = Topic(
        f"Releasing load, peak, total and an alert of {PEOPLE:,} people over {DAYS} days, one core",
        "python -m benchmarks.together --time",
        ("what", "seconds", "ratio to one by one"),
    )
    data = _people()
    queries = _queries(data, cdp.User())
    alarm = design_alert(above=1e6, change=5.0, unit=cdp.User(), max_alerts=5, epsilon=1.0)
    with tempfile.TemporaryDirectory() as folder, cdp.Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1e6)
        numbers = itertools.count()

        def together() -> None:
            plan = cdp.plan_together({**queries, "alarm": alarm}, epsilon=1.0)
            plan.release(ledger, dataset="meters", request=f"{next(numbers)}", progress=lambda _: None)

        def one_by_one() -> None:
            for query in queries.values():
                plan = query.plan(epsilon=0.25)
                plan.release(ledger, dataset="meters", request=f"{next(numbers)}", progress=lambda _: None)
            cdp.Alert.open(alarm, ledger=ledger, dataset="meters", name=f"{next(numbers)}")

        apart, joint = _seconds(one_by_one), _seconds(together)
        plan_only = _seconds(lambda: cdp.plan_together({**queries, "alarm": alarm}, epsilon=1.0))
    topic.rows += [
        ("together: planned and released", joint, joint / apart),
        ("of which planning", plan_only, plan_only / apart),
        ("one by one", apart, 1.0),
    ]
    topic.notes = ["seconds are of the processor; a total that is read from the load is not read from the data again"]
    return topic


def _queries(data: object, unit: RecordUnit) -> dict[str, Any]:
    meters = cdp.TimeSeries(
        data,
        time="at",
        user="who",
        every="1h",
        start="2026-06-01",
        end="2026-07-01",
        unit=unit,
        max_periods=24 * DAYS if isinstance(unit, cdp.User) else None,
    )
    load = meters.sum("kwh", clip=(0.0, 5.0))
    return {"load": load, "peak": load.peak(every="1D"), "total": load.total(every="1D")}


def _people() -> pd.DataFrame:
    times = pd.date_range("2026-06-01", periods=24 * DAYS, freq="h", tz="UTC")
    kwh = np.random.default_rng(1).gamma(2.0, 0.5, PEOPLE * len(times))
    return pd.DataFrame({"at": np.tile(times, PEOPLE), "who": np.repeat(np.arange(PEOPLE), len(times)), "kwh": kwh})


def _seconds(work: Callable[[], object]) -> float:
    work()
    found = []
    for _ in range(3):
        before = time.process_time()
        work()
        found.append(time.process_time() - before)
    return min(found)


if __name__ == "__main__":
    show(measure_time if "--time" in sys.argv[1:] else measure)
