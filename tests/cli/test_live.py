"""``chronodp live`` as it is run: settings that are refused, lines, a stop by signal, a restart."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from chronodp.cli.live_view import ScreenView
from chronodp.live import Progress
from tests import forkserver
from tests.cli.conftest import charges, run

SETTINGS = """
name = "door"
dataset = "visits"
ledger = "{folder}/budget.db"
unit = "user"
max_periods = 3

[source]
kind = "file"
path = "{folder}/in.jsonl"

[fields]
time = "at"
user = "who"

[windows]
every = "1s"
lateness = "200ms"
start = "{start}"

[stream]
workload = "each_period"
epsilon = 100.0

[[sinks]]
kind = "csv"
path = "{folder}/out.csv"
"""


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    run("budget", "open", "visits", "--epsilon", "1000", "--unit", "user", "--ledger", str(tmp_path / "budget.db"))
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3))
    path = tmp_path / "door.toml"
    path.write_text(SETTINGS.format(folder=tmp_path, start=start), encoding="utf-8")
    return path


def test_windows_are_released_line_by_line_and_a_restart_goes_on(settings: Path) -> None:
    folder = settings.parent
    record = json.dumps({"at": time.time() - 1, "who": "ann"})
    (folder / "in.jsonl").write_text(f"{record}\n{record}\nrubbish\n", encoding="utf-8")
    first = run("live", str(settings), "--windows", "3", "--json")
    rows = [json.loads(line) for line in first.splitlines() if line.startswith("{")]
    assert len(rows) >= 3
    assert [row["window"] for row in rows] == list(range(len(rows)))
    assert sum(round(row["value"]) for row in rows) <= 1
    second = run("live", str(settings), "--windows", "1")
    lines = [line for line in second.splitlines() if not line.startswith("live:")]
    assert lines[0] == "window,time,value,lower,upper"
    assert int(lines[1].split(",")[0]) == len(rows)
    told = (folder / "out.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[0] for line in told[1:]] == [str(number) for number in range(len(told) - 1)]


def test_status_tells_in_words_what_is_waited_for_and_what_is_missing(settings: Path) -> None:
    folder = settings.parent
    assert "has not run yet" in run("live", str(settings), "--status")
    assert json.loads(run("live", str(settings), "--status", "--json")) is None
    (folder / "in.jsonl").write_text('{"at": 1, "who": "ann"}\n', encoding="utf-8")
    run("live", str(settings), "--windows", "1")
    told = run("live", str(settings), "--status")
    assert "waits for nothing but the next window's end" in told
    assert "no gap was noticed" in told
    (folder / "in.jsonl").write_text('{"at": 2, "who": "bo", "more": "than before"}\n', encoding="utf-8")
    out = run("live", str(settings), "--windows", "1")
    assert "live: in.jsonl is another file than the one that was read" in out
    assert "gaps noticed: 1" in out
    assert "in.jsonl is another file than the one that was read" in run("live", str(settings), "--status")
    assert (folder / "budget.db.door.live.status").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_a_clock_that_jumped_is_believed_when_the_owner_says_so(settings: Path) -> None:
    """The state says that the clock showed ten minutes less, beside the same steady one."""
    run("live", str(settings), "--windows", "1")
    state = sqlite3.connect(settings.parent / "budget.db.door.live")
    ((known,),) = state.execute("SELECT content FROM facts WHERE name = 'clock'")
    before = json.loads(known)
    if not before["boot"]:
        pytest.skip("this system names no start of the machine: a stop cannot be told from a jump")
    doubted = json.dumps(before | {"base": before["base"] - 600_000_000})
    with state:
        state.execute("UPDATE facts SET content = ? WHERE name = 'clock'", (doubted,))
    state.close()
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 598))  # by the clock that is believed
    out = run("live", str(settings), "--until", until)
    assert "live: the clock went ahead by 10 min: windows close as if it had not" in out
    assert "goes on with window" in out
    assert "waits: the clock went ahead by 10 min" in run("live", str(settings), "--status")
    assert "the clock went ahead" not in run("live", str(settings), "--windows", "1", "--clock-is-right")
    assert "waits for nothing" in run("live", str(settings), "--status")


@pytest.mark.kill
def test_a_signal_stops_it_with_windows_left_open(settings: Path) -> None:
    code = "import sys; from chronodp.cli import main; sys.argv = ['chronodp', *sys.argv[1:]]; main()"
    process = forkserver.start("-c", code, "live", str(settings), "--json")
    first = json.loads(process.stdout.readline())
    assert first["window"] == 0
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "goes on with window" in errors
    assert "Traceback" not in errors


def test_settings_that_cannot_be_are_named_and_nothing_is_spent(settings: Path, refuse: Callable[..., str]) -> None:
    text = settings.read_text(encoding="utf-8")
    for old, new, named in [
        ('kind = "file"', 'kind = "pigeon"', "source.kind must be one of kafka, mqtt, file"),
        ('kind = "file"', 'kind = "kafka"\nservers = "x:1"', "source.topic must be given"),
        ('user = "who"', "", "user is missing: name the field with the person"),
        ("max_periods = 3", "", "max_periods is missing"),
        ("max_periods = 3", "max_periods = 0", "max_periods must be a whole number"),
        ('every = "1s"', 'every = "soon"', "every must be a period"),
        ('lateness = "200ms"', 'lateness = "5 minutes"', "lateness must be a stretch of time"),
        ("[[sinks]]", '[clock]\njump = "soon"\n[[sinks]]', "jump must be a stretch of time"),
        ("in.jsonl", "", "path must be one file, no folder"),
        ("epsilon = 100.0", "epsilon = -1.0", "epsilon must be a finite number above 0"),
        ("epsilon = 100.0", "epsilon = 100000.0", "needs more than 3000, and at most 1000 fits"),
        ("[[sinks]]", "[alert]\nabove = 5.0\nepsilon = 950.0\n\n[[sinks]]", "this needs 1050"),  # each alone would fit
        ('workload = "each_period"', 'workload = "median"', "workload must be running_total"),
        ('user = "who"', 'user = "who"\nvalue = "kwh"', "measure.clip must be given"),
        ("[[sinks]]", "[metrics]\nport = 'x'\n[[sinks]]", "metrics.port must be a whole number"),
        ("out.csv", "nowhere/out.csv", "path must be a file in a folder that can be written"),
        ('kind = "csv"', 'kind = "fax"', "sinks.kind must be one of kafka, mqtt, csv, parquet"),
        ('dataset = "visits"', 'dataset = "other"', "other"),
        ('unit = "user"', 'unit = "window:24"', "max_periods must be left out"),
    ]:
        assert old in text
        settings.write_text(text.replace(old, new, 1), encoding="utf-8")
        assert named in refuse("live", str(settings)), (old, new)
    assert charges("visits", settings.parent / "budget.db") == 0
    source = 'kind = "kafka"\nservers = "x:1"\ntopic = "t"\noptions = { nonsense = "1" }'
    lines = [line for line in text.splitlines() if "in.jsonl" not in line]
    settings.write_text("\n".join(lines).replace('kind = "file"', source), encoding="utf-8")
    assert "options must be settings that librdkafka knows" in refuse("live", str(settings))


def test_other_settings_for_a_stream_that_runs_are_refused(settings: Path, refuse: Callable[..., str]) -> None:
    run("live", str(settings), "--windows", "1")
    text = settings.read_text(encoding="utf-8")
    settings.write_text(text.replace('user = "who"', 'user = "name"'), encoding="utf-8")
    assert "was opened with another user" in refuse("live", str(settings), "--windows", "1")
    settings.write_text(f"{text}\n[alert]\nabove = 5.0\nepsilon = 1.0\n", encoding="utf-8")
    assert "was opened with another releases" in refuse("live", str(settings), "--windows", "1")


@pytest.mark.slow
def test_a_start_may_be_left_out(settings: Path) -> None:
    text = settings.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("start")]
    settings.write_text("\n".join(lines), encoding="utf-8")
    for number in range(2):
        out = run("live", str(settings), "--windows", "1", "--json")
        rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        assert rows[0]["window"] >= number
        assert (
            abs(time.time() - time.mktime(time.strptime(rows[0]["time"][:19], "%Y-%m-%dT%H:%M:%S")) + time.timezone)
            < 60
        )


def test_the_screen_shows_releases_and_marks_what_is_the_owners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    view = ScreenView("door")
    view.tell([{"window": 4, "time": "now", "value": 12.5, "lower": 11.0, "upper": None}])
    view.say("the brokers cannot be reached; trying again")
    console = Console(width=150, record=True, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    console.print(view._drawing(Progress(next_window=5, share=0.25)))
    view._screen.stop()
    text = console.export_text()
    console.file.close()
    for part in ("12.5", "budget left 75.0%", "for the owner only", "brokers cannot be reached", "next window 5"):
        assert part in text
