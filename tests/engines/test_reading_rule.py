"""The rule as SQL gives, on DuckDB and on Spark, exactly what the plain rule gives for every cell."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st
from sqlglot import exp

from chronodp.engines import Reading
from chronodp.engines.reading import (
    Columns,
    Stored,
    read_name,
    read_number,
    read_time,
    stored_in_duckdb,
    stored_in_spark,
)
from tests.conftest import SCALE
from tests.engines.odd_cells import READINGS, decimals, reals, texts, wholes

ENDS = (dt.datetime(1, 1, 5), dt.datetime(9999, 12, 25))
_EPOCH = dt.datetime(1970, 1, 1)
_NEAR = [(end - _EPOCH) // dt.timedelta(microseconds=1) for end in ENDS]
_SLACK = 4 * 86_400 * 10**6
Answer = tuple[str | None, float | None, tuple[int, bool] | None]
Ask = Callable[[Any, Reading], list[Answer]]


class Cells(NamedTuple):
    """A reading, cells and the Arrow type that holds them."""

    reading: Reading
    cells: Sequence[Any]
    kind: pa.DataType


def expected(cell: Any, reading: Reading) -> Answer:
    moment = read_time(cell, reading)
    return (
        read_name(cell),
        read_number(cell, reading),
        _near(None if moment is None else (moment.microseconds, moment.absolute)),
    )


def _near(moment: tuple[int, bool] | None) -> tuple[int, bool] | None:
    """A time that lies beyond all grids may be left out or not: no release can tell."""
    inside = moment is not None and _NEAR[0] - _SLACK // 2 <= moment[0] <= _NEAR[1] + _SLACK // 2
    return moment if inside else None


def query(stored: Stored, reading: Reading, dialect: str) -> str:
    columns, cell = Columns(dialect, reading, *ENDS), exp.column("cell", quoted=True)
    terms = [
        columns.name(stored, cell),
        columns.number(stored, cell),
        columns.moment(stored, cell),
        columns.absolute(stored, cell),
    ]
    aliased = [exp.Alias(this=term, alias=exp.to_identifier(name)) for term, name in zip(terms, "nvta", strict=True)]
    return exp.select(*aliased, "place").from_("cells").sql(dialect)


def answers(rows: Sequence[Sequence[Any]]) -> list[Answer]:
    ordered = sorted(rows, key=lambda row: row[4])
    return [
        (name, number, _near(None if time is None else (time, absolute))) for name, number, time, absolute, _ in ordered
    ]


def same(one: Answer, other: Answer) -> bool:
    numbers = [answer[1] for answer in (one, other)]
    signed = all(number is None or not math.isnan(number) for number in numbers)
    return signed and one[0] == other[0] and numbers[0] == numbers[1] and one[2] == other[2]


@pytest.fixture(scope="module")
def ask_duckdb() -> Iterator[Ask]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")

        def ask(array: Any, reading: Reading) -> list[Answer]:
            connection.register("cells", pa.table({"cell": array, "place": range(len(array))}))
            stored = stored_in_duckdb(connection.execute("DESCRIBE SELECT cell FROM cells").fetchall()[0][1])
            return answers(connection.execute(query(stored, reading, "duckdb")).fetchall())

        yield ask


@pytest.fixture(scope="module")
def ask_spark(spark: Any) -> Ask:
    def ask(array: Any, reading: Reading) -> list[Answer]:
        frame = spark.createDataFrame(pa.table({"cell": array, "place": range(len(array))}))
        stored = stored_in_spark(frame.schema["cell"].dataType.simpleString())
        text = (
            query(stored, reading, "spark").replace("{", "{{").replace("}", "}}").replace("FROM cells", "FROM {cells}")
        )
        return answers(spark.sql(text, cells=frame).collect())

    return ask


def check(ask: Ask, drawn: Cells) -> None:
    array: Any = pa.array(drawn.cells, drawn.kind)
    for cell, found in zip(array.to_pylist(), ask(array, drawn.reading), strict=True):
        wanted = expected(cell, drawn.reading)
        assert same(found, wanted), (cell, drawn.kind, drawn.reading, found, wanted)


@st.composite
def columns_of_cells(draw: st.DrawFn, least: int = 1, most: int = 60) -> Cells:
    reading = draw(st.sampled_from(READINGS))
    kind = draw(st.sampled_from(["text", "text", "text", "whole", "real", "decimal"]))
    if kind == "decimal":
        precision = draw(st.integers(1, 38))
        scale = draw(st.integers(0, precision))
        return Cells(reading, draw(_lists(decimals(precision, scale), least, most)), pa.decimal128(precision, scale))
    if kind == "real":
        return Cells(reading, draw(_lists(reals, least, most)), pa.float64())
    if kind == "whole":
        return Cells(reading, draw(_lists(wholes, least, most)), pa.int64())
    return Cells(reading, draw(_lists(texts(reading), least, most)), pa.string())


def _lists(cells: st.SearchStrategy[Any], least: int, most: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.one_of(cells, cells, cells, st.none()), min_size=least, max_size=most)


QUIET = [
    HealthCheck.function_scoped_fixture,
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
]


@pytest.mark.slow
@settings(suppress_health_check=QUIET, max_examples=max(60, int(1000 * SCALE)))
@given(drawn=columns_of_cells())
def test_duckdb_reads_cells_by_the_rule(ask_duckdb: Ask, drawn: Cells) -> None:
    check(ask_duckdb, drawn)


@settings(suppress_health_check=QUIET, max_examples=max(6, int(150 * SCALE)), phases=[Phase.generate])
@given(drawn=columns_of_cells(least=30, most=60))
def test_spark_reads_cells_by_the_rule(ask_spark: Ask, drawn: Cells) -> None:
    check(ask_spark, drawn)
