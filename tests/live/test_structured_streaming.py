"""A live stream on Spark releases what one process releases, to the last digit, and refuses streams that it must."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from chronodp.errors import InvalidArgument, StreamConflict, UnsuitableColumn
from chronodp.live import Live, LiveOnSpark, Reader, State
from chronodp.live.clock_guard import ClockGuard
from chronodp.live.sources import FileSource
from chronodp.live.structured_streaming.ticks import Ticks
from tests.conftest import Trials
from tests.live.epochs import KEY, Case, EpochClock, all_limits, lay_out, ledger_of, random_case, run_in_one_process
from tests.live.examples import NAME, SetClock

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
        live = spark_stream(
            folder,
            case,
            ledger,
            state,
            messages,
            streams=case.streams(ledger),
            clock=clock,
            jump="10D",
            tell=rows.extend,
        )

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
                LiveOnSpark(
                    case.limits,
                    messages=messages,
                    fields=case.fields,
                    checkpoint=str(tmp_path / "checkpoint"),
                    streams=(),
                    state=state,
                    key=KEY,
                    ledger=ledger,
                    dataset="visits",
                )
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
