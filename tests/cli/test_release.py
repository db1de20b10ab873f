"""The main job on the command line: plan, release, demonstrate."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas
import pandas as pd
import pyarrow.ipc
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import chronodp as cdp
from chronodp.cli.shell import app
from chronodp.ledger import Ledger
from tests.cli.conftest import charges, run


@pytest.fixture(autouse=True)
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


def test_every_measure_and_unit_can_be_asked() -> None:
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
    assert charges("people") == 1
    with cdp.Ledger(shop / "budget.db") as ledger:
        Path("key.txt").write_text(ledger.keys.public, encoding="ascii")
    assert "Valid" in run("verify", "load.json", "--public-key", "key.txt")
    assert cdp.Release.load("load.json").to_pandas()["value"].tolist() == pytest.approx(table["value"].tolist())


@pytest.mark.slow
def test_diagnosis_is_apart_and_marked() -> None:
    text = run("diagnose", "-c", "load.toml")
    assert "FOR THE OWNER ONLY" in text
    assert "People" not in text
    assert "chosen by looking at the figures below is not private" in run("diagnose", "-c", "load.toml", "--bounds")
    assert json.loads(run("diagnose", "-c", "load.toml", "--json"))["bounds"] is None


def test_refusals_name_the_option_and_spend_nothing(refuse: Callable[..., str]) -> None:
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
        assert charges("people") == 0, changes
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


@pytest.mark.slow
def test_a_large_release_is_written_as_arrow_and_verified(
    tmp_path: Path, refuse: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("t,u\n2026-01-01 00:00:01,1\n", encoding="utf-8")
    run("budget", "open", "meters", "--epsilon", "4")
    asked = ["release", "t.csv", "--time", "t", "--user", "u", "--every", "1min", "--start", "2026-01-01"]
    asked += ["--end", "2028-01-01", "--max-periods", "2", "--count", "--epsilon", "1", "--dataset", "meters"]
    asked += ["--request", "r"]
    few = [argument.replace("2028-01-01", "2026-01-02") for argument in asked]
    assert "large.json" in refuse(*asked, "--out", "large.json")
    assert ".arrow for a release of 1,051,200 numbers (more than 1,048,576)" in refuse(*asked, "--json")
    assert ".json for a release of 1,440 numbers (no more than 1,048,576)" in refuse(*few, "--out", "few.arrow")
    with Ledger("budget.db") as ledger:
        assert ledger.status("meters").charges == 0
        key = ledger.public_key
    run(*asked, "--out", "large.arrow", "--out", "large.parquet")
    frame = pandas.read_parquet("large.parquet")
    assert len(frame) == 1_051_200
    assert frame["time"].is_monotonic_increasing
    assert "belongs to this release, with every number of it" in run("verify", "large.arrow", "--public-key", key)
    _change_a_number(Path("large.arrow"))
    assert "part 1 of 2 of the numbers is not the one" in refuse("verify", "large.arrow", "--public-key", key, code=1)


def _change_a_number(path: Path) -> None:
    # A number, not a byte: the parts are packed, and whether a flipped byte can be unpacked hangs on the noise.
    table = pyarrow.ipc.open_file(path.read_bytes()).read_all()
    first, *others = table.to_batches()
    numbers = first.column(0).to_numpy().copy()
    numbers[5] += 1
    with pyarrow.ipc.new_file(str(path), table.schema) as writer:
        for batch in (pyarrow.record_batch([pyarrow.array(numbers)], schema=table.schema), *others):
            writer.write_batch(batch)


@pytest.mark.slow
def test_a_table_that_is_written_in_pieces_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("t,u\n2026-01-01 00:00:01,1\n", encoding="utf-8")
    run("budget", "open", "meters", "--epsilon", "4")
    asked = ["release", "t.csv", "--time", "t", "--user", "u", "--every", "1h", "--start", "2026-01-01"]
    asked += ["--end", "2026-01-02", "--max-periods", "2", "--count", "--epsilon", "1", "--dataset", "meters"]
    asked += ["--request", "r"]
    run(*asked, "--out", "whole.csv", "--out", "whole.parquet")
    monkeypatch.setattr("chronodp.series.shown_view._MOST_AT_ONCE", 7)
    run(*asked, "--out", "pieces.csv", "--out", "pieces.parquet")
    assert Path("whole.csv").read_bytes() == Path("pieces.csv").read_bytes()
    pandas.testing.assert_frame_equal(pandas.read_parquet("whole.parquet"), pandas.read_parquet("pieces.parquet"))


@pytest.mark.slow
@pytest.mark.parametrize("told", ["--sum kwh --clip 0 5", "--sum kwh --find clip --delta 1e-6"])
def test_rows_that_cannot_be_read_are_told_in_one_line_of_standard_error(told: str) -> None:
    rows = "31/01/2026,ann,1\n19970101,bob,2\n2026-01-02,eve,x\n2026-01-02,ann,3\n"
    Path("rows.csv").write_text(f"at,who,kwh\n{rows}", encoding="utf-8")
    run("budget", "open", "found", "--epsilon", "4", "--delta", "1e-5", "--reserve", "5e-6")
    line = "release rows.csv --time at --user who --every 1D --start 2026-01-01 --end 2026-01-04 --max-periods 2"
    line = f"{line} --epsilon 1 {told} --dataset found --request a --out a.csv --page a.html --json"
    made = CliRunner().invoke(app, line.split(), catch_exceptions=False)
    assert made.exit_code == 0, made.output
    lines = [line for line in made.stderr.splitlines() if "left out" in line]
    assert len(lines) == 1
    assert lines[0].startswith("unread: rows.csv: 1 of 4 rows were read, 3 left out: 2 without a time that can be read")
    published = made.stdout + "".join(path.read_text(encoding="utf-8") for path in (Path("a.csv"), Path("a.html")))
    assert "were read" not in published
