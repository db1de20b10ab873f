"""The same rows in every form in which a table may come: files of many writers, tables in memory, relations."""

from __future__ import annotations

import functools
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

from chronodp.engines import Reading, Record
from chronodp.engines.reading import Moment
from tests.engines.kinds import AMOUNTS, EPOCHS, FOUL, NOTES, PEOPLE, REGIONS, TIMES, Kind, to_array

# Footers of Parquet files, taken apart and put together by hand: what no library at hand would write. A footer is a
# structure of Thrift in its compact form: a dictionary of fields by the numbers of parquet.thrift, each with its type.

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_SCHEMA, _ROW_GROUPS, _COLUMNS, _META, _TYPE, _PATH, _STATISTICS = 2, 4, 1, 3, 1, 3, 12
_NAME, _CONVERTED, _LOGICAL, _ENUM = 4, 6, 10, 4
_WIDTHS = {0: 1, 1: 4, 2: 8, 4: 4, 5: 8, 6: 8}
"""Bytes of an end of a column's cells, by its physical type; of others nothing is said."""
_MAX, _MIN, _NULLS, _MAX_VALUE, _MIN_VALUE = 1, 2, 3, 5, 6

Fields = dict[int, tuple[int, Any]]


def edited(path: str, edit: Callable[[Fields], None]) -> None:
    """Change a file's footer."""
    content = Path(path).read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    start = len(content) - 8 - length
    fields, _ = _read_struct(content, start)
    edit(fields)
    footer = _struct(fields)
    Path(path).write_bytes(content[:start] + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def as_enum(*names: str) -> Callable[[Fields], None]:
    """Say of texts that they are of the logical type ENUM, as Avro's and protobuf's writers do."""

    def edit(fields: Fields) -> None:
        for element in fields[_SCHEMA][1][1]:
            if element[_NAME][1].decode() in names:
                element[_CONVERTED] = (5, _ENUM)
                element[_LOGICAL] = (_STRUCT, {_ENUM: (_STRUCT, {})})

    return edit


def with_bounds(low: bytes, high: bytes, *names: str) -> Callable[[Fields], None]:
    """Say of columns that all their cells lie between two of eight bytes, and that none is missing."""

    def edit(fields: Fields) -> None:
        for group in fields[_ROW_GROUPS][1][1]:
            for column in group[_COLUMNS][1][1]:
                meta = column[_META][1]
                width = _WIDTHS.get(meta[_TYPE][1])
                if width is not None and meta[_PATH][1][1][0].decode() in names:
                    said = {_MAX: high, _MIN: low, _MAX_VALUE: high, _MIN_VALUE: low}
                    ends = {number: (_BINARY, end[:width]) for number, end in said.items()}
                    meta[_STATISTICS] = (_STRUCT, {**ends, _NULLS: (6, 0)})

    return edit


def _read_number(content: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[at]
        number, shift, at = number | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return number, at


def _read_signed(content: bytes, at: int) -> tuple[int, int]:
    number, at = _read_number(content, at)
    return (number >> 1) ^ -(number & 1), at


def _read(kind: int, content: bytes, at: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind == _BYTE:
        return content[at], at + 1
    if kind == _DOUBLE:
        return content[at : at + 8], at + 8
    if kind == _BINARY:
        length, at = _read_number(content, at)
        return content[at : at + length], at + length
    if kind == _STRUCT:
        return _read_struct(content, at)
    if kind not in (_LIST, _SET):
        return _read_signed(content, at)
    inner, count, at = content[at] & 15, content[at] >> 4, at + 1
    if count == 15:
        count, at = _read_number(content, at)
    found = []
    for _ in range(count):
        one, at = (content[at] == _TRUE, at + 1) if inner in (_TRUE, _FALSE) else _read(inner, content, at)
        found.append(one)
    return (inner, found), at


def _read_struct(content: bytes, at: int) -> tuple[Fields, int]:
    fields: Fields = {}
    last = 0
    while content[at]:
        kind, step, at = content[at] & 15, content[at] >> 4, at + 1
        if step:
            last += step
        else:
            last, at = _read_signed(content, at)
        value, at = _read(kind, content, at)
        fields[last] = kind, value
    return fields, at + 1


def _number(value: int) -> bytes:
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    return bytes([*written, value])


def _signed(value: int) -> bytes:
    return _number((value << 1) ^ (value >> 63))


def _value(kind: int, value: Any) -> bytes:
    if kind in (_TRUE, _FALSE):
        return b""
    if kind == _BYTE:
        return bytes([value])
    if kind == _DOUBLE:
        return bytes(value)
    if kind == _BINARY:
        return _number(len(value)) + bytes(value)
    if kind == _STRUCT:
        return _struct(value)
    if kind not in (_LIST, _SET):
        return _signed(value)
    inner, some = value
    head = bytes([len(some) << 4 | inner]) if len(some) < 15 else bytes([0xF0 | inner]) + _number(len(some))
    if inner in (_TRUE, _FALSE):
        return head + bytes(_TRUE if one else _FALSE for one in some)
    return head + b"".join(_value(inner, one) for one in some)


def _struct(fields: Fields) -> bytes:
    written, last = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        tag = (_TRUE if value else _FALSE) if kind in (_TRUE, _FALSE) else kind
        written += bytes([number - last << 4 | tag]) if number - last < 16 else bytes([tag]) + _signed(number)
        written, last = written + _value(kind, value), number
    return written + b"\0"


COLUMNS = ("who", "at", "number", "region", "note")


@dataclass(frozen=True, slots=True)
class Kinds:
    """How columns are stored, by the names of their kinds; ``epoch`` where numbers are times."""

    who: str
    at: str
    number: str
    region: str
    note: str
    epoch: bool = False

    @property
    def each(self) -> tuple[Kind, ...]:
        """The kinds in the order of columns."""
        at = (EPOCHS if self.epoch else TIMES)[self.at]
        return PEOPLE[self.who], at, AMOUNTS[self.number], REGIONS[self.region], NOTES[self.note]


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


Write = Callable[[Sequence[Piece], Path, random.Random, Reading], Any]


@dataclass(frozen=True, slots=True)
class Form:
    """A form, and what it can hold.

    Attributes:
        write: returns what a user would hand over. With the same chance neighbours are written alike: how a table is
            stored is the owner's affair.
        people, times, amounts, regions, notes: names of kinds, the usual ones several times.
        several: whether the table has pieces of several kinds.
        foul: whether texts may be none in their encoding.
        ruled: whether a reader that trusts what a file says of itself finds the same as the plain rule.
    """

    write: Write
    people: Sequence[str]
    times: Sequence[str]
    amounts: Sequence[str]
    regions: Sequence[str] = ("text",)
    notes: Sequence[str] = ("text",)
    several: bool = False
    foul: bool = False
    ruled: bool = True


def to_arrow(piece: Piece) -> pa.Table:
    columns = zip(COLUMNS, zip(*(row.cells for row in piece.rows), strict=True), piece.kinds.each, strict=True)
    if not piece.rows:
        columns = zip(COLUMNS, [()] * len(COLUMNS), piece.kinds.each, strict=True)
    return pa.table({name: to_array(list(cells), kind) for name, cells, kind in columns})


def _csv(pieces: Sequence[Piece], folder: Path, chance: random.Random, reading: Reading) -> Any:
    separator, end, quoted = reading.separator or chance.choice(",;\t|"), chance.choice(["\n", "\r\n"]), chance.random()
    packed, mark, paths = chance.choice(["", "", ".gz"]), chance.random() < 0.3, []
    encoding = "utf-16-le" if reading.encoding == "utf-16" else reading.encoding
    for number, piece in enumerate(pieces):
        lines = [
            separator.encode(encoding).join(_field(cell, separator, quoted < 0.5, encoding) for cell in row.cells)
            for row in piece.rows
        ]
        for place, line in sorted(piece.lines, reverse=True):
            lines.insert(place, line)
        content = end.encode(encoding).join([separator.join(COLUMNS).encode(encoding), *lines, b""])
        if encoding == "utf-16-le" or (encoding == "utf-8" and mark):
            content = (b"\xff\xfe" if encoding == "utf-16-le" else b"\xef\xbb\xbf") + content
        path = folder / f"{number}.csv{packed}"
        path.write_bytes(gzip.compress(content, 1) if packed else content)
        paths.append(str(path))
    return paths


_FOUL_FIELDS = {"utf-8": b"\xffx\xc3", "latin-1": b"\x85x\x9f", "utf-16-le": b"x\x00\x3d\xd8\x00\xde"}


def _field(cell: Any, separator: str, quoted: bool, encoding: str) -> bytes:
    if cell is FOUL:
        return _FOUL_FIELDS[encoding]
    text = "" if cell is None else str(cell)
    if quoted or separator in text or '"' in text:
        text = '"' + text.replace('"', '""') + '"'
    return text.encode(encoding, "replace")


def _parquet(pieces: Sequence[Piece], folder: Path, chance: random.Random, _: Reading) -> Any:
    paths = []
    options: dict[str, Any] = {
        "use_dictionary": chance.random() < 0.5, "row_group_size": chance.choice([7, 1000]),
        "store_schema": chance.random() < 0.5, "data_page_version": chance.choice(["1.0", "2.0"]),
        "write_statistics": chance.random() < 0.7, "version": "2.6",
    }  # fmt: skip
    for number, piece in enumerate(pieces):
        path = str(folder / f"{number}.parquet")
        pyarrow.parquet.write_table(
            to_arrow(piece), path, use_deprecated_int96_timestamps=piece.kinds.at == "int96", **options
        )
        paths.append(path)
    return paths


def _enums(pieces: Sequence[Piece], folder: Path, chance: random.Random, reading: Reading) -> Any:
    """Texts of the logical type ENUM."""
    paths = _parquet(pieces, folder, chance, reading)
    enums = [name for name in COLUMNS if chance.random() < 0.5]
    for path, piece in zip(paths, pieces, strict=True):
        texts = [name for name, kind in zip(COLUMNS, piece.kinds.each, strict=True) if kind.foul]
        edited(path, as_enum(*(name for name in enums if name in texts)))
    return paths


def _lies(pieces: Sequence[Piece], folder: Path, chance: random.Random, reading: Reading) -> Any:
    """Columns of which is said that their cells lie where they do not."""
    paths = _parquet(pieces, folder, chance, reading)
    names = [name for name in COLUMNS if chance.random() < 0.4]
    low, high = chance.choice([(b"\0", b"\0"), (b"0", b"1"), (b"\xff", b"\0"), (b"\1", b"\x7f")])
    for path in paths:
        edited(path, with_bounds(low * 8, high * 8, *names))
    return paths


def _written_by(write: Callable[[Any, str], object]) -> Write:
    def written(pieces: Sequence[Piece], folder: Path, _: random.Random, __: Reading) -> Any:
        paths = [str(folder / f"{number}.parquet") for number in range(len(pieces))]
        for path, piece in zip(paths, pieces, strict=True):
            write(to_arrow(piece), path)
        return paths

    return written


@functools.cache
def _database() -> duckdb.DuckDBPyConnection:
    """Open one for all tables: to open one takes longer than to fill it."""
    return duckdb.connect(config={"threads": 1})


def _by_duckdb(table: Any, path: str) -> None:
    _database().from_arrow(table).write_parquet(path)


def _by_polars(table: Any, path: str) -> None:
    frame: Any = polars.from_arrow(table)
    frame.write_parquet(path)


def _arrow(pieces: Sequence[Piece], _: Path, chance: random.Random, __: Reading) -> Any:
    table = pa.concat_tables([to_arrow(piece) for piece in pieces])
    full = [name for name in COLUMNS if chance.random() < 0.2]
    for place, name in enumerate(table.column_names):
        table = table.set_column(place, name, _recoded(table[name], chance))
    # What a schema says of missing cells is the owner's word, which no row need keep.
    fields = [one.with_nullable(one.name not in full) for one in table.schema]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))


def _recoded(column: Any, chance: random.Random) -> Any:
    """The same cells in another type of Arrow."""
    kinds: list[Any] = [None]
    if not (pa.types.is_nested(column.type) or pa.types.is_null(column.type)):
        kinds += ["codes", "runs"]
    if pa.types.is_string(column.type):
        kinds += [pa.large_string(), pa.string_view()]
    if pa.types.is_decimal128(column.type):
        kinds += [pa.decimal256(50, 4)]
    if pa.types.is_boolean(column.type):
        kinds += [pa.bool8()]
    plain = not isinstance(column.type, pa.BaseExtensionType) and not pa.types.is_dictionary(column.type)
    match chance.choice(kinds) if plain else None:
        case None:
            return column
        case "codes":
            return column.dictionary_encode()
        case "runs":
            encoded: Any = pa.run_end_encoded(pa.int32(), column.type)
            if pa.types.is_float16(column.type):
                return column
            runs: Any = [pc.call_function("run_end_encode", [chunk]) for chunk in column.chunks]
            return pa.chunked_array(runs, encoded)
        case kind:
            return column.cast(kind) if isinstance(kind, pa.DataType) else column


def _pandas(piece: Piece, dtype: str) -> pd.DataFrame:
    if any(kind.type is None for kind in piece.kinds.each):
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
            return table.to_pandas().astype({"who": "category", "at": "category", "region": "category"})
        case "object":
            return table.to_pandas().astype(object)
    return table.to_pandas()


def _frames(dtype: str) -> Write:
    return lambda pieces, _, chance, __: pd.concat(
        [_pandas(piece, dtype) for piece in pieces], ignore_index=chance.random() < 0.5
    )


def _polars(pieces: Sequence[Piece], _: Path, chance: random.Random, __: Reading) -> Any:
    frame: Any = polars.from_arrow(pa.concat_tables([to_arrow(piece) for piece in pieces]))
    if chance.random() < 0.5:
        frame = frame.with_columns(polars.col("region").cast(polars.Categorical))
    return frame.lazy() if chance.random() < 0.5 else frame


def _relation(pieces: Sequence[Piece], _: Path, chance: random.Random, __: Reading) -> Any:
    relation = _database().from_arrow(pa.concat_tables([to_arrow(piece) for piece in pieces]))
    if pieces[0].kinds.region == "text" and chance.random() < 0.3:
        keys = "CASE WHEN region IN ('north', 'south') THEN region END::ENUM('north', 'south')"
        relation = relation.project(f"* REPLACE ({keys} AS region)")
    if pieces[0].kinds.at == "day" and chance.random() < 0.5:
        infinite = "CASE WHEN \"at\" > DATE '9999-01-01' THEN 'infinity'::DATE ELSE \"at\" END"
        relation = relation.project(f'* REPLACE ({infinite} AS "at")')
    return relation


def _one_table(pieces: Sequence[Piece], _: Path, __: random.Random, ___: Reading) -> Any:
    return pa.concat_tables([to_arrow(piece) for piece in pieces])


_WIDE = ("text", "zeros", "codes", "whole", "small", "unsigned", "real", "single", "half", "decimal", "wide", "uuid")
_PLAIN = ("text", "zeros", "whole", "real", "decimal")
_NEVER = ("list", "struct", "bytes", "length", "clock")
_ALL_TIMES = ("s", "ms", "us", "ns", "s+", "ms+", "us+", "ns+", "day")
_NUMBERS = ("text", "codes", "real", "single", "half", "whole", "unsigned", "truth", "decimal", "wide")
_OTHERS = (*_NEVER, "text", "codes", "real", "half", "wide", "s", "us+", "ns", "day", "nothing")
_ANY: dict[str, Any] = {
    "amounts": (*_NUMBERS, *_NUMBERS, "length"), "regions": ("text", "codes"), "notes": _OTHERS, "foul": True,
}  # fmt: skip
_FEW = ("text", "real", "decimal")
_PANDAS = _PLAIN, ("text", *_ALL_TIMES[:-1]), _FEW

_TEXTS = ("text", "codes")

FORMS: dict[str, Form] = {
    "csv": Form(_csv, ("text", "zeros"), ("text",), ("text",), several=True, foul=True),
    "parquet": Form(
        _parquet, (*_WIDE, *_WIDE, *_NEVER), (*_TEXTS, "int96", "int96", *_ALL_TIMES, "clock"), several=True, **_ANY
    ),
    "parquet of enums": Form(
        _enums, (*_TEXTS, *_WIDE), ("text", *["int96"] * 3, *_ALL_TIMES, "length"), several=True, **_ANY
    ),
    "parquet that lies": Form(_lies, _WIDE, ("text", *_ALL_TIMES), several=True, ruled=False, **_ANY),
    "parquet of DuckDB": Form(
        _written_by(_by_duckdb), (*_PLAIN, "small", "uuid"), ("text", "us", "us+", "day"), _FEW,
        notes=("text", "list", "clock"), several=True,
    ),
    "parquet of polars": Form(
        _written_by(_by_polars), (*_PLAIN, "codes", "single"), ("text", "ms", "us", "us+", "day"),
        (*_FEW, "single", "truth"), _TEXTS, ("text", "list", "length", "clock", "nothing"), several=True,
    ),
    "arrow": Form(_arrow, (*_WIDE, *_WIDE, *_NEVER), (*_TEXTS, *_ALL_TIMES, "day64", "clock"), **_ANY),
    "polars": Form(
        _polars, (*_PLAIN, "codes", "single", "unsigned"), ("text", "ms", "us", "ns", "ms+", "us+", "ns+", "day"),
        (*_FEW, "single", "truth"), _TEXTS, ("text", "list", "struct", "length", "clock", "nothing"),
    ),
    # DuckDB itself cannot hold all seconds with a zone that Arrow does: such a relation has no rows to read.
    "relation": Form(
        _relation, (*_PLAIN, "codes", "small", "unsigned", "uuid", "list"),
        ("text", *(unit for unit in _ALL_TIMES if unit != "s+"), "clock"),
        (*_FEW, "single", "truth", "whole", "length"), notes=("text", "list", "struct", "clock"),
    ),
    "pandas": Form(_frames("numpy"), *_PANDAS, several=True),
    **{f"pandas {kind}": Form(_frames(kind), *_PANDAS, several=True) for kind in ("arrow", "nullable", "category")},
    "pandas object": Form(
        _frames("object"), ("object", "object", "text", "real"), ("object", "object", "text"),
        ("object", "object", "real"), ("object", "text"), ("object", "text"), several=True,
    ),
    "spark": Form(_one_table, (*_PLAIN, "small", "single"), ("text", "us", "us+", "day"), (*_FEW, "truth")),
}  # fmt: skip
