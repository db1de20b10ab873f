"""SQL about one source in a private DuckDB, whose own words are never passed on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.csv_files import CsvGroup
from chronodp.engines.question import Grouping, Progress, Question
from chronodp.engines.reading import Part
from chronodp.engines.rows import UNREAD
from chronodp.engines.sources import FileSource, Source
from chronodp.engines.unread import unread_text
from chronodp.errors import UnreadableSource

if TYPE_CHECKING:
    import duckdb
    import pyarrow

__all__ = ["Session", "reason_of"]

_LOOK = 0.05  # seconds between looks at how far DuckDB is
_LINE = 8  # bytes of a line at least, if it says a time and a person
_PACKED = 1032  # times as long as a compressed text can be


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

    def batches(self, query: str, size: int, *, progress: Progress = lambda _: None) -> Iterator[pyarrow.RecordBatch]:
        """Yield an answer in pieces of about ``size`` rows; until the first one comes, tell how far DuckDB is."""

        def begin() -> tuple[Iterator[pyarrow.RecordBatch], pyarrow.RecordBatch | None]:
            pieces = iter(self._connection.sql(query).to_arrow_reader(size))
            return pieces, next(pieces, None)

        with self._translated(), ThreadPoolExecutor(1) as aside:
            begun = aside.submit(begin)
            try:
                while not wait([begun], timeout=_LOOK).done:
                    progress(max(0.0, self._connection.query_progress() / 100))
            except BaseException:  # whoever is told may have had enough
                self._connection.interrupt()
                raise
            pieces, first = begun.result()
            if first is not None:
                yield first
                yield from pieces

    def most_rows(self, enough: int) -> int:
        """Return how many rows the source has; of CSV files at most that many, as long as these are ``enough``."""
        paths = [Path(path) for group in self._csv for path in group.paths]
        most = sum(path.stat().st_size * (_PACKED if path.suffix in (".gz", ".zst") else 1) for path in paths) // _LINE
        if paths and most <= enough:  # to count lines takes a tenth of reading them
            return most
        return sum(self.row(f"SELECT count(*) FROM {part.table}")[0] for part in self.parts)

    def add_keys(self, groupings: tuple[Grouping, ...]) -> None:
        """Make the public keys of groups known as ``keys_0 (key, code)`` and so on."""
        import pyarrow

        for index, grouping in enumerate(groupings):
            codes = pyarrow.array(range(len(grouping.keys)), pyarrow.int64())
            table = pyarrow.table({"key": pyarrow.array(grouping.keys, pyarrow.string()), "code": codes})
            self._connection.register(f"keys_{index}", table)

    def unread(self, question: Question, counts: Callable[[Session], bool]) -> str:
        """Return what the owner is told of rows that could not be read so far; ``counts``: whether any row counts."""
        counters = ", ".join(f"nextval('{name}')" for name in UNREAD.values())
        found = dict(zip(UNREAD, self.row(f"SELECT {counters}"), strict=True))
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
