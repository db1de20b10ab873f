"""Quantiles on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pytest

import chronodp as cdp
from tests.cli.conftest import run


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(1)
    table = pandas.DataFrame({"at": "2026-01-01", "who": np.arange(500), "km": rng.uniform(0, 10, 500)})
    table.to_csv(tmp_path / "trips.csv", index=False)
    where = [str(tmp_path / "trips.csv"), "--time", "at", "--user", "who", "--every", "1D", "--max-periods", "1"]
    grid = ["--start", "2026-01-01", "--end", "2026-01-02"]
    edges = ",".join(str(one / 10) for one in range(101))
    return [*where, *grid, "--quantiles", "km", "--fractions", "0.1,0.5,0.9", "--edges", edges, "--epsilon", "5"]


def test_a_plan_tells_errors_of_ranks(asked: list[str], refuse: Callable[..., str]) -> None:
    told = json.loads(run("plan", *asked, "--json"))
    assert told["half_width"] is None
    assert told["alternatives"][0]["rank_error"] < 2
    assert "ranks" in run("plan", *asked)
    wrong = ["half" if one == "0.1,0.5,0.9" else one for one in asked]
    assert "fractions" in refuse("plan", *wrong)


@pytest.mark.slow
def test_a_saved_release_is_verified_and_read(asked: list[str], tmp_path: Path, refuse: Callable[..., str]) -> None:
    ledger = ["--ledger", str(tmp_path / "budget.db")]
    run("budget", "open", "trips", "--epsilon", "20", *ledger)
    drawn, curve = str(tmp_path / "drawn.json"), str(tmp_path / "curve.json")
    told = run("release", *asked, "--dataset", "trips", "--request", "drawn", "--out", drawn, *ledger)
    assert told.count("people away from the true quantile") == 1  # what is known of errors is said once
    many = ["--fractions", ",".join(f"{one / 100}" for one in range(1, 100))]
    run("release", *asked, *many, "--dataset", "trips", "--request", "curve", "--out", curve, *ledger)
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        key = opened.public_key
    for file in (drawn, curve):
        run("verify", file, "--public-key", key)
    read = json.loads(run("read", drawn, "--json"))
    assert [row["quantile"] for row in read["series"]] == [0.1, 0.5, 0.9]
    assert "from value up to value_to" in read["note"]
    assert all(row["value"] < row["value_to"] and row["why"] is None for row in read["series"])
    median = json.loads(run("read", curve, "--quantile", "0.55", "--json"))["series"]
    assert median[0]["lower"] < median[0]["upper"]
    assert median[0]["value"] == pytest.approx(5.5, abs=1.0)
    assert "drawn for these alone" in refuse("read", drawn, "--quantile", "0.55")
    assert "quantiles do not add up" in refuse("read", drawn, "--rolling", "2")
    assert "holds one release" in refuse("read", drawn, "--part", "km")
