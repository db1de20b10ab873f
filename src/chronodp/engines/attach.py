"""A private DuckDB session in which a source is the table ``records``."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.csv_files import csv_query
from chronodp.engines.question import Grouping
from chronodp.engines.schema import Schema
from chronodp.engines.sources import FileSource, FrameSource, RelationSource, Source, SparkSource, TableSource
from chronodp.errors import UnreadableSource

if TYPE_CHECKING:
    import duckdb
    import pyarrow

__all__ = ["Session", "attached"]


class Session:
    """Runs SQL about one source. What DuckDB says when it fails may quote a value, so it is never passed on."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, source: Source) -> None:
        self._connection, self._source = connection, source
        with self._translated():
            described = connection.execute("DESCRIBE SELECT * FROM records").fetchall()
        types = {row[0]: row[1] for row in described}
        if isinstance(source, FrameSource):  # the other columns exist, though they were not read
            types |= {str(name): "" for name in source.frame.columns if name not in types}
        self.schema = Schema(types, text=isinstance(source, FileSource) and source.format == "csv")

    def run(self, statement: str) -> None:
        """Run a statement that returns nothing."""
        with self._translated():
            self._connection.execute(statement)

    def row(self, query: str) -> tuple[int, ...]:
        """Return the one row of an answer, as whole numbers."""
        with self._translated():
            found = self._connection.execute(query).fetchone()
        return tuple(int(value) for value in found or ())

    def columns(self, query: str) -> dict[str, NDArray[np.int64]]:
        """Return an answer of whole numbers by column."""
        with self._translated():
            found = self._connection.execute(query).fetchnumpy()
        return {name: np.asarray(values).astype(np.int64) for name, values in found.items()}

    def batches(self, query: str, size: int) -> Iterator[pyarrow.RecordBatch]:
        """Yield an answer in pieces of about ``size`` rows."""
        with self._translated():
            yield from self._connection.sql(query).to_arrow_reader(size)

    def add_keys(self, groupings: tuple[Grouping, ...]) -> None:
        """Make the public keys of groups known as ``keys_0 (key, code)`` and so on."""
        import pyarrow

        for index, grouping in enumerate(groupings):
            codes = pyarrow.array(range(len(grouping.keys)), pyarrow.int64())
            table = pyarrow.table({"key": pyarrow.array(grouping.keys, pyarrow.string()), "code": codes})
            self._connection.register(f"keys_{index}", table)

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        import duckdb
        import pyarrow

        try:
            yield
        except (duckdb.Error, pyarrow.ArrowException) as error:
            raise UnreadableSource(_reason(self._source, error)) from None


@contextlib.contextmanager
def attached(
    source: Source, columns: Collection[str], *, memory: int, threads: int | None, folder: str | None
) -> Iterator[Session]:
    """Open a session of our own about the columns of a source."""
    import duckdb
    import pyarrow

    with contextlib.ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory(prefix="chronodp-", dir=folder))
        options: dict[str, Any] = {
            "memory_limit": f"{memory // 2**20}MiB",
            "temp_directory": place,
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        if threads is not None:
            options["threads"] = threads
        connection = stack.enter_context(duckdb.connect(":memory:", config=options))
        connection.execute("SET TimeZone = 'UTC'")
        # In a notebook without widgets the bar is off, and DuckDB refuses to hear of it.
        if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()[0][0]:
            connection.execute("SET enable_progress_bar = false")
        try:
            _make_view(connection, source, columns, Path(place))
        except (duckdb.Error, pyarrow.ArrowException, OSError) as error:
            raise UnreadableSource(_reason(source, error)) from None
        yield Session(connection, source)


def _make_view(connection: duckdb.DuckDBPyConnection, source: Source, columns: Collection[str], place: Path) -> None:
    match source:
        case FrameSource(frame):
            connection.register("records", _arrow_of(frame, columns))
        case TableSource(table):
            connection.register("records", table)
        case RelationSource(relation):
            # Two passes over the same rows are needed, and a relation can only be read where it came from.
            copy = str(place / "records.parquet")
            relation.write_parquet(copy)
            _make_view(connection, FileSource((copy,), "parquet"), columns, place)
        case FileSource(paths, "parquet"):
            names = _texts(paths)
            connection.execute(f"CREATE VIEW records AS SELECT * FROM read_parquet({names}, union_by_name = true)")
        case FileSource(paths, _):
            # Read as text: a cell that is no number is then a row to leave out, not a reason to refuse the file.
            connection.execute(f"CREATE VIEW records AS {csv_query(paths, columns)}")
        case SparkSource():
            raise UnreadableSource("DuckDB reads no Spark frame: leave out the engine, or write the frame to files")
        case _:
            assert_never(source)


def _arrow_of(frame: Any, columns: Collection[str]) -> pyarrow.Table:
    import pyarrow

    arrays: dict[str, Any] = {}
    for name in (name for name in columns if name in frame.columns):
        try:
            arrays[name] = pyarrow.array(frame[name], from_pandas=True)
        except (pyarrow.ArrowException, TypeError, ValueError):
            # The library's own message may quote a value.
            raise UnreadableSource(f"column {name!r} mixes types: give each column one type") from None
    # A table without columns has no rows to select from; its number of rows is all that matters then.
    return pyarrow.table(arrays) if arrays else pyarrow.table({"": pyarrow.nulls(len(frame))})


def _texts(paths: tuple[str, ...]) -> str:
    return "[" + ", ".join("'" + path.replace("'", "''") + "'" for path in paths) + "]"


def _reason(source: Source, error: Exception) -> str:
    if isinstance(source, FileSource):
        missing = [path for path in source.paths if not Path(path).is_file()]
        if missing:
            return f"there is no file {missing[0]}"
        if "OutOfMemory" in type(error).__name__:
            return f"{source} does not fit the memory and the temporary folder: raise memory or name another folder"
        return f"{source} cannot be read as {source.format}: it is damaged, half-written or of another format"
    return f"{source} cannot be read ({type(error).__name__})"
