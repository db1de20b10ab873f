"""Several queries on the command line: one file, one price, one release."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import chronodp as cdp
from chronodp.dataset import ReleaseTogether
from tests.cli.conftest import run

WORKLOAD = """
data = "rows.parquet"
time = "at"
user = "who"
every = "1h"
start = 2026-01-01
end = 2026-01-05
max_periods = 96
epsilon = 1.0
delta = 1e-6

[queries.load]
sum = "kwh"
clip = [0.0, 3.0]

[queries.peak]
of = "load"
peak = "1D"

[queries.total]
of = "load"
total = "1D"

[queries.people]
count = true
every = "1D"
max_periods = 4

[queries.alarm]
above = 40.0
change = 3.0
max_alerts = 2
"""


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    times = pd.date_range("2026-01-01", periods=192, freq="30min", tz="UTC")
    rows = {"at": times, "who": [f"p{number % 40}" for number in range(192)], "kwh": [1.5] * 192}
    pd.DataFrame(rows).to_parquet("rows.parquet")
    Path("month.toml").write_text(WORKLOAD, encoding="utf-8")
    run("budget", "open", "people", "--epsilon", "2", "--delta", "1e-6")
    return tmp_path


def test_a_workload_is_planned_without_reading_data(shop: Path) -> None:
    (shop / "rows.parquet").unlink()
    said = " ".join(run("plan", "month.toml").split())
    for text in ("5 queries together", "read from load", "once for all of them", "shared release", "optimal", "equal"):
        assert text in said
    plan = json.loads(run("plan", "month.toml", "--json"))
    assert [row["query"] for row in plan["queries"]] == ["load", "peak", "total", "people", "alarm"]
    assert plan["strategies"][0]["strategy"] == "shared release"
    assert json.loads(run("plan", "month.toml", "--epsilon", "2", "--json"))["epsilon"] == 2.0


@pytest.mark.slow
def test_a_workload_is_released_once(shop: Path) -> None:
    flags = ("--dataset", "people", "--request", "jan", "--out", "month.csv", "--out", "month.json")
    said = run("release", "month.toml", *flags, "--out", "month.parquet")
    assert "chronodp watch jan/alarm" in said
    table = pd.read_csv("month.csv")
    assert set(table["query"]) == {"load", "peak", "total", "people"}
    assert len(pd.read_parquet("month.parquet")) == len(table) == 96 + 3 * 4
    assert ReleaseTogether.load("month.json").names == ("load", "peak", "people", "total")
    again = json.loads(run("release", "month.toml", *flags[:4], "--json"))
    assert again["release"] == ReleaseTogether.load("month.json").text
    assert again["alerts"] == {"alarm": "jan/alarm"}
    with cdp.Ledger("budget.db") as ledger:
        assert len(ledger.history("people")) == 1
        assert cdp.Alert.resume(ledger, "jan/alarm").alerts == 0
        (shop / "key.txt").write_text(ledger.keys.public, encoding="ascii")
    assert "genuine" in run("verify", "month.json", "--public-key", "key.txt")


def test_one_peak_needs_no_workload() -> None:
    flags = ("--time", "at", "--user", "who", "--every", "1h", "--start", "2026-01-01", "--end", "2026-01-05")
    limits = ("--max-periods", "96", "--sum", "kwh", "--clip", "0", "3", "--epsilon", "1")
    asked = ("plan", "rows.parquet", *flags, *limits)
    assert "the peaks all in all by 12" in " ".join(run(*asked, "--peak", "1D").split())
    assert "the totals all in all by 288" in " ".join(run(*asked, "--total", "1D").split())


def test_a_workload_that_makes_no_sense_is_refused(shop: Path, refuse: Callable[..., str]) -> None:
    for before, after, said in [
        ('of = "load"\npeak', 'of = "lod"\npeak', "a query above it"),
        ('peak = "1D"', 'peak = "1D"\ntrough = "1D"', "a query above it"),
        ("change = 3.0", "", "queries.alarm.change must be given: the most that one unit"),
        ("max_alerts = 2", 'max_alerts = 2\nunit = "event"', "queries.alarm.unit must be one of above"),
        ("epsilon = 1.0", "", "epsilon"),
        ('sum = "kwh"', 'sum = "kwh"\nweight = 1.0', "given for 'peak' as well"),
        ("count = true", "count = true\nunit = 'user/replace'", "one price can protect one unit only"),
        (WORKLOAD[WORKLOAD.index("[queries.load]") :], "", "[queries.NAME]"),
    ]:
        (shop / "month.toml").write_text(WORKLOAD.replace(before, after), encoding="utf-8")
        assert said in refuse("plan", "month.toml"), before


def test_what_a_workload_cannot_do_is_refused(refuse: Callable[..., str]) -> None:
    assert "look at each by itself" in refuse("diagnose", "month.toml")
    flags = ("--dataset", "people", "--request", "jan")
    assert "several queries" in refuse("release", "month.toml", *flags, "--page", "month.html")
    assert "can be read" in refuse("plan", "week.toml")
    missing = refuse("plan", "month.toml", "--missing", "0.1")
    assert "missing must be left out where several queries are planned together; got a float" in missing
    with cdp.Ledger("budget.db") as ledger:
        assert not ledger.history("people")
