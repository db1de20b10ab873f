"""``chronodp live`` with keys that nobody declared: lines, a sink, a restart, and settings that are refused."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import charges, run

SETTINGS = """
name = "pages"
dataset = "web"
ledger = "{folder}/budget.db"
unit = "user"

[source]
kind = "file"
path = "{folder}/in.jsonl"

[fields]
time = "at"
user = "who"
group = "page"

[windows]
every = "1s"
lateness = "200ms"
start = "{start}"
horizon = 6

[measure]
discover = {{max_keys = 2, looks = 3}}

[stream]
epsilon = 100.0
delta = 1e-3

[[sinks]]
kind = "csv"
path = "{folder}/out.csv"
"""


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    ledger = str(tmp_path / "budget.db")
    run("budget", "open", "web", "--epsilon", "200", "--delta", "2e-3", "--reserve", "1e-3", "--ledger", ledger)
    begin = time.time() - 3
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin))
    records = [{"at": int(begin) + 1.5, "who": f"p{number}", "page": "/home"} for number in range(200)]
    records.append({"at": int(begin) + 1.5, "who": "p0", "page": "/secret"})
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    path = tmp_path / "pages.toml"
    path.write_text(SETTINGS.format(folder=tmp_path, start=start), encoding="utf-8")
    return path


@pytest.mark.slow
def test_found_keys_are_told_line_by_line_and_in_sinks(settings: Path) -> None:
    first = run("live", str(settings), "--windows", "2", "--json")
    second = run("live", str(settings), "--json")
    rows = [json.loads(line) for line in (first + second).splitlines() if line.startswith("{")]
    assert {row["group"] for row in rows} == {"/home"}
    assert [row["window"] for row in rows] == [1, 3, 5]
    assert all(abs(row["value"] - 200) < 5 and row["lower"] < row["value"] < row["upper"] for row in rows)
    assert "/secret" not in first + second
    lines = (settings.parent / "out.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "window,time,group,until,value,lower,upper"
    assert [line.split(",")[2] for line in lines[1:]] == ["/home"] * 3
    assert charges("web", settings.parent / "budget.db") == 1


def test_settings_that_cannot_be_are_named_and_nothing_is_spent(settings: Path, refuse: Callable[..., str]) -> None:
    text = settings.read_text(encoding="utf-8")
    for old, new, named in [
        ("max_keys = 2, ", "", "max_keys is missing"),
        ("max_keys = 2", "max_groups = 2", "max_keys is missing"),
        ("looks = 3", "looks = 7", "looks must be"),
        ("looks = 3", "delta = 1e-3", "below delta"),
        ('group = "page"', "", "fields.group must be"),
        ('user = "who"', "", "fields.user must be"),
        ('user = "who"', 'user = "who"\nvalue = "kwh"', "fields.value must be left out with discover"),
        ("horizon = 6", "", "horizon is missing"),
        ('unit = "user"', 'unit = "user"\nmax_periods = 3', "max_periods must be left out with discover"),
        ('unit = "user"', 'unit = "window:24"', "unit must be"),
        ("delta = 1e-3", "", "stream.delta must be given"),
        ("epsilon = 100.0", 'epsilon = 100.0\nworkload = "running_total"', "stream.workload must be left out"),
        ("[measure]", "[measure]\nat_most = 2", "measure.at_most must be left out with discover"),
        ("[[sinks]]", "[alert]\nabove = 5.0\nepsilon = 1.0\n\n[[sinks]]", "alert must be left out with discover"),
        ("delta = 1e-3", "delta = 1e-2", "this needs more than 0.003"),
    ]:
        assert old in text
        settings.write_text(text.replace(old, new, 1), encoding="utf-8")
        assert named in refuse("live", str(settings)), (old, new)
    assert charges("web", settings.parent / "budget.db") == 0


def test_another_number_of_looks_is_refused_once_it_runs(settings: Path, refuse: Callable[..., str]) -> None:
    run("live", str(settings), "--windows", "1")
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace("looks = 3", "looks = 2"), encoding="utf-8")
    assert "was opened with another looks" in refuse("live", str(settings), "--windows", "1")
    settings.write_text(text.replace('group = "page"', 'group = "path"'), encoding="utf-8")
    assert "was opened with another group" in refuse("live", str(settings), "--windows", "1")
