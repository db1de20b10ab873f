"""The front door: a table of people's records, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from chronodp.dataset.records import Records
from chronodp.engines import DuckDB, Engine, Grouping
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.privacy import Calendar, Unit, User, UserPeriod, Window
from chronodp.privacy.units import check_unit
from chronodp.series import (
    Count,
    EachPeriod,
    Histogram,
    Mean,
    Measure,
    PanelMean,
    Plan,
    Sum,
    Table,
    Workload,
    make_plan,
)

__all__ = ["Query", "TimeSeries"]


class TimeSeries:
    """A table with a time, a person and values, on a public grid of periods. Nothing is read until a release.

    Args:
        data: a path or glob of Parquet or CSV files, a pandas, polars or Arrow table, or a DuckDB relation.
        time: the column with the time of a row; times without an offset are read on the clocks of ``timezone``.
        user: the column with the person; may be left out only for `Event`, where every row then stands for itself.
        every: length of a period: '1s', '15min', '1h', '1D', '1W', '1mo', '1Y' or a multiple.
        start: when the first period begins. Rows outside the grid are left out; empty periods are released too.
        end: when the last period ends.
        timezone: whose days, weeks, months and years are meant.
        unit: who is protected.
        max_periods: for `User`, how many periods of one person count.
        engine: what reads the data; DuckDB on this machine unless you say otherwise.

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
        unit: Unit,
        max_periods: int | None = None,
        engine: Engine | None = None,
    ) -> None:
        check_unit("unit", unit)
        _check_column("time", time)
        if user is not None:
            _check_column("user", user)
        elif isinstance(unit, User | UserPeriod | Window):
            raise MissingBound("user", f"name the column with the person: {unit} cannot be protected without it")
        self.calendar = Calendar(every, start, end, timezone)
        self.unit, self.max_periods = unit, max_periods
        self._records = Records(data, time, user, engine if engine is not None else DuckDB())
        self.count()  # refuses a unit or limit that fits no question here

    def count(self, *, at_most: int = 1) -> Query:
        """Count rows, of one person at most ``at_most`` in a period; by default, then, people."""
        return self._query(Count(at_most))

    def sum(self, column: str, *, clip: tuple[float, float]) -> Query:
        """Add up a column; a person's total in a period is clipped to ``clip``."""
        return self._query(Sum(_check_column("column", column), clip))

    def mean(self, column: str, *, clip: tuple[float, float], people: int | None = None) -> Query:
        """Average people's totals, each clipped to ``clip``, over the people present in a period.

        How many are present is not public, so a sum and a count are released together and both are paid for. Under a
        unit with ``relation="replace"``, where the list of people is public, ``people`` says how many they are: then
        only the sum is paid for, and the mean is right where all of them are present in every period.
        """
        _check_column("column", column)
        if people is None:
            return self._query(Mean(column, clip))
        return self._query(PanelMean(column, clip, people))

    def histogram(self, column: str, *, edges: Sequence[float], at_most: int = 1) -> Query:
        """Count people by the bin of their value; one person counts in at most ``at_most`` bins of a period.

        A bin holds its lower edge, the last one its upper edge too; values outside are left out. Quantiles of the
        release are free: ``release.quantile(0.5)``.
        """
        return self._query(Histogram(_check_column("column", column), tuple(edges), at_most))

    def __repr__(self) -> str:
        return f"TimeSeries({self.calendar}, unit={self.unit!r})"

    def _query(self, measure: Measure) -> Query:
        table = Table(
            measure=measure,
            unit=self.unit,
            horizon=len(self.calendar),
            calendar=self.calendar,
            max_periods=self.max_periods,
            single_rows=self._records.user is None,
        )
        return Query(table, self._records)


@dataclass(frozen=True, slots=True)
class Query:
    """A question about a series: what is released, split by which groups. `plan` prices it."""

    table: Table
    records: Records

    def by(self, *, max_groups: int = 1, **columns: Sequence[object]) -> Query:
        """Split by columns with public keys; a person counts in at most ``max_groups`` groups of a period.

        Keys are declared, never read from the data: rows with another key are left out, and groups without rows are
        released like others.
        """
        if not columns:
            raise InvalidArgument("by", None, "at least one column with its keys, such as region=['north', 'south']")
        groupings = tuple(Grouping(column, _check_keys(column, keys)) for column, keys in columns.items())
        taken = {grouping.column for grouping in self.table.groupings} & set(columns)
        if taken:
            raise InvalidArgument("by", sorted(taken)[0], "a column that does not split the question already")
        return replace(
            self, table=replace(self.table, groupings=(*self.table.groupings, *groupings), max_groups=max_groups)
        )

    def total(self, *, every: str) -> Query:
        """Add up each longer period, such as '1D' of hours; people are bounded in the shorter ones, as before.

        A release of the series itself gives the same for nothing: ``release.resample("1D")``. See `plan_together`.
        """
        return replace(self, table=self.table.in_blocks("total", every))

    def peak(self, *, every: str) -> Query:
        """Take the largest count or sum within each longer period, such as the daily peak of an hourly load.

        One person moves a peak by no more than a single period of theirs: so it is cheap, and unlike the largest of
        noisy numbers it is not lifted by noise.
        """
        return replace(self, table=self.table.in_blocks("peak", every))

    def trough(self, *, every: str) -> Query:
        """Take the least count or sum within each longer period; see `peak`."""
        return replace(self, table=self.table.in_blocks("trough", every))

    def plan(self, *, epsilon: float, delta: float = 0.0, tuned_for: Workload | None = None) -> Plan:
        """Return the plan with the least error within (epsilon, delta). Free, and reads no data."""
        workload = EachPeriod() if tuned_for is None else tuned_for
        return make_plan(self.table, self.records, epsilon=epsilon, delta=delta, tuned_for=workload)

    def __str__(self) -> str:
        return f"{self.table.measure}; {self.table.calendar}"


def _check_column(argument: str, name: object) -> str:
    if not isinstance(name, str) or not name:
        raise InvalidArgument(argument, name, "the name of a column")
    return name


def _check_keys(column: str, keys: object) -> tuple[str, ...]:
    allowed = "a list of at least one public key: texts, whole numbers or booleans"
    if isinstance(keys, str | bytes) or not hasattr(keys, "__iter__"):
        raise InvalidArgument(column, keys, allowed)
    texts = []
    for key in keys:
        if isinstance(key, bool):
            texts.append(str(key).lower())
        elif isinstance(key, str | int) or (hasattr(key, "dtype") and getattr(key.dtype, "kind", "") in "iu"):
            texts.append(str(key))
        else:
            raise InvalidArgument(column, key, allowed)
    if not texts:
        raise InvalidArgument(column, "no keys", allowed)
    if len(set(texts)) < len(texts):
        repeated = next(text for index, text in enumerate(texts) if text in texts[:index])
        raise InvalidArgument(column, repeated, "a list in which no key is repeated")
    return tuple(texts)
