"""``chronodp blur-times``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from chronodp.cli.blur_times import parse_analysis
from chronodp.temporal import UnitCosts, frequency_counting, moving_average, recommend
from tests.cli.conftest import charges, run

ASKED = ("--time", "at", "--user", "who", "--value", "pulse", "--block", "4", "--epsilon", "1")
PAID = ("--dataset", "watch", "--request", "january")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run("budget", "open", "watch", "--epsilon", "2", "--unit", "swap:4")
    rows = [f"{who},2026-01-01T{hour:02d}:00,{60 + hour}.10" for who in ("ann", "bo") for hour in range(24)]
    (tmp_path / "pulse.csv").write_text("who,at,pulse\n" + "\n".join(rows) + "\n", encoding="utf-8")
    pd.DataFrame({"who": "ann", "at": range(20), "pulse": [hour / 3 for hour in range(20)]}).to_parquet(
        tmp_path / "pulse.parquet"
    )
    return tmp_path


@pytest.mark.slow
def test_a_file_in_a_table_and_a_page_out(home: Path) -> None:
    text = run("blur-times", "pulse.csv", *ASKED, *PAID, "--out", "out.csv", "--page", "owner.html")
    assert "ε-TLDP" in text
    assert "36 more rows" in text
    made = pd.read_csv(home / "out.csv", dtype=str)
    assert sorted(made["pulse"]) == sorted([f"{60 + hour}.10" for hour in range(24)] * 2)
    assert "For the owner only" in (home / "owner.html").read_text(encoding="utf-8")
    again = json.loads(run("blur-times", "pulse.csv", *ASKED, *PAID, "--json"))
    assert [row["pulse"] for row in again["rows"]] == made["pulse"].tolist()
    assert charges("watch") == 1
    assert set(again["link"]) == {"body", "signature"}


def test_a_part_that_begins_and_ends_on_borders() -> None:
    edges = ("--start", "2026-01-01T04:00", "--end", "2026-01-01T12:00")
    told = json.loads(run("blur-times", "pulse.csv", *ASKED, *PAID, *edges, "--json"))
    assert len(told["rows"]) == 16
    assert "from 2026-01-01T04:00:00 to 2026-01-01T12:00:00" in " ".join(told["promise"].split())


def test_parquet_and_the_papers_mechanisms(home: Path) -> None:
    for name in ("backward", "forward", "threshold", "threshold-printed"):
        text = run("blur-times", "pulse.parquet", *ASKED, "--mechanism", name, "--out", "out.parquet")
        assert "marginal dispatch budget" in text
        assert "TLDP" not in text
    assert len(pd.read_parquet(home / "out.parquet")) == 20
    rows = json.loads(run("blur-times", "pulse.parquet", *ASKED, "--mechanism", "forward", "--json"))["rows"]
    assert {row["pulse"] for row in rows} <= {None, *(hour / 3 for hour in range(20))}
    run("blur-times", "pulse.parquet", *ASKED, *PAID, "--mechanism", "noisy-sort")
    assert charges("watch") == 1


def test_uneven_times_are_refused_or_resampled(home: Path, refuse: Callable[..., str]) -> None:
    text = (home / "pulse.csv").read_text(encoding="utf-8").replace("T03:00", "T03:20")
    (home / "uneven.csv").write_text(text, encoding="utf-8")
    said = refuse("blur-times", "uneven.csv", *ASKED, *PAID)
    assert "time must be evenly spaced" in said
    assert "03:20" not in said
    assert charges("watch") == 0
    rows = json.loads(run("blur-times", "uneven.csv", *ASKED, *PAID, "--resample", "1h", "--json"))["rows"]
    assert len(rows) == 48


def test_requests_that_are_refused(home: Path, refuse: Callable[..., str]) -> None:
    for arguments, said in (
        ((*ASKED,), "data must be given; or --plan"),
        (("pulse.csv", *ASKED[2:]), "time must be given"),
        (("pulse.csv", *ASKED, "--epsilon", "2", *PAID), "epsilon must be given once without --plan"),
        (("pulse.csv", *ASKED, *PAID, "--analysis", "relative"), "analysis must be left out"),
        (("pulse.csv", *ASKED), "dataset must be given"),
        (("pulse.csv", *ASKED, *PAID, "--mechanism", "backward"), "left out: backward promises nothing"),
        (("pulse.csv", *ASKED, "--mechanism", "magic"), "mechanism must be block-shuffle"),
        (("pulse.csv", *ASKED, *PAID, "--out", "out.xlsx"), "out must be a file that ends in .csv or .parquet"),
        (("pulse.csv", *ASKED, *PAID, "--page", "no/folder.html"), "in a folder that exists"),
        (("none.csv", *ASKED, *PAID), "cannot be read"),
        (("pulse.csv", *ASKED, *PAID, "--start", "2026-01-01T05:00"), "2026-01-01T04:00:00 or 2026-01-01T08:00:00"),
        (("pulse.csv", *ASKED[:-1], "5", *PAID), "cannot pay"),
        (("pulse.csv", *ASKED[:7], "1", "--epsilon", "1", *PAID), "block must be a whole number from 2"),
    ):
        assert said in refuse("blur-times", *arguments), arguments
    assert not (home / "out.csv").exists()


def test_a_plan_shows_the_costs_that_are_recommended() -> None:
    asked = ("blur-times", "--plan", "--block", "20", "--epsilon", "5")
    found = json.loads(run(*asked, "--json"))
    assert [row["cost"] for row in found["mechanisms"]] == [one.cost for one in recommend(20, 5.0).candidates]
    assert [row["mechanism"] for row in found["mechanisms"] if row["private"]] == ["block-shuffle"]
    assert found["unit_costs"] == {"missing": 20.0, "repeated": 20.0, "empty": 20.0, "delay": 1.0}
    text = run(*asked)
    assert text.count("cheapest") == 1
    assert "threshold (10 empty)" in text
    assert "never" in text
    several = run(*asked, "--epsilon", "1", "--epsilon", "20", "--analysis", "average:24,4")
    assert "threshold (extended, 16 empty)" in several
    assert several.count("block-shuffle") == 3


def test_analyses_by_their_words() -> None:
    assert parse_analysis("relative", 10) == UnitCosts.relative(10)
    assert parse_analysis("relative:1,2,3,4", 10) == UnitCosts(10.0, 20.0, 30.0, 4.0)
    counting = frequency_counting(window=10, length=100, share=0.2, other_share=0.1)
    assert parse_analysis("counting:100,0.2,0.1", 10) == counting
    assert parse_analysis("average:24,4", 10) == moving_average(window=10, length=24, variance=4.0)


def test_plans_that_are_refused(refuse: Callable[..., str]) -> None:
    for arguments, said in (
        (("--block", "2", "--epsilon", "5"), "block must be a whole number from 3 to 1000"),
        (("--block", "99999999999999999999", "--epsilon", "5"), "block must be a whole number from 3 to 1000"),
        (("--block", "20", "--epsilon", "-1"), "epsilon must be a finite number from 0"),
        (("--block", "20", "--epsilon", "1", "--epsilon", "nan"), "epsilon must be a finite number from 0"),
        (("--block", "20", "--epsilon", "5", "--analysis", "median:3"), "analysis must be relative"),
        (("--block", "20", "--epsilon", "5", "--analysis", "average:2.5,1"), "analysis must be relative"),
        (("--block", "20", "--epsilon", "5", "--analysis", "average:inf,1"), "analysis must be relative"),
        (("--block", "20", "--epsilon", "5", "--analysis", "counting:9,2,0.1"), "share must be"),
        (("--block", "20", "--epsilon", "5", "--analysis", "relative:-1,1,1,1"), "missing must be"),
        (("--block", "20", "--epsilon", "5", "--value", "pulse"), "value must be left out"),
    ):
        assert said in refuse("blur-times", "--plan", *arguments), arguments
