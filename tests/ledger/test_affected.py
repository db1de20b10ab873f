"""Releases that 0.1.0 may have read wrongly are named; those that this version makes are not."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

import chronodp as cdp
from tests.conftest import GOLDEN

FOLDER = GOLDEN / "ledger-0.1.0"


@pytest.fixture
def address(tmp_path: Path) -> Path:
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript((FOLDER / "ledger.sql").read_text(encoding="utf-8"))
    Path(f"{path}.keys").write_bytes((FOLDER / "ledger.keys").read_bytes())
    return path


@pytest.mark.slow
def test_releases_from_records_are_named_with_what_may_be_wrong(address: Path) -> None:
    with cdp.Ledger(address) as ledger:
        found = {(one.dataset, one.request): one.reasons for one in ledger.stored.affected()}
        stored = {
            (name, one.request): one.text
            for name in {name for name, _, _ in ledger.budgets()}
            for one in ledger.stored.releases(name)
        }
    assert found
    assert found.keys() <= stored.keys()
    for key, reasons in found.items():
        assert any("double quote" in reason for reason in reasons)
        in_utc = '"timezone":"UTC"' in stored[key]
        assert any("wrong clocks" in reason for reason in reasons) == (not in_utc), key


@pytest.mark.slow
def test_what_this_version_releases_is_not_named(address: Path) -> None:
    rows = pd.DataFrame({"at": ["2026-01-05"], "who": ["a"]})
    series = cdp.TimeSeries(
        rows,
        time="at",
        user="who",
        every="1D",
        start="2026-01-05",
        end="2026-01-07",
        timezone="Asia/Tokyo",
        unit=cdp.User(),
        max_periods=1,
    )
    with cdp.Ledger(address) as ledger:
        before = ledger.stored.affected()
        ledger.open("new", unit=cdp.User(), epsilon=1.0)
        series.count().plan(epsilon=1.0).release(ledger, dataset="new", request="a", progress=lambda _: None)
        assert ledger.stored.affected() == before
