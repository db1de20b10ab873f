"""What Spark frames may hold, and what is refused before anything is read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from benchmarks.spark import usage

import chronodp as cdp
from chronodp.engines import DuckDB, Grouping, Question, Spark, Totals, estimate_volume, find_source
from chronodp.engines.spark.frames import decoded
from chronodp.errors import InvalidArgument, SourceError, UnknownColumn, UnreadableSource, UnsuitableColumn
from chronodp.privacy import Calendar, Grid

BERLIN = Calendar("1h", "2026-10-25", "2026-10-26", "Europe/Berlin")  # 25 hours, from two to three twice
CLOCKS = ("2026-10-25 00:30:00", "2026-10-25 02:30:00", "2026-10-25 03:30:00", "2026-10-25 23:59:59", "2026-10-26")
ROWS = Question(BERLIN, "at", None, None, Grid(1.0), (0, 1))
SUMS = Question(
    Calendar("1D", "2026-01-01", "2026-01-04"), "at", "who", "kwh", Grid(0.25), (0, 20), (Grouping("region", ("n",)),)
)


def totals(frame: Any, question: Question = ROWS) -> Totals:
    return Spark().totals(find_source(frame), question, key="")


def periods(frame: Any) -> list[int]:
    return np.flatnonzero(totals(frame).sums).tolist()


@contextmanager
def session_in(spark: Any, zone: str) -> Iterator[None]:
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        yield
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def clocks(spark: Any, kind: str) -> Any:
    rows = ", ".join(f"('{clock}')" for clock in CLOCKS)
    return spark.sql(f"SELECT CAST(clock AS {kind}) AS at FROM VALUES {rows} AS listed (clock)")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_clocks_and_instants_are_the_same_in_every_session(spark: Any, zone: str) -> None:
    instant = spark.createDataFrame([(dt.datetime(2026, 10, 25, 0, 30, tzinfo=dt.UTC),)], "at timestamp")
    absolute = clocks(spark, "TIMESTAMP").localCheckpoint()  # read as clocks of UTC, here
    with session_in(spark, zone):
        for kind, expected in (("TIMESTAMP_NTZ", [0, 2, 4, 24]), ("DATE", [0]), ("STRING", [0, 2, 4, 24])):
            assert periods(clocks(spark, kind)) == expected
        # An instant in UTC: half past midnight there is half past two, the first time, in Berlin.
        assert periods(absolute) == [2, 4, 5]
        assert periods(instant) == [2]


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC", "+00:00", "Asia/Tokyo", "Europe/Berlin"])
def test_clocks_at_the_ends_of_time_and_before_1970_are_read_alike(spark: Any, zone: str) -> None:
    far = ("-290000-01-01 00:00:00", "0001-01-01 00:00:00", "+294247-01-10 04:00:54.775807")
    near = ("1969-12-31 21:59:59.999999", "1969-12-31 22:00:00", "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00")
    rows = ", ".join(f"(TIMESTAMP_NTZ '{clock}')" for clock in far + near)
    question = replace(ROWS, calendar=Calendar("1h", "1969-12-31T20:00", "1970-01-01T02:00"))
    with session_in(spark, zone):
        found = totals(spark.sql(f"SELECT at FROM VALUES {rows} AS listed (at)"), question).sums
    assert found.tolist() == [0, 1, 1, 1, 1, 0]


def test_an_hour_that_the_sessions_zone_lacks_is_read_as_it_stands(spark: Any) -> None:
    """At two o'clock on this day clocks in Berlin are put forward, and differences of clocks there skip an hour."""
    question = replace(ROWS, calendar=Calendar("1h", "2026-03-29", "2026-03-30"))
    with session_in(spark, "Europe/Berlin"):
        for kind, text in (("TIMESTAMP_NTZ", "2026-03-29 02:30:00.000001"), ("STRING", "2026-03-29T02:30:00Z")):
            frame = spark.sql(f"SELECT CAST('{text}' AS {kind}) AS at")
            assert np.flatnonzero(totals(frame, question).sums).tolist() == [2]
        wall = spark.sql("SELECT '2026-03-29 02:59:59.999999' AS at")
        assert np.flatnonzero(totals(wall, question).sums).tolist() == [2]


def meters(spark: Any, value: str = "DOUBLE", who: str = "STRING") -> Any:
    listed = "('2026-01-01', '1', '1.3', 'n'), ('2026-01-01', '2', '-7', 'n'), ('2026-01-02', '1', '2', 'n'), "
    listed += "('2026-01-02', '1', '9.99', 'n'), ('2026-01-03', '1', NULL, 'n'), ('2026-01-03', NULL, '1', 'n')"
    return spark.sql(
        f"SELECT CAST(at AS DATE) AS at, CAST(who AS {who}) AS who, CAST(kwh AS {value}) AS kwh, region "
        f"FROM VALUES {listed} AS listed (at, who, kwh, region)"
    )


