"""One cell that no reader likes, in each form of a table: it is the affair of its own row, and of nobody else's."""

from __future__ import annotations

import datetime as dt
import itertools
import uuid
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest

from chronodp.engines import DuckDB, Question, Reading, Totals, find_source
from chronodp.engines.attach import attached
from chronodp.engines.question import Grouping
from chronodp.engines.reading import Moment, read_time
from chronodp.errors import UnsuitableColumn
from chronodp.privacy import Calendar, Grid
from tests.engines.forms import as_enum, edited

pytestmark = pytest.mark.slow

DAYS = Calendar("1D", "2026-01-05", "2026-01-08")
COUNT = Question(DAYS, "at", "who", None, Grid(1.0), (0, 1), max_periods=1)
SUM = Question(DAYS, "at", "who", "kwh", Grid(1.0), (0, 9), max_periods=1)
NOON = dt.datetime(2026, 1, 6, 12)
PEOPLE = [b"ann", b"bob", b"cem", b"dora"]
BROKEN = b"\xff"


def totals(data: Any, question: Question = COUNT) -> Totals:
    return DuckDB(threads=1).totals(find_source(data), question, key="k")


def change(one: Totals, other: Totals) -> int:
    return int(np.abs(one.sums - other.sums).sum())


def texts(cells: list[bytes]) -> Any:
    """Texts as they come, also such as are no UTF-8."""
    return pa.array(cells, pa.binary()).view(pa.string())


