"""DuckDB and Spark give the same totals, digest by digest, however the rows lie and whatever fails on the way."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from chronodp.engines import DuckDB, Spark, find_source
from chronodp.privacy import Grid
from tests.conftest import Trials
from tests.engines.neighbours import random_world
from tests.engines.tables import digest, random_question, random_table
from tests.engines.test_equality import CALENDARS, largest_squares, questions, same
from tests.engines.worlds import run_duckdb, run_reference, widened_table


def test_random_questions_have_equal_digests(spark: Any, trials: Trials, tmp_path: Path) -> None:
    chance = random.Random(11)
    rows = trials(1_000_000, least=20_000)
    seen = set()
    for number in range(trials(20, least=4)):
        question = random_question(chance)
        table = random_table(chance, question.calendar, rows)
        path = str(tmp_path / f"{number}.parquet")
        pyarrow.parquet.write_table(table, path, row_group_size=rows // 7)
        frame = spark.read.parquet(path)
        expected = DuckDB(threads=2).totals(find_source(table), question, key=f"key {number}")
        forms = [frame.repartition(5, "region"), frame.orderBy("kwh"), failing(frame)]
        for form in [frame, chance.choice(forms[:2]), forms[2]]:
            found = Spark().totals(find_source(form), question, key=f"key {number}")
            assert digest(found) == digest(expected)
        if number % 2:
            told = Spark().tally(find_source(frame), question, key="k")
            assert told == DuckDB(threads=2).tally(find_source(table), question, key="k")
        seen.add(digest(expected))
    assert len(seen) == trials(20, least=4)


def failing(frame: Any) -> Any:
    """Return the same rows, each task of which fails when it is first tried."""
    from pyspark import TaskContext
    from pyspark.sql.functions import udf

    def pass_on(person: str | None) -> str | None:
        context = TaskContext.get()
        if context is not None and context.attemptNumber() == 0:
            raise RuntimeError("lost")
        return person

    return frame.withColumn("who", udf(pass_on, "string", useArrow=False)(frame["who"]))


def test_small_worlds_agree_with_the_reference(spark: Any, trials: Trials, tmp_path: Path) -> None:
    calendar = CALENDARS[1]
    chance = random.Random(3)
    worlds = [random_world(chance, calendar, most=60) for _ in range(trials(2000, least=100))]
    for index, question in enumerate(questions(calendar)[::2]):
        wide, table = widened_table(worlds, question)
        pyarrow.parquet.write_table(table, tmp_path / f"{index}.parquet")
        frame = spark.read.parquet(str(tmp_path / f"{index}.parquet"))
        expected = run_reference(worlds, question, "key")
        assert expected.people.sum() > 100
        assert same(Spark().totals(find_source(frame), wide, key="key"), expected)


def test_weighed_rows_agree_with_the_reference_and_so_does_what_the_owner_sees(spark: Any, tmp_path: Path) -> None:
    calendar = CALENDARS[1]
    chance = random.Random(4)
    worlds = [random_world(chance, calendar, most=60) for _ in range(25)]
    weighed = [question for question in questions(calendar) if question.rows is not None]
    widest = replace(weighed[0], grid=Grid(2.0**-28), clip=(-(2**28), 2**28 + 2**26), rows=1)
    assert widest.row_reach == 2**29 + 2**26
    for index, question in enumerate([*weighed, widest, replace(widest, clip=(-(2**22), 2**22), rows=2**7)]):
        wide, table = widened_table(worlds, question)
        pyarrow.parquet.write_table(table, tmp_path / f"{index}.parquet")
        source = find_source(spark.read.parquet(str(tmp_path / f"{index}.parquet")))
        expected = run_reference(worlds, question, "key")
        assert expected.people.sum() > 100
        assert same(Spark().totals(source, wide, key="key"), expected)
        assert same(run_duckdb(worlds, question, "key"), expected)
        assert Spark().tally(source, wide, key="key") == DuckDB(threads=2).tally(find_source(table), wide, key="key")


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
