"""Small tables of a life's length, a series of them, and what a plain person would count by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

import chronodp as cdp
from tests.series.releases import Silent

__all__ = ["QUIET", "Plain", "counted", "issue", "month", "open_series", "series"]
QUIET: dict[str, Any] = {"progress": lambda _: None}


def month(number: int) -> tuple[str, str]:
    """The ends of a month, counted from January 2026 as 0."""
    return tuple(f"{2026 + at // 12}-{at % 12 + 1:02d}-01" for at in (number, number + 1))  # type: ignore[return-value]


def counted(people: Iterable[tuple[str, float]], number: int) -> pd.DataFrame:
    """A row for each person with a value, on the tenth of a month."""
    rows = [(who, pd.Timestamp(month(number)[0], tz="UTC") + pd.Timedelta(days=9), value) for who, value in people]
    return pd.DataFrame(rows, columns=["who", "at", "kwh"]).astype({"who": str, "kwh": float})


def series(data: object = "none.parquet", **terms: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {
        "time": "at",
        "user": "who",
        "every": "1mo",
        "start": "2026-01-01",
        "end": "2026-02-01",
        "unit": cdp.User(),
    }
    return cdp.TimeSeries(data, **(options | terms))


def open_series(folder: Path, plan: Any, *, name: str = "load") -> tuple[cdp.Ledger, cdp.Lifetime]:
    """A ledger in a folder, and the series in it."""
    folder.mkdir(exist_ok=True)
    ledger = cdp.Ledger(folder / "budget.db")
    ledger.open("meters", unit=plan.design.base.table.unit, epsilon=plan.design.base.epsilon, delta=1e-6)
    return ledger, plan.open(ledger, dataset="meters", name=name, tally=folder / f"{name}.tally")


def issue(load: cdp.Lifetime, people: Iterable[tuple[str, float]], number: int, **more: Any) -> cdp.Release:
    """An issue of a month without noise."""
    start, end = month(number)
    options: dict[str, Any] = {"request": start[:7], "entropy": Silent(), "start": start, "end": end} | QUIET
    return load.issue(counted(people, number), **(options | more))


class Plain:
    """What counts of each person by hand, of tables with one period: whoever has room counts, and pays."""

    def __init__(self, life: int, step: float, price: int) -> None:
        self.life, self.step, self.price, self.used = life, step, price, defaultdict[str, int](int)

    def total(self, people: Iterable[tuple[str, float]], *, clip: float) -> float:
        """Return the sum of a table, each total clipped and on the grid, and book what it takes."""
        total = 0
        for who, value in people:
            if self.used[who] + self.price <= self.life:
                self.used[who] += self.price
                total += int(min(value, clip) // self.step)
        return total * self.step
