"""Streams, alerts and comparisons on the command line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import charges, feed, run

pytestmark = pytest.mark.slow
OPENING = (
    *("--dataset", "visits", "--horizon", "50", "--change", "1", "--unit", "event"),
    *("--epsilon", "1", "--delta", "1e-6"),
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run("budget", "open", "visits", "--epsilon", "4", "--delta", "1e-6", "--unit", "event")
    run("budget", "open", "meters", "--epsilon", "4", "--unit", "user")
    return tmp_path


def step(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return feed(text, "stream", "door", *arguments)


def test_values_in_answers_out_and_on_after_a_restart() -> None:
    first = step("3\n4\n5\n", *OPENING)
    assert first.returncode == 0, first.stderr
    lines = first.stdout.splitlines()
    assert lines[0] == "period,value,lower,upper"
    assert [line.split(",")[0] for line in lines[1:]] == ["0", "1", "2"]
    later = step("noon,6\nevening,7\n", "--column", "2", "--json")
    assert [json.loads(line)["period"] for line in later.stdout.splitlines()] == [3, 4]
    again = step("3\n4\n5\n6\n7\n8\n", "--replay")
    assert [line.split(",")[0] for line in again.stdout.splitlines()[1:]] == ["5"]
    assert charges("visits") == 1


def test_a_line_that_is_no_number_is_refused_and_not_repeated() -> None:
    refused = step("3\nzaphod\n", *OPENING)
    assert refused.returncode == 2
    assert "line must be one with a finite number in field 1" in " ".join(refused.stderr.split())
    assert "zaphod" not in refused.stderr
    assert len(refused.stdout.splitlines()) == 2


def test_steps_that_are_left_out_count_as_zero_when_that_is_said() -> None:
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


def test_windows_are_protected_by_sharing_out_their_budget() -> None:
    run("budget", "open", "ward", "--epsilon", "4", "--unit", "window:3")
    opening = ("--dataset", "ward", "--change", "1", "--unit", "window:3", "--epsilon", "1", "--share", "sample")
    first = step("5\n6\n7\n8\n", *opening, "--workload", "each_period")
    assert first.returncode == 0, first.stderr
    assert [line.rsplit(",")[-1] for line in first.stdout.splitlines()] == ["fresh", "True", "False", "False", "True"]
    later = step("9\n", "--json")
    assert json.loads(later.stdout) == {"period": 4, "value": json.loads(later.stdout)["value"], "fresh": False}


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


def test_streams_that_cannot_be_opened() -> None:
    for arguments, said in [
        (("--horizon", "5"), "dataset must be given"),
        ((*OPENING, "--workload", "median"), "workload must be"),
        ((*OPENING, "--unit", "user"), "max_periods is missing"),
        ((*OPENING, "--epsilon", "0"), "epsilon must be"),
    ]:
        refused = step("1\n", *arguments)
        assert refused.returncode == 2, arguments
        assert said in " ".join(refused.stderr.split()), arguments
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


ALERTING = (*("--dataset", "meters", "--above", "500", "--change", "1", "--max-alerts", "3", "--epsilon", "1"),)
PLANNING = ("watch", "--plan", "--quiet", "100", "--loud", "150", "--change", "1", "--max-alerts", "5")


def watch(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return feed(text, "watch", "peak", *arguments)


def test_alerts_come_out_and_go_on_after_a_restart() -> None:
    first = watch("3\n9000\n5\n", *ALERTING)
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
    assert charges("meters") == 1


def test_values_are_told_if_paid_for() -> None:
    told = watch("9000\n", *ALERTING, "--value-epsilon", "0.5", "--noise", "laplace", "--monotone")
    assert float(told.stdout.splitlines()[1].split(",")[1]) == pytest.approx(9000, abs=100)


def test_alerts_that_cannot_be_opened() -> None:
    for arguments, said in [
        (("--above", "5"), "dataset must be given"),
        ((*ALERTING, "--below", "2"), "threshold must be given"),
        ((*ALERTING, "--noise", "gaussian"), "noise must be"),
        ((*ALERTING, "--max-alerts", "0"), "max_alerts must be"),
        ((*ALERTING, "--above", "nan"), "above must be"),
        ((*ALERTING, "--unit", "user/replace", "--monotone"), "monotone must be False"),
    ]:
        refused = watch("1\n", *arguments)
        assert refused.returncode == 2, arguments
        assert said in " ".join(refused.stderr.split()), arguments


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


def test_blank_lines_count_for_nothing_and_no_number_is_too_large() -> None:
    first = watch("1\n\n2\n\n1e400\n", *ALERTING)
    assert [line.split(",")[0] for line in first.stdout.splitlines()[1:]] == ["2"]
    again = watch("1\n\n2\n\n1e400\n3\n", "--replay")
    assert again.stdout.splitlines()[1:] == []
    assert watch("1\n", "--column", "0").returncode == 2
