"""The main job on the command line: plan, release, demonstrate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow.parquet
import pytest

import chronodp as cdp
from tests.cli.conftest import run


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with records, a TOML file and an open budget."""
    monkeypatch.chdir(tmp_path)
    times = pd.date_range("2026-01-01", periods=300, freq="30min", tz="UTC")
    pd.DataFrame(
        {
            "at": times,
            "who": [f"p{number % 40}" for number in range(300)],
            "kwh": [number % 7 / 2 for number in range(300)],
            "region": ["north" if number % 2 else "south" for number in range(300)],
        }
    ).to_parquet("rows.parquet")
    Path("load.toml").write_text(
        """
        data = "rows.parquet"
        time = "at"
        user = "who"
        every = "1h"
        start = 2026-01-01
        end = 2026-01-07
        max_periods = 10
        sum = "kwh"
        clip = [0.0, 3.0]
        epsilon = 1.0
        delta = 1e-6
        [by]
        region = ["north", "south"]
        """,
        encoding="utf-8",
    )
    run("budget", "open", "people", "--epsilon", "4", "--delta", "1e-6")
    return tmp_path


FLAGS = (
    *("rows.parquet", "--time", "at", "--user", "who", "--every", "1h", "--start", "2026-01-01", "--end", "2026-01-07"),
    *("--max-periods", "10", "--epsilon", "1", "--delta", "1e-6"),
)


def test_flags_and_file_say_the_same(shop: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in shop.iterdir()}
    said = run("plan", *FLAGS, "--sum", "kwh", "--clip", "0", "3", "--by", "region=north,south", "--json")
    assert json.loads(said) == json.loads(run("plan", "--config", "load.toml", "--json"))
    assert json.loads(run("plan", "-c", "load.toml", "--epsilon", "2", "--json"))["design"]["epsilon"] == 2.0
    assert {path: path.stat().st_mtime_ns for path in shop.iterdir()} == before  # a plan touches nothing
    (shop / "rows.parquet").unlink()  # nothing is read
    text = " ".join(run("plan", "--config", "load.toml").split())
    for said in (
        "everything of one person",
        "at most 10 of 144 periods",
        "± ",
        "for this release",
        "a year of",
        "grows with every release",
    ):
        assert said in text
    assert "laplace" in text
    assert "gaussian" in text


def test_every_measure_and_unit_can_be_asked(shop: Path) -> None:
    for measure in [
        ("--count",),
        ("--count", "--at-most", "2", "--unit", "event"),
        ("--mean", "kwh", "--clip", "-1", "3", "--of", "people"),
        ("--mean", "kwh", "--clip", "-1", "3", "--of", "rows", "--at-most", "2"),
        ("--mean", "kwh", "--clip", "-1", "3", "--of", "totals"),
        ("--histogram", "kwh", "--edges", "0,1,2,3", "--of", "rows"),
        ("--variance", "kwh", "--clip", "-1", "3"),
        ("--histogram", "kwh", "--edges", "0,1,2,3"),
        ("--sum", "kwh", "--clip", "0", "3", "--unit", "user_period:1D", "--timezone", "Europe/Berlin"),
        ("--sum", "kwh", "--clip", "0", "3", "--unit", "window:24/replace"),
    ]:
        flags = list(FLAGS)
        if "--unit" in measure:
            at = flags.index("--max-periods")
            del flags[at : at + 2]
        if "--timezone" in measure:
            flags[flags.index("2026-01-01")], flags[flags.index("2026-01-07")] = "2026-01-02", "2026-01-05"
        assert "Releases" in run("plan", *flags, *measure), measure
    assert shop.exists()


@pytest.mark.slow
def test_release_writes_what_is_asked_and_repeats_itself(shop: Path) -> None:
    command = ("release", "-c", "load.toml", "--dataset", "people", "--request", "load")
    files = ("load.csv", "load.parquet", "load.json")
    outs = [part for name in files for part in ("--out", name)]
    text = run(*command, *outs, "--page", "load.html")
    assert "(1, 1e-06)-differentially private" in text
    table = pd.read_csv("load.csv")
    assert list(table.columns) == ["time", "region", "value", "lower", "upper", "covers"]
    assert len(table) == 288
    assert pyarrow.parquet.read_table("load.parquet").num_rows == 288
    assert Path("load.html").stat().st_size > 1_000_000
    again = json.loads(run(*command, "--json"))
    assert [row["value"] for row in again["series"]] == pytest.approx(table["value"].tolist(), rel=1e-12)
    assert json.loads(run("budget", "status", "people", "--json"))["charges"] == 1
    with cdp.Ledger(shop / "budget.db") as ledger:
        Path("key.txt").write_text(ledger.keys.public, encoding="ascii")
    assert "Valid" in run("verify", "load.json", "--public-key", "key.txt")
    assert cdp.Release.load("load.json").to_pandas()["value"].tolist() == pytest.approx(table["value"].tolist())


