"""Parquet files in groups that store the wanted columns alike.

Read together, files would agree on one type for each column: one file with times of another kind could change how the
times of all others are read. Each group is read by its own types, those that DuckDB finds in the files' schemas.

DuckDB reads every group but those with times in milliseconds, for which its reader fails at a year past 294247: the
schema says so, and Arrow reads these files, in the same types.

*Files* under "Why it holds" in ``docs/explanation/proofs/reading.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chronodp.engines.csv_lines import literal
from chronodp.engines.reading import Role, Stored, Wanted, match_column, stored_in_duckdb

if TYPE_CHECKING:
    import duckdb

__all__ = ["ParquetGroup", "group_parquet_files"]

_MILLISECOND = 1_000_000
_TEXT = "VARCHAR"


@dataclass(frozen=True, slots=True)
class ParquetGroup:
    """Files that store the wanted columns under the same names in the same types.

    Attributes:
        columns: how each wanted column is spelled there, by role and name.
        names: all columns of the first file.
        stored: how each of these is stored, by its spelling.
        partitions: wanted columns that are told by the folders' names, such as region=north.
        arrow: the types in Arrow of the columns inside the files, if Arrow is to read them.
        paths: of the files.
    """

    columns: dict[tuple[Role, str], str]
    names: tuple[str, ...]
    stored: dict[str, Stored]
    partitions: tuple[str, ...]
    arrow: dict[str, Any]
    paths: list[str] = field(default_factory=list)

    def attach(self, connection: duckdb.DuckDBPyConnection, table: str) -> None:
        """Make all rows of the files known as a table."""
        if self.arrow:
            connection.register(f"{table}_scanned", self._scanner())
            cells, rows = _cells(self.stored, _decoded), f"{table}_scanned"
        else:
            cells, rows = _cells(self.stored, _not_empty), self._read_parquet()
        connection.execute(f"CREATE VIEW {table} AS SELECT {cells} FROM {rows}")

    def _read_parquet(self) -> str:
        paths = ", ".join(map(literal, self.paths))
        folders = "true, hive_types_autocast = false" if self.partitions else "false"
        # Of a text that is not UTF-8, the bytes that are not are left out: no text is an error.
        return f"read_parquet([{paths}], hive_partitioning = {folders}, utf8_validation = 'ignore')"

    def _scanner(self) -> Any:
        """A scanner of the files by Arrow, in the types that DuckDB would have; times are numbers and texts bytes."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.dataset as ds

        partitioning = ds.partitioning(pa.schema([(name, pa.string()) for name in self.partitions]), flavor="hive")
        # Times of INT96 in DuckDB's unit: in Arrow's own, a year far away becomes one nearby.
        format_ = ds.ParquetFileFormat(read_options=ds.ParquetReadOptions(None, coerce_int96_timestamp_unit="us"))
        files = ds.dataset(self.paths, format=format_, partitioning=partitioning if self.partitions else None)
        columns = {name: pc.field(name) for name, stored in self.stored.items() if stored.kind != "unreadable"}
        for name, kind in self.arrow.items():
            for step in _steps(self.stored[name], kind):
                columns[name] = columns[name].cast(step)
        return files.scanner(columns=columns)  # type: ignore[arg-type]  # its stubs know no expressions


def _steps(stored: Stored, kind: Any) -> list[Any]:
    """The types through which a column in Arrow becomes what DuckDB has; none of these casts fails for any cell."""
    import pyarrow as pa

    if stored.kind == "text" and stored.words == _TEXT:
        inner = kind.value_type if pa.types.is_dictionary(kind) else kind
        binary = pa.types.is_binary(inner) or pa.types.is_large_binary(inner)
        return [inner, pa.large_binary()] if binary else [pa.large_string(), pa.large_binary()]
    if pa.types.is_timestamp(kind) and stored.ticks is not None and stored.ticks_by is None:
        return [pa.int64()]
    plain = {
        "FLOAT": pa.float32(),
        "DOUBLE": pa.float64(),
        "DATE": pa.date32(),
        "BOOLEAN": pa.bool_(),
        "TINYINT": pa.int8(),
        "SMALLINT": pa.int16(),
        "INTEGER": pa.int32(),
        "BIGINT": pa.int64(),
        "UUID": pa.binary(16),
    }
    return [plain[stored.words]] if stored.words in plain else []


