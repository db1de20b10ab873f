"""A small month of meters, and the queries that are asked of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import chronodp as cdp
from chronodp.dataset import Query
from chronodp.series import Plan


def month(unit: cdp.privacy.Unit, data: object = "month.parquet", *, days: int = 30, **changes: Any) -> cdp.TimeSeries:
    """Hours of some days in June; a person may be in all of them."""
    options: dict[str, Any] = {
        "time": "at", "user": "who", "every": "1h", "start": "2026-06-01",
        "end": str(pd.Timestamp("2026-06-01").date() + pd.Timedelta(days=days)), "unit": unit,
        "max_periods": 24 * days if isinstance(unit, cdp.User) else None,
    }  # fmt: skip
    return cdp.TimeSeries(data, **(options | changes))


def load_of(series: cdp.TimeSeries) -> Query[Plan]:
    """The load, each household's hour clipped at 5."""
    return series.sum("kwh", clip=(0.0, 5.0))


def households(people: int, days: int, seed: int = 1) -> pd.DataFrame:
    """Hours of some households, each with a rhythm of its own; some hours lie beyond the clip."""
    chance = np.random.default_rng(seed)
    times = pd.date_range("2026-06-01", periods=24 * days, freq="h", tz="UTC")
    hour = np.arange(24 * days) % 24
    tables = []
    for number in range(people):
        kwh = (1 + np.cos((hour - chance.integers(24)) * np.pi / 12)) * chance.gamma(2.0, 0.5, 24 * days)
        tables.append(pd.DataFrame({"at": times, "who": f"house {number}", "kwh": kwh.round(3)}))
    return pd.concat(tables, ignore_index=True)
