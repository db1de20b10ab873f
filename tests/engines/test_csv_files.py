"""How a CSV file is read is decided by its first line: no row decides how others are read."""

from __future__ import annotations

import functools
import gzip
import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from chronodp.engines import DuckDB, Question, Reading, csv_lines, find_source
from chronodp.engines.csv_files import group_csv_files
from chronodp.engines.csv_lines import Lines
from chronodp.errors import SourceError
from chronodp.privacy import Calendar, Grid

DAYS = [f"2026-01-{day:02d}" for day in range(1, 11)]
ROWS = [f'{day},"Lee, {number}",{number}' for day in DAYS for number in range(10)]
ODD = st.binary(max_size=30) | st.lists(
    st.sampled_from(
        [b"a", b"1", b",", b'"', b'""', b"'", b";", b"\t", b"#", b"\\", b"\r", b"\0", b"\xff", b"\xe2", "é€".encode()]
    ),
    max_size=20,
).map(b"".join)


@functools.cache
def database() -> duckdb.DuckDBPyConnection:
    """Return the one database of these tests, in which nothing is kept: opening one takes longer than a question."""
    return duckdb.connect(config={"threads": 1})


def read(*paths: Path, columns: tuple[str, ...] = ("at", "who", "kwh"), reading: Reading | None = None) -> list[Any]:
    found = []
    for group in group_csv_files([str(path) for path in paths], reading or Reading(), paths[0].parent):
        spelled = [next(name for name in group.names if name.lower() == column) for column in columns]
        found += database().execute(group.select(spelled)).fetchall()
    return found


