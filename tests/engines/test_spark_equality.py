"""DuckDB and Spark give the same totals, digest by digest, however the rows lie and whatever fails on the way."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pyarrow.parquet
import pytest

from chronodp.engines import DuckDB, Grouping, Question, Spark, find_source
from chronodp.engines.chosen import LISTED
from chronodp.engines.spark.frames import part_of
from chronodp.engines.statement import statement
from chronodp.privacy import Grid
from tests.conftest import Trials
from tests.engines.neighbours import random_world
from tests.engines.test_equality import CALENDARS, largest_squares, questions, same
from tests.engines.worlds import digest, random_question, random_table, run_duckdb, run_reference, widened_table

Given = TypeVar("Given")


def test_random_questions_have_equal_digests(spark: Any, trials: Trials, tmp_path: Path) -> None:
    chance = random.Random(11)
    whole = trials(100) == 100
    rows = trials(1_000_000) if whole else 3_000
    seen = set()
    for number in range(trials(20, least=3)):
        question = random_question(chance)
        table = random_table(chance, question.calendar, rows)
        path = str(tmp_path / f"{number}.parquet")
        pyarrow.parquet.write_table(table, path, row_group_size=rows // 7)
        frame = spark.read.parquet(path)
        expected = DuckDB(threads=2).totals(find_source(table), question, key=f"key {number}")
        forms = [frame.repartition(5, "region"), frame.orderBy("kwh"), failing(frame)]
        laid = [frame, chance.choice(forms[:2]), forms[2]]
        if not whole:  # by turns as it lies, with tasks that fail, and laid otherwise
            laid = [(frame, forms[2], laid[1])[number % 3]]
        for form in laid:
            found = Spark().totals(find_source(form), question, key=f"key {number}")
            assert digest(found) == digest(expected)
        sparse = chance.choice(forms)
        if whole or number % 2 == 0:
            found = Spark(sparse=True).totals(find_source(sparse), question, key=f"key {number}")
            assert digest(found) == digest(expected)
        if number % 2:
            told = Spark(sparse=number % 4 == 1).tally(find_source(frame), question, key="k")
            assert told == DuckDB(threads=2).tally(find_source(table), question, key="k")
        seen.add(digest(expected))
    assert len(seen) == trials(20, least=3)


def failing(frame: Any) -> Any:
    """Return the same rows, each task of which fails when it is first tried."""
    from pyspark import TaskContext
    from pyspark.sql.functions import udf

    def pass_on(given: Given) -> Given:
        context = TaskContext.get()
        if context is not None and context.attemptNumber() == 0:
            raise RuntimeError("lost")
        return given

    if frame.sparkSession.version.startswith("3."):  # whose Arrow is older than the Java of tests
        return frame.withColumn("who", udf(pass_on, "string", useArrow=False)(frame["who"]))
    return frame.mapInArrow(pass_on, frame.schema)


def test_small_worlds_agree_with_the_reference(spark: Any, trials: Trials, tmp_path: Path) -> None:
    calendar = CALENDARS[1]
    chance = random.Random(3)
    worlds = [random_world(chance, calendar, most=60) for _ in range(trials(2000, least=100))]
    # Rows that are weighed come in the next test.
    asked = questions(calendar) if trials(100) == 100 else [one for one in questions(calendar) if one.rows is None][::2]
    for index, question in enumerate(asked):
        wide, table = widened_table(worlds, question)
        pyarrow.parquet.write_table(table, tmp_path / f"{index}.parquet")
        frame = spark.read.parquet(str(tmp_path / f"{index}.parquet"))
        expected = run_reference(worlds, question, "key")
        assert expected.people.sum() > 100
        assert same(Spark().totals(find_source(frame), wide, key="key"), expected)


def test_weighed_rows_agree_with_the_reference_and_so_does_what_the_owner_sees(
    spark: Any, trials: Trials, tmp_path: Path
) -> None:
    calendar = CALENDARS[1]
    chance = random.Random(4)
    worlds = [random_world(chance, calendar, most=60) for _ in range(25)]
    weighed = [question for question in questions(calendar) if question.rows is not None]
    widest = replace(weighed[0], grid=Grid(2.0**-28), clip=(-(2**28), 2**28 + 2**26), rows=1)
    assert widest.row_reach == 2**29 + 2**26
    if trials(100) < 100:  # limits with scales, nobody named, and limits, both in bins
        weighed = [weighed[0], weighed[5], weighed[3]]
    for index, question in enumerate([*weighed, replace(widest, clip=(-(2**22), 2**22), rows=2**7), widest]):
        wide, table = widened_table(worlds, question)
        pyarrow.parquet.write_table(table, tmp_path / f"{index}.parquet")
        source = find_source(spark.read.parquet(str(tmp_path / f"{index}.parquet")))
        expected = run_reference(worlds, question, "key")
        assert expected.people.sum() > 100
        assert same(Spark().totals(source, wide, key="key"), expected)
        assert same(run_duckdb(worlds, question, "key"), expected)
        if index % 2 or trials(100) == 100:
            told = Spark().tally(source, wide, key="key")
            assert told == DuckDB(threads=2).tally(find_source(table), wide, key="key")


@pytest.mark.parametrize("user", ["who", None])
def test_the_largest_squares_fit_64_bits(spark: Any, user: str | None, tmp_path: Path) -> None:
    table, widest, expected = largest_squares(user)
    pyarrow.parquet.write_table(table, tmp_path / "widest.parquet")
    frame = spark.read.parquet(str(tmp_path / "widest.parquet"))
    assert same(Spark().totals(find_source(frame), widest, key="k"), expected)


def test_nothing_in_a_plan_can_differ_when_it_runs_again(spark: Any, tmp_path: Path) -> None:
    chance = random.Random(5)
    for number in range(5):
        question = random_question(chance)
        path = str(tmp_path / f"{number}.parquet")
        pyarrow.parquet.write_table(random_table(chance, question.calendar, 100), path)
        frame = spark.read.parquet(path)
        text = Spark().query(find_source(frame), question, key="k")._jdf.queryExecution()
        assert text.analyzed().deterministic()
        plan = text.executedPlan().toString()
        first = plan.rindex("Exchange hashpartitioning(person") if question.user else plan.rindex("Exchange")
        assert "partial_" in plan[first:]  # added up before it travels


def test_sparse_rows_travel_once_and_change_no_number(spark: Any, tmp_path: Path) -> None:
    calendar = CALENDARS[1]
    chance = random.Random(8)
    worlds = [random_world(chance, calendar, most=60) for _ in range(25)]
    limited = [one for one in questions(calendar) if one.chooses or one.norm is not None or one.window is not None]
    for index, question in enumerate(limited[::4]):
        wide, table = widened_table(worlds, question)
        pyarrow.parquet.write_table(table, tmp_path / f"{index}.parquet")
        source = find_source(spark.read.parquet(str(tmp_path / f"{index}.parquet")))
        assert same(Spark(sparse=True).totals(source, wide, key="key"), run_reference(worlds, question, "key"))
        ways = {}
        for sparse in (False, True):
            run = Spark(sparse=sparse).query(source, wide, key="key")._jdf.queryExecution()
            assert run.analyzed().deterministic()
            ways[sparse] = run.executedPlan().toString().count("Exchange hashpartitioning(person")
        assert ways[True] < ways[False]


def test_each_cell_is_read_once(spark: Any) -> None:
    frame = spark.createDataFrame([], "at string, who string, region string, kwh string")
    grouping = Grouping("region", ("north", "south"))
    question = Question(CALENDARS[1], "at", "who", "kwh", Grid(1.0), (0, 1), (grouping,), max_periods=1)
    for sparse in (False, True):
        run = Spark(sparse=sparse).query(find_source(frame), question, key="k")._jdf.queryExecution()
        plan = run.optimizedPlan().toString().lower()
        # Whether it is UTF-8, once of each of four texts; Spark before 4 decodes to see it, and to mend it.
        assert plan.count("isvalid(") + plan.count("decode(") // 2 == 4, plan
        assert "generate inline(" in plan


def test_more_keys_than_a_text_lists_are_joined(spark: Any, tmp_path: Path) -> None:
    calendar, count = CALENDARS[1], LISTED + 500
    start = int(calendar.edges[0])
    rows = [(start + 3_600_000_000 * (row % 5), f"u{row % 70}", f"k{row * 7 % (count + 9)}") for row in range(6_000)]
    moments, people, keys = zip(*rows, strict=True)
    at = pyarrow.array(moments, pyarrow.timestamp("us", tz="UTC"))
    table = pyarrow.table({"at": at, "who": list(people), "place": list(keys)})
    pyarrow.parquet.write_table(table, tmp_path / "keys.parquet")
    grouping = Grouping("place", tuple(f"k{number}" for number in range(count)))
    question = Question(calendar, "at", "who", None, Grid(1.0), (0, 1), (grouping,), max_periods=2, max_places=3)
    frame = spark.read.parquet(str(tmp_path / "keys.parquet"))
    expected = DuckDB(threads=2).totals(find_source(table), question, key="k")
    assert expected.people.sum() > 100
    assert same(Spark().totals(find_source(frame), question, key="k"), expected)
    assert "k1499" not in statement(question, [part_of(frame, question)], key="k", dialect="spark")
    plan = Spark().query(find_source(frame), question, key="k")._jdf.queryExecution().executedPlan().toString()
    assert "BroadcastHashJoin" in plan
    normed = replace(question, max_periods=None, max_places=None, norm=3)
    expected = DuckDB(threads=2).totals(find_source(table), normed, key="k")
    assert same(Spark().totals(find_source(frame), normed, key="k"), expected)
