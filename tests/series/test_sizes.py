"""Whatever its size, a release is stored, or refused before anything is paid. SQLite takes no row above 10^9 bytes.

Everything is made small in the same proportion: rows of the database, numbers that a text lists, and keys.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.series.releases import over

import chronodp as cdp
from chronodp.errors import InvalidArgument, LedgerUnavailable
from chronodp.series.key_text import keys_with_room

ROW, LISTED, KEYS = 300_000, 1_000, 200_000  # of 10^9, 2^20 and 9 × 10^8
PRICE: Any = {"epsilon": 1.0, "delta": 1e-6}
TIMES = pd.to_datetime(["2026-01-01T00:30", "2026-01-01T01:30"])
TABLE = pd.DataFrame({"at": TIMES, "who": ["a", "b"], "kwh": [1.0, 2.0], "place": ["g1", "g2"]})
MANY = [f"g{number}" for number in range(1_000)]
LONG = [f"{'x' * 200}{number}" for number in range(2_000)]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> cdp.Ledger:
    connect = sqlite3.connect

    def narrow(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, ROW)
        return connection

    monkeypatch.setattr(sqlite3, "connect", narrow)
    for place in ("ledger.numbers.MOST_LISTED", "ledger.numbers.PART", "dataset.joint.release.MOST_LISTED"):
        monkeypatch.setattr(f"chronodp.{place}", LISTED)
    monkeypatch.setattr("chronodp.series.key_text.MOST_KEY_TEXT", KEYS)
    ledger = cdp.Ledger(tmp_path / "budget.db")
    ledger.open("meters", unit=cdp.User(), epsilon=4.0, delta=1e-5, reserve=1e-6)
    return ledger


def hours(every: str = "1h") -> Any:
    return over(TABLE, "2026-01-05", every=every, max_periods=2)


def sums(keys: list[str], every: str = "1h") -> Any:
    return hours(every).sum("kwh", clip=(0.0, 3.0)).by(place=keys)


def released(ledger: cdp.Ledger, plan: Any) -> Any:
    return plan.release(ledger, dataset="meters", request="first", progress=lambda _: None)


LARGE: dict[str, Callable[[], Any]] = {
    "a sum": lambda: sums(MANY).plan(**PRICE),
    "a workload": lambda: sums(MANY).plan(**PRICE, tuned_for=cdp.RunningTotal()),
    "a histogram": lambda: hours().histogram("kwh", edges=list(range(11))).by(place=MANY[:100]).plan(**PRICE),
    "quantiles": lambda: hours("1D").quantiles("kwh", [0.5], edges=range(9)).by(place=MANY[:300]).plan(**PRICE),
    "several together": lambda: cdp.plan_together({"one": sums(MANY), "two": hours().count().by(place=MANY)}, **PRICE),
    "found keys": lambda: hours().count().by(place=cdp.Discover(max_keys=2)).plan(**PRICE),
}


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.slow
def test_what_is_larger_than_a_row_is_stored_in_parts(small: cdp.Ledger, name: str) -> None:
    made = released(small, LARGE[name]())
    status = small.status("meters")
    assert (status.charges, status.unreleased) == (1, ())
    again = released(small, LARGE[name]())
    assert small.status("meters").charges == 1
    assert made.text == again.text
    assert len(made.text.encode()) < ROW


REFUSED: dict[str, Callable[[], Any]] = {
    "a sum": lambda: sums(LONG).plan(**PRICE),
    "quantiles": lambda: hours().quantiles("kwh", [0.5], edges=range(9)).by(place=LONG).plan(**PRICE),
    "a lifetime": lambda: sums(LONG).lifetime(**PRICE, max_periods=24),
}


@pytest.mark.parametrize("name", REFUSED)
def test_keys_that_no_row_could_hold_are_refused_when_it_is_planned(small: cdp.Ledger, name: str) -> None:
    with pytest.raises(InvalidArgument, match="by must be at most 200,000 bytes when they are written out: fewer or"):
        REFUSED[name]()
    assert small.status("meters").charges == 0


def test_keys_that_are_too_long_together_are_refused_before_data_are_read(small: cdp.Ledger) -> None:
    both = {"one": sums(LONG[:700], "1D"), "two": hours("1D").count().by(place=LONG[:700])}
    with pytest.raises(InvalidArgument, match="plan must be at most 200,000 bytes of text: fewer or shorter keys"):
        released(small, cdp.plan_together(both, **PRICE))
    assert small.status("meters").charges == 0


@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")
def test_escaped_keys_are_counted_as_they_are_written(small: cdp.Ledger) -> None:
    plain, odd = ([letter * 90 + str(number) for number in range(1_000)] for letter in ("k", "\x01"))
    assert released(small, sums(plain, "1D").plan(**PRICE)) is not None
    with pytest.raises(InvalidArgument, match="by must be at most"):
        sums(odd, "1D")


def test_found_keys_always_have_room(small: cdp.Ledger) -> None:
    plan = hours().count().by(place=cdp.Discover(max_keys=2, most=10**6, longest=1_000)).plan(**PRICE)
    assert plan.design.most == keys_with_room(1_000) == KEYS // 6_003
    assert released(small, plan) is not None


def test_a_stream_that_no_row_could_hold_is_not_paid(small: cdp.Ledger) -> None:
    options: Any = {"horizon": 100, "change": 1.0, "unit": cdp.User(), "max_periods": 2, **PRICE}
    options |= {"ledger": small, "dataset": "meters"}
    with pytest.raises(LedgerUnavailable, match="takes no more than 10\\^9 bytes at once: give fewer keys, or fewer"):
        cdp.Stream(cdp.RunningTotal(), keys=40_000, name="wide", **options)
    assert small.status("meters").charges == 0
    stream = cdp.Stream(cdp.RunningTotal(), keys=500, name="narrow", **options)
    with pytest.raises(LedgerUnavailable, match="fewer steps at a time; nothing was spent"):
        stream.steps(np.zeros((100, 500)))
    assert stream.period == 0
    assert stream.steps(np.zeros((5, 500))).value.shape == (5, 500)  # nothing was lost


def test_a_lifetime_issue_is_stored_in_parts(small: cdp.Ledger, tmp_path: Path) -> None:
    plan = sums(MANY).lifetime(**PRICE, max_periods=24)
    series = plan.open(small, dataset="meters", name="life", tally=tmp_path / "life.tally")
    made = series.issue(TABLE, start="2026-01-01", end="2026-01-05", request="first", progress=lambda _: None)
    assert len(made.text.encode()) < ROW
    assert small.status("meters").unreleased == ()
