"""Released windows in files: CSV that grows, or a folder of Parquet; no window twice, also after a crash."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from chronodp.errors import InvalidArgument
from chronodp.live.sinks.sink import Row
from chronodp.reading import check_path
from chronodp.report import comma_separated

__all__ = ["CsvSink", "ParquetSink"]

_BLOCK = 1_000  # windows in one Parquet file


class CsvSink:
    """A CSV file with one line for each window (and group). The file itself tells which windows it has.

    Args:
        path: of the file.
    """

    remembers = True

    def __init__(self, path: str | Path) -> None:
        self._path = check_path("path", path)
        self.name = f"csv {self._path.name}"
        self._columns: list[str] = []
        self._file: IO[bytes] | None = None

    def check(self) -> None:
        """Refuse a place that cannot be written."""
        if not os.access(self._path if self._path.exists() else self._path.parent, os.W_OK) or self._path.is_dir():
            raise InvalidArgument("path", str(self._path), "a file in a folder that can be written")

    def begin(self, columns: Sequence[str], known: int | None) -> int:  # noqa: ARG002 (the file tells)
        """Cut off the last window, which may not be whole, and ask for it again."""
        self._columns = list(columns)
        header = comma_separated(self._columns, []).encode()
        try:
            self._file = self._path.open("r+b" if self._path.exists() else "w+b")
        except OSError:
            raise InvalidArgument("path", str(self._path), "a place that can be written") from None
        first = self._file.readline()
        if first != header:
            if first and first.endswith(b"\n"):
                raise InvalidArgument("path", str(self._path), f"new, or a file with the columns {', '.join(columns)}")
            self._cut(0)
            self._file.write(header)
            return 0
        begins, window = self._file.tell(), 0
        at = begins
        for line in iter(self._file.readline, b""):
            number = line.partition(b",")[0]
            if not line.endswith(b"\n") or not number.isdigit():
                break
            if int(number) != window or at == begins:
                begins, window = at, int(number)
            at += len(line)
        self._cut(begins)
        return window

    def write(self, windows: Sequence[Sequence[Row]]) -> None:
        """Append the windows' lines, and see them on disk."""
        assert self._file is not None
        cells = [[row.get(name) for name in self._columns] for window in windows for row in window]
        at = self._file.tell()
        try:
            self._file.write(comma_separated(self._columns, cells).encode().partition(b"\n")[2])
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError:
            self._cut(at)
            raise

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _cut(self, length: int) -> None:
        assert self._file is not None
        self._file.seek(length)
        self._file.truncate()


class ParquetSink:
    """A folder of Parquet files, each of a fixed stretch of windows; the newest is replaced as windows come.

    Args:
        path: of the folder.
    """

    remembers = True

    def __init__(self, path: str | Path) -> None:
        self._path = check_path("path", path)
        self.name = f"parquet {self._path.name}"
        self._columns: list[str] = []
        self._rows: list[Row] = []

    def check(self) -> None:
        """Refuse a place that cannot be written."""
        try:
            self._path.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise InvalidArgument("path", str(self._path), "a folder that can be written") from None

    def begin(self, columns: Sequence[str], known: int | None) -> int:  # noqa: ARG002 (the folder tells)
        """Read the newest file: its last window is the last that was taken."""
        from pyarrow import parquet

        self._columns = list(columns)
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            newest = max(self._path.glob("windows-*.parquet"), default=None)
            if newest is None:
                return 0
            table = parquet.read_table(newest)
        except (OSError, ValueError):
            raise InvalidArgument("path", str(self._path), "a folder for Parquet files that can be written") from None
        if table.column_names != self._columns:
            allowed = f"new, or a folder with the columns {', '.join(columns)}"
            raise InvalidArgument("path", str(self._path), allowed)
        self._rows = table.to_pylist()
        return int(self._rows[-1]["window"]) + 1

    def write(self, windows: Sequence[Sequence[Row]]) -> None:
        """Replace the newest file by one that has these windows as well; begin another where it is full."""
        rows = list(self._rows)
        for window in windows:
            if rows and rows[-1]["window"] // _BLOCK != int(window[0]["window"]) // _BLOCK:
                self._save(rows)
                rows = []
            rows += window
        self._save(rows)
        self._rows = rows  # after it was written: the same windows may be asked for again

    def close(self) -> None:
        """Nothing is held."""

    def _save(self, rows: Sequence[Row]) -> None:
        import pyarrow
        from pyarrow import parquet

        number = rows[-1]["window"] // _BLOCK
        place = self._path / f"windows-{number:08d}.parquet"
        fresh = place.with_suffix(".writing")
        columns = {name: [row.get(name) for row in rows] for name in self._columns}
        types: dict[str, pyarrow.DataType] = {
            "window": pyarrow.int64(),
            "time": pyarrow.string(),
            "group": pyarrow.string(),
            "until": pyarrow.string(),
            "alert": pyarrow.bool_(),
        }
        schema = pyarrow.schema([(name, types.get(name, pyarrow.float64())) for name in self._columns])
        parquet.write_table(pyarrow.table(columns, schema=schema), fresh)
        with fresh.open("rb") as file:
            os.fsync(file.fileno())
        fresh.replace(place)
