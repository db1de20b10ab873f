"""What is shown on the terminal: names and cells are data, and are shown as they are."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import chronodp as cdp
from chronodp.cli.terminal import table_of, terminal
from chronodp.privacy import PureCost, RepeatedCost
from tests.cli.conftest import run

ODD = "[/a] [red]b :house:"


def test_names_are_shown_as_they_are(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    terminal().print(table_of(pd.DataFrame({ODD: [ODD, "plain"], "value": [1.5, 2.5]}), f"title {ODD}"))
    shown = capsys.readouterr().out
    assert shown.count(ODD) == 3
    assert "1.5" in shown


def test_odd_purposes_are_listed(tmp_path: Path) -> None:
    place = str(tmp_path / "budget.db")
    run("budget", "open", "odd", "--epsilon", "2", "--ledger", place)
    with cdp.Ledger(place) as ledger:
        ledger.spend("odd", RepeatedCost(PureCost(0.1), 2), unit=cdp.User(), purpose="load [/x]")
    listed = run("budget", "history", "odd", "--ledger", place)
    assert "load [/x]" in listed
    assert "2 × [ε = 0.1]" in listed


def test_columns_with_odd_names_are_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"at": pd.to_datetime(["2026-01-01T10:00Z"]), "who": ["a"], "[/kwh]": [1.0]}).to_parquet(
        "rows.parquet"
    )
    run("budget", "open", "odd", "--epsilon", "2")
    when = ("--time", "at", "--user", "who", "--every", "1D", "--start", "2026-01-01", "--end", "2026-01-03")
    price = ("--max-periods", "1", "--epsilon", "1", "--dataset", "odd", "--request", "odd")
    assert "[/kwh]" in run("release", "rows.parquet", *when, "--sum", "[/kwh]", "--clip", "0", "3", *price)
