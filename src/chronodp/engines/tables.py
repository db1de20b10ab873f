"""Tables in memory: each wanted column as an Arrow array of a plain type, and how its cells are to be read.

A column with one type is handed on as it is. A column of Python objects has none: its cells are read one by one by the
plain rule, so that no row decides what the others are.

*Objects* under "Why it holds" in ``docs/explanation/proofs/reading.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from chronodp.engines.reading import (
    NOTHING,
    TEXT,
    Kind,
    Reading,
    Role,
    Stored,
    Wanted,
    is_missing,
    match_column,
    read_name,
    read_number,
    read_time,
)
from chronodp.errors import UnsuitableColumn

__all__ = ["Column", "Found", "columns_of_arrow", "columns_of_frame"]


class Column(NamedTuple):
    """A column of a table in memory.

    Attributes:
        array: its cells in Arrow.
        stored: how they are to be read.
        absolute: of times that were read cell by cell, which of them are instants.
        present: of cells that were read one by one, which of them held anything.
    """

    array: Any
    stored: Stored
    absolute: Any = None
    present: Any = None

    def take(self, places: Any) -> Column:
        """Return the cells at some places."""
        flags = [None if flag is None else flag.take(places) for flag in (self.absolute, self.present)]
        return Column(self.array.take(places), self.stored, *flags)


Found = dict[tuple[Role, str], Column]
"""Each column that is there, by role and name."""

_TICKS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_DAY = 86_400 * 10**9
_DIGITS = 38  # of the longest decimal number that the database holds


def columns_of_arrow(table: Any, wanted: Iterable[Wanted], reading: Reading) -> Found:
    """Return the wanted columns of an Arrow table."""
    found: Found = {}
    for _, role, column in wanted:
        name = match_column(table.column_names, column, place="the table")
        if name is not None:
            found[role, column] = _plain_column(table[name], role, reading)
    return found


def columns_of_frame(frame: Any, wanted: Iterable[Wanted], reading: Reading) -> Found:
    """Return the wanted columns of a pandas table."""
    found: Found = {}
    labels = {str(label): label for label in frame.columns}
    for _, role, column in wanted:
        name = match_column([str(label) for label in frame.columns], column, place="the table")
        if name is not None:
            found[role, column] = _pandas_column(frame[labels[name]], role, reading)
    return found


def _plain_column(column: Any, role: Role, reading: Reading) -> Column:
    """Return an Arrow column as a plain type that no cell can make fail: times as whole numbers, codes as values."""
    kind, words = column.type, str(column.type)
    if pa.types.is_dictionary(kind):
        return _plain_column(_chunks(column, _from_codes), role, reading)
    if pa.types.is_run_end_encoded(kind):
        return _plain_column(_chunks(column, _from_runs), role, reading)
    if isinstance(kind, pa.BaseExtensionType):
        return _extension(column, kind)
    if pa.types.is_decimal(kind) and (kind.precision > _DIGITS or kind.scale < 0):
        return _cell_by_cell(column.to_pylist(), role, reading, words)  # the database holds no such numbers
    if (stored := _stored(kind)) is None:
        return Column(pa.nulls(len(column), pa.string()), Stored("unreadable", words))
    plain = _plain_type(kind)
    cells = column.cast(pa.int32()) if pa.types.is_date32(kind) else column  # days become numbers by way of 32 bits
    return Column(cells if plain is None else cells.cast(plain, safe=False), stored)


def _stored(kind: Any) -> Stored | None:
    """Return how cells of an Arrow type are read; None if they cannot be."""
    words = str(kind)
    if pa.types.is_null(kind):
        return NOTHING
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return TEXT
    if pa.types.is_decimal(kind):
        return Stored("decimal", words, kind.precision, kind.scale)
    if pa.types.is_timestamp(kind):
        return Stored("clock" if kind.tz is None else "instant", words, ticks=_TICKS[kind.unit])
    if pa.types.is_date(kind):
        return Stored("clock", words, ticks=_DAY if pa.types.is_date32(kind) else _TICKS["ms"])
    tests: dict[Kind, Any] = {"whole": pa.types.is_integer, "real": pa.types.is_floating, "truth": pa.types.is_boolean}
    return next((Stored(name, words) for name, test in tests.items() if test(kind)), None)


def _plain_type(kind: Any) -> Any:
    """Return the type in which the database takes cells of an Arrow type; None if as they are."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.large_binary()  # Arrow takes it on trust that they are UTF-8; the database looks
    if pa.types.is_decimal(kind):
        return pa.decimal128(kind.precision, kind.scale)
    if pa.types.is_floating(kind):
        return pa.float64()
    return pa.int64() if pa.types.is_temporal(kind) else None