def _cells(stored_by_name: Mapping[str, Stored], cell_of: Callable[[str, str], str]) -> str:
    """Return the SQL of columns; what can never be read is not even looked at, since its cells may not be valid."""
    cells = []
    for name, stored in stored_by_name.items():
        quoted = '"' + name.replace('"', '""') + '"'
        cell = "NULL" if stored.kind == "unreadable" else cell_of(quoted, stored.words)
        cells.append(f"{cell} AS {quoted}")
    return ", ".join(cells) or "NULL AS nothing"


def _not_empty(column: str, words: str) -> str:
    # An empty text is missing anyway. A condition on the column itself would be compared with a file's statistics and
    # Bloom filters, which know the bytes that were left out: other rows would decide whether this one is read.
    return f"nullif({column}, '')" if words == _TEXT else column


def _decoded(column: str, words: str) -> str:
    if words == "UUID":  # which Arrow hands over as 16 bytes
        return f"TRY_CAST(hex({column}) AS UUID)"
    return f"decode({column}, 'ignore')" if words == _TEXT else column


class _Leaf(NamedTuple):
    """A column at the top of a file: its type in DuckDB and whether it holds times in milliseconds."""

    type: str
    milliseconds: bool


def group_parquet_files(
    connection: duckdb.DuckDBPyConnection, paths: Sequence[str], wanted: Sequence[Wanted]
) -> list[ParquetGroup]:
    """Return files in groups whose wanted columns are stored alike."""
    schemas = _schemas(connection, paths)
    groups: dict[tuple[object, ...], ParquetGroup] = {}
    for path in paths:
        schema = schemas[path]
        folders = [name for name in _folders(path) if name not in schema]
        columns: dict[tuple[Role, str], str] = {}
        for _, role, column in wanted:
            spelled = match_column([*schema, *folders], column, place=Path(path).name)
            if spelled is not None:
                columns[role, column] = spelled
        names = dict.fromkeys(columns.values())
        inside = {name: schema[name] for name in names if name in schema}
        partitions = tuple(name for name in names if name not in schema)
        arrow = _arrow_types(path, inside) if any(leaf.milliseconds for leaf in inside.values()) else {}
        identity = (tuple(columns.items()), tuple(inside.items()), partitions, tuple(map(str, arrow.values())))
        if identity not in groups:
            stored = {name: _stored(leaf, arrow.get(name)) for name, leaf in inside.items()}
            stored |= {name: stored_in_duckdb(_TEXT) for name in partitions}
            groups[identity] = ParquetGroup(columns, tuple(schema), stored, partitions, arrow)
        groups[identity].paths.append(path)
    return list(groups.values())


def _schemas(connection: duckdb.DuckDBPyConnection, paths: Sequence[str]) -> dict[str, dict[str, _Leaf]]:
    """Return the columns at the top of each file."""
    listed = ", ".join(map(literal, dict.fromkeys(paths)))
    kinds = "repetition_type = 'REPEATED', logical_type, converted_type, duckdb_type"
    found = connection.execute(
        f"SELECT file_name, name, num_children, {kinds} FROM parquet_schema([{listed}]) ORDER BY file_name, column_id"
    ).fetchall()
    schemas: dict[str, dict[str, _Leaf]] = {}
    inside = 0  # columns that are still to come within the one at the top
    for file, name, children, repeated, logical, converted, kind in found:
        if file not in schemas:
            schemas[file] = {}
        elif inside:
            inside += (children or 0) - 1
        else:
            inside = children or 0
            milliseconds = converted == "TIMESTAMP_MILLIS" or "MILLIS=Milli" in (logical or "")
            leaf = _Leaf(f"{kind}[]" if repeated else str(kind), milliseconds and str(kind).startswith("TIMESTAMP"))
            schemas[file][name] = leaf
    return schemas


def _stored(leaf: _Leaf, arrow: Any) -> Stored:
    stored = stored_in_duckdb(leaf.type)
    if not leaf.milliseconds:
        return stored
    return replace(stored, words=str(arrow), ticks={"s": 1_000_000_000}.get(arrow.unit, _MILLISECOND))


def _arrow_types(path: str, names: Mapping[str, object]) -> dict[str, Any]:
    import pyarrow.parquet

    schema = pyarrow.parquet.read_schema(path)
    return {name: schema.field(name).type for name in names}


def _folders(path: str) -> list[str]:
    """Return the columns that the names of folders tell, such as region=north."""
    return [part.partition("=")[0] for part in Path(path).parent.parts if "=" in part]