@pytest.mark.parametrize(
    ("value", "who"),
    [
        ("FLOAT", "INT"), ("DECIMAL(10, 2)", "STRING"), ("DECIMAL(38, 18)", "BIGINT"), ("STRING", "DOUBLE"),
        ("DOUBLE", "DECIMAL(5, 1)"),
    ],
)  # fmt: skip
def test_numbers_and_names_of_every_type(spark: Any, value: str, who: str) -> None:
    frame = meters(spark, value, who)
    assert totals(frame, SUMS).sums.tolist() == [5, 20, 0]


@pytest.mark.parametrize(
    ("column", "change", "message"),
    [
        ("at", "unix_date(at)", r"time: column 'at' holds int; .* declare it: Reading\(time_format='s'\)"),
        ("at", "CAST(CAST(at AS STRING) AS BINARY)", "time: column 'at' holds binary; a timestamp, a date or a text"),
        ("who", "CAST(who AS BINARY)", "user: column 'who' holds binary; a text or a whole number"),
        ("kwh", "array(kwh)", "value: column 'kwh' holds array<double>; a number is needed"),
        ("region", "named_struct('a', region)", "by: column 'region' holds struct"),
    ],
)
def test_other_types_are_refused_by_their_schema(spark: Any, column: str, change: str, message: str) -> None:
    from pyspark.sql.functions import expr

    with pytest.raises(UnsuitableColumn, match=message):
        totals(meters(spark).withColumn(column, expr(change)), SUMS)


def test_a_column_of_nothing_is_left_out(spark: Any) -> None:
    from pyspark.sql.functions import lit

    assert not totals(meters(spark).withColumn("kwh", lit(None)), SUMS).people.any()


def test_names_that_are_missing_or_double_are_refused(spark: Any) -> None:
    assert totals(meters(spark), replace(SUMS, value="kWh")).sums.tolist() == [5, 20, 0]
    with pytest.raises(UnknownColumn, match=r"no column 'kw'.*did you mean kwh"):
        totals(meters(spark), replace(SUMS, value="kw"))
    doubled = meters(spark).selectExpr("*", "kwh AS KWH")
    with pytest.raises(UnsuitableColumn, match="more than one column 'kwh'"):
        totals(doubled, SUMS)


def test_columns_with_odd_names_are_read(spark: Any) -> None:
    frame = meters(spark).withColumnsRenamed({"kwh": "k.w {h}", "who": "the `user`"})
    question = replace(SUMS, value="k.w {h}", user="the `user`")
    assert totals(frame, question).sums.tolist() == [5, 20, 0]


def test_frames_that_change_when_computed_again_are_refused(spark: Any) -> None:
    rows = spark.range(6).selectExpr("DATE '2026-01-01' AS at", "'a' AS who", "'n' AS region", "id")
    for change in ("rand()", "CAST(monotonically_increasing_id() AS DOUBLE)"):
        with pytest.raises(UnsuitableColumn, match="changes each time it is computed"):
            totals(rows.selectExpr("*", f"{change} AS kwh"), SUMS)
    unused = rows.selectExpr("*", "1.0D AS kwh", "rand() AS draw", "1 AS twice", "2 AS twice")
    assert totals(unused, SUMS).sums.tolist() == [20, 0, 0]


def test_streams_are_told_where_to_go(spark: Any) -> None:
    stream = spark.readStream.format("rate").load().selectExpr("timestamp AS at")
    with pytest.raises(UnsuitableColumn, match="structured_streaming"):
        totals(stream)


def test_what_spark_says_is_not_passed_on(spark: Any) -> None:
    frame = meters(spark).selectExpr("at", "who", "region", "IF(who = '2', raise_error('secret'), kwh) AS kwh")
    with pytest.raises(UnreadableSource) as caught:
        totals(frame, SUMS)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_other_data_and_unknown_tables_are_refused(spark: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"Spark\(session\) where data names a table"):
        Spark().find("meters")
    with pytest.raises(UnreadableSource):
        Spark(spark).find("no_such_table")
    with pytest.raises(InvalidArgument, match="a Spark frame or the name of a table"):
        Spark().totals(find_source("x.parquet"), SUMS, key="")
    with pytest.raises(SourceError, match="DuckDB reads no Spark frame"):
        DuckDB().totals(find_source(meters(spark)), SUMS, key="")


def test_the_estimate_is_above_what_travels(spark: Any) -> None:
    hours = Calendar("1h", "2026-01-01", "2026-01-02")
    question = Question(hours, "at", "who", None, Grid(1.0), (0, 1), max_periods=2)
    frame = spark.range(20_000).selectExpr(
        "CAST(timestamp_seconds(1767225600 + id % 86400) AS TIMESTAMP) AS at", "CONCAT('user', id % 500) AS who"
    )
    used = usage(spark, lambda: Spark().totals(find_source(frame), question, key=""))
    volume = estimate_volume(question, people=500, periods=24, tasks=2, name=8)
    assert volume.cells == 12_000
    assert 0 < used.shuffled <= 2 * volume.added + volume.chosen + 2 * volume.answered
    with pytest.raises(InvalidArgument, match="people"):
        estimate_volume(question, people=0, periods=24, tasks=2)


