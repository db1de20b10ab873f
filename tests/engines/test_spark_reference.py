"""Bounds, keys, lives and expressions: Spark gives what the reference gives, also where tasks run again."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from chronodp.engines import (
    DuckDB,
    Grouping,
    Question,
    Spark,
    find_source,
    reference_held_keys,
    reference_losses,
    reference_missing,
    reference_sizes,
    reference_totals,
)
from chronodp.engines.expressions import Value, check_columns, check_where
from chronodp.engines.expressions.tree import Node
from chronodp.engines.expressions.typing import Typed, Use, typed
from chronodp.engines.reading import Part, Role, Stored, stored_in_spark
from chronodp.engines.spark.engine import _ask
from chronodp.engines.spark.frames import part_of
from chronodp.engines.spark.lives import book_frame
from chronodp.errors import UnreadableSource
from chronodp.privacy import Calendar, Grid
from tests.conftest import SCALE, Trials
from tests.engines.test_expressions import MADE, ROWS, by_python, cells_sql, ready, table_of, wanted_for
from tests.engines.test_finding import (
    asked_lengths,
    asked_losses,
    asked_missing,
    asked_scaled,
    asked_sizes,
    asked_stays,
    crowd,
    largest,
)
from tests.engines.test_held_keys import ASKED, held_digest, keyed, keyed_table, random_records, weights_for
from tests.engines.test_lives import (
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
from tests.engines.worlds import digest, to_arrow


def test_spark_takes_votes_and_losses_as_the_reference_does(spark: Any, trials: Trials, tmp_path: Path) -> None:
    records = crowd(random.Random(6), trials(1000, least=60))
    pyarrow.parquet.write_table(to_arrow(records, ["region"]), tmp_path / "crowd.parquet")
    source = find_source(spark.read.parquet(str(tmp_path / "crowd.parquet")))
    sizes, losses = list(asked_sizes()), list(asked_losses())
    of_rows = [asked for asked in sizes if asked.rows]
    # The largest sizes, of whole persons and of periods; others add no text of Spark's own.
    more = ([sizes[1], *of_rows[:3:2]], [losses[3]]) if SCALE >= 1 else ([], [])
    for asked in (sizes[4], sizes[-2], of_rows[3], of_rows[-1], *more[0]):
        assert Spark().sizes(source, asked) == reference_sizes(records, asked)
    for lost in (losses[4], losses[9], losses[-1], *more[1]):
        assert Spark().losses(source, lost) == reference_losses(records, lost)
    assert sizes[4].means is losses[9].means is True


# Who was active lately: Spark gives the integers of the reference.


def test_spark_finds_the_stays_of_the_reference(spark: Any, trials: Trials, tmp_path: Path) -> None:
    records = crowd(random.Random(8), trials(1500, least=80))
    table = to_arrow(records, ["region"])
    pyarrow.parquet.write_table(table, tmp_path / "crowd.parquet")
    source = find_source(spark.read.parquet(str(tmp_path / "crowd.parquet")))
    # The first and the last have both windows and all limits, with and without; all others DuckDB is asked.
    for index, question in enumerate(list(asked_stays())[:: 1 if SCALE >= 1 else 23]):
        found, expected = Spark().totals(source, question, key="k"), reference_totals(records, question, key="k")
        assert np.array_equal(found.sums, expected.sums)
        assert np.array_equal(found.people, expected.people)
        if index % 4 == 1:
            told = Spark().tally(source, question, key="k")
            assert told == DuckDB().tally(find_source(table), question, key="k")


# Whole series scaled to a length: Spark gives the integers of the reference.


def test_spark_scales_as_the_reference_does(spark: Any, trials: Trials, tmp_path: Path) -> None:
    records = [*crowd(random.Random(5), trials(2000, least=100)), *largest()]
    table = to_arrow(records, ["region"])
    pyarrow.parquet.write_table(table, tmp_path / "crowd.parquet")
    source = find_source(spark.read.parquet(str(tmp_path / "crowd.parquet")))
    for question in trials.some(list(asked_scaled()), 5):  # no length, the longest, and every grid
        found, expected = Spark().totals(source, question, key="k"), reference_totals(records, question, key="k")
        assert np.array_equal(found.sums, expected.sums)
        assert np.array_equal(found.people, expected.people)
    for index, asked in enumerate(trials.some(list(asked_missing())[1::4], 2)):
        assert Spark().missing(source, asked, key="k") == reference_missing(records, asked, key="k")
        if index and trials(100) < 100:  # the owner's look asks the same of every length
            continue
        told = Spark().tally(source, asked.question, key="k")
        assert told == DuckDB().tally(find_source(table), asked.question, key="k")
    for losses in trials.some(list(asked_lengths()), 4):  # every grid and every cap
        assert Spark().losses(source, losses) == reference_losses(records, losses)


# Who holds which key: Spark gives the integers of the reference, however rows lie and a column is compared.


# Public keys are met in windows, too, and whole persons by what is derived.
NAMES = ["user-period", "window", "event", "rows alone", "derived", *(["beside public keys"] if SCALE >= 1 else [])]


@pytest.mark.parametrize("name", NAMES)
def test_spark_holds_what_the_reference_holds(name: str, spark: Any, tmp_path: Path) -> None:
    asked = ASKED[name]
    records = random_records(random.Random(name), 500, pages=20)
    table = keyed_table(records)
    for part in range(3):
        pyarrow.parquet.write_table(table.slice(part * 200, 200), tmp_path / f"{part}.parquet")
    expected = reference_held_keys(keyed(records, asked), asked, key="k")
    frame = spark.read.parquet(str(tmp_path))
    found = Spark().held_keys(find_source(frame.repartition(5, "region")), asked, key="k")
    assert found.keys == expected.keys
    # One text asks for weights whether keys are dropped or not; many rows are asked both.
    assert held_digest(found, asked, undropped=SCALE >= 1) == held_digest(expected, asked, undropped=SCALE >= 1)


def test_many_rows_have_the_digest_of_duckdb(spark: Any, trials: Trials, tmp_path: Path) -> None:
    asked, path = ASKED["user"], str(tmp_path / "all.parquet")
    table = keyed_table(random_records(random.Random(5), trials(100_000, least=20_000), people=5_000, pages=9_000))
    pyarrow.parquet.write_table(table, path, row_group_size=2_000)
    expected = DuckDB(threads=2).held_keys(find_source(table), asked, key="k")
    found = Spark().held_keys(find_source(spark.read.parquet(path).orderBy("number")), asked, key="k")
    assert held_digest(found, asked) == held_digest(expected, asked)


def test_a_collation_merges_no_keys(spark: Any) -> None:
    """A column that is compared without case: keys and people stay what their bytes are."""
    rows = [("ann", "A"), ("Ann", "a"), ("bo", "a"), ("cy", "B")]
    frame = spark.createDataFrame([(who, page) for who, page in rows], "who string, page string").selectExpr(
        "CAST(who AS STRING COLLATE UTF8_LCASE) AS who", "CAST(page AS STRING COLLATE UTF8_LCASE) AS page",
        "TIMESTAMP '2026-01-01 01:00:00' AS at", "0.0D AS number", "'north' AS region",
    )  # fmt: skip
    asked = ASKED["user"]
    held = Spark().held_keys(find_source(frame), asked, key="k")
    assert (held.keys, held.people.tolist()) == (("A", "B", "a"), [1, 1, 2])
    dropped = np.array([True, False, False])
    assert held.weigh(weights_for(asked), dropped).tolist() == [0, 2**16, 2**17]


# Where everyone has a life, Spark keeps and books what the reference does, also when tasks run again.


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


# Spark computes expressions as the plain rule does, also in ANSI mode and on the ends of what doubles hold.


ENDS = [
    {"n": n, "m": m, "w": w, "s": s, "r": "JFK", "b": b}
    for n, m, w, s, b in [
        (1e308, 0, "1e308", "JFK", True), (-1e308, 3, "-0.0", "", False), (-0.0, -3, "5e-324", "é", None),
        (float("nan"), None, "x", None, True), (float("inf"), 1, "1e400", "a\\b", False),
        (9.3e18, 2, "-9.3e18", "{x}", True), (1e18, 2, "999999999999999744", "a'b", True),
        (-0.5, -1, "2.5", "7.0", False), (None, None, None, "a\nb", None),
    ]
]  # fmt: skip
TEXTS: list[tuple[str, Use]] = [
    ("n + n", "number"), ("n * w - n * w", "number"), ("n / m", "number"), ("1 / (n * 10)", "number"),
    ("m / (m - m)", "number"), ("-n", "name"), ("FLOOR(n) + CEIL(w)", "number"), ("FLOOR(n)", "name"),
    ("CEIL(n)", "number"), ("n IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)", "name"),
    ("s IN ('a\\b', '{x}', 'a''b', '7', 'é')", "condition"), ("s >= 'JFK' OR s IS NULL", "condition"),
    ("NOT (b AND n > 0)", "name"), ("CASE WHEN b THEN s WHEN m > 0 THEN 'a\nb' END", "name"),
    ("n + 0 BETWEEN m AND w", "number"), ("LEAST(n, m, w) * GREATEST(n, m)", "number"),
    ("COALESCE(n / m, w, -1)", "number"), ("s IS NULL", "condition"), ("s || ' to ' || CONCAT(s, 'x')", "name"),
    ("CONCAT(s, s) > 'JFK'", "condition"), ("ABS(w) + b", "number"), ("b = TRUE", "condition"),
]  # fmt: skip


def by_spark(spark: Any, nodes: list[Typed], rows: list[dict[str, Any]], path: Path) -> list[list[Value]]:
    """Return what Spark makes of each expression in each row."""
    table = table_of(rows).append_column("row", pyarrow.array(range(len(rows))))
    pyarrow.parquet.write_table(table, path)
    frame = spark.read.parquet(str(path))
    types = {column.name: stored_in_spark(column.dataType.simpleString()) for column in frame.schema.fields}
    wanted: dict[tuple[Role, str], tuple[str, Stored]] = {("number", "row"): ("row", types["row"])}
    wanted |= {(one.role, one.column): (one.column, types[one.column]) for one in wanted_for(nodes).values()}
    text = cells_sql(nodes, Part("records", wanted, frame.columns), "spark").replace("{", "{{").replace("}", "}}")
    answer = spark.sql(f"WITH records AS (SELECT * FROM {{records}}) {text}", records=frame)
    found = sorted(answer.collect(), key=lambda row: row["nth"])
    return [[row[f"found_{index}"] for row in found] for index in range(len(nodes))]


@pytest.mark.parametrize("ansi", [True, False])
def test_the_ends_of_doubles_and_odd_texts(spark: Any, ansi: bool, tmp_path: Path) -> None:
    nodes = [typed("where", text, use) for text, use in TEXTS]
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    try:
        assert by_spark(spark, nodes, ENDS, tmp_path / "ends.parquet") == by_python(nodes, ENDS)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


@settings(max_examples=max(3, int(60 * SCALE)), deadline=None, suppress_health_check=list(HealthCheck))
@given(made=st.lists(MADE, min_size=20, max_size=24), rows=ROWS)
def test_spark_gives_what_the_plain_rule_gives(
    made: list[tuple[Node, Use]], rows: list[dict[str, Any]], spark: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    nodes = [found for node, use in made if (found := ready(node, use)) is not None]
    path = tmp_path_factory.mktemp("spark") / "rows.parquet"
    assert by_spark(spark, nodes, rows, path) == by_python(nodes, rows)


def test_totals_and_the_owners_look_are_those_of_duckdb(spark: Any, tmp_path: Path) -> None:
    days = Calendar("1D", "2026-01-01", "2026-01-03")
    columns = check_columns({"x": "n" + " * 1.5 - m" * 11, "late": "CASE WHEN w > 1 THEN b ELSE s = 'JFK' END"})
    where = check_where("n / m > -1e300 OR s IS NOT NULL OR FLOOR(w) > 1", columns)
    asked = Question(
        days, "at", "who", "x", Grid(2.0**-10), (-(2**20), 2**20), (Grouping("late", ("1", "0")),),
        max_periods=1, where=where, columns=columns,
    )  # fmt: skip
    rows = [row for row in ENDS for _ in range(3)]
    names = [f"p{number % 7}" for number in range(len(rows))]
    table = table_of(rows).append_column("who", pyarrow.array(names))
    table = table.append_column("at", pyarrow.array([f"2026-01-0{1 + number % 2}" for number in range(len(rows))]))
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    frame = find_source(spark.read.parquet(str(tmp_path / "rows.parquet")))
    one, other = DuckDB(threads=1), Spark()
    expected = one.totals(find_source(table), asked, key="k")
    assert digest(other.totals(frame, asked, key="k")) == digest(expected)
    assert expected.people.any()
    assert other.tally(frame, asked, key="k") == one.tally(find_source(table), asked, key="k")
    seen, found = one.look(find_source(table), asked), other.look(frame, asked)
    assert found.filtered == seen.filtered > 0
    assert found.used == seen.used
