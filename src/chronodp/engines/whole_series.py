"""Series as they stand in a table, one a person or one alone, for fitting models. Nothing is bounded here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from chronodp.engines.attach import attached
from chronodp.engines.schema import check_series_columns
from chronodp.engines.sources import Source
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


def read_series(source: Source, *, time: str, value: str) -> NDArray[np.float64]:
    """Return the values of a table that has one row a period of a public grid, in order of time.

    A value that is not a finite number is NaN and keeps its place.
    """
    with attached(source, (time, value), memory=_MEMORY, threads=None, folder=None) as session:
        check_series_columns(session.schema, time=time, user=None, value=value)
        read = f"SELECT {_moment(time)} AS moment, {_number(value)} AS number FROM records"
        query = f"SELECT number FROM ({read}) ORDER BY moment, number"
        found = [batch.column(0).to_numpy(zero_copy_only=False) for batch in session.batches(query, _BATCH)]
    numbers = np.concatenate([np.zeros(0), *found]).astype(np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers


def _text(column: str) -> str:
    return f"CAST({_name(column)} AS VARCHAR)"


def _moment(column: str) -> str:
    return f"TRY_CAST({_name(column)} AS TIMESTAMPTZ)"


def _number(column: str) -> str:
    return f"TRY_CAST({_name(column)} AS DOUBLE)"


def _name(column: str) -> str:
    return exp.to_identifier(column, quoted=True).sql("duckdb")
