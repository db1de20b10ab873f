"""The rule as SQL gives, on DuckDB and on Spark, exactly what the plain rule gives for every cell."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
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

READINGS = (
    Reading(), Reading(decimal=","), *(Reading(time_format=unit) for unit in ("s", "ms", "us", "ns")),
    Reading(time_format="s", decimal=","), Reading(time_format="%d.%m.%Y %H:%M"), Reading(time_format="%Y%m%d"),
    Reading(time_format="%d %b %Y %I:%M:%S %p"), Reading(time_format="%m/%d/%Y %I %p %z"),
    Reading(time_format="%Y-%m-%dT%H:%M:%S.%f%z"), Reading(time_format="%H:%M:%S,%f %d/%m/%Y"),
)  # fmt: skip
_SPACES = st.sampled_from(["", "", "", "", " ", "  ", "\t", "\n", "\u00a0", "\u2003", "\0"])
_YEARS = st.sampled_from(
    ["2026", "2024", "1969", "1970", "0001", "0000", "9999", "1582", "0900", "26", "12026", "-2026"]
)
_MONTHS = st.sampled_from(["01", "02", "02", "10", "12", "13", "00", "1", "Jan", "jan", "Sep", "Sept"])
_DAYS = st.sampled_from(["01", "15", "28", "29", "30", "31", "32", "00", "1", "9", "١"])
_HOURS = st.sampled_from(["00", "01", "9", "11", "12", "13", "23", "24", "0"])
_SIXTY = st.sampled_from(["00", "01", "30", "59", "60", "7"])
_DIGITS = st.text(alphabet="0123456789", max_size=13)
_OFFSETS = st.sampled_from(
    [
        "", "", "Z", "z", "+01", "+0100", "+01:00", "-00:30", "+14:59", "-14", "+15:00", "+1", "+01:60", " +01:00",
        "UTC", "+05:30", "-0930", "+01:00:00", "−01:00", "+00", "-00:00", "[Europe/Berlin]",
    ]
)  # fmt: skip
_WORDS = ["", "true", "True", "TRUE", "tRUE", "false", "False", "FALSE", "yes", "inf", "-inf", "Infinity", "nan", "NaN"]
_WORDS += [
    "null",
    "None",
    "NULL",
    "N/A",
    "epoch",
    "now",
    "today",
    "infinity",
    "-infinity",
    "0x1F",
    "1_000",
    "1e",
    "e5",
    ".",
]
_WORDS += [
    "١٢",
    "１２",
    "7",
    "7.0",
    "7.00",
    "-7.0",
    "+7.0",
    "-0.0",
    "007.0",
    "7.",
    ".0",
    "7.50",
    "7,0",
    "1.000,5",
    "1d",
    "1f",
    "1L",
]
_WORDS += [
    "1e400",
    "-1e400",
    "1e-400",
    "4.9e-324",
    "2e-324",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "1 2",
    "--1",
]
_WORDS += ["9007199254740992", "9007199254740993", "9007199254740993.0", "9223372036854775807", "9223372036854775808"]
_WORDS += [
    "-9223372036854775808",
    "99999999999999999999",
    "1" * 400,
    "0." + "0" * 400 + "1",
    "é",
    "名",
    "\U0001f600",
    "a\nb",
    "a\0b",
]


@st.composite
def _times(draw: st.DrawFn) -> str:
    day = "-".join((draw(_YEARS), draw(_MONTHS), draw(_DAYS)))
    clock = draw(_HOURS) + ":" + draw(_SIXTY)
    clock += draw(st.sampled_from(["", "", ":" + draw(_SIXTY)]))
    clock += draw(st.sampled_from(["", "", "." + draw(_DIGITS), "," + draw(_DIGITS)]))
    return (
        day
        + draw(st.sampled_from(["", "T" + clock, "T" + clock, " " + clock, "t" + clock, "  " + clock]))
        + draw(_OFFSETS)
    )


@st.composite
def _good_times(draw: st.DrawFn) -> str:
    moment = draw(st.datetimes())
    text = moment.isoformat(draw(st.sampled_from(["T", " "])))
    return text + draw(st.sampled_from(["", "Z", "+02:00", "-0330", "+14", "-14:59"]))


@st.composite
def _formatted(draw: st.DrawFn, written: str) -> str:
    pieces = {"Y": _YEARS, "m": _MONTHS, "b": _MONTHS, "d": _DAYS, "H": _HOURS, "I": _HOURS, "M": _SIXTY, "S": _SIXTY}
    pieces |= {"f": _DIGITS, "p": st.sampled_from(["AM", "PM", "am", "pm", "Pm", ""]), "z": _OFFSETS}
    text, at = "", 0
    while at < len(written):
        if written[at] == "%":
            text, at = text + draw(pieces[written[at + 1]]), at + 2
        else:
            text, at = text + written[at], at + 1
    return text


@st.composite
def _numbers(draw: st.DrawFn) -> str:
    sign, mark = draw(st.sampled_from(["", "", "-", "+"])), draw(st.sampled_from([".", ".", ",", ""]))
    text = sign + draw(st.text(alphabet="0123456789", max_size=25)) + mark + draw(_DIGITS)
    return text + draw(st.sampled_from(["", "", "", "e3", "E-5", "e+22", "e-320", "e308", "e", "e5.0"]))


def texts(reading: Reading) -> st.SearchStrategy[str]:
    """Return texts of which about half can be read as something."""
    anything = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
    kinds = [
        _times(), _good_times(), _numbers(), st.floats().map(repr), st.integers().map(str), st.sampled_from(_WORDS),
        anything,
    ]  # fmt: skip
    if reading.format is not None:
        kinds += [_formatted(reading.time_format)] * 3
    return st.tuples(_SPACES, st.one_of(kinds), _SPACES).map("".join)


wholes = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**33), 2**33),
    st.sampled_from([0, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]),
    st.sampled_from([19970101, 20240229, 20230229, 99991231, 10101, 1997010, 199701011, -19970101]),  # digits of dates
)
reals = st.one_of(
    st.floats(), st.integers(-(2**54), 2**54).map(float), st.floats(-2e18, 2e18),
    st.sampled_from([19970101.0, 20240229.0, 20230229.0, 19970101.5, 1e8]),
    st.sampled_from([2.0**53, 2.0**53 + 2, -(2.0**53), 0.5, -0.0, 7.0, 1e300, 5e-324, 2.0**63, -(2.0**63), 2.0**61]),
)  # fmt: skip


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    """Return decimal numbers of so many digits; many of them whole."""
    most = 10**precision - 1
    exact = st.integers(-most, most).map(lambda number: Decimal(f"{number}E-{scale}"))  # arithmetic would round it
    if precision == scale:
        return st.one_of(exact, st.just(Decimal(0)))
    wide = 10 ** (precision - scale) - 1
    return st.one_of(
        exact, st.integers(-wide, wide).map(Decimal), st.integers(-9, 9).filter(lambda n: abs(n) <= wide).map(Decimal)
    )


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
        columns.name(stored, cell), columns.number(stored, cell), columns.moment(stored, cell),
        columns.absolute(stored, cell),
    ]  # fmt: skip
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
    HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large,
    HealthCheck.large_base_example,
]  # fmt: skip


@pytest.mark.slow
@settings(suppress_health_check=QUIET, max_examples=max(60, int(1000 * SCALE)))
@given(drawn=columns_of_cells())
def test_duckdb_reads_cells_by_the_rule(ask_duckdb: Ask, drawn: Cells) -> None:
    check(ask_duckdb, drawn)


@settings(suppress_health_check=QUIET, max_examples=max(6, int(150 * SCALE)), phases=[Phase.generate])
@given(drawn=columns_of_cells(least=30, most=60))
def test_spark_reads_cells_by_the_rule(ask_spark: Ask, drawn: Cells) -> None:
    check(ask_spark, drawn)
