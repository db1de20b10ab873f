"""Where records come from: files, tables in memory, DuckDB relations, Spark frames."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from chronodp.errors import InvalidArgument, UnreadableSource

__all__ = [
    "FileSource",
    "FrameSource",
    "RelationSource",
    "Source",
    "SparkSource",
    "TableSource",
    "find_source",
    "is_spark_frame",
]

Format: TypeAlias = Literal["parquet", "csv"]

_FORMATS: dict[str, Format] = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv"}
_PACKED = (".gz", ".zst")
_DATABASES = (".duckdb", ".db", ".ddb")


@dataclass(frozen=True, slots=True)
class FileSource:
    """Parquet or CSV files with the same columns."""

    paths: tuple[str, ...]
    format: Format

    def __str__(self) -> str:
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return f"{Path(self.paths[0]).name}{more}"


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table in memory, as Arrow. Its content is never printed."""

    table: Any = field(repr=False)

    def __str__(self) -> str:
        return "a table in memory"


@dataclass(frozen=True, slots=True)
class FrameSource:
    """A pandas table, of which only the columns that are needed are read. Its content is never printed."""

    frame: Any = field(repr=False)

    def __str__(self) -> str:
        return "a pandas table"


@dataclass(frozen=True, slots=True)
class RelationSource:
    """A DuckDB relation, read by its own connection. Its content is never printed."""

    relation: Any = field(repr=False)

    def __str__(self) -> str:
        return "a DuckDB relation"


@dataclass(frozen=True, slots=True)
class SparkSource:
    """A Spark frame, classic or over Connect, read where it lives. Its content is never printed."""

    frame: Any = field(repr=False)

    def __str__(self) -> str:
        return "a Spark frame"


Source: TypeAlias = FileSource | TableSource | FrameSource | RelationSource | SparkSource


def find_source(data: object) -> Source:
    """Return the source that a path, a glob, a list of paths, a table, a relation or a Spark frame stands for."""
    if isinstance(data, str | Path):
        return _files([str(data)])
    if isinstance(data, list | tuple) and data and all(isinstance(path, str | Path) for path in data):
        return _files([str(path) for path in data])
    library = type(data).__module__.partition(".")[0]
    if "DuckDBPyRelation" in type(data).__name__:
        return RelationSource(data)
    if is_spark_frame(data):
        return SparkSource(data)
    if library == "polars" and hasattr(data, "collect"):
        return TableSource(_to_arrow(data.collect()))
    if library == "pandas" and hasattr(data, "columns"):
        return FrameSource(_with_index(data))
    if hasattr(data, "__arrow_c_stream__"):
        return TableSource(_to_arrow(data))
    raise InvalidArgument(
        "data",
        data,
        "a path or glob of Parquet or CSV files, a pandas, polars or Arrow table, a DuckDB relation or a Spark frame",
        private=True,
    )


def is_spark_frame(data: object) -> bool:
    """Return whether something is a Spark frame, without importing Spark."""
    return type(data).__module__.startswith("pyspark.sql.") and type(data).__name__ == "DataFrame"


def _with_index(frame: Any) -> Any:
    """Return a pandas table whose named index is columns too, as users see it: times are often kept there.

    Times without a name are the column ``index``, as pandas itself would call it. A name that two levels have, or a
    column has, is left alone.
    """
    names = list(frame.index.names)
    if names == [None] and frame.index.dtype.kind == "M" and "index" not in frame.columns:
        return frame.reset_index()
    named = [
        level for level, name in enumerate(names) if name is not None and names.count(name) == 1 and name not in frame
    ]
    return frame.reset_index(level=named) if named else frame


def _files(patterns: Sequence[str]) -> FileSource:
    paths: list[str] = []
    for pattern in patterns:
        if "://" in pattern:
            raise InvalidArgument("data", pattern, "a local path: fetch remote files first")
        found = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else [pattern]
        if not found:
            raise UnreadableSource(f"no file matches {pattern}")
        paths += found
    formats = {_format(path) for path in paths}
    if len(formats) > 1:
        raise InvalidArgument("data", ", ".join(patterns), "files of one format")
    return FileSource(tuple(paths), formats.pop())


def _format(path: str) -> Format:
    suffixes = Path(path).suffixes
    if suffixes and suffixes[-1] in _PACKED:
        suffixes = suffixes[:-1]
    if not suffixes or suffixes[-1].lower() not in _FORMATS:
        allowed = "a file that ends in .parquet, .pq, .csv, .tsv, .csv.gz or .csv.zst"
        if suffixes and suffixes[-1].lower() in _DATABASES:
            allowed += "; of a DuckDB file give a table: duckdb.connect(path, read_only=True).table('name')"
        raise InvalidArgument("data", path, allowed)
    return _FORMATS[suffixes[-1].lower()]


def _to_arrow(data: Any) -> Any:
    import pyarrow

    if isinstance(data, pyarrow.Table):
        return data  # as it is: a column that nobody asks for may hold what its own type does not allow
    try:
        return pyarrow.table(data)
    except (pyarrow.ArrowException, TypeError, ValueError):
        # The library's own message may quote a value.
        raise UnreadableSource(f"the {type(data).__name__} cannot be read as an Arrow table") from None
