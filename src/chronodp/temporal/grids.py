"""Tables of people's values, put in order and checked: one row a person and time, times evenly spaced."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
from numpy.typing import NDArray

from chronodp.engines import (
    FileSource,
    FrameSource,
    RelationSource,
    SparkSource,
    TableSource,
    find_source,
    read_csv_texts,
)
from chronodp.errors import InvalidArgument, UnknownColumn, UnreadableSource, UnsuitableColumn

if TYPE_CHECKING:
    import pandas

__all__ = ["PeopleTable", "arrange", "read_table", "resample", "with_gaps"]

_MOST = 10**8
_FARTHEST = 2**62  # so that no difference of two times overflows
_OFFSET = re.compile(r"[T ].*(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)$")
_EVERY = re.compile(r"[1-9][0-9]{0,5}(s|min|h|D)")


@dataclass(frozen=True, eq=False)
class PeopleTable:
    """A table in order of person and time. Its content is never printed.

    Attributes:
        frame: time, user (if there is one) and value columns, in that order.
        instants: the times as whole numbers: nanoseconds since 1970-01-01 UTC, or the numbers that they were.
        starts: where each person's rows begin.
        columns: the value columns.
        step: how far apart times are; None if nobody has two rows.
        clock: whether times are clock times.
    """

    frame: pandas.DataFrame
    instants: NDArray[np.int64]
    starts: NDArray[np.int64]
    columns: tuple[str, ...]
    step: int | None
    clock: bool

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many rows each person has."""
        return np.diff(np.append(self.starts, len(self.frame)))

    @property
    def periods(self) -> NDArray[np.int64]:
        """The number of each row's period, the same in every table of this step."""
        return self.instants // (self.step or 1)

    def __repr__(self) -> str:
        return f"PeopleTable({len(self.frame):,} rows of {len(self.starts):,} people)"


def read_table(data: object, *, columns: Sequence[str]) -> pandas.DataFrame:
    """Return the named columns of a file or table. CSV files are read as texts, so that no value changes its form."""
    import pandas
    import pyarrow

    source = find_source(data)
    try:
        match source:
            case FrameSource(frame):
                found = frame
            case TableSource(table):
                found = table.to_pandas()
            case RelationSource(relation):
                found = relation.df()
            case FileSource(paths, kind):
                parts = [_read_file(path, kind) for path in paths]
                found = pandas.concat(parts, ignore_index=True)
            case SparkSource():
                raise UnreadableSource("times are blurred in memory: turn the Spark frame into an Arrow table first")
            case never:
                assert_never(never)
    except (OSError, ValueError, pyarrow.ArrowException):
        # The library's own message may quote a value.
        raise UnreadableSource(f"{source} cannot be read: no such file, or damaged, or of another format") from None
    for name in columns:
        if name not in found.columns:
            # In a CSV file without a header, what stands for the names is somebody's row.
            text = isinstance(source, FileSource) and source.format != "parquet"
            shown = "" if text else "; it has " + ", ".join(str(known) for known in list(found.columns)[:30])
            raise UnknownColumn(f"the table has no column {name!r}{shown}")
        if list(found.columns).count(name) > 1:
            raise UnsuitableColumn(f"the table has more than one column {name!r}: rename them")
    kept: pandas.DataFrame = found[list(columns)].reset_index(drop=True)
    return kept


def _read_file(path: str, kind: str) -> pandas.DataFrame:
    import pandas

    return pandas.read_parquet(path) if kind == "parquet" else read_csv_texts(path)


def arrange(data: object, *, time: str, user: str | None, values: Sequence[str]) -> PeopleTable:
    """Return the table in order, or refuse one whose times are doubled or not evenly spaced.

    Every person's times must be as far apart as everyone's; people may begin and end when they like.
    """
    columns = _columns(time, user, values)
    frame = read_table(data, columns=columns)
    instants = _instants(frame[time])
    people = np.zeros(len(frame), dtype=np.int64) if user is None else _people(frame[user])
    order = np.lexsort((instants, people))
    instants, people = instants[order], people[order]
    starts = np.flatnonzero(np.diff(people, prepend=-1))
    steps = np.diff(instants)[np.diff(people) == 0]
    if np.any(steps == 0):
        raise InvalidArgument(
            "time", frame[time], "different in every row of a person: resample, or keep one row a time", private=True
        )
    if len(steps) and np.any(steps != steps[0]):
        raise InvalidArgument(
            "time", frame[time], "evenly spaced, without gaps, for every person: resample them first", private=True
        )
    step = int(steps[0]) if len(steps) else None
    ordered = frame.iloc[order].reset_index(drop=True)
    return PeopleTable(ordered, instants, starts, tuple(values), step, not _is_number(frame[time]))


