"""A series for ever on the command line: planned, opened, issued, looked at, checked, and refused where it must be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import chronodp as cdp
from chronodp.cli.shell import app
from tests.cli.conftest import _runner, charges, run

QUESTION = (
    *("--time", "at", "--user", "who", "--every", "1mo", "--start", "2026-01-01", "--end", "2026-02-01"),
    *("--sum", "kwh", "--clip", "0", "3", "--by", "region=north,south"),
)
TERMS = ("--epsilon", "1", "--delta", "1e-6", "--max-periods", "120")
WHERE = ("--dataset", "people", "--name", "load", "--tally", "load.tally")
LOOK = ("lifetime", "open", *WHERE, "--dry-run")
SERIES = ("--name", "load", "--tally", "load.tally")
MONTHS = {1: ("2026-01-01", "2026-02-01"), 2: ("2026-02-01", "2026-03-01"), 3: ("2026-03-01", "2026-04-01")}


@pytest.fixture(autouse=True)
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three months of records and an open budget."""
    monkeypatch.chdir(tmp_path)
    for month, (start, _) in MONTHS.items():
        rows = {"at": pd.Timestamp(start), "who": [f"p{n}" for n in range(40)], "kwh": 1.5, "region": "north"}
        pd.DataFrame(rows).to_parquet(f"{month}.parquet")
    run("budget", "open", "people", "--epsilon", "1", "--delta", "1e-6")
    return tmp_path


@pytest.fixture
def opened(town: Path) -> Path:
    """The same, where a series is open."""
    run("lifetime", "open", *QUESTION, *TERMS, *WHERE)
    return town


def issue(month: int, *more: str) -> str:
    start, end = MONTHS[month]
    said = ("--start", start, "--end", end, "--request", f"2026-0{month}")
    return run("lifetime", "issue", f"{month}.parquet", *SERIES, *said, *more)


def test_a_plan_says_what_a_board_asks_and_spends_nothing(town: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in town.iterdir()}
    text = " ".join(run(*LOOK, *QUESTION, *TERMS).split())
    for said in (
        "(ε, δ) = (1, 1e-06) for all issues together, the same for ever",
        "at most 120 full months ever",
        "stop counting with issue 121",
        "3.90 after 1 year, 7.32 after 3 years, 9.91 after 5 years, 15.1 after 10 years",
        "Other lives at the same price",
        "│ 100 │ 1200 │",
    ):
        assert said in text
    made = json.loads(run(*LOOK, *QUESTION, *TERMS, "--json"))
    assert made["design"]["max_periods"] == 120
    assert [row["half_width"] for row in made["alternatives"] if row["chosen"]] == [made["half_width"]]
    assert {path: path.stat().st_mtime_ns for path in town.iterdir()} == before


def test_flags_and_file_say_the_same(town: Path) -> None:
    (town / "load.toml").write_text(
        'time = "at"\nuser = "who"\nevery = "1mo"\nstart = 2026-01-01\nend = 2026-02-01\nsum = "kwh"\n'
        "clip = [0.0, 3.0]\nepsilon = 1.0\ndelta = 1e-6\nmax_periods = 12\n[by]\nregion = ['north', 'south']\n",
        encoding="utf-8",
    )
    said = json.loads(run(*LOOK, *QUESTION, *TERMS, "--json"))
    flags = ("--max-periods", "120", "--json")
    assert json.loads(run(*LOOK, "-c", "load.toml", *flags)) == said
    assert said["design"]["max_periods"] == 120
    days = [{"1mo": "1D"}.get(word, word) for word in QUESTION]
    assert json.loads(run(*LOOK, *days, *TERMS, "--json"))["design"]["max_periods"] == 120


@pytest.mark.slow
def test_the_whole_way(opened: Path) -> None:
    made = issue(1, "--out", "jan.csv", "--out", "jan.json", "--page", "jan.html")
    text = " ".join(made.split())
    assert "issue 1 of 'load'" in text
    assert "(1, 1e-06)-differentially private" in text
    assert list(pd.read_csv("jan.csv").columns) == ["time", "region", "value", "lower", "upper", "covers"]
    assert Path("jan.html").stat().st_size > 1_000_000
    second = json.loads(issue(2, "--json"))
    third = issue(3, "--clip", "0", "5")
    assert "issue 3 of 'load'" in " ".join(third.split())
    (opened / "2.parquet").unlink()  # a request that was made reads nothing
    assert json.loads(issue(2, "--json")) == second
    assert charges("people") == 1
    with cdp.Ledger(opened / "budget.db") as ledger:
        Path("key.txt").write_text(ledger.keys.public, encoding="ascii")
    assert "Valid" in run("verify", "jan.json", "--public-key", "key.txt")
    text = run("lifetime", "status", "--name", "load")
    assert "3, the last '2026-03'" in text
    assert "issue 121" in " ".join(text.split())
    assert len(json.loads(run("lifetime", "status", "--name", "load", "--json"))["issues"]) == 3
    assert "agree, up to issue 3" in run("lifetime", "verify", *SERIES)
    files = len(list((opened / "load.tally").iterdir()))
    assert json.loads(run("lifetime", "verify", *SERIES, "--compact", "--json")) == {"holds": True, "issues": 3}
    assert len(list((opened / "load.tally").iterdir())) < files
    start, end = MONTHS[1]
    late = ("--late", "--start", start, "--end", end, "--request", "2026-01 late")
    assert "issue 4 of 'load'" in " ".join(run("lifetime", "issue", "1.parquet", *SERIES, *late).split())