def test_the_same_three_lines(spark: Any, tmp_path: Any) -> None:
    spark.range(200).selectExpr(
        "CAST(timestamp_seconds(1767225600 + 3600 * id) AS TIMESTAMP) AS at", "id % 10 AS who", "1.0D AS kwh"
    ).createOrReplaceTempView("meters")
    ledger = cdp.Ledger(tmp_path / "budget.db")
    ledger.open("meters", unit=cdp.User(), epsilon=4.0)
    settings: dict[str, Any] = {"time": "at", "user": "who", "every": "1D", "start": "2026-01-01", "end": "2026-01-08"}
    frame = spark.table("meters")
    plans = {}
    for request, data, engine in (("frame", frame, None), ("table", "meters", Spark(spark))):
        series = cdp.TimeSeries(data, **settings, unit=cdp.User(), max_periods=3, engine=engine)
        plan = plans[request] = series.sum("kwh", clip=(0.0, 2.0)).plan(epsilon=1.0)
        release = plan.release(ledger, dataset="meters", request=request, progress=lambda _: None)
        again = plan.release(ledger, dataset="meters", request=request, progress=lambda _: None)
        assert release.to_pandas().equals(again.to_pandas())
    assert len(ledger.history("meters")) == 2
    assert "People" in str(plans["frame"].diagnose(bounds=True, progress=lambda _: None))
    moved = plans["frame"].on(frame, start="2026-01-02", end="2026-01-09")
    moved.release(ledger, dataset="meters", request="moved", progress=lambda _: None)
    assert len(ledger.history("meters")) == 3


def test_bytes_that_are_not_utf_8_are_left_out_everywhere(spark: Any, tmp_path: Path) -> None:
    written = pyarrow.array([b"ann", b"b\xff", b"caf\xc3\xa9", b"ann"], pyarrow.binary())
    places, texts = written.buffers()[1:]
    assert places is not None
    assert texts is not None
    names = pyarrow.StringArray.from_buffers(4, places, texts)  # as a careless program writes them
    at = [dt.datetime(2026, 1, 1, hour) for hour in range(4)]
    table = pyarrow.table({"at": at, "who": names})
    pyarrow.parquet.write_table(table, tmp_path / "names.parquet")
    question = Question(Calendar("1D", "2026-01-01", "2026-01-02"), "at", "who", None, Grid(1.0), (0, 9))
    found = {
        "duckdb": DuckDB().totals(find_source(str(tmp_path / "names.parquet")), question, key="k"),
        "arrow": DuckDB().totals(find_source(table), question, key="k"),
        "spark": Spark().totals(find_source(spark.read.parquet(str(tmp_path / "names.parquet"))), question, key="k"),
    }
    assert {form: (totals.people.tolist(), totals.sums.tolist()) for form, totals in found.items()} == dict.fromkeys(
        found, ([3], [4])
    )
    # As keys of groups they are what is left of them, whatever a broken text becomes where it is shown.
    grouping = Grouping("who", ("ann", "b", "b\ufffd", "café"))
    split = replace(question, user=None, clip=(0, 1), groupings=(grouping,))
    by_key = [
        DuckDB().totals(find_source(str(tmp_path / "names.parquet")), split, key="k"),
        Spark().totals(find_source(spark.read.parquet(str(tmp_path / "names.parquet"))), split, key="k"),
    ]
    assert [totals.people.ravel().tolist() for totals in by_key] == [[2, 1, 0, 1]] * 2


def test_spark_leaves_out_the_bytes_that_python_leaves_out(spark: Any) -> None:
    edges = [bytes([lead, *rest]) for lead in range(256) for rest in ((), (0x7F,), (0x80,), (0xBF, 0x80), (0x80,) * 3)]
    edges += [bytes([lead, second, 0x80, 0x80]) for lead in (0xE0, 0xED, 0xF0, 0xF4) for second in range(0x70, 0xC8, 3)]
    edges += ["\ufffd".encode(), "\uffff\U0010ffff".encode(), b"", b"\0", "a\xe9\u20ac\U0001f600".encode()]
    edges += [edge + "aabac\ufffdb\ufffda\xe9".encode() + edge for edge in edges]
    frame = spark.createDataFrame([(bytearray(edge),) for edge in edges], "held binary")
    ways = {"as it can": decoded("name", spark.version), "as older ones can": decoded("name", "3.5")}
    told = frame.selectExpr("CAST(held AS STRING) AS name", "held").selectExpr(
        "held", *(f"{way} AS `{words}`" for words, way in ways.items())
    )
    for row in told.collect():
        left = bytes(row["held"]).decode(errors="ignore")
        assert {words: row[words] for words in ways} == dict.fromkeys(ways, left), bytes(row["held"])