def resample(data: object, *, time: str, user: str | None, values: Sequence[str], every: str) -> pandas.DataFrame:
    """Return an evenly spaced table: the last row of each person in each period, and nothing where there is none.

    Periods are counted from 1970-01-01 UTC; each is named by its begin, in the column's own time zone. Texts that carry
    an offset come back as UTC.

    >>> import pandas
    >>> rows = {"at": pandas.to_datetime(["2026-01-01 00:10", "2026-01-01 00:50", "2026-01-01 02:05"]), "v": [1, 2, 3]}
    >>> resample(pandas.DataFrame(rows), time="at", user=None, values=["v"], every="1h")["v"].tolist()
    [2, <NA>, 3]
    """
    import pandas

    if not isinstance(every, str) or not _EVERY.fullmatch(every):
        raise InvalidArgument("every", every, "a period such as '30s', '15min', '1h' or '1D'")
    frame = read_table(data, columns=_columns(time, user, values))
    step = int(pandas.Timedelta(every).value)
    if _is_number(frame[time]) and len(frame):
        raise UnsuitableColumn(f"column {time!r} holds no times that can be put into periods of {every}")
    instants, zone = _instants(frame[time]), _zone(frame[time])
    people = np.zeros(len(frame), dtype=np.int64) if user is None else _people(frame[user])
    order = np.lexsort((instants, people))
    frame, people, periods = frame.iloc[order], people[order], instants[order] // step
    last = np.flatnonzero((np.diff(people, append=-1) != 0) | (np.diff(periods, append=-1) != 0))
    frame, people, periods = frame.iloc[last].reset_index(drop=True), people[last], periods[last]
    frame = frame.assign(**{name: with_gaps(frame[name]) for name in values})
    runs = _runs(people)
    if sum(int(periods[stop - 1] - periods[start]) for start, stop in zip(*runs, strict=True)) > _MOST:
        raise InvalidArgument("every", every, f"longer: the table would have more than {_MOST:,} rows")
    made = []
    for start, stop in zip(*runs, strict=True):
        every_period = np.arange(periods[start], periods[stop - 1] + 1)
        part = frame.iloc[start:stop].set_index(periods[start:stop]).reindex(every_period)
        begins = pandas.to_datetime(every_period * step)
        part[time] = begins if zone is None else begins.tz_localize("UTC").tz_convert(zone)
        if user is not None:
            part[user] = frame[user].iloc[start]
        made.append(part)
    return pandas.concat(made, ignore_index=True) if made else frame


def with_gaps(column: pandas.Series[Any]) -> pandas.Series[Any]:
    """Return the same values in a column that knows empty cells, so that whole numbers stay whole."""
    kind = {"i": "Int64", "u": "UInt64", "b": "boolean"}.get(getattr(column.dtype, "kind", ""))
    return column if kind is None else column.astype(kind)  # type: ignore[call-overload]  # a dtype by name


def _columns(time: str, user: str | None, values: Sequence[str]) -> list[str]:
    if not isinstance(values, list | tuple) or not values or not all(isinstance(name, str) for name in values):
        raise InvalidArgument("values", values, "a list with the name of at least one column")
    for name, column in (("time", time), ("user", "" if user is None else user)):
        if not isinstance(column, str):
            raise InvalidArgument(name, column, "the name of a column")
    columns = [time, *([] if user is None else [user]), *values]
    if len(set(columns)) < len(columns):
        raise InvalidArgument("values", ", ".join(values), "columns apart from each other, the time and the user")
    return columns


def _runs(people: NDArray[np.int64]) -> tuple[list[int], list[int]]:
    starts = np.flatnonzero(np.diff(people, prepend=-1)).tolist()
    return starts, [*starts[1:], len(people)] if starts else []


def _people(column: pandas.Series[Any]) -> NDArray[np.int64]:
    import pandas

    # A file has no other way to leave a person out than an empty text.
    if column.isna().any() or (column.astype(object) == "").any():
        raise InvalidArgument("user", column, "given in every row", private=True)
    try:
        codes: NDArray[np.int64] = pandas.factorize(column, sort=True)[0].astype(np.int64)
    except TypeError:
        raise UnsuitableColumn(
            f"column {column.name!r} holds what names no person: texts or numbers are needed"
        ) from None
    return codes


def _is_number(column: pandas.Series[Any]) -> bool:
    """Tell whether times are plain numbers: in a file they are texts of digits."""
    if column.dtype.kind in "iu":
        return True
    return column.dtype.kind != "M" and bool(column.astype(str).str.fullmatch(r"[0-9]{1,18}").all())


def _zone(column: pandas.Series[Any]) -> Any:
    """Return the time zone of a column; UTC for texts that carry an offset, None for times without one."""
    if column.dtype.kind == "M":
        return getattr(column.dtype, "tz", None)
    return "UTC" if column.astype(str).str.contains(_OFFSET).any() else None


def _instants(column: pandas.Series[Any]) -> NDArray[np.int64]:
    """Return times as whole numbers, or refuse: what cannot be read is told by its column only."""
    import pandas

    if not len(column):
        return np.empty(0, dtype=np.int64)
    if column.isna().any():
        raise InvalidArgument("time", column, "given in every row", private=True)
    if _is_number(column):
        numbers = column if column.dtype.kind in "iu" else column.astype(str).astype(np.int64)
        if numbers.min() < -_FARTHEST or numbers.max() > _FARTHEST:
            raise UnsuitableColumn(f"column {column.name!r} holds numbers beyond 2^62, which are no times")
        return np.asarray(numbers, dtype=np.int64)
    if column.dtype.kind not in "OMUT" and "datetime" not in str(column.dtype) and "str" not in str(column.dtype):
        raise UnsuitableColumn(f"column {column.name!r} holds {column.dtype}; times or whole numbers are needed")
    try:
        found = pandas.to_datetime(column, utc=True, format=None if column.dtype.kind == "M" else "ISO8601")
    except (ValueError, TypeError, OverflowError):
        raise UnsuitableColumn(
            f"column {column.name!r} holds texts that are no times such as 2026-01-31T12:00"
        ) from None
    try:
        return found.dt.tz_localize(None).dt.as_unit("ns").to_numpy(dtype="datetime64[ns]").astype(np.int64)
    except (ValueError, OverflowError):
        raise UnsuitableColumn(f"column {column.name!r} holds times outside the years 1678 to 2261") from None
