"""``chronodp live`` with a table ``[spark]``: the same releases, a restart, and what is refused before it pays."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chronodp import Ledger
from tests.cli.conftest import run
from tests.cli.test_live import SETTINGS


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    run("budget", "open", "visits", "--epsilon", "1000", "--unit", "user", "--ledger", str(tmp_path / "budget.db"))
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3))
    (tmp_path / "in.jsonl").mkdir()  # what one process reads as a file, Spark follows as a folder
    path = tmp_path / "door.toml"
    checkpoint = f'\n[spark]\ncheckpoint = "{tmp_path}/checkpoint"\npartitions = 2\nevery = "200ms"\n'
    path.write_text(SETTINGS.format(folder=tmp_path, start=start) + checkpoint, encoding="utf-8")
    return path


def windows_of(told: str) -> list[int]:
    return [json.loads(line)["window"] for line in told.splitlines() if line.startswith("{")]


def test_windows_are_released_by_spark_and_a_restart_goes_on(settings: Path, spark: Any) -> None:
    folder = settings.parent
    record = json.dumps({"at": time.time() - 1, "who": "ann"})
    (folder / "in.jsonl" / "first.jsonl").write_text(f"{record}\n{record}\nrubbish\n", encoding="utf-8")
    first = windows_of(run("live", str(settings), "--windows", "3", "--json"))
    assert len(first) >= 3
    second = windows_of(run("live", str(settings), "--windows", "1", "--json"))
    assert first + second == list(range(len(first) + len(second)))
    told = (folder / "out.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [int(line.split(",")[0]) for line in told] == first + second
    assert sum(round(float(line.split(",")[2])) for line in told) in (0, 1)  # ann, unless her window had closed
    with Ledger(folder / "budget.db") as ledger:
        assert len(ledger.history("visits")) == 1  # paid once, when the stream opened
    assert spark.streams.active == []


def test_what_spark_cannot_run_is_refused_before_it_pays(settings: Path, refuse: Callable[..., str]) -> None:
    text = settings.read_text(encoding="utf-8")
    for written, instead, allowed in [
        ('kind = "file"\npath = ', 'kind = "mqtt"\ntopic = "t"\nhost = ', "file with [spark]"),
        ('kind = "file"', 'kind = "file"\nlayout = "csv"', "a line is a record"),
        ("in.jsonl", "nowhere", "a folder with [spark]"),
        ('every = "200ms"', 'every = "often"', "every"),
        ("partitions = 2", "partitions = 0", "a whole number of at least 1"),
        ("checkpoint = ", "folder = ", "checkpoint"),
    ]:
        assert written in text
        settings.write_text(text.replace(written, instead), encoding="utf-8")
        assert allowed in refuse("live", str(settings)), instead
    with Ledger(settings.parent / "budget.db") as ledger:
        assert not ledger.history("visits")
