"""A private DuckDB session in which a source stands as parts, each with columns of one type."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from chronodp.engines.csv_files import CsvGroup, group_csv_files
from chronodp.engines.instances import opened
from chronodp.engines.parquet_files import group_parquet_files
from chronodp.engines.reading import TEXT, Part, Reading, Role, Stored, Wanted, match_column, stored_in_duckdb
from chronodp.engines.reading.parts import check_parts
from chronodp.engines.session import Session, reason_of
from chronodp.engines.sources import (
    FileSource,
    FrameSource,
    RelationSource,
    Source,
    SparkSource,
    TableSource,
    find_source,
)
from chronodp.errors import UnreadableSource

if TYPE_CHECKING:
    import duckdb

    from chronodp.engines.tables import Found

__all__ = ["attached", "check_source"]

_LITTLE = 2**28  # bytes: enough where no row is read


@contextlib.contextmanager
def attached(
    source: Source,
    wanted: Sequence[Wanted],
    reading: Reading,
    *,
    memory: int,
    threads: int | None = None,
    folder: str | None = None,
) -> Iterator[Session]:
    """Open a session of our own about the wanted columns of a source; refuse if one can never be read.

    Args:
        source: where the records are.
        wanted: which columns.
        reading: what the owner declared.
        memory: bytes that DuckDB may use.
        threads: how many it may use.
        folder: where temporary files go.
    """
    import duckdb
    import pyarrow

    with contextlib.ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="chronodp-", dir=folder))
        options: dict[str, Any] = {
            "memory_limit": f"{memory // 2**20}MiB",
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            # A file's statistics are of other rows too, and of bytes that are left out of texts: they decide nothing.
            "disabled_optimizers": "statistics_propagation",
        }
        if threads is not None:
            options["threads"] = threads
        connection = stack.enter_context(opened(place, **options))
        connection.execute("SET TimeZone = 'UTC'")
        with contextlib.suppress(duckdb.Error):  # in a notebook without widgets it is off, and cannot be set
            connection.execute("SET enable_progress_bar = false")
        try:
            csv = _csv_groups(source, reading, Path(place))
            parts = _make_parts(connection, source, wanted, reading, Path(place), csv)
        except (duckdb.Error, pyarrow.ArrowException, OSError) as error:
            raise UnreadableSource(reason_of(source, error)) from None
        check_parts(parts, wanted, reading)
        yield Session(connection, source, parts, csv)


def _csv_groups(source: Source, reading: Reading, place: Path) -> list[CsvGroup]:
    if isinstance(source, FileSource) and source.format == "csv":
        return group_csv_files(source.paths, reading, place)
    return []


def check_source(data: object, wanted: Sequence[tuple[str, Role, str]], reading: Reading) -> None:
    """Raise unless a source is there and has these columns, each an argument, what it is read as, and its name.

    Of files the names and types of columns are looked at, and no row.
    """
    source = find_source(data)
    if isinstance(source, FileSource):
        for path in source.paths:
            if not Path(path).is_file():
                raise UnreadableSource(f"there is no file {path}")
    with attached(source, [Wanted(*one) for one in wanted], reading, memory=_LITTLE):
        return


def _make_parts(
    connection: duckdb.DuckDBPyConnection,
    source: Source,
    wanted: Sequence[Wanted],
    reading: Reading,
    place: Path,
    csv: Sequence[CsvGroup],
) -> list[Part]:
    from chronodp.engines.tables import columns_of_arrow, columns_of_frame

    match source:
        case FrameSource(frame):
            names = [str(name) for name in frame.columns]
            return [_in_memory(connection, columns_of_frame(frame, wanted, reading), names)]
        case TableSource(table):
            return [_in_memory(connection, columns_of_arrow(table, wanted, reading), table.column_names)]
        case RelationSource(relation):
            return [_copied(connection, relation, wanted, place)]
        case FileSource(paths, "parquet"):
            return _parquet(connection, paths, wanted)
        case FileSource():
            return _csv(connection, csv, wanted)
        case SparkSource():
            raise UnreadableSource("DuckDB reads no Spark frame: leave out the engine, or write the frame to files")
        case _:
            assert_never(source)


def _in_memory(connection: duckdb.DuckDBPyConnection, found: Found, names: Sequence[str]) -> Part:
    """Register arrays as a table whose columns are called c0, c1 and so on."""
    import pyarrow

    arrays: dict[str, Any] = {}
    columns: dict[tuple[Role, str], tuple[str, Stored]] = {}
    for index, (wanted, column) in enumerate(found.items()):
        name, stored = f"c{index}", column.stored
        arrays[name] = column.array
        if column.absolute is not None:
            stored = replace(stored, flag=f"{name}_absolute")
            arrays[stored.flag] = column.absolute
        if column.present is not None:
            stored = replace(stored, present=f"{name}_present")
            arrays[stored.present] = column.present
        columns[wanted] = name, stored
    held = pyarrow.table(arrays or {"nothing": pyarrow.nulls(0)})
    connection.register("held", held)
    texts = (field.name for field in held.schema if pyarrow.types.is_large_binary(field.type))
    decoded = ", ".join(f"decode({name}, 'ignore') AS {name}" for name in texts)
    connection.execute(f"CREATE VIEW part_0 AS SELECT *{f' REPLACE ({decoded})' if decoded else ''} FROM held")
    return Part("part_0", columns, names)


def _parquet(connection: duckdb.DuckDBPyConnection, paths: Sequence[str], wanted: Sequence[Wanted]) -> list[Part]:
    """Each group of files by its own types: one file could otherwise decide how the cells of others are read."""
    parts = []
    for index, group in enumerate(group_parquet_files(connection, paths, wanted)):
        table = f"part_{index}"
        group.attach(connection, table)
        columns = {wanted_as: (spelled, group.stored[spelled]) for wanted_as, spelled in group.columns.items()}
        parts.append(Part(table, columns, group.names))
    return parts


def _csv(connection: duckdb.DuckDBPyConnection, groups: Sequence[CsvGroup], wanted: Sequence[Wanted]) -> list[Part]:
    parts = []
    for index, group in enumerate(groups):
        place = Path(group.paths[0]).name
        columns: dict[tuple[Role, str], tuple[str, Stored]] = {}
        needed: list[str] = []
        for _, role, column in wanted:
            spelled = match_column(group.names, column, place=place)
            if spelled is not None:
                needed += [] if spelled in needed else [spelled]
                columns[role, column] = f"c{needed.index(spelled)}", TEXT
        table = f"part_{index}"
        connection.execute(f"CREATE VIEW {table} AS {group.select(needed) if needed else 'SELECT 0'}")
        parts.append(Part(table, columns, group.names, listed=False))
    return parts


def _copied(connection: duckdb.DuckDBPyConnection, relation: Any, wanted: Sequence[Wanted], place: Path) -> Part:
    """Copy what is wanted of a relation: it can only be read where it came from, and is needed more than once."""
    names = list(relation.columns)
    types = dict(zip(names, map(str, relation.types), strict=True))
    spelled = {column: match_column(names, column, place="the relation") for _, _, column in wanted}
    needed = list(dict.fromkeys(name for name in spelled.values() if name is not None))
    cells = [f"{_plain_cell(name, types[name])} AS c{index}" for index, name in enumerate(needed)]
    copy = str(place / "records.parquet")
    relation.project(", ".join(cells) or "0 AS nothing").write_parquet(copy)
    copied = [Wanted("", role, f"c{needed.index(name)}") for _, role, column in wanted if (name := spelled[column])]
    (group,) = group_parquet_files(connection, [copy], copied)
    group.attach(connection, "part_0")
    columns: dict[tuple[Role, str], tuple[str, Stored]] = {}
    for _, role, column in wanted:
        name = spelled[column]
        if name is not None:
            own, cell = stored_in_duckdb(types[name]), f"c{needed.index(name)}"
            kept = own if own.kind in ("unreadable", "nothing") else group.stored[cell]
            columns[role, column] = cell, replace(kept, words=types[name])
    return Part("part_0", columns, names)


def _plain_cell(name: str, kind: str) -> str:
    """Return a relation's column in a type that Parquet holds without loss."""
    column = '"' + name.replace('"', '""') + '"'
    if kind in ("TIMESTAMP_S", "TIMESTAMP_MS"):
        return f"TRY_CAST({column} AS TIMESTAMP)"  # what lies beyond microseconds lies beyond every grid
    if kind in ("HUGEINT", "UHUGEINT", "UUID") or kind.startswith("ENUM"):
        return f"CAST({column} AS VARCHAR)"
    return "NULL" if stored_in_duckdb(kind).kind in ("unreadable", "nothing") else column
