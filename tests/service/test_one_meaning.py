"""A mean is of the same people, rows or totals at every door, and its table says which."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import chronodp as cdp
from chronodp.errors import MissingBound
from chronodp.service.question import QueryRequest

DATES: dict[str, Any] = {"every": "1D", "start": "2026-01-01", "end": "2026-01-03"}


def readings() -> pandas.DataFrame:
    """Two days of 60 meters, of which some are read every hour and others once: rows, people and totals differ."""
    chance = np.random.default_rng(3)
    rows = [
        {"read_at": day + pandas.Timedelta(hours=hour), "meter": f"m{meter}", "region": "north", "kwh": value}
        for meter in range(60)
        for day in pandas.date_range("2026-01-01", periods=2)
        for hour in range(1 if meter % 3 else 24)
        for value in [round(float(chance.uniform(0.05, 0.2)) * (3 if meter % 3 else 1), 3)]
    ]
    return pandas.DataFrame(rows)


def test_a_mean_that_does_not_say_whose_is_refused_everywhere() -> None:
    series = cdp.TimeSeries(readings(), time="read_at", user="meter", unit=cdp.User(), max_periods=2, **DATES)
    with pytest.raises(MissingBound, match="'people', each with the mean of their rows"):
        series.mean("kwh", clip=(0.0, 5.0))
    with pytest.raises(ValueError, match="of"):
        QueryRequest.model_validate({"measure": {"kind": "mean", "column": "kwh", "clip": [0, 5]}, "epsilon": 1.0})


def test_the_unit_names_who_a_number_is_of_in_tables_and_on_pages(tmp_path: Path) -> None:
    called = cdp.User(called="customer")
    months: dict[str, Any] = {"every": "1mo", "start": "2026-01-01", "end": "2026-02-01"}
    series = cdp.TimeSeries(readings(), time="read_at", user="meter", unit=called, max_periods=1, **months)
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("d", unit=called, epsilon=1e8, delta=1e-3)
        for name, query, per in (
            ("totals", series.mean("kwh", clip=(0.0, 9.0), of="totals"), "customer and month"),
            ("people", series.mean("kwh", clip=(0.0, 9.0), of="people"), "customer"),
            ("rows", series.mean("kwh", clip=(0.0, 9.0), of="rows", at_most=3), "row"),
            ("median", series.quantiles("kwh", [0.5], edges=[0, 1, 9]), "customer"),
        ):
            made: Any = query.plan(epsilon=1e6).release(ledger, dataset="d", request=name, progress=lambda _: None)
            assert set(made.to_pandas()["per"]) == {per}
            page = made.report(tmp_path / f"{name}.html").read_text(encoding="utf-8")
            assert f"<td>{per}</td>" in page
        counted = series.count().plan(epsilon=1e6).release(ledger, dataset="d", request="n", progress=lambda _: None)
        assert "per" not in counted.to_pandas()
