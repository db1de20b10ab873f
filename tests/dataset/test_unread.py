"""What an owner is told of rows that cannot be read: before anything is spent, and in nothing that is published."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import chronodp as cdp
from chronodp.errors import UnreadRows
from chronodp.randomness import seeded

ROWS: Sequence[tuple[str | None, str | None, str]] = (
    ("2026-01-01", "ann", "1"),
    ("2026-01-02", "bob", "n/a"),
    ("2026-05-01", "bob", "2"),  # read, and outside the periods
    ("31/01/2026", "bob", "2"),
    ("19970101", "ann", "n/a"),  # one row lacks two things, and is one row
    ("2026-01-02", None, "x"),
)


def write(table: pd.DataFrame, form: str, folder: Path) -> Any:
    file = str(folder / f"rows.{form}")
    if form == "csv":
        table.to_csv(file, index=False)
    elif form == "parquet":
        table.to_parquet(file)
    return table if form == "pandas" else file


@pytest.fixture(params=["csv", "parquet", "pandas"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return write(pd.DataFrame(ROWS, columns=["at", "who", "kwh"]), request.param, tmp_path)


def series(data: Any, **given: Any) -> cdp.TimeSeries:
    options: dict[str, Any] = {"time": "at", "user": "who", "every": "1D", "unit": cdp.User(), "max_periods": 2}
    return cdp.TimeSeries(data, start="2026-01-01", end="2026-01-04", **(options | given))


def release(folder: Path, plan: Any, request: str = "a") -> Any:
    with cdp.Ledger(folder / "budget.db") as ledger:
        if not ledger.budgets():
            ledger.open("meters", unit=plan.claim.unit, epsilon=8.0, delta=1e-3, reserve=5e-4)
        return plan.release(ledger, dataset="meters", request=request, entropy=seeded(1), progress=lambda _: None)


KINDS: dict[str, Callable[[Any], Any]] = {
    "people": lambda data: series(data).sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0),
    "mean": lambda data: series(data).mean("kwh", clip=(0.0, 5.0), of="people").plan(epsilon=1.0),
    "rows": lambda data: (
        series(data, user=None, unit=cdp.Event(), max_periods=None).sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0)
    ),
    "norm": lambda data: series(data, max_periods=None).sum("kwh", bound=cdp.Norm(5.0)).plan(epsilon=1.0, delta=1e-6),
    "found": lambda data: series(data).sum("kwh", clip=cdp.Find()).plan(epsilon=1.0, delta=1e-6),
    "quantiles": lambda data: series(data).quantiles("kwh", [0.5], edges=[0.0, 1.0, 2.0]).plan(epsilon=1.0),
    "together": lambda data: cdp.plan_together(
        {"one": series(data).sum("kwh", clip=(0.0, 5.0)), "other": series(data).sum("kwh", clip=(0.0, 2.0))},
        epsilon=1.0,
    ),
}


def test_one_warning_says_how_many_rows_are_left_out_and_why(
    table: Any, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for kind, made in KINDS.items():
        (tmp_path / kind).mkdir()
        with subtests.test(kind=kind):
            with pytest.warns(UnreadRows) as told:
                release(tmp_path / kind, made(table))
            assert len(told) == 1
            who = "" if kind == "rows" else "1 without a name in 'who', "  # where rows stand for themselves
            lacks = f"{who}2 without a time that can be read in 'at', {1 if who else 2} without a number in 'kwh'"
            assert f"2 of 6 rows were read, 4 left out: {lacks}" in str(told[0].message)


@pytest.mark.parametrize("column", ["text", "bytes", "lists", "NaN"])
def test_a_value_column_of_no_numbers_is_told_or_refused_before_anything_is_spent(column: str, tmp_path: Path) -> None:
    cells: dict[str, list[Any]] = {"text": ["x"], "bytes": [b"1"], "lists": [[1]], "NaN": [float("nan")]}
    table = pd.DataFrame({"at": ["2026-01-01"], "who": ["ann"], "kwh": pd.Series(cells[column])})
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnreadRows)
        with pytest.raises(UnreadRows, match="1 without a number in 'kwh'"):
            release(tmp_path, KINDS["people"](table))


def test_periods_without_any_row_are_told(tmp_path: Path) -> None:
    table = pd.DataFrame({"at": ["2026-05-01"], "who": ["ann"]})
    with pytest.warns(UnreadRows, match="1 of 1 rows were read; none counts"):
        release(tmp_path, series(table).count().plan(epsilon=1.0))


def test_a_table_that_is_read_is_released_without_a_word(tmp_path: Path, subtests: pytest.Subtests) -> None:
    rows = [("2026-01-01", "ann", 1.0), ("2026-05-01", "bob", 0.0), ("2026-01-02", "bob", 0.0)]
    for kind, made in KINDS.items():
        (tmp_path / kind).mkdir()
        with subtests.test(kind=kind):
            release(tmp_path / kind, made(pd.DataFrame(rows, columns=["at", "who", "kwh"])))


def test_an_owner_who_makes_it_an_error_has_spent_nothing(table: Any, tmp_path: Path) -> None:
    plan = KINDS["people"](table)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnreadRows)
        with pytest.raises(UnreadRows):
            release(tmp_path, plan)
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        assert not ledger.stored.was_debited("meters", "a")


def test_nothing_that_is_published_holds_it(table: Any, tmp_path: Path) -> None:
    with pytest.warns(UnreadRows):
        made = release(tmp_path, KINDS["people"](table))
    for published in (made.text, str(made), str(made.certificate), made.to_pandas().to_csv()):
        assert "left out:" not in published
        assert "were read" not in published


@pytest.mark.slow
def test_many_rows_are_counted_to_the_last(tmp_path: Path) -> None:
    count = 300_000
    table = pd.DataFrame({"at": ["2026-01-01"] * count, "who": [f"p{n % 999}" for n in range(count)], "kwh": "1"})
    table.loc[::7, "at"] = "x"
    table.loc[1::7, "kwh"] = "x"
    wrong = len(table[::7]), len(table[1::7])
    for form in ("csv", "parquet"):
        data = write(table, form, tmp_path)
        with pytest.warns(UnreadRows, match=f"{wrong[0]:,} without a time.*, {wrong[1]:,} without a number"):
            release(tmp_path, KINDS["people"](data), form)
