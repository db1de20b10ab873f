"""Choosing an order on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import chronodp as cdp
from tests.cli.conftest import run
from tests.selection.panels import second_order_people

PANEL = ("choose-order", "panel.csv", "--time", "at", "--user", "who", "--value", "load")
HALL = (
    *("choose-order", "hall.parquet", "--time", "at", "--value", "load"),
    *("--every", "1h", "--start", "2026-01-01", "--end", "2026-06-25", "--up-to", "2,0,0"),
)
PAID = ("--epsilon", "1", "--dataset", "meters", "--request", "order")
ORDERS = ("--orders", "0,0,0 1,0,0", "--orders", "2,0,0")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    people, length = 70, 60
    series = second_order_people(people, length, 1)
    hours = pd.date_range("2026-01-01", periods=people * length, freq="h")
    names = np.repeat([f"meter {number}" for number in range(people)], length)
    table = pd.DataFrame({"at": np.tile(hours[:length], people), "who": names, "load": series.ravel()})
    table.sample(frac=1, random_state=1).to_csv("panel.csv", index=False)
    pd.DataFrame({"at": hours, "load": second_order_people(1, len(hours), 2)[0]}).to_parquet("hall.parquet")
    run("budget", "open", "meters", "--epsilon", "8")
    run("budget", "open", "hall", "--epsilon", "8", "--unit", "event")
    return tmp_path


@pytest.mark.slow
def test_people_vote_and_the_choice_is_shown_stored_and_verified(home: Path) -> None:
    text = run(*PANEL, *ORDERS, *PAID, "--out", "choice.json")
    assert "ARIMA(2,0,0) │ yes" in text
    assert "votes behind the best" in text
    assert "1-differentially private for everything of one person" in text
    again = json.loads(run(*PANEL, *ORDERS, *PAID, "--json"))
    assert again["winner"] == "ARIMA(2,0,0)"
    assert again["candidates"] == ["ARIMA(0,0,0)", "ARIMA(1,0,0)", "ARIMA(2,0,0)"]
    assert again["release"] == json.loads((home / "choice.json").read_text(encoding="utf-8"))["release"]
    assert json.loads(run("budget", "status", "meters", "--json"))["charges"] == 1
    with cdp.Ledger("budget.db") as ledger:
        assert "genuine" in run("verify", "choice.json", "--public-key", ledger.keys.public)


@pytest.mark.slow
def test_regrets_and_blocks(home: Path) -> None:
    regrets = ("--regret", "0.1", "--largest-error", "5", "--holdout", "15", "--epsilon", "8")
    assert json.loads(run(*PANEL, *ORDERS, *PAID, *regrets, "--json"))["winner"] == "ARIMA(2,0,0)"
    blocks = ("--block", "100", "--epsilon", "2", "--dataset", "hall", "--request", "order", "--json")
    assert json.loads(run(*HALL, *blocks))["winner"] == "ARIMA(2,0,0)"
    assert home.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*PANEL, *PAID), "orders must be given, or --up-to instead of it"),
        ((*PANEL, *PAID, *ORDERS, "--up-to", "1,0,0"), "orders must be given, or --up-to instead of it"),
        ((*PANEL, *PAID, "--orders", "2,0"), "orders must be p,d,q such as 2,0,1; got '2,0'"),
        ((*PANEL, *PAID, *ORDERS, "--block", "20"), "block must be given where there is no --user"),
        ((*HALL, *PAID), "block must be given where there is no --user"),
        ((*HALL, *PAID, "--block", "0"), "length must be a whole number of at least 2"),
        ((*HALL, *PAID, "--block", "50", "--unit", "user"), "unit must be Event() or Window(periods)"),
        ((*PANEL, *PAID, *ORDERS, "--regret", "0.1"), "largest_error must be given"),
        ((*PANEL, *PAID, *ORDERS, "--epsilon", "0"), "epsilon must be a finite number above 0"),
        ((*PANEL, *PAID, *ORDERS, "--epsilon", "9"), "at most 8 fits"),
        ((*PANEL, *PAID, *ORDERS, "--out", "choice.txt"), "out must be a file that ends in .json"),
        ((*PANEL, *PAID, *ORDERS, "--value", "lod"), "did you mean load"),
    ],
)
def test_refusals_cost_nothing(arguments: tuple[str, ...], said: str, home: Path, refuse: Callable[..., str]) -> None:
    assert said in refuse(*arguments)
    assert json.loads(run("budget", "status", "meters", "--json"))["charges"] == 0
    assert home.exists()
