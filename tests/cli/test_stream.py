"""Streams and comparisons on the command line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import feed, run

pytestmark = pytest.mark.slow

OPENING = (
    *("--dataset", "visits", "--horizon", "50", "--change", "1", "--unit", "event"),
    *("--epsilon", "1", "--delta", "1e-6"),
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run("budget", "open", "visits", "--epsilon", "4", "--delta", "1e-6", "--unit", "event")
    return tmp_path


def step(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return feed(text, "stream", "door", *arguments)


def test_values_in_answers_out_and_on_after_a_restart(home: Path) -> None:
    first = step("3\n4\n5\n", *OPENING)
    assert first.returncode == 0, first.stderr
    lines = first.stdout.splitlines()
    assert lines[0] == "period,value,lower,upper"
    assert [line.split(",")[0] for line in lines[1:]] == ["0", "1", "2"]
    later = step("noon,6\nevening,7\n", "--column", "2", "--json")
    assert [json.loads(line)["period"] for line in later.stdout.splitlines()] == [3, 4]
    again = step("3\n4\n5\n6\n7\n8\n", "--replay")
    assert [line.split(",")[0] for line in again.stdout.splitlines()[1:]] == ["5"]
    assert json.loads(run("budget", "status", "visits", "--json"))["charges"] == 1
    assert home.exists()


def test_a_line_that_is_no_number_is_refused_and_not_repeated(home: Path) -> None:
    refused = step("3\nzaphod\n", *OPENING)
    assert refused.returncode == 2
    assert "line must be one with a finite number in field 1" in " ".join(refused.stderr.split())
    assert "zaphod" not in refused.stderr
    assert len(refused.stdout.splitlines()) == 2
    assert home.exists()


def test_steps_that_are_left_out_count_as_zero_when_that_is_said(home: Path) -> None:
    refused = step("0,3\n3,4\n", *OPENING, "--period", "1", "--column", "2")
    assert refused.returncode == 2
    assert "leaves out step 1: --missing-as-zero" in " ".join(refused.stderr.split())
    filled = step("3,4\n5,1\n", "--period", "1", "--column", "2", "--missing-as-zero")
    assert [line.split(",")[0] for line in filled.stdout.splitlines()[1:]] == ["1", "2", "3", "4", "5"]
    twice = step("5,1\n", "--period", "1", "--column", "2")
    assert "step 5 was released before" in " ".join(twice.stderr.split())
    again = step("0,3\n3,4\n5,1\n6,2\n", "--period", "1", "--column", "2", "--replay")
    assert [line.split(",")[0] for line in again.stdout.splitlines()[1:]] == ["6"]
    for wrong in ("7.5,1\n", "1e300,1\n", "-1,1\n"):
        refused = step(wrong, "--period", "1", "--column", "2", "--missing-as-zero")
        assert "the whole number of a step" in " ".join(refused.stderr.split())
    assert step("1\n", "--column", "0").returncode == 2
    assert "used with --period" in " ".join(step("1\n", "--missing-as-zero").stderr.split())
    assert home.exists()


def test_windows_are_protected_by_sharing_out_their_budget(home: Path) -> None:
    run("budget", "open", "ward", "--epsilon", "4", "--unit", "window:3")
    opening = ("--dataset", "ward", "--change", "1", "--unit", "window:3", "--epsilon", "1", "--share", "sample")
    first = step("5\n6\n7\n8\n", *opening, "--workload", "each_period")
    assert first.returncode == 0, first.stderr
    assert [line.rsplit(",")[-1] for line in first.stdout.splitlines()] == ["fresh", "True", "False", "False", "True"]
    later = step("9\n", "--json")
    assert json.loads(later.stdout) == {"period": 4, "value": json.loads(later.stdout)["value"], "fresh": False}
    assert home.exists()


def test_rehearsing_shows_every_mechanism(tmp_path: Path, refuse: Callable[..., str]) -> None:
    example = tmp_path / "example.csv"
    example.write_text("day,a,b\n" + "".join(f"d{day},{day % 7},{10 * day}\n" for day in range(40)))
    options = ("--unit", "window:5", "--change", "1", "--epsilon", "1")
    rows = json.loads(run("plan", "--rehearse", str(example), *options, "--delta", "1e-6", "--json"))
    assert len(rows) == 7
    assert [row["rmse"] for row in rows] == sorted(row["rmse"] for row in rows)
    assert "2 series of 40 steps" in run("plan", "--rehearse", str(example), *options)
    assert "can be read" in refuse("plan", "--rehearse", str(tmp_path / "absent.csv"), *options)
    assert "unit must be a window" in refuse("plan", "--rehearse", str(example), *options[2:])
    assert "every must be left out" in refuse("plan", "--rehearse", str(example), *options, "--every", "1h")
    example.write_text("a\nx\n")
    assert "column of numbers" in refuse("plan", "--rehearse", str(example), *options)


def test_streams_that_cannot_be_opened(home: Path) -> None:
    for arguments, said in [
        (("--horizon", "5"), "dataset must be given"),
        ((*OPENING, "--workload", "median"), "workload must be"),
        ((*OPENING, "--unit", "user"), "max_periods is missing"),
        ((*OPENING, "--epsilon", "0"), "epsilon must be"),
    ]:
        refused = step("1\n", *arguments)
        assert refused.returncode == 2, arguments
        assert said in " ".join(refused.stderr.split()), arguments
    assert home.exists()
    for changes, said in [
        (("--unit", "event"), "share must be left out"),
        (("--workload", "running_total"), "workload must be each_period"),
        (("--horizon", "9"), "horizon must be left out"),
        (("--share", "fair"), "share must be one of uniform, sample"),
    ]:
        opening = ("--dataset", "visits", "--change", "1", "--unit", "window:3", "--epsilon", "1", "--share", "sample")
        refused = step("1\n", *opening, "--workload", "each_period", *changes)
        assert refused.returncode == 2, changes
        assert said in " ".join(refused.stderr.split()), changes
    assert home.exists()


def test_compare_shows_every_shape_and_the_limit(refuse: Callable[..., str]) -> None:
    asked = ("plan", "--unit", "event", "--epsilon", "1", "--compare")
    rows = json.loads(run(*asked, "running_total", "--horizon", "2048", "--delta", "1e-6", "--json"))
    errors = [row["rmse_mean"] for row in rows]
    assert errors == sorted(errors)
    assert rows[0]["rmse_mean"] < 1.08 * rows[0]["limit"]
    assert {"shape", "noise", "rmse_mean", "rmse_max", "limit", "memory"} <= rows[0].keys()
    assert "white noise" in run(*asked, "rolling:7", "--horizon", "100")
    assert "compare must be" in refuse(*asked, "rolling:x", "--horizon", "10")
    assert "horizon must be given" in refuse(*asked, "rolling:7")
    assert "data must be left out" in refuse("plan", "x.csv", *asked[1:], "rolling:7", "--horizon", "10")
    assert "horizon must be left out" in refuse("plan", "--horizon", "10")
