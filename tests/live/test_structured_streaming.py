"""A stream of Spark: each batch is released once, whatever happens to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp
from chronodp.engines import Spark
from chronodp.errors import InvalidArgument, RequestConflict
from chronodp.live import BatchSink


class Died(Exception):
    """Stands for a process that is gone."""


def plan_for(**changes: Any) -> Any:
    settings: dict[str, Any] = {"every": "1D", "start": "2026-01-01", "end": "2026-01-03", "max_periods": 1} | changes
    series = cdp.TimeSeries("", time="at", user="who", unit=cdp.User(), engine=Spark(), **settings)
    return series.count().plan(epsilon=0.5)


@pytest.fixture
def ledger(tmp_path: Path) -> cdp.Ledger:
    ledger = cdp.Ledger(tmp_path / "budget.db")
    ledger.open("meters", unit=cdp.User(), epsilon=4.0)
    return ledger


def write(folder: Path, number: int, people: int) -> None:
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"at": "2026-01-01T00:00:00Z", "who": f"m{person}"}) for person in range(people)]
    (folder / f"{number}.json").write_text("\n".join(lines), encoding="utf-8")


def run(spark: Any, folder: Path, sink: Any) -> None:
    """Run what is there as a stream of its own, from where the last one stopped."""
    stream = spark.readStream.schema("at timestamp, who string").json(str(folder / "in"))
    checkpoint = str(folder / "checkpoint")
    query = stream.writeStream.foreachBatch(sink).option("checkpointLocation", checkpoint).trigger(availableNow=True)
    query.start().awaitTermination()


def test_a_batch_that_runs_again_returns_its_release(spark: Any, ledger: cdp.Ledger, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException

    seen: list[tuple[int, str]] = []

    def deliver(number: int, release: cdp.Release) -> None:
        seen.append((number, release.to_pandas().to_csv()))
        if len(seen) == 2:
            raise Died  # before Spark commits the batch

    sink = BatchSink(plan_for(), ledger, "meters", "visits", deliver)
    write(tmp_path / "in", 0, 5)
    run(spark, tmp_path, sink)
    write(tmp_path / "in", 1, 7)
    with pytest.raises(PySparkException):
        run(spark, tmp_path, sink)
    run(spark, tmp_path, sink)
    assert [number for number, _ in seen] == [0, 1, 1]
    assert seen[1] == seen[2] != seen[0]
    assert len(ledger.history("meters")) == 2


def test_a_batch_that_was_debited_and_lost_is_passed_over(
    spark: Any, ledger: cdp.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    sink = BatchSink(plan_for(), ledger, "meters", "visits", lambda number, _: seen.append(number))
    batch = spark.sql("SELECT TIMESTAMP '2026-01-01 00:00:00' AS at, 'a' AS who")
    with monkeypatch.context() as patch:
        patch.setattr("chronodp.series.drawing.draw_noise", die)
        with pytest.raises(Died):
            sink(batch, 0)
    sink(batch, 0)
    sink(batch, 1)
    assert seen == [1]
    assert len(ledger.history("meters")) == 2


def die(*_: object) -> None:
    raise Died


def test_other_rows_under_the_same_number_are_refused(spark: Any, ledger: cdp.Ledger) -> None:
    sink = BatchSink(plan_for(), ledger, "meters", "visits", lambda *_: None)
    sink(spark.sql("SELECT TIMESTAMP '2026-01-01 00:00:00' AS at, 'a' AS who"), 0)
    with pytest.raises(RequestConflict, match="another plan, source or cost"):
        sink(spark.sql("SELECT TIMESTAMP '2026-01-02 00:00:00' AS at, 'a' AS who"), 0)
    assert len(ledger.history("meters")) == 1


def test_a_batch_has_the_days_that_its_number_says(spark: Any, ledger: cdp.Ledger) -> None:
    found: dict[int, str] = {}

    def deliver(number: int, release: cdp.Release) -> None:
        found[number] = str(release.to_pandas()["time"].iloc[0])[:10]

    days = ("2026-01-01", "2026-01-02", "2026-01-03")
    plan = plan_for(end="2026-01-02")
    sink = BatchSink(plan, ledger, "meters", "visits", deliver, span=lambda number: (days[number], days[number + 1]))
    for number in range(2):
        sink(spark.sql("SELECT TIMESTAMP '2026-01-01 00:00:00' AS at, 'a' AS who"), number)
    assert found == {0: "2026-01-01", 1: "2026-01-02"}


def test_what_is_no_batch_is_refused(ledger: cdp.Ledger) -> None:
    sink = BatchSink(plan_for(), ledger, "meters", "visits", lambda *_: None)
    with pytest.raises(InvalidArgument, match="a Spark frame, as foreachBatch hands it over; got a list"):
        sink([1, 2], 0)
    with pytest.raises(InvalidArgument, match="name"):
        BatchSink(plan_for(), ledger, "meters", "", lambda *_: None)
    with pytest.raises(InvalidArgument, match="ledger"):
        BatchSink(plan_for(), "budget.db", "meters", "visits", lambda *_: None)  # type: ignore[arg-type]
    assert not ledger.history("meters")
