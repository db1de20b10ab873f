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
from pyarrow import parquet

from chronodp import Event, Ledger, User, UserPeriod, Window
from chronodp.errors import InvalidArgument, MissingBound, StreamConflict
from chronodp.live import Fields, KeyLimits, Reader, ScaledClock, SystemClock, Windows, terms_of
from chronodp.live.window_counts import WindowCounts
from chronodp.live.window_keys import WindowKeys
from chronodp.live.window_totals import Part
from tests import forkserver
from tests.conftest import Trials
from tests.live.brokers import kafka_cluster
from tests.live.examples import at
from tests.live.victim import limits_of
from tests.live.victims import KEYS, prepare_keys, prepare_people, run_keys, run_people

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


HOURS = Windows("1h", "2026-01-01", count=48)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unbroken")
    prepare_keys(folder)
    figures = run_keys(folder, lambda _: None).progress.owner
    assert (figures.counted, figures.elsewhere, figures.malformed) == (24 * 120, 24, 1)
    return folder


def rows_of(folder: Path) -> list[dict[str, str]]:
    with (folder / "out.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_keys_are_told_at_looks_with_their_past(unbroken: Path) -> None:
    rows = rows_of(unbroken)
    assert list(rows[0]) == ["window", "time", "group", "until", "value", "lower", "upper"]
    looks = [2, 5, 8, 11, 14, 17, 20, 23]
    assert {int(row["window"]) for row in rows} <= set(looks)
    labels = {KEYS.windows.label(look): look for look in looks}
    told: dict[str, int] = {}
    for row in rows:
        window, until = int(row["window"]), labels[row["until"]]
        first = told.setdefault(row["group"], window)
        assert window in (until, first)  # the past comes with the first telling
    assert len(told) >= 3
    for key, first in told.items():
        counted = [(int(row["window"]), labels[row["until"]]) for row in rows if row["group"] == key]
        past = [(first, look) for look in looks if look <= first]
        assert counted == past + [(look, look) for look in looks if look > first]
    assert "x" * 300 not in told
    table = parquet.read_table(unbroken / "out").to_pylist()
    assert [(row["window"], row["group"], row["until"]) for row in table] == [
        (int(row["window"]), row["group"], row["until"]) for row in rows
    ]


@pytest.mark.slow
def test_a_restarted_stream_tells_the_same(unbroken: Path, tmp_path: Path) -> None:
    prepare_keys(tmp_path)
    for until in (1, 2, 7, 8, 9, 20, 24, 24):
        run_keys(tmp_path, lambda _: None, until=until)
    assert (tmp_path / "out.csv").read_bytes() == (unbroken / "out.csv").read_bytes()
    assert (tmp_path / "told.txt").read_bytes() == (unbroken / "told.txt").read_bytes()


@pytest.mark.kill
def test_a_killed_stream_tells_the_same_keys_in_the_same_windows(
    unbroken: Path, tmp_path: Path, trials: Trials
) -> None:
    prepare_keys(tmp_path)
    chance = random.Random(4)
    for number in range(trials(60, least=len(POINTS))):
        point = POINTS[number % len(POINTS)]
        died = forkserver.run("-m", "tests.live.victims", "keys", str(tmp_path), point, str(chance.randint(1, 2)))
        assert died.returncode in (-signal.SIGKILL, 0), died.stderr
    last = forkserver.run("-m", "tests.live.victims", "keys", str(tmp_path), "", "0")
    assert last.returncode == 0, last.stderr
    assert (tmp_path / "out.csv").read_bytes() == (unbroken / "out.csv").read_bytes()
    announced = (tmp_path / "told.txt").read_text(encoding="utf-8").splitlines()
    assert len(set(announced)) == len(announced)
    assert set(announced) <= set((unbroken / "told.txt").read_text(encoding="utf-8").splitlines())


def test_nothing_public_depends_on_what_was_not_told(unbroken: Path, tmp_path: Path) -> None:
    """Keys that are not told change no public figure: their number is private."""
    prepare_keys(tmp_path)
    extra = [
        {"at": KEYS.windows.begins(3) / 1e6, "who": f"new {number}", "page": f"/rare/{number}"} for number in range(300)
    ]
    with (tmp_path / "in.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in extra)
    live = run_keys(tmp_path, lambda _: None)
    progress: dict[str, Any] = {
        name: getattr(live.progress, name) for name in ("closed", "releases", "alerts", "share")
    }
    assert progress["closed"] == 24
    assert progress["releases"] == len(rows_of(tmp_path)) == len(rows_of(unbroken))
    assert (tmp_path / "out.csv").read_bytes() == (unbroken / "out.csv").read_bytes()


def test_windows_hold_pairs_whatever_the_order() -> None:
    limits = KeyLimits(User(), HOURS, max_keys=3)
    reader = Reader(Fields("at", user="who", group="page"), longest=5)
    begin = HOURS.begins(0) / 1e6
    lines = [
        json.dumps({"at": begin + hour * 3600, "who": who, "page": page}).encode()
        for hour, who, page in (
            *(
                (0, "ann", "/a"),
                (0, "ann", "/a"),
                (0, "bo", "/a"),
                (0, "bo", "toolong"),
                (1, "ann", "/b"),
                (0, "bo", "ééé"),
            ),
            *((60, "ann", "/late"), (0, "cy", "é")),
        )
    ]
    found = []
    for order in (lines, lines[::-1]):
        tally = WindowKeys(limits, bytes(32))
        parts: list[Part] = []
        for line in order:
            counted, more = tally.add(reader.read([line]), first=0, last=5)
            parts += more
        again = WindowKeys(limits, bytes(32))
        for part in parts:
            again.restore(part)
        assert tally.entries == again.entries == 4
        closing = tally.closing(0, WindowCounts().of)
        assert closing == again.closing(0, WindowCounts().of)
        assert sorted(key for _, key in closing.pairs) == ["/a", "/a", "é"]
        assert "ann" not in str(closing)
        tally.forget(1)
        assert tally.entries == 1
        found.append(closing)
    assert found[0] == found[1]
    counted, _ = WindowKeys(limits, bytes(32)).add(reader.read(lines), first=0, last=5)
    assert (counted.taken, counted.elsewhere) == (5, 3)


def test_limits_that_are_not_argued_are_refused() -> None:
    day = UserPeriod("1D", timezone="UTC")
    assert KeyLimits(day, HOURS, max_groups=2).touched == 24
    assert KeyLimits(day, HOURS, max_groups=2).design(epsilon=1.0, delta=1e-6).moved == 48
    assert KeyLimits(Event(), HOURS).design(epsilon=1.0, delta=1e-6).moved == 1
    with pytest.raises(MissingBound, match="horizon"):
        KeyLimits(User(), Windows("1h", "2026-01-01"), max_keys=3)
    with pytest.raises(MissingBound, match="max_keys"):
        KeyLimits(User(), HOURS)
    with pytest.raises(InvalidArgument, match="unit"):
        KeyLimits(Window(3, every="1h"), HOURS)
    with pytest.raises(InvalidArgument, match=r"every.*none lies across borders"):
        KeyLimits(day, Windows("7h", "2026-01-01", count=48), max_groups=2)
    terms = json.loads(terms_of(KEYS, dataset="web"))
    assert (terms["max_keys"], terms["looks"], terms["dataset"]) == (3, 8, "web")


def test_other_terms_are_refused(tmp_path: Path) -> None:
    prepare_keys(tmp_path)
    run_keys(tmp_path, lambda _: None, until=2)
    other = KeyLimits(User(), KEYS.windows, max_keys=4, looks=8)
    with pytest.raises(StreamConflict, match="another max_keys"):
        run_keys(tmp_path, lambda _: None, until=3, limits=other)