def test_the_first_line_tells_the_separator(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for separator, end, packing in itertools.product([",", ";", "\t", "|"], ["\n", "\r\n"], ["", ".gz", ".zst"]):
        with subtests.test(separator=separator, end=end, packing=packing):
            path = tmp_path / f"rows.csv{packing}"
            lines = [separator.join(("at", "who", "größe")), separator.join(("1", '"a,;|\tb ""c"""', "3")), ""]
            content = b"\xef\xbb\xbf" + end.join(lines).encode()
            match packing:
                case ".gz":
                    path.write_bytes(gzip.compress(content))
                case ".zst":
                    path.write_bytes(pyarrow.compress(content, codec="zstd", asbytes=True))
                case _:
                    path.write_bytes(content)
            assert read(path, columns=("at", "who", "größe")) == [("1", 'a,;|\tb "c"', "3")]


def test_files_with_other_columns_are_joined_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("at,who,at 2,\n1,2,3,4\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("who;AT\n5;6\n", encoding="utf-8")
    (tmp_path / "c.csv").write_text("who;AT\n7;8\n", encoding="utf-8")
    found = read(*sorted(tmp_path.glob("*.csv")), columns=("at", "who"))
    assert sorted(found) == [("1", "2"), ("6", "5"), ("8", "7")]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(line=ODD, place=st.integers(0, len(ROWS)), end=st.sampled_from([b"\n", b"\r\n"]))
def test_a_row_changes_no_other_row(tmp_path: Path, line: bytes, place: int, end: bytes) -> None:
    path = tmp_path / "rows.csv"
    rows = [row.encode() for row in ROWS]
    path.write_bytes(end.join([b"at,who,kwh", *rows[:place], line, *rows[place:]]))
    found = Counter(read(path))
    wanted = Counter((day, f"Lee, {number}", str(number)) for day in DAYS for number in range(10))
    assert not wanted - found
    assert sum(found.values()) <= len(ROWS) + 1 + line.count(b"\r") + line.count(b"\n")


@pytest.mark.slow
def test_no_row_is_a_reason_to_refuse(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for row, end in itertools.product(
        [
            *(b'1,"a,2', b"1,a\rb,2", b"1,\xff,2", b"1", b"1,2,3,4", b"#", b'"1"2,a,3', b"\r", b'"', b'1,"a', b'"""'),
            *(b"1,a\x01\x02\x03b,2", b"\xef\xbb\xbf1,a,2", b"1,\0,2", b"\xe2\x82", b'"' * 9999),
            *(b"1," + b"x" * 3_000_000 + b",2", b"1," + b"x" * 40_000_000),
        ],
        [b"\n", b"\r\n"],
    ):
        with subtests.test(row=row, end=end):
            path = tmp_path / "rows.csv"
            rows = [row.encode() for row in ROWS]
            for place in (0, 50, 100):
                path.write_bytes(end.join([b"at,who,kwh", *rows[:place], row, *rows[place:]]))
                assert len(ROWS) <= len(read(path)) <= len(ROWS) + 2


def split_plainly(line: str, separator: str) -> list[str] | None:
    """Return the fields of a line, sign by sign, or None where its quotes do not close."""
    fields, at = [], 0
    while True:
        if line[at : at + 1] == '"':
            end = line.find('"', at + 1)
            while end >= 0 and line[end + 1 : end + 2] == '"':
                end = line.find('"', end + 2)
            if end < 0 or line[end + 1 : end + 2] not in ("", separator):
                return None
            fields.append(line[at + 1 : end].replace('""', '"'))
            end += 1
        else:
            end = line.find(separator, at) if separator in line[at:] else len(line)
            fields.append(line[at:end])
        if end == len(line):
            return fields
        at = end + 1


@pytest.mark.slow
@pytest.mark.parametrize("widest", [0, 500])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.text(alphabet='ab",,"" ;\t|^-].é\0', max_size=14), min_size=1, max_size=40),
    separator=st.sampled_from(",;\t|^-]. "), width=st.integers(1, 4), data=st.data(),
)  # fmt: skip
def test_lines_are_split_by_the_plain_rule(
    monkeypatch: pytest.MonkeyPatch, widest: int, lines: list[str], separator: str, width: int, data: st.DataObject
) -> None:
    monkeypatch.setattr(csv_lines, "_WIDEST", widest)
    places = data.draw(st.lists(st.integers(0, width - 1), unique=True, min_size=1))
    split = [split_plainly(line, separator) for line in lines]
    database().register("lines", pyarrow.table({"line": lines}))
    table = Lines("lines", separator, width)
    asked = [table.select(places), table.unclosed(), table.of_other_width()]
    found, unclosed, other = (database().execute(query).fetchall() for query in asked)
    database().unregister("lines")
    records = [fields for fields in split if fields is not None and len(fields) == width]
    assert found == [tuple(fields[place] for place in places) for fields in records]
    assert unclosed == [(split.count(None),)]
    assert other == [(len(lines) - split.count(None) - len(records),)]


def test_a_reader_that_looks_at_rows_is_caught(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["at,who,kwh", *ROWS, '1,"a,2', ""]), encoding="utf-8")
    with duckdb.connect() as connection:
        query = f"SELECT * FROM read_csv('{path}', all_varchar = true, header = true, ignore_errors = true)"
        looked_at = connection.execute(query).fetchall()
    assert len(looked_at) < len(ROWS)  # one row at the end, and those before it are gone
    assert len(read(path)) == len(ROWS)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("empty.csv", b"", r"empty\.csv has no columns"),
        ("blank.csv", b"\n1,2\n", r"blank\.csv has no columns"),
        ("latin.csv", "größe,at\n1,2\n".encode("latin-1"), r"first line of latin\.csv must name"),
        ("twice.csv", b"at,who,kwh,KWH\n", r"twice\.csv has more than one column 'kwh'"),
        ("rows.csv.gz", b"at,who,kwh\n1,2,3\n", r"rows\.csv\.gz cannot be read as csv"),
    ],
)
def test_a_file_whose_columns_cannot_be_told_apart_is_refused(
    tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    (tmp_path / name).write_bytes(content)
    days = Calendar("1D", "2026-01-01", "2026-01-11")
    with pytest.raises(SourceError, match=told):
        DuckDB().totals(find_source(tmp_path / name), Question(days, "at", "who", "kwh", Grid(1.0), (0, 3)), key="k")
