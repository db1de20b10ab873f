"""The front door: a table of people's records, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chronodp.dataset.queries import Queries
from chronodp.dataset.records import Records
from chronodp.engines import Engine, Reading, derived_as
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.privacy import Calendar, check_column
from chronodp.privacy.units import RecordUnit, check_record_unit
from chronodp.series import Find, Plan

__all__ = ["GridSeries", "TimeSeries"]


class GridSeries(Queries[Plan]):
    """A table of people's records on a grid that is laid out already: thousands of questions share one."""

    def __init__(
        self,
        calendar: Calendar,
        data: object,
        *,
        time: str,
        user: str | None,
        unit: RecordUnit,
        max_periods: int | Find | None,
        reading: Reading | None = None,
        where: str | None = None,
        columns: Mapping[str, str] | None = None,
        engine: Engine | None = None,
    ) -> None:
        unit = check_record_unit("unit", unit)
        check_column("time", time)
        if user is not None:
            check_column("user", user)
        elif not unit.of_rows:
            raise MissingBound("user", f"name the column with the person: {unit} cannot be protected without it")
        self._time, records = time, Records(data, time, user, engine)
        super().__init__(calendar, unit, max_periods, records, reading, where=where, columns=columns)
        for name, column in (("time", time), ("user", user)):
            if derived_as(self._columns, column):
                raise InvalidArgument(name, column, "a column of the table, not a derived one")


class TimeSeries(GridSeries):
    """A table with a time, a person and values, on a public grid of periods. Nothing is read until a release.

    Args:
        data: a path or glob of Parquet or CSV files, a pandas, polars or Arrow table, a DuckDB relation, a Spark frame;
            with ``engine=chronodp.engines.Spark(session)`` also the name of a table that the session knows.
        time: the column with the time of a row; times without an offset are read on the clocks of ``timezone``.
        user: the column with the person; may be left out only for `Event`, where every row then stands for itself.
        every: length of a period: '1s', '15min', '1h', '1D', '1W', '1mo', '1Y' or a multiple.
        start: when the first period begins. Rows outside the grid are left out; empty periods are released too.
        end: when the last period ends.
        timezone: whose days, weeks, months and years are meant.
        unit: who is protected.
        max_periods: for `User`, how many periods of one person count; or `Find()`, which finds it privately.
        reading: how cells are written, where that is not the default: dates, epoch numbers, decimal commas, separator
            and encoding of CSV files. It is part of the plan and of its certificate.
        where: which rows count, as an SQL condition over the columns of one row, such as "origin = 'JFK'".
        columns: columns made of others of the same row, by name, such as {"late": "dep_delay > 15"}; they may be added
            up, binned, and split by like the table's own. Both are part of the plan and of its certificate.
        engine: what reads the data; unless you say otherwise, Spark for its own frames and DuckDB on this machine.

    >>> import chronodp as cdp
    >>> meters = TimeSeries("jan.parquet", time="read_at", user="meter_id", every="1h", start="2026-01-01",
    ...                     end="2026-02-01", unit=cdp.User(), max_periods=24)
    >>> round(meters.sum("kwh", clip=(0.0, 5.0)).plan(epsilon=1.0, delta=1e-6).half_width(), 2)
    202.82
    """

    def __init__(
        self,
        data: object,
        *,
        time: str,
        user: str | None = None,
        every: str,
        start: Any,
        end: Any,
        timezone: str = "UTC",
        unit: RecordUnit,
        max_periods: int | Find | None = None,
        reading: Reading | None = None,
        where: str | None = None,
        columns: Mapping[str, str] | None = None,
        engine: Engine | None = None,
    ) -> None:
        check_record_unit("unit", unit)
        super().__init__(
            Calendar(every, start, end, timezone),
            data,
            time=time,
            user=user,
            unit=unit,
            max_periods=max_periods,
            reading=reading,
            where=where,
            columns=columns,
            engine=engine,
        )

    def __repr__(self) -> str:
        return f"TimeSeries({self.calendar}, unit={self.unit!r})"

    @property
    def _facts(self) -> list[tuple[str, str]]:
        return [("Time", f"in the column {self._time}"), *super()._facts]
