"""Tables with which one person moved everybody else, each as it was found."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from chronodp.engines import DuckDB, Question, Reading, Totals, find_source
from chronodp.errors import UnreadableSource, UnsuitableColumn
from chronodp.privacy import Calendar, Grid

TOKYO = Calendar("1D", "2026-01-05", "2026-01-08", "Asia/Tokyo")
COUNT = Question(TOKYO, "at", "who", None, Grid(1.0), (0, 1), max_periods=1)
SUM = Question(TOKYO, "at", "who", "kwh", Grid(1.0), (0, 9), max_periods=1)
CLOCKS = [dt.datetime(2026, 1, 6, hour) for hour in (1, 5, 12, 20)]
AWARE = dt.datetime(2026, 1, 6, 3, tzinfo=dt.UTC)


def totals(data: Any, question: Question = COUNT) -> Totals:
    return DuckDB(threads=1).totals(find_source(data), question, key="k")


def change(one: Totals, other: Totals) -> int:
    return int(np.abs(one.sums - other.sums).sum())


def town(people: int = 160) -> pd.DataFrame:
    return pd.DataFrame({"at": [CLOCKS[who % 4] for who in range(people)], "who": [f"p{who}" for who in range(people)]})


@pytest.mark.slow
def test_a_row_with_a_zone_leaves_rows_without_one_where_they_are() -> None:
    more = pd.DataFrame({"at": [pd.Timestamp(AWARE)], "who": ["one more"]})
    without = totals(town())
    for frames in ([more, town()], [town(), more], [more, town().iloc[::-1]]):
        assert change(totals(pd.concat(frames)), without) == 1
    assert without.sums.tolist() == [0, 160, 0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pa.timestamp("us", "UTC"), pa.timestamp("ms", "Asia/Tokyo"), pa.date32(), pa.string(), pa.list_(pa.int8())]
)
def test_one_more_file_leaves_other_files_as_they_are(tmp_path: Path, kind: pa.DataType) -> None:
    pyarrow.parquet.write_table(pa.Table.from_pandas(town(), preserve_index=False), tmp_path / "b.parquet")
    without = totals(str(tmp_path / "*.parquet"))
    cell = {"string": "2026-01-06T03:00Z", "list<item: int8>": [1], "date32[day]": AWARE.date()}.get(str(kind), AWARE)
    more = pa.table({"at": pa.array([cell], kind), "who": ["one more"]})
    for name in ("a.parquet", "c.parquet"):
        pyarrow.parquet.write_table(more, tmp_path / name)
        assert change(totals(str(tmp_path / "*.parquet")), without) <= 1
        (tmp_path / name).unlink()


@pytest.mark.parametrize(
    ("timezone", "day"), [("Europe/Berlin", 1), ("Asia/Tokyo", 1), ("UTC", 0), ("America/New_York", 0)]
)
def test_offsets_in_csv_files_are_kept(tmp_path: Path, timezone: str, day: int) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("at,who\n2026-01-05T23:30:00Z,a\n", encoding="utf-8")
    table = pa.table({"at": pa.array([dt.datetime(2026, 1, 5, 23, 30)], pa.timestamp("us", "UTC")), "who": ["a"]})
    calendar = Calendar("1D", "2026-01-05", "2026-01-08", timezone)
    question = Question(calendar, "at", "who", None, Grid(1.0), (0, 1))
    for data in (path, table):
        assert np.flatnonzero(totals(data, question).sums).tolist() == [day]


def test_rows_of_one_day_stay_in_one_day(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    clocks = [
        dt.datetime(2026, 1, 5, 15) + dt.timedelta(hours=hour) for hour in range(24)
    ]  # in UTC, of one day in Tokyo
    path.write_text("at,who\n" + "".join(f"{clock.isoformat()}Z,a\n" for clock in clocks), encoding="utf-8")
    assert totals(path, Question(TOKYO, "at", "who", None, Grid(1.0), (0, 99))).sums.tolist() == [0, 24, 0]


ODD_PEOPLE: dict[str, tuple[Sequence[Any], Sequence[Any]]] = {
    "a missing id among whole numbers": ([1, 2, 3], [np.nan]), "a whole number among texts": (["a", "b", "c"], [7]),
    "a text among whole numbers": ([1, 2, 3], ["x"]), "a fraction among whole numbers": ([1, 2, 3], [2.5]),
    "a decimal number among texts": (["a", "b", "c"], [Decimal("7.5")]), "a list among texts": (["a", "b", "c"], [[1]]),
}  # fmt: skip


def test_no_id_refuses_the_others(subtests: pytest.Subtests) -> None:
    for name in [*ODD_PEOPLE]:
        with subtests.test(name=name):
            usual, odd = ODD_PEOPLE[name]
            frames = [pd.DataFrame({"at": [CLOCKS[0]] * len(ids), "who": ids}) for ids in (usual, odd)]
            for order in (frames, frames[::-1]):
                assert 3 <= totals(pd.concat(order)).sums.sum() <= 4


def test_no_text_among_numbers_refuses_the_others() -> None:
    frames = [pd.DataFrame({"at": [CLOCKS[0]], "who": [who], "kwh": [kwh]}) for who, kwh in (("a", 2.0), ("b", "none"))]
    assert totals(pd.concat(frames), SUM).sums.tolist() == [0, 2, 0]


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["s", "ms"])
def test_no_far_time_refuses_the_others(tmp_path: Path, unit: str, zone: str | None) -> None:
    near = 1_767_690_000 * (1 if unit == "s" else 1000)
    times = pa.array([near, 2**52 if unit == "s" else 2**63 - 1], pa.int64()).cast(pa.timestamp(unit, zone))
    table = pa.table({"at": times, "who": ["a", "b"]})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    assert totals(table).sums.sum() == totals(tmp_path / "rows.parquet").sums.sum() == 1


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.parametrize("clocks", ["UTC", "America/New_York", "Asia/Tokyo"])
def test_no_time_at_the_ends_of_its_type_refuses_the_others(
    tmp_path: Path, clocks: str, unit: str, zone: str | None
) -> None:
    """Where clocks are moved to UTC such a time would not fit, and nobody may learn of it."""
    near = 1_767_690_000_000_000 * (1 if unit == "us" else 1000)
    ends = [near, 2**63 - 1, 2**63 - 2, -(2**63) + 1, -(2**63) + 2]
    table = pa.table({"at": pa.array(ends, pa.int64()).cast(pa.timestamp(unit, zone)), "who": list("abcde")})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet", version="2.6")
    question = replace(COUNT, calendar=Calendar("1D", "2026-01-05", "2026-01-08", clocks))
    assert totals(table, question).sums.sum() == totals(tmp_path / "rows.parquet", question).sums.sum() == 1


def test_lists_of_numbers_are_no_numbers() -> None:
    table = pa.table({"at": pa.array(CLOCKS[:1]), "who": ["a"], "kwh": pa.array([[1.0]], pa.list_(pa.float64()))})
    with pytest.raises(UnsuitableColumn, match="value: column 'kwh' holds list<"):
        totals(table, SUM)


@pytest.mark.slow
def test_lines_in_another_encoding_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("at,who\n2026-01-06,Jörg\n2026-01-06,Ann\n".encode("latin-1"))
    found = DuckDB(threads=1).look(find_source(path), COUNT)
    assert found.used == 1
    assert [count for reason, count in found.broken.items() if "latin-1" in reason] == [1]
    question = Question(TOKYO, "at", "who", None, Grid(1.0), (0, 1), reading=Reading(encoding="latin-1"))
    assert totals(path, question).sums.tolist() == [0, 2, 0]


@pytest.mark.slow
def test_an_open_quote_takes_nobody_away(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    lines = [f'2026-01-06,"p{who}"' for who in range(200)]
    for place in (0, 99, 200):
        path.write_text("\n".join(["at,who", *lines[:place], '2026-01-06,"one more', *lines[place:]]), encoding="utf-8")
        assert totals(path).sums.tolist() == [0, 200, 0]
    broken = DuckDB(threads=1).look(find_source(path), COUNT).broken
    assert [count for reason, count in broken.items() if "quotes" in reason] == [1]


@pytest.mark.parametrize("unit", ["ms", "us"])
@pytest.mark.parametrize("coded", [False, True])
def test_bytes_that_are_no_text_refuse_nobody(tmp_path: Path, unit: Any, coded: bool) -> None:
    names = pa.array([b"a", b"\xff", b"c", b""], pa.binary()).view(pa.string())
    table = pa.table({"at": pa.array(CLOCKS, pa.timestamp(unit)), "who": names.dictionary_encode() if coded else names})
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    for data in (table, tmp_path / "rows.parquet"):
        assert totals(data).sums.tolist() == [0, 2, 0]


@pytest.mark.slow
def test_files_that_are_damaged_are_still_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pandas(town(), preserve_index=False), path)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:4] + b"\xff" * 400 + whole[404:], b"", b"at,who\n"):
        path.write_bytes(damaged)
        with pytest.raises(UnreadableSource, match=r"rows\.parquet cannot be read as parquet"):
            totals(path)
