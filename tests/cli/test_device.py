"""Devices and their collector on the command line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import feed, run

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def send(value: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return feed(value, "device", "send", "plan.json", *arguments)


def test_from_a_plan_to_estimates() -> None:
    told = json.loads(
        run("device", "plan", "mode", "--choices", "4", "--epsilon", "2", "--protocol", "fresh:3", "--json")
    )
    assert told["mechanism"] == "RandomizedResponse"
    assert told["epsilon"] == {"report": 2.0, "same_pattern": 6.0, "any_pattern": 6.0}
    run("device", "start", "plan.json", "--state", "me.json")
    for slot in ("0", "1"):
        assert send("3", "--state", "me.json", "--slot", slot, "--out", "reports.jsonl").returncode == 0
    shown = send("3", "--state", "me.json", "--slot", "2")
    assert json.loads(shown.stdout)["slot"] == 2
    assert send("3", "--state", "me.json", "--slot", "2", "--out", "reports.bin").returncode == 0
    found = json.loads(run("collect", "plan.json", "reports.jsonl", "reports.bin", "--json"))
    assert found["reports"] == 3
    assert len(found["rows"]) == 12


def test_refusals_of_a_device_say_why_and_never_the_value() -> None:
    run("device", "plan", "mode", "--choices", "4", "--epsilon", "2", "--protocol", "fresh:1")
    missing = send("3", "--state", "me.json", "--slot", "0")
    assert missing.returncode == 2
    assert "refused: state: there is none yet" in missing.stderr
    run("device", "start", "plan.json", "--state", "me.json")
    for value, said in (("77", "value: a whole number from 0 to 3"), ("seventy", "value must be a number on standard")):
        refused = send(value, "--state", "me.json", "--slot", "0")
        assert refused.returncode == 2
        assert said in " ".join(refused.stderr.split())
        assert value not in refused.stderr
    assert send("1", "--state", "me.json", "--slot", "0").returncode == 0
    late = send("1", "--state", "me.json", "--slot", "1")
    assert late.returncode == 2
    assert "the plan ends after 1 slots" in late.stderr


def test_a_fleet_is_made_up_counted_in_parts_and_shown(home: Path) -> None:
    said = run("device", "fleet", "town", "--devices", "3000", "--days", "10", "--reports", "2")
    assert "6,000 reports" in said
    files = ("town/plan.json", "town/reports.bin")
    whole = json.loads(run("collect", *files, "--json"))
    assert whole["reports"] == 6000
    for number in ("0", "1"):
        run("collect", *files, "--part", f"{number}/2", "--tally", f"{number}.tally")
    merged = json.loads(run("collect", files[0], "0.tally", "1.tally", "--json"))
    assert [row["value"] for row in merged["rows"]] == [row["value"] for row in whole["rows"]]
    modes = "car,train,bus,bicycle,on foot,at home"
    text = run("collect", *files, "--labels", modes, "--smooth", "auto", "--project", "--out", "table.csv")
    assert "bicycle" in text
    assert (home / "table.csv").read_text(encoding="utf-8").count("\n") == 61


def test_what_is_refused(refuse: Callable[..., str]) -> None:
    for arguments, said in [
        (("device", "plan", "x", "--choices", "1", "--epsilon", "1", "--protocol", "fresh:3"), "choices must be"),
        (("device", "plan", "x", "--epsilon", "1", "--protocol", "fresh:3"), "choices must be given, or clip"),
        (("device", "plan", "x", "--choices", "3", "--epsilon", "1", "--protocol", "often:3"), "protocol must be"),
        (("device", "plan", "x", "--choices", "3", "--epsilon", "1", "--protocol", "slots:3/9"), "reports must be"),
        (("device", "plan", "x", "--choices", "3", "--epsilon", "1", "--protocol", "memoised:9"), "protocol must be"),
        (("device", "plan", "x", "--choices", "3", "--epsilon", "1", "--protocol", "memoised:9/0.5"), "at least"),
        (
            ("device", "plan", "x", "--choices", "3", "--epsilon", "1", "--protocol", "fresh:3", "--out", "no/plan"),
            "exists",
        ),
        (("device", "start", "none.json"), "is no device plan"),
        (("device", "fleet", "town", "--devices", "0"), "devices must be"),
        (("collect", "none.json", "none.bin"), "is no device plan"),
    ]:
        assert said in refuse(*arguments), arguments


def test_collections_that_are_refused(refuse: Callable[..., str]) -> None:
    run("device", "fleet", "town", "--devices", "50", "--days", "5", "--reports", "1")
    files = ("town/plan.json", "town/reports.bin")
    run("collect", *files, "--tally", "all.tally")
    assert "a whole number" in refuse("collect", *files, "--smooth", "week")
    assert "an odd number" in refuse("collect", *files, "--smooth", "4")
    assert "labels must be 6 of them" in refuse("collect", *files, "--labels", "a,b")
    assert "either files of reports or tallies" in refuse("collect", *files, "all.tally")
    assert "counted twice" in refuse("collect", files[0], "all.tally", "all.tally")
    assert "cannot be read" in refuse("collect", files[0], "none.tally")
    assert "slots must be" in refuse("collect", *files, "--slots", "3", "9")
    for option, place in (("--out", "none/table.csv"), ("--tally", "none/0.tally")):
        assert "a file in a folder that exists" in refuse("collect", *files, option, place)
