"""Spark computes expressions as the plain rule does, also in ANSI mode and on the ends of what doubles hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from chronodp.engines import DuckDB, Grouping, Question, Spark, find_source
from chronodp.engines.expressions import Value, check_columns, check_where
from chronodp.engines.expressions.tree import Node
from chronodp.engines.expressions.typing import Typed, Use, typed
from chronodp.engines.reading import Part, Role, Stored, stored_in_spark
from chronodp.privacy import Calendar, Grid
from tests.conftest import SCALE
from tests.engines.expressions import ROWS, by_python, cells_sql, table_of, wanted_for
from tests.engines.tables import digest
from tests.engines.test_expressions import MADE, ready

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