def test_status_is_the_same_whatever_the_tally_is(opened: Path) -> None:
    issue(1)
    before = run("lifetime", "status", "--name", "load")
    for path in (opened / "load.tally").iterdir():
        path.unlink()
    assert run("lifetime", "status", "--name", "load") == before


@pytest.mark.parametrize("change", ["one bit", "a file less", "the folder"])
def test_a_tally_that_is_not_the_ledgers(change: str, opened: Path, refuse: Callable[..., str]) -> None:
    issue(1)
    folder = opened / "load.tally"
    segment = next(folder.glob("*.segment"))
    if change == "one bit":
        sealed = bytearray(segment.read_bytes())
        sealed[-1] ^= 1
        segment.write_bytes(sealed)
    elif change == "a file less":
        segment.unlink()
    else:
        folder.rename(opened / "elsewhere")
    missing = change == "the folder"
    said = refuse("lifetime", "verify", *SERIES, code=2 if missing else 1)
    assert "ut it back" in said if missing else "Put the newest copy of its folder back" in said
    start, end = MONTHS[2]
    asked = ("--start", start, "--end", end, "--request", "2026-02")
    assert "load" in refuse("lifetime", "issue", "2.parquet", *SERIES, *asked)
    assert json.loads(run("lifetime", "status", "--name", "load", "--json"))["issues"] == ["2026-01"]


def test_people_are_named_in_files_only(opened: Path, refuse: Callable[..., str]) -> None:
    issue(1)
    (opened / "erased.txt").write_text("p1\r\np2\n\n", encoding="utf-8")
    (opened / "pair.txt").write_text("p3\np4\n", encoding="utf-8")
    (opened / "empty.txt").write_text("\n", encoding="utf-8")
    assert run("lifetime", "forget", *SERIES, "--ids", "erased.txt") == "They count no more in load.\n"
    assert "one person in load" in run("lifetime", "forget", "--same", *SERIES, "--ids", "pair.txt")
    result = _runner.invoke(app, ["lifetime", "forget", *SERIES, "--ids", "-"], input="p5\n", catch_exceptions=False)
    assert result.exit_code == 0
    told = refuse("lifetime", "forget", "--same", *SERIES, "--ids", "pair.txt", "--ledger", "no.db")
    told += refuse("lifetime", "forget", *SERIES, "--ids", "empty.txt")
    told += refuse("lifetime", "forget", *SERIES, "--ids", "nowhere.txt")
    (opened / "pair.txt").write_text("p3\np4\np5\n", encoding="utf-8")
    told += refuse("lifetime", "forget", "--same", *SERIES, "--ids", "pair.txt")
    assert "two lines: the old id and the new one" in told
    assert not any(f"p{number}" in told for number in (3, 4, 5))
    assert "agree, up to issue 1" in run("lifetime", "verify", *SERIES)


def test_openings_are_refused_in_words_and_nothing_is_spent(town: Path, refuse: Callable[..., str]) -> None:
    run("budget", "open", "monthly", "--epsilon", "1", "--delta", "1e-6", "--renews", "1mo")
    for changes, said in [
        (("rows.parquet",), "data must be left out: a series is bought before any table is there"),
        (("--missing", "0.05"), "missing must be left out"),
        (("--unit", "event"), "a life is a person's"),
        (("--peak", "1mo"), "lifetime must be asked of the series itself"),
        (("--find", "max_groups"), "known before a life is sold"),
        (("--max-periods", "0"), "max_periods must be"),
        (("--epsilon", "0"), "epsilon must be"),
        (("--epsilon", "9"), "the budget for 'people' cannot pay"),
        (("--dataset", "peple"), "people"),
        (("--tally", "nowhere/load.tally"), "cannot be made; nothing was spent"),
        (("--dataset", "monthly"), "a purchase for ever belongs to no month"),
    ]:
        assert said in refuse("lifetime", "open", *QUESTION, *TERMS, *WHERE, *changes), changes
        assert charges("people") == 0, changes
        assert not (town / "load.tally").exists(), changes


@pytest.mark.usefixtures("opened")
def test_issues_are_refused_in_words(refuse: Callable[..., str]) -> None:
    start, end = MONTHS[1]
    asked = ("--start", start, "--end", end, "--request", "2026-01")
    for changes, said in [
        (("--name", "loud"), "no stream 'loud'; known: load"),
        (("--end", "2026-01-15"), "end"),
        (("--clip", "3", "0"), "clip must be"),
        (("--at-most", "2"), "at_most must be left out"),
        (("--out", "jan.xlsx"), ".csv or .parquet or .json"),
        (("--out", "jan.arrow"), ".json for a release of 2 numbers"),
        (("--page", "jan.csv"), ".html"),
        (("--level", "1"), "level must be"),
        (("--ledger", "no.db"), "there is no ledger at no.db"),
    ]:
        assert said in refuse("lifetime", "issue", "1.parquet", *SERIES, *asked, *changes), changes
        assert json.loads(run("lifetime", "status", "--name", "load", "--json"))["issues"] == [], changes


def test_a_second_opening_is_refused(opened: Path, refuse: Callable[..., str]) -> None:
    run("budget", "open", "others", "--epsilon", "1", "--delta", "1e-6")
    told = refuse("lifetime", "open", *QUESTION, *TERMS, *WHERE, "--dataset", "others", "--name", "other")
    assert "new or empty" in told
    told = refuse("lifetime", "open", *QUESTION, *TERMS, *WHERE, "--dataset", "others", "--tally", "other.tally")
    assert "a stream 'load' exists" in told
    assert charges("others") == 0
    assert opened.exists()
