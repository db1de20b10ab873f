"""The same rows in every form in which a table may come: files, tables in memory, relations."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from chronodp.engines import Record
from chronodp.engines.reading import Moment

__all__ = ["COLUMNS", "FORMS", "Kinds", "Piece", "Row", "arrow_type", "to_arrow", "write"]

COLUMNS = ("who", "at", "number", "world", "region")


@dataclass(frozen=True, slots=True)
class Kinds:
    """How the first three columns are stored.

    Attributes:
        who: 'text', 'zeros', 'whole', 'real', 'decimal' or 'object'.
        at: 'text', 'object', or a unit of time, with '+' where its type has a zone.
        number: 'text', 'real', 'decimal' or 'object'.
    """

    who: str
    at: str
    number: str


@dataclass(frozen=True, slots=True)
class Row:
    """Cells as they are stored, and what the plain rule makes of them."""

    cells: tuple[Any, ...]
    moment: Moment | None
    record: Record


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows that are stored alike: a file, or a table that is joined to others.

    Attributes:
        kinds: how they are stored.
        rows: in their order.
        lines: of a CSV file, what is no row, and before which row it stands.
    """

    kinds: Kinds
    rows: Sequence[Row]
    lines: Sequence[tuple[int, bytes]] = field(default=())


def arrow_type(kind: str) -> Any:
    match kind:
        case "text" | "zeros":
            return pa.string()
        case "whole":
            return pa.int64()
        case "real":
            return pa.float64()
        case "decimal":
            return pa.decimal128(14, 2)
    unit: Any = kind.rstrip("+")
    return pa.timestamp(unit, "Asia/Kolkata") if kind.endswith("+") else pa.timestamp(unit)


def to_arrow(piece: Piece) -> pa.Table:
    """Return rows as Arrow; times with a type are whole numbers of their unit."""
    kinds = (piece.kinds.who, piece.kinds.at, piece.kinds.number, "text", "text")
    columns = {}
    for at, (name, kind) in enumerate(zip(COLUMNS, kinds, strict=True)):
        cells, type_ = [row.cells[at] for row in piece.rows], arrow_type(kind)
        timed = pa.types.is_timestamp(type_)
        array = pa.array(cells, pa.int64() if timed else type_, from_pandas=False)
        columns[name] = array.cast(type_) if timed else array
    return pa.table(columns)


def write(form: str, pieces: Sequence[Piece], folder: Path, chance: random.Random) -> Any:
    """Return what a user would hand over."""
    return FORMS[form](pieces, folder, chance)


def _csv(pieces: Sequence[Piece], folder: Path, chance: random.Random) -> Any:
    separator, end, quoted = chance.choice(",;\t|"), chance.choice(["\n", "\r\n"]), chance.random() < 0.5
    packed = chance.choice(["", "", ".gz"])
    paths = []
    for number, piece in enumerate(pieces):
        lines = [separator.join(_field(cell, separator, quoted) for cell in row.cells).encode() for row in piece.rows]
        for place, line in sorted(piece.lines, reverse=True):
            lines.insert(place, line)
        content = end.encode().join([separator.join(COLUMNS).encode(), *lines]) + chance.choice([b"", end.encode()])
        path = folder / f"{number}.csv{packed}"
        path.write_bytes(gzip.compress(content, 1) if packed else content)
        paths.append(str(path))
    return paths


def _field(cell: Any, separator: str, quoted: bool) -> str:
    text = "" if cell is None else str(cell)
    if quoted or separator in text or '"' in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def _parquet(pieces: Sequence[Piece], folder: Path, chance: random.Random) -> Any:
    paths = []
    for number, piece in enumerate(pieces):
        path = str(folder / f"{number}.parquet")
        options: dict[str, Any] = {"use_dictionary": chance.random() < 0.5, "row_group_size": chance.choice([7, 1000])}
        if piece.kinds.at == "ns" and chance.random() < 0.5:
            options["use_deprecated_int96_timestamps"] = True
        table = to_arrow(piece)
        if chance.random() < 0.3:
            table = table.set_column(3, "world", table["world"].dictionary_encode())
        pyarrow.parquet.write_table(table, path, **options)
        paths.append(path)
    return paths


def _arrow(pieces: Sequence[Piece], _: Path, chance: random.Random) -> Any:
    table = pa.concat_tables([to_arrow(piece) for piece in pieces])
    for place, name in enumerate(table.column_names):
        table = table.set_column(place, name, _recoded(table[name], chance))
    return table


def _recoded(column: Any, chance: random.Random) -> Any:
    """The same cells in another type of Arrow."""
    kinds: list[Any] = [None, "codes", "runs"]
    if pa.types.is_string(column.type):
        kinds += [pa.large_string(), pa.string_view()]
    if pa.types.is_decimal(column.type):
        kinds += [pa.decimal256(50, 4), pa.decimal64(18, 2)]
    match chance.choice(kinds):
        case None:
            return column
        case "codes":
            return column.dictionary_encode()
        case "runs":
            runs: Any = [pc.call_function("run_end_encode", [chunk]) for chunk in column.chunks]
            encoded: Any = pa.run_end_encoded(pa.int32(), column.type)
            return pa.chunked_array(runs, encoded)
        case kind:
            return column.cast(kind)


def _pandas(piece: Piece, dtype: str) -> pd.DataFrame:
    if "object" in (piece.kinds.who, piece.kinds.at, piece.kinds.number):
        columns = list(zip(*(row.cells for row in piece.rows), strict=True)) or [()] * len(COLUMNS)
        return pd.DataFrame(
            {name: pd.Series(list(cells), dtype=object) for name, cells in zip(COLUMNS, columns, strict=True)}
        )
    table = to_arrow(piece)
    match dtype:
        case "arrow":
            return table.to_pandas(types_mapper=pd.ArrowDtype)
        case "nullable":
            return table.to_pandas().convert_dtypes()
        case "category":
            return table.to_pandas().astype({"who": "category", "at": "category", "world": "category"})
        case "object":
            return table.to_pandas().astype(object)
    return table.to_pandas()


def _frames(dtype: str) -> Callable[[Sequence[Piece], Path, random.Random], Any]:
    return lambda pieces, _, chance: pd.concat(
        [_pandas(piece, dtype) for piece in pieces], ignore_index=chance.random() < 0.5
    )


def _polars(pieces: Sequence[Piece], _: Path, chance: random.Random) -> Any:
    frame: Any = polars.from_arrow(pa.concat_tables([to_arrow(piece) for piece in pieces]))
    if chance.random() < 0.5:
        frame = frame.with_columns(polars.col("world").cast(polars.Categorical))
    return frame.lazy() if chance.random() < 0.5 else frame


def _relation(pieces: Sequence[Piece], _: Path, __: random.Random) -> Any:
    table = pa.concat_tables([to_arrow(piece) for piece in pieces])
    connection = duckdb.connect(config={"threads": 1})
    return connection.from_arrow(table)


def _one_table(pieces: Sequence[Piece], _: Path, __: random.Random) -> Any:
    return pa.concat_tables([to_arrow(piece) for piece in pieces])


FORMS: dict[str, Callable[[Sequence[Piece], Path, random.Random], Any]] = {
    "csv": _csv,
    "parquet": _parquet,
    "arrow": _arrow,
    "polars": _polars,
    "relation": _relation,
    "pandas": _frames("numpy"),
    "pandas arrow": _frames("arrow"),
    "pandas nullable": _frames("nullable"),
    "pandas category": _frames("category"),
    "pandas object": _frames("object"),
    "spark": _one_table,  # which a session then makes a frame of
}
