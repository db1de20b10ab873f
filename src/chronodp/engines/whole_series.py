"""Series as they stand in a table, one a person or one alone, for fitting models. Nothing is bounded here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from chronodp.engines.attach import attached
from chronodp.engines.question import Question
from chronodp.engines.reading import Columns, Reading, Role, Wanted, check_reading
from chronodp.engines.rows import cells_of, rows_select, union
from chronodp.engines.session import Session
from chronodp.engines.sources import Source
from chronodp.privacy import Calendar, Grid

if TYPE_CHECKING:
    import pyarrow

__all__ = ["read_rows", "read_series"]

_EVER = (dt.datetime(1, 1, 5), dt.datetime(9999, 12, 25))
_MEMORY = 2 * 2**30
_BATCH = 2**14


def read_series(
    source: Source, calendar: Calendar, *, time: str, value: str, where: str | None = None
) -> NDArray[np.float64]:
    """Return one number a period of a public grid: the mean of its rows, NaN where there is none.

    A row counts in the period of its time, whatever other rows there are. It is left out beyond the grid, without a
    time or a finite number, or where it does not meet ``where``; none can cause a refusal.

    >>> import pyarrow
    >>> from chronodp.engines import find_source
    >>> table = pyarrow.table({"day": pyarrow.array([1, 3, 3], pyarrow.date32()), "kwh": [4.0, 5.0, 9.0]})
    >>> days = Calendar("1D", "1970-01-01", "1970-01-05")
    >>> read_series(find_source(table), days, time="day", value="kwh").tolist()
    [nan, 4.0, nan, 7.0]
    """
    question = Question(calendar, time, None, value, Grid(1.0), (0, 1), where=where)

    def ask(session: Session) -> NDArray[np.float64]:
        rows = (
            rows_select(question, session.parts)
            .select(exp.column("number"), copy=False)
            .subquery("rows_", copy=False)
            .sql("duckdb", copy=False)
        )
        query = f"SELECT period, avg(number) FROM {rows} GROUP BY period"
        numbers = np.full(len(calendar), np.nan)
        for batch in session.batches(query, _BATCH):
            periods, means = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            numbers[periods] = means
        return numbers

    with attached(source, question.wanted, question.reading, memory=_MEMORY) as session:
        return ask(session)


def read_rows(
    source: Source, *, time: str, user: str, values: Sequence[str], reading: Reading | None = None
) -> list[NDArray[np.float64]]:
    """Return each person's rows in order of time, with a column for each value; people in the order of their names.

    A time may also be a plain number; such rows come first, in the order of these numbers. A value that is no number is
    NaN; rows without a person or a time are left out. None can cause a refusal.
    """
    wanted = _wanted("order", time, user, values)
    declared = check_reading(reading)

    def ask(session: Session) -> list[pyarrow.RecordBatch]:
        numbers = [f"number_{index}" for index in range(len(values))]
        ordered = ", ".join(["person", "moment IS NOT NULL", "place", "moment", *numbers])
        read = _read(session, wanted, declared)
        query = (
            f"SELECT dense_rank() OVER (ORDER BY person) AS person, {', '.join(numbers)} FROM ({read}) "
            f"WHERE person IS NOT NULL AND (moment IS NOT NULL OR place IS NOT NULL) ORDER BY {ordered}"
        )
        return list(session.batches(query, _BATCH))

    with attached(source, list(wanted.values()), declared, memory=_MEMORY) as session:
        batches = ask(session)
    if not batches:
        return []
    people, *columns = (
        np.concatenate([batch.column(at).to_numpy(zero_copy_only=False) for batch in batches])
        for at in range(len(values) + 1)
    )
    starts = np.flatnonzero(people[1:] != people[:-1]) + 1
    return np.split(np.stack(columns, axis=1).astype(np.float64), starts)


def _wanted(role: Role, time: str, user: str, values: Sequence[str]) -> dict[str, Wanted]:
    numbers = {f"number_{index}": Wanted("value", "number", value) for index, value in enumerate(values)}
    return {"moment": Wanted("time", role, time), "person": Wanted("user", "name", user), **numbers}


def _read(session: Session, wanted: Mapping[str, Wanted], reading: Reading) -> str:
    columns = Columns("duckdb", reading, *_EVER)
    parts = [exp.select(*cells_of(part, columns, wanted)).from_(part.table) for part in session.parts]
    return union(parts).sql("duckdb", copy=False)