def _extension(column: Any, kind: Any) -> Column:
    if kind.extension_name == "arrow.uuid":
        texts = [None if cell is None else str(cell) for cell in column.to_pylist()]
        return Column(pa.array(texts, pa.large_string()), TEXT)
    if kind.extension_name == "arrow.bool8":
        return Column(_chunks(column, lambda chunk: chunk.storage).cast(pa.bool_()), Stored("truth", "bool8"))
    return Column(pa.nulls(len(column), pa.string()), Stored("unreadable", str(kind)))


def _chunks(column: Any, change: Any) -> Any:
    if not isinstance(column, pa.ChunkedArray):
        return change(column)
    changed = [change(chunk) for chunk in column.chunks]
    return pa.chunked_array(changed) if changed else change(pa.array([], column.type))


def _from_codes(chunk: Any) -> Any:
    values = chunk.dictionary
    # Arrow cannot pick from views of texts, which is how polars holds categories.
    return (values.cast(pa.large_string()) if pa.types.is_string_view(values.type) else values).take(chunk.indices)


def _from_runs(chunk: Any) -> Any:
    if pa.types.is_string_view(chunk.type.value_type):
        return pa.array(chunk.to_pylist(), pa.large_string())
    return pc.call_function("run_end_decode", [chunk])


def _pandas_column(series: Any, role: Role, reading: Reading) -> Column:
    import pandas

    if isinstance(series, pandas.DataFrame):
        raise UnsuitableColumn(f"the table has more than one column {series.columns[0]!r}: rename them")
    if isinstance(series.dtype, pandas.CategoricalDtype):
        return _categories(series, role, reading)
    if _is_text(series):
        texts: Any = series.str.encode("utf-8", "ignore")
        return Column(pa.array(texts, pa.large_binary(), from_pandas=True), TEXT)
    if _has_arrow_type(series):
        return _plain_column(pa.array(series, from_pandas=True), role, reading)
    return _cell_by_cell(series.astype(object).tolist(), role, reading)


def _is_text(series: Any) -> bool:
    """Whether cells are texts of Python: reading them at once gives what one by one would."""
    import pandas

    if isinstance(series.dtype, pandas.StringDtype):
        return series.dtype.storage == "python"
    # By types first: pandas takes some numbers for missing that Arrow refuses among texts.
    plain = series.dtype == object and set(map(type, series.to_numpy())) <= {str, float, type(None), type(pandas.NA)}
    return bool(plain) and pandas.api.types.infer_dtype(series, skipna=True) == "string"


def _has_arrow_type(series: Any) -> bool:
    """Whether a column has a type that Arrow knows; of no rows asked, so that none decides it."""
    if series.dtype == object:
        return False
    try:
        pa.array(series.iloc[:0], from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        return False
    return True


def _categories(series: Any, role: Role, reading: Reading) -> Column:
    """Read each category once; which cells have it is a matter of codes."""
    codes = np.asarray(series.cat.codes, dtype=np.int64)
    categories = _pandas_column(series.cat.categories.to_series(), role, reading)
    return categories.take(pa.array(codes, mask=codes < 0))


def _cell_by_cell(cells: Sequence[Any], role: Role, reading: Reading, words: str = "object") -> Column:
    present = pa.array([not is_missing(cell) for cell in cells], pa.bool_())
    if role == "name":
        names = pa.array([read_name(cell) for cell in cells], pa.large_string())
        return Column(names, replace(TEXT, words=words), present=present)
    if role in ("number", "order"):  # of objects, only numbers have an order that all share
        numbers = pa.array([read_number(cell, reading) for cell in cells], pa.float64())
        return Column(numbers, Stored("real", words), present=present)
    moments = [read_time(cell, reading) for cell in cells]
    times = pa.array([moment and moment.microseconds for moment in moments], pa.int64())
    absolute = pa.array([moment and moment.absolute for moment in moments], pa.bool_())
    return Column(times, Stored("moment", words, ticks=1_000), absolute, present)