def write(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    pyarrow.parquet.write_table(pa.table(columns), path, **options)
    return path


@pytest.mark.parametrize("unit", ["us", "ms"])
def test_a_text_that_is_not_utf8_leaves_far_times_where_they_are(tmp_path: Path, unit: Any) -> None:
    """Read as nanoseconds of 64 bits, times 2^64 ns before the grid would count in it."""
    far = NOON - dt.timedelta(microseconds=2**64 // 1000)
    found = []
    for last in (b"eve", BROKEN):
        times: Any = pa.array([NOON, far, far, far, far], pa.timestamp("us"))
        columns = {"at": times, "who": texts([*PEOPLE, last])}
        if unit == "ms":  # another column of the same file that Arrow has to read
            columns |= {"kwh": pa.array([1.0] * 5), "then": pa.array([NOON] * 5, pa.timestamp("ms"))}
        path = write(tmp_path / "rows.parquet", columns, use_deprecated_int96_timestamps=unit == "us")
        found.append(totals(path, replace(COUNT, time="then") if unit == "ms" else COUNT))
    assert found[0].sums.tolist() == ([0, 1, 0] if unit == "us" else [0, 5, 0])
    assert change(*found) == (0 if unit == "us" else 1)


@pytest.mark.parametrize("unit", ["us", "ms"])
@pytest.mark.parametrize("beside", ["nothing", "bytes", "ENUM"])
def test_a_text_that_is_not_utf8_leaves_people_of_other_types_who_they_are(
    tmp_path: Path, beside: str, unit: Any
) -> None:
    for name in ("a", "c") if beside != "nothing" else ("a",):
        people: Any = texts(PEOPLE) if name == "a" or beside == "ENUM" else pa.array(PEOPLE, pa.binary())
        rows = {"at": pa.array([NOON] * 4, pa.timestamp(unit)), "who": people}
        path = write(tmp_path / f"{name}.parquet", rows, store_schema=False, use_dictionary=False)
        if people.type == pa.string():
            edited(str(path), as_enum("who"))  # as writers of Avro do
    found = []
    for last in (b"eve", BROKEN):
        rows = {"at": pa.array([NOON], pa.timestamp(unit)), "who": texts([last])}
        write(tmp_path / "b.parquet", rows)
        found.append(totals(str(tmp_path / "*.parquet")))
    assert found[0].sums.tolist() == [0, 5, 0]
    assert change(*found) == 1


NUMBERS: dict[str, Any] = {
    "float16": pa.array(np.array([1, 2, 3, np.nan], np.float16)),
    "decimal256": pa.array([Decimal(1), Decimal(2), Decimal(3), None], pa.decimal256(50, 2)),
    "duration": pa.array([1, 2, 3, None], pa.duration("s")),
    "dictionary": pa.array([1, 2, 3, None]).dictionary_encode(),
}


def test_a_text_that_is_not_utf8_leaves_numbers_of_rare_types_as_they_are(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    units: list[Any] = ["us", "ms"]
    for unit, name in itertools.product(units, NUMBERS):
        with subtests.test(unit=unit, name=name):
            found = []
            for second in (b"bob", BROKEN):
                people = texts([PEOPLE[0], second, *PEOPLE[2:]])
                rows = {"at": pa.array([NOON] * 4, pa.timestamp(unit)), "who": people, "kwh": NUMBERS[name]}
                found.append(totals(write(tmp_path / "rows.parquet", rows), SUM))
            assert [one.sums.tolist() for one in found] == [[0, 6, 0], [0, 4, 0]]


@pytest.mark.parametrize("unit", ["us", "ms"])
def test_columns_that_nobody_can_read_are_not_looked_at(tmp_path: Path, unit: Any) -> None:
    """A time of day of more than a day, and JSON that is none, are errors for whoever reads them."""
    odd: dict[str, Any] = {
        "clock": pa.array([2**62], pa.int64()).cast(pa.time64("ns")),
        "json": pa.array(["{"], pa.json_()),
    }
    usual: dict[str, Any] = {"clock": texts([b"1"]), "json": texts([b"1"])}
    for number, more in enumerate((odd, usual)):
        rows = {"at": pa.array([NOON], pa.timestamp(unit)), "who": texts([PEOPLE[number]]), **more}
        write(tmp_path / f"{number}.parquet", rows)
    for column in odd:
        question = replace(SUM, value=column)
        assert totals(str(tmp_path / "*.parquet"), question).sums.tolist() == [0, 1, 0]
        assert DuckDB(threads=1).look(find_source(str(tmp_path / "*.parquet")), question).used == 1
        with pytest.raises(UnsuitableColumn):
            totals(tmp_path / "0.parquet", question)


def test_no_date_refuses_the_others(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Years that a clock of 64 bits in microseconds does not reach, and both infinities."""
    for form, days in itertools.product(
        ["parquet", "table", "relation", "relation of a file"],
        [106_751_992, 2**31 - 2, -(2**31) + 2, 2**31 - 1, -(2**31)],
    ):
        with subtests.test(form=form, days=days):
            found = []
            for last in (20_459, days):
                dates: Any = pa.array([20_459] * 4 + [last], pa.int32()).cast(pa.date32())
                table = pa.table({"at": dates, "who": texts([*PEOPLE, b"eve"])})
                path = write(tmp_path / "rows.parquet", {name: table[name] for name in table.column_names})
                connection = duckdb.connect(config={"threads": 1})
                data: Any = {
                    "parquet": path, "table": table, "relation": connection.from_arrow(table),
                    "relation of a file": connection.read_parquet(str(path)),
                }[form]  # fmt: skip
                found.append(totals(data))
            assert change(*found) == 1


def test_what_a_file_says_of_its_texts_decides_nothing(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Statistics and Bloom filters know the bytes that are left out of a text, and which names others have."""
    for coded, others in itertools.product(
        [False, True], [[], [b"alf", b"alf"], [b"zoe", b"zoe"], [b"\xffalf", b"zoe"]]
    ):
        with subtests.test(coded=coded, others=others):
            people = [b"\xffmia", b"\xffmia", *others]
            bloom = {name: {"ndv": 9, "fpp": 0.01} for name in ("who", "world")}
            rows = {
                "at": pa.array([NOON] * len(people), pa.timestamp("us")), "who": texts(people), "world": texts(people),
            }  # fmt: skip
            asked = replace(COUNT, max_periods=None, clip=(0, 9))
            for size in (2, 100):
                options = {"use_dictionary": coded, "bloom_filter_options": bloom, "row_group_size": size}
                path = write(tmp_path / "rows.parquet", rows, **options)
                assert totals(path, asked).sums.tolist() == [0, len(people), 0]
                by = replace(asked, groupings=(Grouping("world", ("mia", "max")),))
                narrow = ("world = 'mia'", "world IN ('mia', 'mib')", "world >= 'mi' AND world < 'mj'")
                for question in (by, replace(by, user=None), *(replace(asked, where=where) for where in narrow)):
                    assert totals(path, question).sums.sum() == 2
                with attached(find_source(path), asked.wanted, asked.reading, memory=2**30) as session:
                    assert session.row("SELECT count(*) FROM part_0 WHERE who = 'mia'") == (2,)


ENCODED: dict[str, tuple[str, bytes]] = {
    "an emoji in UTF-16": ("utf-16", "e\U0001f600".encode("utf-16-le")),
    "half a sign in UTF-16": ("utf-16", b"e\0\x00\xd8"),
    "the other half in UTF-16": ("utf-16", b"e\0\x00\xdc"),
    "a line break of UTF-16's own": ("utf-16", "e\u2028\x85".encode("utf-16-le")),
    "a byte of Windows in Latin-1": ("latin-1", b"e\x80"),
    "a next line in Latin-1": ("latin-1", b"e\x85"),
    "every byte of Latin-1": ("latin-1", bytes(byte for byte in range(255, 0, -1) if byte not in b'\r\n,"')),
    "no text in UTF-8": ("utf-8", b"e\xff"),
    "a letter of Latin-1 in UTF-8": ("utf-8", "À".encode()),  # its second byte is none of DuckDB's Latin-1
}


def test_no_sign_in_a_csv_file_refuses_the_others(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for line_breaks, name in itertools.product([False, True], [*ENCODED]):
        with subtests.test(line_breaks=line_breaks, name=name):
            encoding, sign = ENCODED[name]
            plain = "utf-16-le" if encoding == "utf-16" else encoding
            reading = Reading(encoding=encoding, line_breaks=line_breaks)  # type: ignore[arg-type]
            question = replace(COUNT, reading=reading)
            found = []
            for last in ("eve".encode(plain), sign):
                head = "at,who\n" + "".join(f"2026-01-06,{who}\n" for who in ("ann", "Jörg", "cem"))
                path = tmp_path / "rows.csv"
                content = (
                    head.encode(encoding) + "2026-01-06,".encode(plain) + last + "\n2026-01-06,zoe\n".encode(plain)
                )
                path.write_bytes(content)
                found.append(totals(path, question))
                assert DuckDB(threads=1).look(find_source(path), question).used == found[-1].sums.sum()
            assert found[0].sums.tolist() == [0, 5, 0]
            assert change(*found) == (1 if name == "no text in UTF-8" else 0)


def test_utf_16_is_read_whichever_byte_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\xfe\xff" + "at,who\n2026-01-06,ann\n".encode("utf-16-be"))
    assert totals(path, replace(COUNT, reading=Reading(encoding="utf-16"))).sums.tolist() == [0, 1, 0]


@pytest.mark.parametrize("user", ["who", None])
@pytest.mark.parametrize("do", ["totals", "tally"])
def test_what_is_told_of_progress_hangs_on_no_row(do: str, user: str | None) -> None:
    tenths = [number / 10 for number in range(1, 11)]
    for rows in ([], [NOON], [NOON, None], [None], [NOON] * 700, [dt.datetime(1990, 1, 1)] * 3):
        people = [str(number % 90) for number in range(len(rows))]
        table = pa.table({"at": pa.array(rows, pa.timestamp("us")), "who": pa.array(people, pa.string())})
        told: list[float] = []
        question = replace(COUNT, user=user, max_periods=None)
        getattr(DuckDB(threads=1), do)(find_source(table), question, key="k", progress=told.append)
        assert told == tenths


@pytest.mark.parametrize("asked", [False, True])
def test_a_null_where_a_schema_allows_none_refuses_nobody(asked: bool) -> None:
    fields: list[Any] = [
        pa.field("at", pa.timestamp("us")), pa.field("who", pa.string()), pa.field("kwh", pa.float64()),
    ]  # fmt: skip
    for name in ("at", "who", "kwh"):
        schema = pa.schema([field.with_nullable(field.name != name) for field in fields])
        columns: list[Any] = [[NOON] * 3, ["ann", "bob", "cem"], [1.0, 1.0, 1.0]]
        found = []
        for last in (columns[schema.names.index(name)][-1], None):
            columns[schema.names.index(name)][-1] = last
            arrays = [pa.array(cells, field.type) for cells, field in zip(columns, schema, strict=True)]
            found.append(totals(pa.Table.from_arrays(arrays, schema=schema), SUM if asked else COUNT))
        assert found[0].sums.tolist() == [0, 3, 0]
        assert change(*found) == (1 if asked or name != "kwh" else 0)


def test_no_unit_of_time_of_numpy_refuses_the_others(subtests: pytest.Subtests) -> None:
    for unit, number in itertools.product(
        ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"], [0, 7, -(2**63) + 1]
    ):
        with subtests.test(unit=unit, number=number):
            found = []
            for last in (NOON, np.datetime64(number, unit), np.datetime64(number, (unit, 25))):  # type: ignore[call-overload,arg-type]
                frame = pd.DataFrame({"at": pd.Series([NOON, NOON, last], dtype=object), "who": ["ann", "bob", "cem"]})
                found.append(totals(frame))
            assert [one.sums.tolist() for one in found] == [[0, 3, 0], [0, 2, 0], [0, 2, 0]]


def test_times_of_numpy_are_read_in_every_unit() -> None:
    cells = [np.datetime64("2026-01-06T12:00:00.5").astype(f"datetime64[{unit}]") for unit in ("ms", "us", "ns")]
    cells += [np.datetime64("2026-01-06").astype(f"datetime64[{unit}]") for unit in ("D", "h", "m", "s")]
    cells += [
        np.datetime64(5, "ps"),
        np.datetime64(-5, "as"),
        np.datetime64("2026", "Y"),
        np.datetime64("2026-02", "M"),
    ]
    noon, midnight = 1_767_700_800_500_000, 1_767_657_600_000_000
    expected = [noon] * 3 + [midnight] * 4 + [0, -1, 1_767_225_600_000_000, 1_769_904_000_000_000]
    assert [read_time(cell, Reading()) for cell in cells] == [Moment(ticks, absolute=False) for ticks in expected]


ODD_OBJECTS: list[Any] = ["\ud800", "e\ud800", 2**70, -(2**63) - 1, 1e308, True, b"e", np.float16(1), np.longdouble(1)]
ODD_OBJECTS += [Decimal("1e999"), Decimal("sNaN"), 1j, object(), (), pd.Period("2026-01"), np.timedelta64(1, "as")]


def test_no_object_refuses_the_others(subtests: pytest.Subtests) -> None:
    for column, usual in itertools.product(["at", "who", "kwh"], ["ann", 7, 7.0, True]):
        with subtests.test(column=column, usual=usual):
            asked = replace(SUM, clip=(0, 1))
            found = []
            for last in (usual, *ODD_OBJECTS):
                cells = {"at": [NOON] * 4, "who": list("abcd"), "kwh": [1.0] * 4}
                cells[column] = [usual, usual, usual, last]
                data = pd.DataFrame({name: pd.Series(cells[name], dtype=object) for name in cells})
                found.append(totals(data, asked))
            assert max(change(found[0], other) for other in found[1:]) <= 1


def test_texts_of_python_are_read_alike_in_every_type_of_pandas() -> None:
    people = ["e\ud800", "e", "\ud800", "", None, "f"]
    for kind in (object, pd.StringDtype("python")):
        frame = pd.DataFrame({"at": [NOON] * 6, "who": pd.Series(people, dtype=kind)})
        assert totals(frame, replace(COUNT, clip=(0, 9))).sums.tolist() == [0, 3, 0]
        assert totals(frame).sums.tolist() == [0, 2, 0]


@pytest.mark.parametrize("last", [b"eve", b"e\xff", b"\xff", b"", b"\0"])
def test_no_text_of_a_relation_refuses_the_others(last: bytes) -> None:
    """DuckDB takes it on trust that texts of Arrow are UTF-8, and so does what is made of them."""
    table = pa.table({"at": [NOON] * 5, "who": texts([*PEOPLE, last])})
    with duckdb.connect(config={"threads": 1}) as connection:
        found = totals(connection.from_arrow(table))
    assert found.sums.tolist() == [0, 4 if last in (b"\xff", b"") else 5, 0]


def test_no_value_at_the_ends_of_its_type_refuses_the_others(subtests: pytest.Subtests) -> None:
    for kind, column in itertools.product(
        ["HUGEINT", "UHUGEINT", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ"], ["at", "who", "kwh"]
    ):
        with subtests.test(kind=kind, column=column):
            ends = {
                "HUGEINT": ("-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"),
                "UHUGEINT": ("0", "340282366920938463463374607431768211455"),
                "TIMESTAMP_S": ("TIMESTAMP_S '290308-12-22 (BC)'", "TIMESTAMP_S '294247-01-10'"),
                "TIMESTAMP_MS": ("'-infinity'", "'infinity'"),
                "TIMESTAMP_NS": ("'1677-09-22'", "'2262-04-11'"),
                "TIMESTAMPTZ": ("'290308-12-22 (BC) 00:00:00+00'", "'294246-12-31 00:00:00+00'"),
            }[kind]
            usual = "TIMESTAMP '2026-01-06 12:00'" if kind.startswith("T") else "1767700800"
            cells = {"at": "TIMESTAMP '2026-01-06 12:00'", "who": "who", "kwh": "1.0"}
            with duckdb.connect(config={"threads": 1}) as connection:
                rows = [
                    ", ".join(
                        f"{cell if name != column else f'({end})::{kind}'} AS {name}" for name, cell in cells.items()
                    )
                    for end in (usual, *ends)
                ]
                several = " UNION ALL ".join(f"SELECT {row} FROM (SELECT {n} AS who)" for n, row in enumerate(rows))
                for data in (connection.sql(several), connection.sql(several).to_arrow_table()):
                    try:
                        found = totals(data, replace(SUM, clip=(0, 1), reading=Reading(time_format="s")))
                    except UnsuitableColumn:  # by the type, which is the owner's
                        continue
                    assert 1 <= found.sums.sum() <= 3


@pytest.mark.parametrize("form", ["string", "large", "view", "codes", "codes of views", "runs"])
def test_no_text_of_arrow_refuses_the_others(form: str) -> None:
    cells = [b"ann", b"e\xff", b"\xff", b"bob"]
    arrays: Any = pa.Array
    view = arrays.from_buffers(pa.string_view(), 4, pa.array(cells, pa.binary_view()).buffers())
    people: Any = {  # type: ignore[no-untyped-call]
        "string": lambda: texts(cells),
        "large": lambda: pa.array(cells, pa.large_binary()).view(pa.large_string()),
        "view": lambda: view,
        "codes": lambda: texts(cells).dictionary_encode(),
        "codes of views": lambda: pa.DictionaryArray.from_arrays(pa.array(range(4)), view),
        "runs": lambda: pc.call_function("run_end_encode", [texts(cells)]),
    }[form]()
    table = pa.table({"at": pa.array([NOON] * 4, pa.timestamp("us")), "who": people})
    for data in (table, table.to_pandas(types_mapper=pd.ArrowDtype)):
        assert totals(data).sums.tolist() == [0, 3, 0]


@pytest.mark.parametrize("own_schema", [True, False])
@pytest.mark.parametrize("unit", ["us", "ms"])
def test_a_uuid_is_the_same_person_in_every_file(tmp_path: Path, unit: Any, own_schema: bool) -> None:
    """Beside times in milliseconds Arrow reads it, as 16 bytes: a second name would have one person count twice."""
    known = uuid.UUID(int=6)
    at: Any = pa.array([NOON], pa.timestamp(unit))
    held: Any = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([known.bytes], pa.binary(16)))
    one = write(tmp_path / "one.parquet", {"at": at, "who": held}, store_schema=own_schema)
    other = write(tmp_path / "other.parquet", {"at": at, "who": pa.array([str(known)])})
    assert totals([str(one), str(other)]).sums.tolist() == [0, 1, 0]


def test_no_object_among_texts_refuses_the_others(subtests: pytest.Subtests) -> None:
    for odd, column in itertools.product(
        [np.float32("nan"), np.datetime64("NaT"), Decimal("sNaN"), Decimal("NaN"), pd.NA, b"x"], ["who", "kwh"]
    ):
        with subtests.test(odd=odd, column=column):
            cells: dict[str, list[object]] = {"at": [NOON] * 3, "who": ["ann", "bob", "cem"], "kwh": ["1", "2", "3"]}
            cells[column][1] = odd
            frame = pd.DataFrame(cells, dtype=object).astype({"at": "datetime64[us]"})
            assert totals(frame, SUM).sums.tolist() == [0, 4, 0]
