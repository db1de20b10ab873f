"""The wizard: five questions, settings that release, a page; nothing spent, nothing of the data suggested."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from chronodp.cli.shell import app
from chronodp.cli.starting import columns_of
from chronodp.errors import ChronodpError
from tests.cli.conftest import run

COUNT = ("at", "who", "1D", "2026-01-01", "2026-01-11", "count", "5", "1")
SUM = ("at", "who", "1D", "2026-01-01", "2026-01-11", "sum", "minutes", "find", "find", "1")


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    days = pd.date_range("2026-01-01", "2026-01-11", freq="6h", inclusive="left")
    rows = pd.DataFrame({"at": days, "who": [f"p{n % 9}" for n in range(len(days))], "minutes": 5.5})
    rows.to_csv("visits.csv", index=False)
    rows.to_parquet("visits.parquet")
    return "visits.csv"


def start(table: str, answers: Sequence[str], *more: str) -> str:
    named = ["y"] if table.endswith(".csv") else []  # that the first line names the columns
    typed = "".join(f"{answer}\n" for answer in [*named, *answers])
    result = CliRunner().invoke(app, ["start", table, *more], input=typed, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(("name", "answers"), [("visits.csv", COUNT), ("visits.parquet", SUM)])
@pytest.mark.slow
def test_what_it_names_next_runs(name: str, answers: Sequence[str]) -> None:
    said = start(name, answers)
    assert "at (time), who (text), minutes (number)" in said
    assert not Path("budget.db").exists()
    assert "differentially private" not in said or "Nothing was spent" in said
    page = Path("release-plan.html").read_text(encoding="utf-8")
    assert "Nothing was spent, and nothing was released" in page
    assert "<script" not in page
    lines = [line.strip() for line in said.splitlines() if line.startswith("    chronodp")]
    assert len(lines) == 3
    for line in lines:
        run(*line.split()[1:])
    assert len(pd.read_csv("release.csv")) == 10
    assert Path("release.html").exists()


def test_no_bound_and_no_date_is_suggested(table: str) -> None:
    asked = start(table, COUNT)
    for of_the_data in ("2026-01-10", "18:00", "5.5", "p8"):
        assert of_the_data not in asked


def test_what_does_not_fit_is_asked_again(table: str) -> None:
    wrong = (
        *("when", "at", "who", "1D", "31/01/2026", "2026-01-11", "2026-01-01", "2026-01-21"),
        *("sum", "minutes", "many", "50", "5-6", "3,1", "much"),
    )
    said = start(table, (*wrong, "1", "10", "1,3"))
    assert "one of at, who, minutes" in said
    assert "a date or time such as" in said
    assert "a number such as 0.5 or 1" in said
    written = Path("release.toml").read_text(encoding="utf-8")
    assert 'end = "2026-01-21"' in written
    assert "max_periods = 10" in written
    assert "clip = [1.0, 3.0]" in written


def test_a_file_that_is_there_is_kept(table: str) -> None:
    Path("release.toml").write_text("# mine\n", encoding="utf-8")
    with pytest.raises(ChronodpError, match="a file that is not there yet"):
        CliRunner().invoke(app, ["start", table], catch_exceptions=False)
    start(table, COUNT, "--out", "other.toml")
    assert Path("release.toml").read_text(encoding="utf-8") == "# mine\n"


def test_a_first_line_without_names_is_never_shown(tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("2026-01-01,ann,5\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["start", str(tmp_path / "bare.csv")], input="n\n")
    assert "ann" not in result.output + str(result.exception)
    assert "a table whose columns have names" in str(result.exception)
    result = CliRunner().invoke(app, ["start", str(tmp_path / "none.csv")])
    assert "there is no file" in str(result.exception)
    assert "first line" not in result.output


def test_kinds_of_columns(tmp_path: Path) -> None:
    day = pd.Timestamp("2026-01-01")
    rows = {"a": [day], "b": [day.date()], "c": [1], "d": [1.5], "e": ["x"], "f": [True]}
    pd.DataFrame(rows).to_parquet(tmp_path / "kinds.parquet")
    kinds = {
        column.name: column.kind for column in columns_of(str(tmp_path / "kinds.parquet"), has_names=lambda _: False)
    }
    assert kinds == {"a": "time", "b": "time", "c": "number", "d": "number", "e": "text", "f": "text"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("end", "limit"), [("2026-01-13", "max_periods = 12"), ("2026-03-13", 'find = ["max_periods"]')]
)
def test_a_newcomer_is_given_a_band_that_holds_or_is_told_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, limit: str
) -> None:
    """Most come on one day and some every day: a limit that is found takes nothing from that day and much elsewhere."""
    monkeypatch.chdir(tmp_path)
    days = pd.date_range("2026-01-01", end, inclusive="left")
    every = pd.DataFrame({"at": np.repeat(days, 40), "who": np.tile(np.arange(40), len(days))})
    once = pd.DataFrame({"at": days[5], "who": np.arange(40, 5_000)})
    rows = pd.concat([every, once])
    rows.astype({"who": str}).to_csv("rows.csv", index=False)
    start("rows.csv", ("at", "who", "1D", "2026-01-01", end, "count", "find", "1"))
    written = Path("release.toml").read_text(encoding="utf-8")
    assert limit in written
    assert "missing = 0.05" in written
    run("budget", "open", "release", "--epsilon", "4", "--delta", "1e-6")
    paid = ("--dataset", "release", "--request", "first", "--out", "release.csv")
    shown = run("release", "--config", "release.toml", *paid)
    read = pd.read_csv("release.csv")
    if "find" in limit:
        assert read["lower_all"].isna().all()
        assert "perhaps unevenly: no band for single days" in " ".join(shown.split())
    else:
        truth = rows.groupby("at").size().to_numpy()
        # Of 12 bands of .95 fewer than 6 hold with a chance below 10^-6; a limit that bites would miss every day.
        assert ((read["lower_all"] <= truth) & (truth <= read["upper_all"])).sum() >= 6
        assert "the limits can remove nothing" in " ".join(shown.split())


def written(tmp_path: Path, cells: Sequence[object], form: str) -> str:
    table = pd.DataFrame({"at": list(cells), "who": [f"p{n}" for n in range(len(cells))]})
    if form == "csv":
        table.to_csv(tmp_path / "days.csv", index=False)
    else:
        table.to_parquet(tmp_path / "days.parquet")
    return f"days.{form}"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_format_is_proposed_that_was_seen_to_read_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    tried: list[tuple[list[object], list[str], str | None]] = [
        (["31/01/2026", "02/01/2026"], [], "%d/%m/%Y"),
        (["01/02/2026", "03/01/2026"], ["%m/%d/%Y"], "%m/%d/%Y"),
        ([20260102, 20260103], [], "%Y%m%d"),
        ([1767312000, 1767398400], [], "s"),
        (["2026-01-02", "2026-01-03"], [], None),
        (["garbage", "nothing"], [], None),
    ]
    for number, (cells, more, found) in enumerate(tried):
        start(written(tmp_path, cells, form), [*COUNT, *more], "--out", f"{number}.toml")
        settings = Path(f"{number}.toml").read_text(encoding="utf-8")
        assert ("time_format" in settings) == (found is not None), cells
        assert found is None or f'time_format = "{found}"' in settings, cells
