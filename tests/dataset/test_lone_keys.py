"""No key, one key, and keys of one person each: the shipped path from a table to a release goes the same way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from tests.conftest import Trials

import chronodp as cdp
from chronodp.engines import DuckDB

RARE = 1e-12  # of a key of one person alone: two of a million are published with probability below 1e-12


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as store:
        store.open("web", unit=cdp.User(), epsilon=3.0, delta=1e-4, reserve=1e-6)
        yield store


def found(ledger: cdp.Ledger, who: Any, page: Any, **terms: Any) -> cdp.Release:
    """Return a release of these people and the keys that they hold, in one week."""
    at = pyarrow.array(np.full(len(who), np.datetime64("2026-01-05T12:00", "us"))).cast(pyarrow.timestamp("us", "UTC"))
    table = pyarrow.table({"who": who, "page": page, "at": at})
    options: dict[str, Any] = {
        "every": "1W", "start": "2026-01-05", "end": "2026-01-19", "unit": cdp.User(), "max_periods": 2,
    }  # fmt: skip
    web = cdp.TimeSeries(table, time="at", user="who", engine=DuckDB(threads=2), **options)
    discover = cdp.Discover(max_keys=terms.pop("max_keys", 3), delta=RARE)
    plan = web.count().by(page=discover, max_groups=1).plan(epsilon=1.0, **({"delta": 1e-6} | terms))
    made: cdp.Release = plan.release(ledger, dataset="web", request="one")
    assert len(list(ledger.history("web"))) == 1
    return made


def texts(letter: str, count: int) -> Any:
    return pyarrow.array([f"{letter}{number}" for number in range(count)], pyarrow.string())


@pytest.mark.parametrize("max_keys", [1, 3])
@pytest.mark.parametrize("people", [0, 1, 500])
@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_keys_of_one_person_each(ledger: cdp.Ledger, people: int, max_keys: int) -> None:
    made = found(ledger, texts("u", people), texts("k", people), max_keys=max_keys)
    assert made.keys == ()
    assert made.to_pandas().empty


@pytest.mark.parametrize("max_keys", [1, 3])
def test_one_key_of_everybody(ledger: cdp.Ledger, max_keys: int) -> None:
    made = found(ledger, texts("u", 2000), pyarrow.array(["all"] * 2000), max_keys=max_keys)
    assert made.keys == ("all",)
    assert len(made.to_pandas()) == 2


@pytest.mark.slow
def test_a_million_keys_of_one_person_each(ledger: cdp.Ledger, trials: Trials) -> None:
    """A thousand people hold one key more: it is found among a million that are not."""
    lone = trials(10**6, least=10**5)
    who = pyarrow.concat_arrays([texts("u", lone), texts("u", 1000)])
    page = pyarrow.concat_arrays([texts("k", lone), pyarrow.array(["all"] * 1000)])
    keys = found(ledger, who, page).keys
    assert keys is not None
    assert "all" in keys
    assert len(keys) <= 2
