"""Alerts on the command line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import feed, run

pytestmark = pytest.mark.slow

OPENING = (*("--dataset", "meters", "--above", "500", "--change", "1", "--max-alerts", "3", "--epsilon", "1"),)
PLANNING = ("watch", "--plan", "--quiet", "100", "--loud", "150", "--change", "1", "--max-alerts", "5")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run("budget", "open", "meters", "--epsilon", "4", "--unit", "user")
    return tmp_path


def watch(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return feed(text, "watch", "peak", *arguments)


def test_alerts_come_out_and_go_on_after_a_restart(home: Path) -> None:
    first = watch("3\n9000\n5\n", *OPENING)
    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines() == ["period,value", "1,"]
    later = watch("noon,6\nevening,7000\n", "--column", "2", "--json")
    assert [json.loads(line) for line in later.stdout.splitlines()] == [{"period": 4, "value": None}]
    again = watch("3\n9000\n5\n6\n7000\n1\n8000\n9999\n", "--replay")
    assert again.stdout.splitlines() == ["period,value", "6,"]
    assert "halted: all 3 alerts" in again.stderr
    assert again.returncode == 0
    halted = watch("1\n")
    assert halted.returncode == 2
    assert "halted for good" in " ".join(halted.stderr.split())
    assert json.loads(run("budget", "status", "meters", "--json"))["charges"] == 1
    assert home.exists()


def test_values_are_told_if_paid_for(home: Path) -> None:
    told = watch("9000\n", *OPENING, "--value-epsilon", "0.5", "--noise", "laplace", "--monotone")
    assert float(told.stdout.splitlines()[1].split(",")[1]) == pytest.approx(9000, abs=100)
    assert home.exists()


def test_a_line_that_is_no_number_is_refused_and_not_repeated(home: Path) -> None:
    refused = watch("3\nzaphod\n", *OPENING)
    assert refused.returncode == 2
    assert "line must be one with a finite number in field 1" in " ".join(refused.stderr.split())
    assert "zaphod" not in refused.stderr
    assert home.exists()


def test_alerts_that_cannot_be_opened(home: Path) -> None:
    for arguments, said in [
        (("--above", "5"), "dataset must be given"),
        ((*OPENING, "--below", "2"), "threshold must be given"),
        ((*OPENING, "--noise", "gaussian"), "noise must be"),
        ((*OPENING, "--max-alerts", "0"), "max_alerts must be"),
        ((*OPENING, "--above", "nan"), "above must be"),
        ((*OPENING, "--unit", "user/replace", "--monotone"), "monotone must be False"),
    ]:
        refused = watch("1\n", *arguments)
        assert refused.returncode == 2, arguments
        assert said in " ".join(refused.stderr.split()), arguments
    assert home.exists()


def test_plans_are_free(refuse: Callable[..., str]) -> None:
    figures = json.loads(run(*PLANNING, "--power", "0.6", "--json"))
    assert figures["epsilon"] == pytest.approx(0.9953, abs=1e-4)
    assert figures["power"] >= 0.6
    assert figures["false_alarms"] <= 0.01 * (1 + 1e-4)
    assert "Delay" in run(*PLANNING)
    for arguments, said in (
        ((*PLANNING, "--power", "0.001"), "power must be above"),
        ((*PLANNING, "--above", "200"), "above must be between quiet (100) and loud (150)"),
        ((*PLANNING, "--below", "120"), "below must be left out: loud values lie above quiet ones"),
        ((*PLANNING, "--epsilon", "1"), "epsilon must be left out"),
        (PLANNING[:4], "loud must be given"),
        (PLANNING[:6], "change must be given"),
        (("watch", "--quiet", "1"), "quiet must be left out"),
        (("watch",), "name must be"),
    ):
        assert said in refuse(*arguments), arguments


def test_blank_lines_count_for_nothing_and_no_number_is_too_large(home: Path) -> None:
    first = watch("1\n\n2\n\n1e400\n", *OPENING)
    assert [line.split(",")[0] for line in first.stdout.splitlines()[1:]] == ["2"]
    again = watch("1\n\n2\n\n1e400\n3\n", "--replay")
    assert again.stdout.splitlines()[1:] == []
    assert watch("1\n", "--column", "0").returncode == 2
    assert home.exists()
