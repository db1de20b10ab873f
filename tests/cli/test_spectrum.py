"""Spectra on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import chronodp as cdp
from tests.cli.conftest import run

ASKED = (
    *("spectrum", "load.csv", "--time", "at", "--value", "load", "--every", "1h", "--start", "2026-01-01"),
    *("--end", "2026-01-08", "--change", "1", "--unit", "event", "--dataset", "load", "--request", "may"),
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    hours = pd.date_range("2026-01-01", periods=168, freq="h")
    load = 500 + 100 * np.sin(2 * np.pi * np.arange(168) / 24)
    pd.DataFrame({"at": hours, "load": load}).drop(index=5).to_csv("load.csv", index=False)
    run("budget", "open", "load", "--epsilon", "4", "--unit", "event")
    return tmp_path


@pytest.mark.slow
def test_a_spectrum_is_shown_stored_and_verified(home: Path) -> None:
    text = run(*ASKED, "--lowest", "30", "--epsilon", "1", "--out", "spectrum.json")
    assert "the lowest 30 harmonics" in text
    assert "10 more rows" in text
    assert "1-differentially private for one row" in text
    again = json.loads(run(*ASKED, "--lowest", "30", "--epsilon", "1", "--json"))
    assert again["release"] == json.loads((home / "spectrum.json").read_text(encoding="utf-8"))["release"]
    strongest = max(again["harmonics"][1:], key=lambda row: row["power"])
    assert strongest["harmonic"] == 7
    with cdp.Ledger("budget.db") as ledger:
        assert "genuine" in run("verify", "spectrum.json", "--public-key", ledger.keys.public)


def test_refusals_spend_nothing(home: Path, refuse: Callable[..., str]) -> None:
    for flags, said in [
        (("--epsilon", "1"), "one of --only, --lowest, --strongest, --whole"),
        (("--epsilon", "1", "--whole", "--only", "3"), "one of --only"),
        (("--epsilon", "1", "--lowest", "86"), "Nyquist"),
        (("--epsilon", "9", "--whole"), "cannot pay"),
        (("--epsilon", "1", "--whole", "--out", "spectrum.txt"), "ends in .json"),
    ]:
        assert said in refuse(*ASKED, *flags), flags
        with cdp.Ledger(home / "budget.db") as ledger:
            assert ledger.status("load").charges == 0, flags
