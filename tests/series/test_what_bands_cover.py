"""Files and frames say what their bands cover, wherever they come from; numbers are written as people write them."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pandas as pd
import pyarrow.parquet
import pytest
from tests.cli.conftest import run

from chronodp import Ledger, Missing, TimeSeries, User
from chronodp.series import Release


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    rows = pd.DataFrame({"at": pd.date_range("2026-01-01", periods=90), "who": range(90), "eur": 90_000.0})
    series = TimeSeries(
        rows, time="at", user="who", every="1mo", start="2026-01-01", end="2026-04-01", unit=User(), max_periods=3
    )
    with Ledger(tmp_path_factory.mktemp("ledger") / "b.db") as ledger:
        ledger.open("d", unit=User(), epsilon=10, delta=1e-6)
        plan = series.sum("eur", clip=(0, 90_000)).plan(epsilon=1, delta=1e-7, missing=Missing())
        return plan.release(ledger, dataset="d", request="r")


def test_frames_and_arrow_say_what_their_bands_cover(release: Release) -> None:
    frame, table = release.to_pandas(), release.to_arrow()
    assert frame.attrs["covers"] == "noise only"
    assert table.schema.metadata[b"covers"] == b"noise only"
    outer = [name for name in frame.columns if name.startswith("lower_")]
    assert outer  # of what was asked beside the numbers
    for name in outer:
        assert frame.attrs[f"covers{name.removeprefix('lower')}"] == "noise and what limits removed"


def test_csv_and_parquet_say_what_their_bands_cover(release: Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r.json")
    run("read", str(tmp_path / "r.json"), "--out", str(tmp_path / "r.csv"), "--out", str(tmp_path / "r.parquet"))
    assert set(pd.read_csv(tmp_path / "r.csv")["covers"]) == {"noise only"}
    assert pyarrow.parquet.read_schema(tmp_path / "r.parquet").metadata[b"covers"] == b"noise only"


def test_the_page_hands_out_a_csv_that_says_it(release: Release, tmp_path: Path) -> None:
    page = release.report(tmp_path / "r.html").read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="csv">(.*?)</script>', page, re.DOTALL)
    assert found
    rows = list(csv.DictReader(io.StringIO(json.loads(found[1]))))
    assert {row["covers"] for row in rows} == {"noise only"}


def test_a_page_for_readers_has_no_calls_of_the_library(release: Release, tmp_path: Path) -> None:
    page = release.report(tmp_path / "r.html").read_text(encoding="utf-8")
    words = page[: page.index('<script type="application/json"')]
    for call in ("Missing()", "plan.", "diagnose()"):
        assert call not in words
