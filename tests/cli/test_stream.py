"""Streams and comparisons on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import run

OPENING = (
    *("--dataset", "visits", "--horizon", "50", "--change", "1", "--unit", "event"),
    *("--epsilon", "1", "--delta", "1e-6"),
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run("budget", "open", "visits", "--epsilon", "4", "--delta", "1e-6", "--unit", "event")
    return tmp_path


def feed(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from chronodp.cli import main; main()", "stream", "door", *arguments]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=False)


def test_values_in_answers_out_and_on_after_a_restart(home: Path) -> None:
    first = feed("3\n4\n5\n", *OPENING)
    assert first.returncode == 0, first.stderr
    lines = first.stdout.splitlines()
    assert lines[0] == "period,value,lower,upper"
    assert [line.split(",")[0] for line in lines[1:]] == ["0", "1", "2"]
    later = feed("noon,6\nevening,7\n", "--column", "2", "--json")
    assert [json.loads(line)["period"] for line in later.stdout.splitlines()] == [3, 4]
    again = feed("3\n4\n5\n6\n7\n8\n", "--replay")
    assert [line.split(",")[0] for line in again.stdout.splitlines()[1:]] == ["5"]
    assert json.loads(run("budget", "status", "visits", "--json"))["charges"] == 1
    assert home.exists()


def test_a_line_that_is_no_number_is_refused_and_not_repeated(home: Path) -> None:
    refused = feed("3\nzaphod\n", *OPENING)
    assert refused.returncode == 2
    assert "line must be a finite number in field 1" in " ".join(refused.stderr.split())
    assert "zaphod" not in refused.stderr
    assert len(refused.stdout.splitlines()) == 2
    assert home.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--horizon", "5"), "dataset must be given"),
        ((*OPENING, "--workload", "median"), "workload must be"),
        ((*OPENING, "--unit", "user"), "max_periods is missing"),
        ((*OPENING, "--epsilon", "0"), "epsilon must be"),
    ],
)
def test_streams_that_cannot_be_opened(arguments: tuple[str, ...], said: str, home: Path) -> None:
    refused = feed("1\n", *arguments)
    assert refused.returncode == 2
    assert said in " ".join(refused.stderr.split())
    assert home.exists()


def test_compare_shows_every_shape_and_the_limit(refuse: Callable[..., str]) -> None:
    rows = json.loads(
        run("compare", "running_total", "--horizon", "2048", "--epsilon", "1", "--delta", "1e-6", "--json")
    )
    errors = [row["rmse_mean"] for row in rows]
    assert errors == sorted(errors)
    assert rows[0]["rmse_mean"] < 1.08 * rows[0]["limit"]
    assert {"shape", "noise", "rmse_mean", "rmse_max", "limit", "memory"} <= rows[0].keys()
    assert "white noise" in run("compare", "rolling:7", "--horizon", "100", "--epsilon", "1")
    assert "workload must be" in refuse("compare", "rolling:x", "--horizon", "10", "--epsilon", "1")
