"""Kill -9 of drivers in named gaps, of an executor and of a Java: every window is released once, and nothing lost."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import signal
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp
from chronodp import Ledger
from chronodp.errors import InvalidArgument, StreamConflict, UnsuitableColumn
from chronodp.live import Live, LiveOnSpark, Reader, State
from chronodp.live.clock_guard import ClockGuard
from chronodp.live.sources import FileSource
from chronodp.live.structured_streaming.ticks import Ticks
from tests import forkserver
from tests.conftest import SCALE, Trials
from tests.engines.cluster import Cluster, door
from tests.live.epochs import KEY, Case, EpochClock, all_limits, lay_out, ledger_of, random_case, run_in_one_process
from tests.live.examples import NAME, SetClock
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


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "release-from-spark.md"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_page_runs(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    meters = spark.range(500).selectExpr(
        "CAST(timestamp_seconds(1767225600 + 3600 * id) AS TIMESTAMP) AS read_at",
        "concat('meter ', id % 20) AS meter_id",
        "CAST(id % 7 AS DOUBLE) AS kwh",
        "IF(id % 2 = 0, 'north', 'south') AS region",
    )
    folder = str(tmp_path / "meters")
    meters.write.parquet(folder)
    meters.createOrReplaceTempView("meters")
    ledger = cdp.Ledger(tmp_path / "budget.db")
    ledger.open("meters", unit=cdp.User(), epsilon=4.0, delta=1e-6)
    names: dict[str, Any] = {"spark": spark, "folder": folder, "ledger": ledger, "released": []}
    names["checkpoint"] = str(tmp_path / "checkpoint")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        exec(block, names)
    assert len(names["release"].to_pandas()) == 31 * 24 * 2
    assert names["named"].count().plan(epsilon=1.0).origin.source
    assert [row["window"] for row in names["released"]] == list(range(24))
    assert len(ledger.history("meters")) == 2


LIMITS = list(all_limits(skew="1D"))


def spark_stream(
    folder: Path, case: Case, ledger: Any, state: State, messages: Any, *, streams: Any, **more: Any
) -> LiveOnSpark:
    settings: dict[str, Any] = {
        "messages": messages,
        "fields": case.fields,
        "checkpoint": str(folder / "checkpoint"),
        "streams": streams,
        "state": state,
        "key": KEY,
        "ledger": ledger,
        "dataset": "visits",
        "partitions": 2,
    }
    return LiveOnSpark(case.limits, **settings | more)


def run_on_spark(spark: Any, folder: Path, case: Case) -> tuple[list[Any], Any]:
    rows: list[Any] = []
    lay_out(folder, case)
    clock = EpochClock(folder, case)
    reader = Reader(case.fields, groups=case.limits.groups)
    batches = [reader.read(line.encode() for line in lines) for _, lines in case.epochs]
    with ledger_of(folder, case) as ledger:
        state = State(folder / "live.db", keys=ledger.keys, name=NAME)
        messages = spark.readStream.text(str(folder / "in"))
        more: dict[str, Any] = {"clock": clock, "jump": "10D", "tell": rows.extend}
        live = spark_stream(folder, case, ledger, state, messages, streams=case.streams(ledger), **more)

        def bring() -> None:
            """Let the next epoch come when what came before was counted and released."""
            brought = clock.allowed
            came = sum(len(batch) + batch.malformed for batch in batches[:brought])
            done = live.progress.next_window >= case.limits.windows.due(clock.now())
            if done and live.progress.owner.records >= came:
                clock.allowed += 1

        live.run(every="50ms", each=bring)
        state.close()
    return rows, live.progress.owner


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::UserWarning")
def test_spark_releases_what_one_process_does(spark: Any, tmp_path: Path, trials: Trials) -> None:
    chance = random.Random(8)
    kinds = [LIMITS[0], LIMITS[1], LIMITS[6], *LIMITS[2:6]]
    for number in range(trials(28, least=3)):
        case = random_case(chance, kinds[number % len(kinds)])
        folders = tmp_path / f"{number}", tmp_path / f"{number} on Spark"
        for folder in folders:
            folder.mkdir()
        alone, theirs = run_in_one_process(folders[0], case)
        shared, ours = run_on_spark(spark, folders[1], case)
        assert json.dumps(shared) == json.dumps(alone)
        assert (ours.counted, ours.late, ours.future) == (theirs.counted, theirs.late, theirs.future)
        assert (ours.elsewhere, ours.malformed) == (theirs.elsewhere, theirs.malformed)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    (tmp_path / "in").mkdir()
    return random_case(random.Random(1), LIMITS[0])


def test_streams_in_which_rows_decide_over_others_are_refused(spark: Any, case: Case, tmp_path: Path) -> None:
    text = spark.readStream.text(str(tmp_path / "in"))
    limited = spark.readStream.option("maxFilesPerTrigger", 1).text(str(tmp_path / "in"))
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    both = text.join(spark.sql("SELECT 'a' AS value"), "value")
    wrong: list[tuple[Any, Any, str]] = [
        ([1], InvalidArgument, "a stream of Spark"),
        (spark.sql("SELECT 'a' AS value"), InvalidArgument, "a stream, such as"),
        (rate, UnsuitableColumn, "timestamp, value; it must have one column of JSON messages"),
        (limited, InvalidArgument, "left out.*maxFilesPerTrigger"),
        (text.dropDuplicates(), UnsuitableColumn, "Deduplicate.*row by row"),
        (both, UnsuitableColumn, "Join.*row by row"),
        (text.selectExpr("concat(value, rand()) AS value"), UnsuitableColumn, "changes each time"),
    ]
    with ledger_of(tmp_path, case) as ledger:
        state = State(tmp_path / "live.db", keys=ledger.keys, name=NAME)
        for messages, kind, said in wrong:
            with pytest.raises(kind, match=said):
                spark_stream(tmp_path, case, ledger, state, messages, streams=())
        assert state.fact("partitions") is None
        state.close()


def test_a_stream_goes_on_where_it_was_begun(spark: Any, case: Case, tmp_path: Path) -> None:
    text = spark.readStream.text(str(tmp_path / "in")).selectExpr("CAST(value AS BINARY) AS message")
    with ledger_of(tmp_path, case) as ledger:
        state = State(tmp_path / "live.db", keys=ledger.keys, name=NAME)
        streams = case.streams(ledger)
        spark_stream(tmp_path, case, ledger, state, text, streams=streams)
        spark_stream(tmp_path, case, ledger, state, text, streams=streams)
        with pytest.raises(StreamConflict, match="on Spark, in 2 partitions"):
            spark_stream(tmp_path, case, ledger, state, text, streams=streams, partitions=3)
        source = FileSource(tmp_path / "in.jsonl", reader=Reader(case.fields))
        with pytest.raises(StreamConflict, match="was begun on Spark"):
            Live(case.limits, source=source, streams=streams, state=state, key=KEY, ledger=ledger, dataset="visits")
        state.close()
        other = State(tmp_path / "other.db", keys=ledger.keys, name=NAME)
        other.commit((), positions="{}")
        with pytest.raises(StreamConflict, match="in one process"):
            spark_stream(tmp_path, case, ledger, other, text, streams=streams)
        other.close()


def test_a_tick_is_written_when_the_clock_says_something_new(spark: Any, case: Case, tmp_path: Path) -> None:
    windows = case.limits.windows
    clock, folder = SetClock(windows.begins(0)), tmp_path / "checkpoint" / "ticks"

    def told() -> list[tuple[int, int]]:
        ticks = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
        assert [tick["number"] for tick in ticks] == list(range(1, len(ticks) + 1))
        return [(tick["due"], tick["doubted"]) for tick in ticks]

    with ledger_of(tmp_path, case) as ledger:
        state = State(tmp_path / "live.db", keys=ledger.keys, name=NAME)

        def ticks_of() -> Ticks:
            guard = ClockGuard(clock, known=state.fact("clock") or "")
            return Ticks(spark, str(folder), windows=windows, guard=guard, state=state)

        ticks = ticks_of()
        assert ticks.stream().isStreaming
        ticks.look()
        ticks.look()
        assert told() == [(0, 0)]
        clock.moment = windows.closes(1)
        ticks.look()
        clock.error = 180_000_000  # three minutes ahead: it closes nothing yet
        ticks.look()
        assert told() == [(0, 0), (2, 0), (2, 5)]
        ticks_of().look()  # the last one of a process before may not have been written
        assert told()[3:] == [(2, 5)]
        clock.error = -180_000_000  # what was due stays due
        ticks.look()
        assert told()[4:] == [(2, 0)]
        state.close()
