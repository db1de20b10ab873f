"""SQL about one source in a private DuckDB, whose own words are never passed on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.csv_files import CsvGroup
from chronodp.engines.question import Grouping, Question
from chronodp.engines.reading import Part
from chronodp.engines.rows import UNREAD
from chronodp.engines.sources import FileSource, Source
from chronodp.engines.unread import unread_text
from chronodp.errors import UnreadableSource

if TYPE_CHECKING:
    import duckdb
    import pyarrow

__all__ = ["Session", "reason_of"]


class Session:
    """Runs SQL about one source. What DuckDB says when it fails may quote a value, so it is never passed on.

    Attributes:
        parts: the tables that the source stands as.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, source: Source, parts: Sequence[Part], csv: Sequence[CsvGroup]
    ) -> None:
        self._connection, self._source, self._csv = connection, source, csv
        self.parts = tuple(parts)
        self._unnamed = 0
        connection.execute("; ".join(f"CREATE SEQUENCE {name} MINVALUE 0 START 0" for name in UNREAD.values()))

    def run(self, statement: str) -> None:
        """Run a statement that returns nothing."""
        with self._translated():
            self._connection.execute(statement)

    def row(self, query: str) -> tuple[int, ...]:
        """Return the one row of an answer, as whole numbers."""
        with self._translated():
            found = self._connection.execute(query).fetchall()  # an answer that is not read to its end blocks the next
        return tuple(int(value) for row in found[:1] for value in row)

    def rows(self, query: str) -> list[tuple[int, ...]]:
        """Return an answer of whole numbers of any size by row."""
        with self._translated():
            found = self._connection.execute(query).fetchall()
        return [tuple(int(value) for value in row) for row in found]

    def columns(self, query: str) -> dict[str, NDArray[np.int64]]:
        """Return an answer of whole numbers by column."""
        with self._translated():
            found = self._connection.execute(query).fetchnumpy()
        return {name: np.asarray(values).astype(np.int64) for name, values in found.items()}

    def batches(self, query: str, size: int) -> Iterator[pyarrow.RecordBatch]:
        """Yield an answer in pieces of about ``size`` rows."""
        with self._translated():
            yield from self._connection.sql(query).to_arrow_reader(size)

    def numbers(self, query: str, size: int, *, rows: int | None = None) -> Iterator[list[NDArray[Any]]]:
        """Yield an answer of numbers by column, in pieces of about ``size`` rows; at once if it has so few ``rows``."""
        if rows is None or rows > size:
            for batch in self.batches(query, size):
                yield [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            return
        with self._translated():  # what comes in pieces is planned twice, which takes longer than a small answer
            found = self._connection.execute(query).fetchnumpy()
        columns = [np.asarray(values) for values in found.values()]
        if len(columns[0]):  # no piece is empty
            yield columns

    def add_keys(self, groupings: tuple[Grouping, ...]) -> None:
        """Make the public keys of groups known as ``keys_0 (key, code)`` and so on."""
        import pyarrow

        for index, grouping in enumerate(groupings):
            codes = pyarrow.array(range(len(grouping.keys)), pyarrow.int64())
            table = pyarrow.table({"key": pyarrow.array(grouping.keys, pyarrow.string()), "code": codes})
            self._connection.register(f"keys_{index}", table)

    def note_unnamed(self, rows: int) -> None:
        """Note how many rows have no person, where these are counted apart from others."""
        self._unnamed = rows

    def unread(self, question: Question, counts: Callable[[Session], bool]) -> str:
        """Return what the owner is told of rows that could not be read so far; ``counts``: whether any row counts."""
        counters = ", ".join(f"nextval('{name}')" for name in UNREAD.values())
        found = dict(zip(UNREAD, self.row(f"SELECT {counters}"), strict=True))
        found["user"] += self._unnamed
        rows, some = 0, counts(self)
        if any(found.values()) or not some:  # to count lines takes a tenth of reading them
            rows = sum(self.row(f"SELECT count(*) FROM {part.table}")[0] for part in self.parts)
        return unread_text(self._source, question, rows, found, counts=some)

    def broken_lines(self) -> dict[str, int]:
        """Return how many lines of CSV files are no records, by reason; for the owner only."""
        counts: dict[str, int] = {}
        for group in self._csv:
            for reason, lines in group.broken(lambda query: self.row(query)[0]).items():
                counts[reason] = counts.get(reason, 0) + lines
        return counts

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        import duckdb
        import pyarrow

        try:
            yield
        except (duckdb.Error, pyarrow.ArrowException) as error:
            raise UnreadableSource(reason_of(self._source, error)) from None


def reason_of(source: Source, error: Exception) -> str:
    """Return why a source cannot be read, in words of ours."""
    if isinstance(source, FileSource):
        missing = [path for path in source.paths if not Path(path).is_file()]
        if missing:
            return f"there is no file {missing[0]}"
        if "OutOfMemory" in type(error).__name__:
            return f"{source} does not fit the memory and the temporary folder: raise memory or name another folder"
        return f"{source} cannot be read as {source.format}: it is damaged, half-written or of another format"
    return f"{source} cannot be read ({type(error).__name__})"