@pytest.mark.slow
def test_diagnosis_is_apart_and_marked(shop: Path) -> None:
    text = run("diagnose", "-c", "load.toml")
    assert "FOR THE OWNER ONLY" in text
    assert "People" not in text
    assert "chosen by looking at the figures below is not private" in run("diagnose", "-c", "load.toml", "--bounds")
    assert json.loads(run("diagnose", "-c", "load.toml", "--json"))["bounds"] is None
    assert shop.exists()


def test_refusals_name_the_option_and_spend_nothing(shop: Path, refuse: Callable[..., str]) -> None:
    for changes, said in [
        (("--clip", "3", "0"), "clip must be a pair"),
        (("--time", "att"), "did you mean at?"),
        (("--mean", "kwh"), "one of --count, --sum, --mean, --variance, --histogram"),
        (("--by", "region"), "such as region=north,south"),
        (("--by", "region=north,north"), "no key is repeated"),
        (("--unit", "everybody"), "unknown kind"),
        (("--out", "load.xlsx"), ".csv or .parquet or .json"),
        (("--out", "nowhere/load.csv"), "a folder that exists"),
        (("--page", "load.csv"), ".html"),
        (("--level", "1"), "level must be"),
        (("--epsilon", "0"), "epsilon must be"),
        (("--epsilon", "9"), "the budget for 'people' cannot pay"),
        (("--config", "nowhere.toml"), "a file that can be read"),
    ]:
        command = ("release", "-c", "load.toml", "--dataset", "people", "--request", "load")
        assert said in refuse(*command, *changes), changes
        assert json.loads(run("budget", "status", "people", "--json"))["charges"] == 0, changes
    assert shop.exists()


def test_a_file_with_an_unknown_option_or_no_toml(shop: Path, refuse: Callable[..., str]) -> None:
    for content, said in (("epsilom = 1", "epsilom"), ("epsilon =", "a TOML file")):
        (shop / "bad.toml").write_text(content, encoding="utf-8")
        assert said in refuse("plan", "-c", "bad.toml")
    assert "--epsilon" in refuse("plan", *FLAGS[:-4], "--count")


@pytest.mark.slow
def test_demo_does_the_main_job_and_repeats_itself(tmp_path: Path) -> None:
    command = ("demo", "--households", "200", "--folder", str(tmp_path / "demo"))
    text = run(*command)
    for said in (
        "(1, 1e-06)-differentially private for everything of one person",
        "Sat 31",
        "release.html",
        "budget is left",
    ):
        assert said in " ".join(text.split())
    assert "SEEDED" not in text
    first = cdp.Release.load(tmp_path / "demo" / "release.json")
    again = json.loads(run(*command, "--json")[run(*command, "--json").index('{"seconds"') :])
    assert again["release"] == first.text
    assert len(first.to_pandas()) == 744
    assert (tmp_path / "demo" / "release.html").exists()


def test_a_filter_and_derived_columns(shop: Path, refuse: Callable[..., str]) -> None:
    flags = ("--where", "region = 'north' AND kwh > 0", "--column", "much=kwh >= 2", "--column", "twice = kwh * 2")
    said = run("plan", *FLAGS, *flags, "--sum", "twice", "--clip", "0", "6", "--by", "much=true,false")
    flat = " ".join(said.split())
    assert "Rows where region = 'north' AND kwh > 0 Columns much = kwh >= 2; twice = kwh * 2" in flat
    text = (shop / "load.toml").read_text(encoding="utf-8")
    said_in_file = """
        where = "region = 'north' AND kwh > 0"
        sum = "twice"
        """
    rows = text.replace('sum = "kwh"', said_in_file).replace(
        "[by]", '[column]\n        twice = "kwh * 2"\n        [by]'
    )
    (shop / "north.toml").write_text(rows, encoding="utf-8")
    said = " ".join(run("plan", "-c", "north.toml").split())
    assert "Rows where region = 'north' AND kwh > 0 Columns twice = kwh * 2" in said
    assert "where must be an expression" in refuse("plan", *FLAGS, "--count", "--where", "random() < 1")
    assert "such as late=" in refuse("plan", *FLAGS, "--count", "--column", "late")
