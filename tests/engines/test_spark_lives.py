"""Where everyone has a life, Spark keeps and books what the reference does, also when tasks run again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from chronodp.engines import Spark, find_source
from chronodp.engines.spark.engine import _ask
from chronodp.engines.spark.frames import part_of
from chronodp.engines.spark.lives import book_frame
from chronodp.errors import UnreadableSource
from tests.conftest import Trials
from tests.engines.lives import (
    SALT,
    SHARE,
    MemoryTally,
    asked_lives,
    book_duckdb,
    book_reference,
    equal,
    priced,
    random_batch,
    summed,
)
from tests.engines.worlds import to_arrow


def stored(folder: Path, records: Any, session: Any) -> Any:
    path = str(folder / f"{random.Random().getrandbits(64):x}.parquet")
    pyarrow.parquet.write_table(to_arrow(records, ["region"]), path, row_group_size=50)
    return find_source(session.read.parquet(path))


def test_spark_keeps_and_books_what_the_reference_does(spark: Any, trials: Trials, tmp_path: Path) -> None:
    chance = random.Random(21)
    every = list(asked_lives())
    some = [every[number] for number in (7, 8, 9)]  # weighed bins, prices that grow, and the dearest
    for asked in every if trials(20) > 1 else some:
        tally, records = MemoryTally(), random_batch(chance, 200, 12)
        tally.add(book_reference(random_batch(chance, 60, 12), asked, tally, key="j"))
        found = Spark().book(stored(tmp_path, records, spark), asked, tally, key="k")
        assert equal(found, book_reference(records, asked, tally, key="k"))
    assert not [table.name for table in spark.catalog.listTables() if table.name.startswith("chronodp_kept_")]


def test_a_frame_of_nobody_books_nothing(spark: Any, tmp_path: Path) -> None:
    asked = priced(summed(groups=2), life=3)
    found = Spark().book(stored(tmp_path, [], spark), asked, MemoryTally(), key="k")
    assert equal(found, book_reference([], asked, MemoryTally(), key="k"))


def test_totals_and_payments_are_of_one_reading(spark: Any, trials: Trials, tmp_path: Path) -> None:
    """A frame that gives other rows each time: whoever is counted has paid, and for nothing else."""
    from pyspark.sql.types import DoubleType, StringType, StructField, StructType, TimestampType

    asked = priced(summed(), life=100)
    records = random_batch(random.Random(2), 300, 40)
    source = stored(tmp_path, records, spark)
    types = [StructField("who", StringType()), StructField("at", TimestampType()), StructField("number", DoubleType())]
    # Half of the rows, others in each run of a task: its plan does not say so, as that of an owner's code need not.
    changing = source.frame.select("who", "at", "number").rdd.filter(lambda _: __import__("os").urandom(1)[0] < 128)
    frame = spark.createDataFrame(changing, StructType(types))
    for _ in range(trials(3)):
        booked = Spark().book(find_source(frame), asked, MemoryTally(), key="k")
        periods = booked.spent // asked.price.prices[0]
        assert booked.totals.people.sum() == periods.sum() > 0  # one cell a period


def test_tasks_that_fail_change_nothing(spark: Any, tmp_path: Path) -> None:
    asked = priced(summed(groups=2), life=2)
    records = random_batch(random.Random(5), 400, 25)
    source = stored(tmp_path, records, spark)
    marks = tmp_path / "marks"
    marks.mkdir()

    def failing(number: int, rows: Any) -> Any:
        mark = marks / str(number)
        if not mark.exists():  # each task fails once
            mark.touch()
            raise RuntimeError("lost")
        return rows

    frame = spark.createDataFrame(source.frame.rdd.mapPartitionsWithIndex(failing), source.frame.schema)
    found = Spark().book(find_source(frame), asked, MemoryTally(), key="k")
    assert equal(found, book_duckdb(records, asked, MemoryTally(), key="k"))


def test_no_plan_shows_the_salt(spark: Any, tmp_path: Path) -> None:
    asked = priced(summed(), life=2)
    shown: list[str] = []

    def looking(text: str, beside: Mapping[str, Any]) -> Any:
        answer = _ask(source.frame, text, asked.question, beside)
        shown.extend((text, answer._jdf.queryExecution().toString()))
        return answer

    source = stored(tmp_path, random_batch(random.Random(1), 30, 5), spark)
    part = part_of(source.frame, asked.question)
    book_frame(spark, looking, part, asked, MemoryTally(), key="k")
    assert len(shown) == 8
    assert all(SALT not in text for text in shown)


def test_a_failure_quotes_nothing_and_leaves_no_table(spark: Any, tmp_path: Path) -> None:
    source = stored(tmp_path, random_batch(random.Random(5), 40, 5), spark)
    broken = source.frame.selectExpr("who", "region", "at", "CAST(raise_error(who) AS DOUBLE) AS number")
    with pytest.raises(UnreadableSource) as told:
        Spark().book(find_source(broken), priced(summed(), life=2), MemoryTally(), key="k")
    assert "p1" not in str(told.value)
    assert not [table.name for table in spark.catalog.listTables() if table.name.startswith("chronodp_kept_")]


def test_nobody_pays_more_than_a_life_over_many_batches(spark: Any, trials: Trials, tmp_path: Path) -> None:
    chance, tally, duck = random.Random(31), MemoryTally(), MemoryTally()
    for number in range(trials(40, least=2)):
        asked = priced(summed(clip=(3072, 3072, 5000)[number % 3], groups=1), life=2)
        records = random_batch(chance, 60, 4)
        tally.add(Spark().book(stored(tmp_path, records, spark), asked, tally, key=str(number)))
        duck.add(book_duckdb(records, asked, duck, key=str(number)))
    assert tally.shares == duck.shares
    assert max(tally.shares.values()) <= 2 * SHARE
