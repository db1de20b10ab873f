"""Kill -9 of drivers in named gaps, of an executor and of a Java: every window is released once, and nothing lost."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chronodp import Ledger
from tests import forkserver
from tests.conftest import SCALE, Trials
from tests.engines.cluster import Cluster, door
from tests.live.epochs import lay_out, ledger_of, run_in_one_process
from tests.live.spark_victim import kill_case, open_all

POINTS = ("closing written", "step committed", "stepped", "step written", "settled", "told")
FEW = 20  # windows: the first victim closes at most eight, the others two each


class Drivers:
    """Starts drivers of one stream, and sees them die."""

    def __init__(self, folder: Path, windows: int) -> None:
        self._folder, self._windows = folder, windows

    def start(
        self, point: str = "", count: int = 0, *, master: str = "", within: Mapping[str, str] | None = None
    ) -> forkserver.Program:
        """Start one with a Java of its own on a cluster, or one within a Java that is there."""
        words = (str(self._folder), master, point, str(count), str(self._windows))
        return forkserver.start("-m", "tests.live.spark_victim", *words, environment=dict(within or {}))

    def see_dead(self, victim: forkserver.Program) -> None:
        _, errors = victim.communicate(timeout=600)
        assert victim.returncode == -signal.SIGKILL, errors[-2000:]

    def see_done(self, driver: forkserver.Program) -> None:
        _, errors = driver.communicate(timeout=600)
        assert driver.returncode == 0, errors[-2000:]

    def kill_an_executor(self, driver: forkserver.Program, cluster: Cluster) -> None:
        """Kill one while windows are closed."""
        before = self._told()
        while self._told() < before + 2:
            assert Path(f"/proc/{driver.pid}").exists(), driver.communicate()[1]
            time.sleep(0.05)
        os.kill(cluster.executors()[0], signal.SIGKILL)

    def _told(self) -> int:
        told = self._folder / "told.txt"
        return len(told.read_text(encoding="utf-8").splitlines()) if told.exists() else 0


def kill_few(drivers: Drivers, spark: Any, cluster: Cluster) -> None:
    """Kill a driver at every point; the first with an executor before it, and its Java after it.

    What drivers have written is the same if they share a Java, which takes longer to start than they run. Those after
    the first use that of the session, whose tasks run in its own process.
    """
    victim = drivers.start(POINTS[0], 4, within=cluster.driver().environment)
    drivers.kill_an_executor(victim, cluster)
    drivers.see_dead(victim)
    cluster.end_driver()
    with door(spark) as within:
        for point in POINTS[1:]:
            drivers.see_dead(drivers.start(point, 1, within=within))
        drivers.see_done(drivers.start(within=within))


def kill_many(drivers: Drivers, cluster: Cluster, kills: int, chance: random.Random) -> None:
    """Kill drivers that have a Java and two executors each, and at last an executor."""
    cluster.end_driver()
    for number in range(kills):
        drivers.see_dead(drivers.start(POINTS[number % len(POINTS)], chance.randint(1, 2), master=cluster.master))
    last = drivers.start(master=cluster.master)
    drivers.kill_an_executor(last, cluster)
    drivers.see_done(last)


def test_every_window_is_released_once_whichever_process_dies(
    spark: Any, spark_cluster: Cluster, tmp_path: Path, trials: Trials
) -> None:
    kills = trials(18)
    windows = 4 * kills + 6 if SCALE >= 1 else FEW  # one of many victims closes at most four before it dies
    case = kill_case(windows)
    (tmp_path / "alone").mkdir()
    alone, _ = run_in_one_process(tmp_path / "alone", case, open_all=open_all)
    lay_out(tmp_path, case)
    ledger_of(tmp_path, case).close_connection()
    drivers = Drivers(tmp_path, windows)
    if SCALE >= 1:
        kill_many(drivers, spark_cluster, kills, random.Random(2))
    else:
        kill_few(drivers, spark, spark_cluster)
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
