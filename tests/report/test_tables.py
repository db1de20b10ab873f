from __future__ import annotations

import csv
import io
import math
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
from hypothesis import given, strategies as st

from chronodp.report.tables import comma_separated, frame_as_csv, number_format, readable_column

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))


@given(st.lists(st.tuples(TEXTS, st.floats(allow_nan=False), st.integers()), min_size=1))
def test_the_csv_loses_nothing(rows: list[tuple[str, float, int]]) -> None:
    read = csv.reader(io.StringIO(comma_separated(("a", "b,\n", 'c"'), rows), newline=""))
    assert next(read) == ["a", "b,\n", 'c"']
    # One apostrophe stands before what a spreadsheet would run; whoever takes it away has the text.
    exact = [(re.sub(r"^'(?='*[=+\-@\t\r\n])", "", text), number, count) for text, number, count in read]
    assert [(text, float(number), int(count)) for text, number, count in exact] == rows


def test_the_csv_writes_scalars_of_every_library_alike() -> None:
    moment = datetime(2026, 1, 5, 8, tzinfo=UTC)
    missing = [None, math.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT", "s")]
    text = comma_separated(
        ("x",),
        [
            *((cell,) for cell in (moment, pd.Timestamp(moment), np.datetime64("2026-01-05T08:00", "ns"))),
            *((cell,) for cell in (0.1, np.float64(0.1), Decimal("0.1"), np.int64(7), True, date(2026, 1, 5))),
        ],
    )
    assert text.splitlines()[1:] == [
        "2026-01-05T08:00:00+00:00",
        "2026-01-05T08:00:00+00:00",
        "2026-01-05T08:00:00",
        *("0.1", "0.1", "0.1", "7", "True", "2026-01-05"),
    ]
    assert comma_separated(("a", "b"), [("x", cell) for cell in missing]) == "a,b\r\n" + "x,\r\n" * len(missing)


def test_numbers_share_their_decimals_and_stand_to_the_right() -> None:
    column = readable_column([1234.5, -0.25, np.float64(3), None, math.inf, -math.inf])
    assert column.cells == ("1,234.5", "−0.2", "3.0", "–", "∞", "−∞")
    assert column.numeric


def test_a_column_has_the_decimals_that_matter() -> None:
    columns: list[tuple[list[float], str]] = [
        ([0, 0], ",.0f"),
        ([], ",.0f"),
        ([3.0, -2.0], ",.0f"),
        ([0.5, 1.25], ",.2f"),
        ([math.pi, 2000.0], ",.1f"),
        ([1 / 3e4], ",.9f"),
        ([1.5e-9], ".5g"),
        ([3e20], ".5g"),
        ([2.5e6, 1 / 3], ",.0f"),
    ]
    for numbers, form in columns:
        assert number_format(numbers) == form, numbers


def test_times_are_no_finer_than_they_need_be_and_tell_one_zone_once() -> None:
    start = datetime(2026, 1, 5)
    assert readable_column([start, start + timedelta(days=1)]).cells == ("2026-01-05", "2026-01-06")
    assert readable_column([start, start + timedelta(hours=1), None]).cells[1:] == ("2026-01-05 01:00", "–")
    assert readable_column([start + timedelta(seconds=1)]).cells == ("2026-01-05 00:00:01",)
    assert readable_column([datetime(2026, 1, 5, tzinfo=UTC)]).note == "UTC"
    summer = pd.date_range("2026-10-25", periods=2, tz="Europe/Oslo")
    assert readable_column([summer[0]]).note == "UTC+02:00"
    across = readable_column([summer[0], summer[1]])
    assert across.note == ""
    assert across.cells[0] != across.cells[1]


FORMULAS = ("=HYPERLINK(A1)", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=", "'=1")
HARMLESS = ("-5", "+49", "-1.5e3", "a=b", "/page", "", "'a", "−5")


def test_no_key_is_a_formula_in_a_csv_file() -> None:
    """Keys that were found are texts that people wrote: a spreadsheet would run them for whoever opens the file."""
    keys = [*FORMULAS, *HARMLESS]
    at = pd.date_range("2026-01-01", periods=len(keys), tz="Europe/Oslo")
    frame = pd.DataFrame({"time": at, "page": keys, "value": [-1.5] * len(keys)})
    expected = [*(f"'{key}" for key in FORMULAS), *HARMLESS]
    for text in (frame_as_csv(frame), frame_as_csv(frame.astype({"page": "category"}))):
        rows = list(csv.reader(io.StringIO(text, newline="")))
        assert [row[1] for row in rows[1:]] == expected
        assert {row[2] for row in rows[1:]} == {"-1.5"}
        assert rows[1][0] == "2026-01-01 00:00:00+01:00"
    told = comma_separated(("page", "value"), [(key, -1.5) for key in keys])
    assert [row[0] for row in list(csv.reader(io.StringIO(told, newline="")))[1:]] == expected
    assert len(set(expected)) == len(keys)
    assert frame_as_csv(frame[:0]) == "time,page,value\n"
