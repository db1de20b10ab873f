"""Series as they stand in a table, one a person or one alone, for fitting models. Nothing is bounded here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from chronodp.engines.attach import attached
from chronodp.engines.question import Question
from chronodp.engines.rows import rows_select
from chronodp.engines.schema import check_columns, check_series_columns
from chronodp.engines.sources import Source
from chronodp.privacy import Calendar, Grid
from chronodp.privacy.parameters import check_whole

__all__ = ["read_panel", "read_series"]

_MEMORY = 2 * 2**30
_BATCH = 2**14


def read_panel(source: Source, *, time: str, user: str, value: str, longest: int) -> list[NDArray[np.float64]]:
    """Return each person's last ``longest`` values, in order of time; people in no order that means anything.

    Rows without a person, a time or a finite number are left out; none can cause a refusal.

    >>> import pyarrow
    >>> from chronodp.engines import find_source
    >>> rows = {"day": [2, 1, 1], "who": ["a", "a", "b"], "kwh": [5.0, 4.0, 9.0]}
    >>> table = pyarrow.table(rows).set_column(0, "day", pyarrow.array([2, 1, 1], pyarrow.date32()))
    >>> found = read_panel(find_source(table), time="day", user="who", value="kwh", longest=100)
    >>> sorted(series.tolist() for series in found)
    [[4.0, 5.0], [9.0]]
    """
    check_whole("longest", longest)
    with attached(source, (time, user, value), memory=_MEMORY, threads=None, folder=None) as session:
        check_series_columns(session.schema, time=time, user=user, value=value)
        read = f"SELECT {_text(user)} AS person, {_moment(time)} AS moment, {_number(value)} AS number FROM records"
        usable = "person IS NOT NULL AND moment IS NOT NULL AND isfinite(number)"
        # Values of one moment go by size: any rule will do that does not hang on the order of rows.
        series = f"(list(number ORDER BY moment, number))[-{longest}:]"
        query = f"SELECT {series} AS series FROM ({read}) WHERE {usable} GROUP BY person"
        return [
            np.asarray(one.values, dtype=np.float64)
            for batch in session.batches(query, _BATCH)
            for one in batch.column(0)
        ]


def read_series(source: Source, calendar: Calendar, *, time: str, value: str) -> NDArray[np.float64]:
    """Return one number a period of a public grid: the mean of its rows, NaN where there is none.

    A row counts in the period of its time, whatever other rows there are. It is left out beyond the grid, or without a
    time or a finite number; none can cause a refusal.

    >>> import pyarrow
    >>> from chronodp.engines import find_source
    >>> table = pyarrow.table({"day": pyarrow.array([1, 3, 3], pyarrow.date32()), "kwh": [4.0, 5.0, 9.0]})
    >>> days = Calendar("1D", "1970-01-01", "1970-01-05")
    >>> read_series(find_source(table), days, time="day", value="kwh").tolist()
    [nan, 4.0, nan, 7.0]
    """
    question = Question(calendar, time, None, value, Grid(1.0), (0, 1))
    with attached(source, question.columns, memory=_MEMORY, threads=None, folder=None) as session:
        check_columns(session.schema, question)
        rows = rows_select(question, session.schema).select(exp.column("number")).subquery("rows_").sql("duckdb")
        query = f"SELECT period, avg(number) FROM {rows} WHERE isfinite(number) GROUP BY period"
        numbers = np.full(len(calendar), np.nan)
        for batch in session.batches(query, _BATCH):
            periods, means = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            numbers[periods] = means
    return numbers


def _text(column: str) -> str:
    return f"CAST({_name(column)} AS VARCHAR)"


def _moment(column: str) -> str:
    return f"TRY_CAST({_name(column)} AS TIMESTAMPTZ)"


def _number(column: str) -> str:
    return f"TRY_CAST({_name(column)} AS DOUBLE)"


def _name(column: str) -> str:
    return exp.to_identifier(column, quoted=True).sql("duckdb")
