"""Kill -9 at named gaps and at any moment: every window once, debits equal releases, nothing lost, nothing doubled."""

from __future__ import annotations

import csv
import json
import random
import signal
import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chronodp import Ledger
from chronodp.live import ScaledClock, SystemClock
from tests import forkserver
from tests.conftest import Trials
from tests.live.brokers import kafka_cluster
from tests.live.examples import at
from tests.live.victim import limits_of
from tests.live.victims import prepare_people, run_people

POINTS = (
    "counted",
    "state committed",
    "source confirmed",
    "step written",
    "step committed",
    "stepped",
    "settled",
    "told",
)
OPENINGS = (
    *("stream written", "stream committed"),  # of the stream
    *("stream written", "stream committed"),  # of the alert
    "clock written",
)


def start(told: dict[str, Any], point: str = "", count: int = 0) -> forkserver.Program:
    return forkserver.start("-m", "tests.live.victim", json.dumps(told), point, str(count))


class Sender(threading.Thread):
    """Sends the records of each window while the public clock is in it, and some of the next one early."""

    def __init__(self, producer: Any, told: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self.producer, self.told = producer, told
        self.sent: Counter[int] = Counter()
        self.stop = False

    def run(self) -> None:
        limits, chance = limits_of(self.told), random.Random(5)
        clock = ScaledClock(limits.windows.begins(0), self.told["speed"], self.told["begun"])
        for window in range(self.told["windows"]):
            while clock.now() < limits.windows.begins(window):
                time.sleep(0.005)
            if self.stop:
                return
            for _ in range(chance.randint(1, 40)):
                dated = min(window + chance.randint(0, 2), self.told["windows"] - 1)
                record = {"at": at(limits, dated, offset=chance.random()), "who": f"p{chance.randint(0, 9)}"}
                self.producer.produce("visits", json.dumps(record), partition=chance.randint(0, 3))
                self.sent[dated] += 1
            self.producer.produce("visits", b"\xff poison", partition=0)
            self.producer.flush(10)


@pytest.mark.kill
def test_every_window_is_released_once_whenever_the_process_dies(tmp_path: Path, trials: Trials) -> None:
    kills = trials(100, least=len(OPENINGS) + len(POINTS) + 1)
    producer, servers = kafka_cluster()
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("visits", unit=limits_of({"windows": 1}).unit, epsilon=1e9)
    told = {"folder": str(tmp_path), "servers": servers, "windows": 100_000, "speed": 5.0}
    told["begun"] = SystemClock().now()
    sender = Sender(producer, told)
    sender.start()
    chance = random.Random(11)
    for number in range(kills):
        point = OPENINGS[number] if number < len(OPENINGS) else (*POINTS, "")[number % (len(POINTS) + 1)]
        victim = start(told, point, chance.randint(1, 3) if point in POINTS else 1)
        if not point:
            time.sleep(chance.uniform(0.5, 2.0))
            victim.kill()
        _, errors = victim.communicate(timeout=60)
        assert victim.returncode == -signal.SIGKILL, errors
    sender.stop = True
    sender.join(30)
    windows = max(sender.sent) + 1
    last = start({**told, "enough": windows})
    _, errors = last.communicate(timeout=60)
    assert last.returncode == 0, errors
    check(tmp_path, windows, sender.sent)


def check(folder: Path, windows: int, sent: Counter[int]) -> None:
    with Ledger(folder / "budget.db") as ledger:
        released = ledger.released_steps("live")
        charges = ledger.history("visits")
    assert sorted(entry.purpose for entry in charges) == ["live", "live.alert"]  # one debit for each, whatever died
    assert len(released) >= windows
    with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["window"]) for row in rows] == list(range(len(released)))
    totals = {int(row["window"]): round(float(row["value"])) for row in rows}
    assert totals == {window: sent[window] for window in range(len(released))}
    alarms = {int(row["window"]) for row in rows if row["alert"] == "True"}
    assert alarms == {window for window, total in totals.items() if total >= 25}
    announced = [json.loads(line) for line in (folder / "told.txt").read_text(encoding="utf-8").splitlines()]
    seen = Counter(row["window"] for row in announced)
    assert set(seen.values()) == {1}
    for row in announced:
        assert float(rows[row["window"]]["value"]) == row["value"]


def check_people(folder: Path, totals: list[int]) -> None:
    with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(int(row["window"]), round(float(row["value"]))) for row in rows] == list(enumerate(totals))
    with Ledger(folder / "budget.db") as ledger:
        assert [entry.purpose for entry in ledger.history("web")] == ["people"]
    told = {float(row["value"]) for row in rows}
    for line in (folder / "told.txt").read_text(encoding="utf-8").splitlines():
        assert json.loads(line)[0]["value"] in told  # what was told before a kill has the noise that is on disk


@pytest.mark.slow
def test_people_count_in_their_first_windows_over_restarts(tmp_path: Path) -> None:
    totals = prepare_people(tmp_path)
    for until in (1, 2, 5, 6, 11, 20, 21, 30):
        run_people(tmp_path, lambda _: None, until=until)
    check_people(tmp_path, totals)
    with closing(sqlite3.connect(tmp_path / "live.db")) as database:
        assert database.execute("SELECT count(*) FROM people").fetchone() == (1,)  # everything was written at times


@pytest.mark.kill
def test_people_count_in_their_first_windows_whatever_dies(tmp_path: Path, trials: Trials) -> None:
    totals = prepare_people(tmp_path)
    chance = random.Random(6)
    points = (*POINTS, "people written")
    for number in range(trials(60, least=len(points))):
        point = points[number % len(points)]
        died = forkserver.run("-m", "tests.live.victims", "people", str(tmp_path), point, str(chance.randint(1, 2)))
        assert died.returncode in (-signal.SIGKILL, 0), died.stderr
    last = forkserver.run("-m", "tests.live.victims", "people", str(tmp_path), "", "0")
    assert last.returncode == 0, last.stderr
    check_people(tmp_path, totals)
