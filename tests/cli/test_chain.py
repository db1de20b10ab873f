"""Fitting and simulating coupling Markov chains on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from chronodp.correlated import read_model, simulate
from tests.cli.conftest import charges, run

COUPLED = {"transitions": [[0.9, 0.2], [0.1, 0.8]], "coupling": [[0.8, 0.2], [0.3, 0.7]]}
GRID = ("--every", "1h", "--start", "2026-01-01", "--end", "2026-02-01")
SERIES = ("--time", "at", "--sequence", "pulse", "--sequence", "breath", *GRID)
ASKED = (*SERIES, "--states", "2")
KEYED = ("--time", "at", *GRID, "--states", "2", "--by", "at=a,b")
PAID = ("--epsilon", "2", "--dataset", "ward", "--request", "chain")
EVERY = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("model.json").write_text(json.dumps(COUPLED), encoding="utf-8")
    named = ("--sequence", "pulse", "--sequence", "breath")
    assert "744 rows" in run("chain", "simulate", "model.json", "--periods", "744", *named, "--out", "ward.csv")
    run("budget", "open", "ward", "--epsilon", "4", "--unit", "window:1/replace")
    return tmp_path


def test_what_is_simulated_follows_the_model_and_its_seed(home: Path) -> None:
    drawn = simulate(read_model("model.json"), 744, seed=1)[0]
    table = pd.read_csv(home / "ward.csv", parse_dates=["at"])
    assert np.array_equal(table[["pulse", "breath"]], drawn)
    assert table["at"].is_monotonic_increasing
    run("chain", "simulate", "model.json", "--periods", "3", "--out", "short.parquet", "--seed", "2")
    assert list(pd.read_parquet("short.parquet")) == ["at", "s0", "s1"]


@pytest.mark.slow
def test_public_data_are_fitted_for_nothing() -> None:
    text = run("chain", "fit", "ward.csv", *ASKED, "--public", "--out", "fitted.json")
    assert "Public data, nothing spent: 743 steps, 0 of 1,488 numbers were missing." in text
    found, truth = read_model("fitted.json"), read_model("model.json")
    assert found.next_laws(EVERY) == pytest.approx(truth.next_laws(EVERY), abs=0.1)
    assert json.loads(Path("fitted.json").read_text())["names"] == ["pulse", "breath"]
    assert charges("ward") == 0


@pytest.mark.slow
def test_private_data_are_paid_once_and_the_model_carries_its_certificate() -> None:
    text = " ".join(run("chain", "fit", "ward.csv", *ASKED, *PAID, "--out", "fitted.json").split())
    assert "2-differentially private" in text
    assert "Public data" not in text
    again = json.loads(run("chain", "fit", "ward.csv", *ASKED, *PAID, "--json"))
    assert again == json.loads(Path("fitted.json").read_text())
    assert charges("ward") == 1
    run("key", "--out", "public.key")
    assert "Valid." in run("verify", "fitted.json", "--public-key", "public.key")
    assert "certified" in run("leakage", "fitted.json", "--epsilon", "1", "--ages", "0:1")


@pytest.mark.slow
def test_cuts_turn_numbers_into_states_and_every_number_has_one() -> None:
    table = pd.read_csv("ward.csv")
    plain = json.loads(run("chain", "fit", "ward.csv", *ASKED, "--public", "--json"))
    table["pulse"] = np.where(table["pulse"] == 1, 120.0, 60.0)
    table["breath"] = np.where(table["breath"] == 1, 1e300, -5.0)
    table.to_csv("raw.csv", index=False)
    cut = json.loads(run("chain", "fit", "raw.csv", *SERIES, "--cuts", "90", "--cuts", "18", "--public", "--json"))
    assert cut["transitions"] == plain["transitions"]


@pytest.mark.slow
def test_rows_by_key_are_the_same_as_columns() -> None:
    wide = pd.read_csv("ward.csv").rename(columns={"breath": "bre'ath"})
    long = wide.melt("at", var_name='th"e one', value_name="state").sample(frac=1.0, random_state=1)
    long.to_csv("long.csv", index=False)
    keyed = ("--time", "at", *GRID, "--states", "2", "--by", "th\"e one=pulse,bre'ath", "--value", "state")
    found = json.loads(run("chain", "fit", "long.csv", *keyed, "--public", "--json"))
    plain = json.loads(run("chain", "fit", "ward.csv", *ASKED, "--public", "--json"))
    assert found["names"] == ["pulse", "bre'ath"]
    assert found["transitions"] == plain["transitions"]


@pytest.mark.slow
def test_private_tables_of_any_content_are_fitted_alike() -> None:
    """Whether a fit is refused must not tell what a private table holds."""
    empty = Path("empty.csv")
    empty.write_text("at,pulse,breath\n", encoding="utf-8")
    odd = Path("odd.csv")
    odd.write_text("at,pulse,breath\nx,y,z\n2026-01-01,nan,-7\n2026-01-01,inf,\n,1,2\n2026-01-02,1e999,99\n")
    for number, table in enumerate((empty, odd)):
        run("chain", "fit", str(table), *ASKED, "--epsilon", "1", "--dataset", "ward", "--request", f"r{number}")
    assert charges("ward") == 2


def test_who_hears_whom_is_kept() -> None:
    found = json.loads(run("chain", "fit", "ward.csv", *ASKED, "--public", "--hears", "breath=pulse,breath", "--json"))
    assert {(to, of) for to, of, _ in found["edges"]} <= {(0, 0), (1, 0), (1, 1)}


REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("ward.csv", *ASKED), "epsilon must be given: private data are paid for; or --public"),
    (("ward.csv", *ASKED, *PAID[:-2]), "request must be given"),
    (("ward.csv", *ASKED, *PAID, "--public"), "epsilon must be left out with --public"),
    (("ward.csv", *SERIES, *PAID), "cuts must be given, or --states"),
    (("ward.csv", *ASKED, *PAID, "--cuts", "1"), "cuts must be given, or --states"),
    (("ward.csv", *SERIES, *PAID, "--cuts", "2,1"), "cuts must be ascending numbers"),
    (("ward.csv", *SERIES, *PAID, "--cuts", "nan"), "cuts must be ascending numbers"),
    (("ward.csv", *SERIES, *PAID, "--cuts", "1", "--cuts", "1,2"), "cuts must be as many for each sequence"),
    (("ward.csv", *SERIES, *PAID, *("--cuts", "1") * 3), "cuts must be given once for all sequences"),
    (("ward.csv", *SERIES, *PAID, "--states", "1"), "states must be a whole number from 2 to 10000"),
    (("ward.csv", *SERIES, *PAID, "--states", "999999999999"), "states must be a whole number from 2 to 10000"),
    (("ward.csv", *SERIES, "--public", "--states", "9999"), "states must be fewer, or fewer ties"),
    (("ward.csv", *ASKED, *PAID, "--missing", "2"), "missing must be a whole number from 0 to 1"),
    (("ward.csv", *ASKED, *PAID, "--hears", "pulse=heart"), "hears must be a sequence and those it hears"),
    (("ward.csv", *ASKED, *PAID, "--sequence", "pulse"), "sequence must be sequences that differ"),
    (("ward.csv", *ASKED, *PAID, "--sequence", "heart"), "the table has no column 'heart'"),
    (("ward.csv", *ASKED, *PAID, "--end", "2026-01-01T01:00"), "end must be two periods of 1h after the start"),
    (("ward.csv", *ASKED[2:], *PAID, "--time", "at", "--by", "pulse=0,1"), "sequence must be given, or --by"),
    (("ward.csv", "--time", "at", *GRID, "--states", "2", *PAID), "sequence must be given, or --by"),
    (("ward.csv", *KEYED, *PAID), "value must be given with --by"),
    (("ward.csv", *ASKED, *PAID, "--value", "pulse"), "value must be given with --by"),
    (("ward.csv", *KEYED, *PAID, "--value", "pulse", "--by", "at"), "by must be a column and its public keys"),
    (("ward.csv", *KEYED, *PAID, "--value", "pulse", "--by", "at=a,,b"), "by must be a column and its public keys"),
    (("ward.csv", *KEYED, *PAID, "--value", "pulse", "--by", "at=a,a"), "by must be sequences that differ"),
    (("ward.csv", *KEYED, *PAID, "--value", "pulse", "--by", "x=a,b"), "has no column 'x'"),
    (("none.csv", *ASKED, *PAID), "there is no file none.csv"),
    (("ward.csv", *ASKED, *PAID, "--out", "model.csv"), "out must be a file that ends in .json"),
    (("ward.csv", *ASKED, *PAID, "--ledger", "none.db"), "there is no ledger at none.db"),
    (("ward.csv", *ASKED, *PAID, "--epsilon", "5"), "cannot pay"),
    (("ward.csv", *ASKED, *PAID, "--epsilon", "1e-12"), "epsilon must be from"),
    (("ward.csv", *ASKED, *PAID, "--dataset", "x"), "no budget is open for 'x'"),
    (
        ("ward.csv", "--time", "at", "--sequence", "at", *GRID, "--states", "2", "--public"),
        "sequence must be one with numbers",
    ),
]
NOT_DRAWN: list[tuple[tuple[str, ...], str]] = [
    (("model.json", "--out", "x.json"), "out must be a file that ends in .csv or .parquet"),
    (("model.json", "--out", "x.csv", "--periods", "0"), "periods must be a whole number"),
    (("model.json", "--out", "x.csv", "--sequence", "pulse"), "sequence must be 2 names that differ"),
    (("model.json", "--out", "x.csv", "--sequence", "at", "--sequence", "b"), "none of them `at`"),
    (("model.json", "--out", "x.csv", "--seed", "-1"), "seed must be"),
    (("ward.csv", "--out", "x.csv"), "not a JSON document"),
]


@pytest.mark.slow
def test_refusals_spend_nothing(home: Path, refuse: Callable[..., str]) -> None:
    for arguments, said in REFUSED:
        assert said in refuse("chain", "fit", *arguments)
    assert charges("ward") == 0
    assert not (home / "none.db").exists()
    for arguments, said in NOT_DRAWN:
        assert said in refuse("chain", "simulate", *arguments)
    assert not Path("x.csv").exists()
