"""Growing files of JSON or CSV lines, followed through rotation."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from chronodp.live.records import LARGEST, Batch, Reader
from chronodp.privacy import check_kind, check_word
from chronodp.reading import check_path

__all__ = ["FileSource"]

_LINE = 1_000  # bytes that a line is taken to have when a number of lines is wanted


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in a file, which is known by its number on the disk and keeps it when it is renamed."""

    inode: int
    offset: int


class FileSource:
    """Lines that are appended to a file, and to the one that takes its place when it is rotated.

    A line counts once it ends. A file that was renamed is read to its end before the new one of its name; after a
    restart it is looked for in its folder. A file that was cut short is read from its start.

    Args:
        path: of the file; it need not exist yet.
        reader: of the records.
        layout: 'jsonl' or 'csv'; CSV files begin with the names of their columns.
    """

    waiting: int | None = None
    prompt = False

    def __init__(self, path: str | Path, *, reader: Reader, layout: str = "jsonl") -> None:
        self._path = check_path("path", path)
        self._layout = check_word("layout", layout, ("jsonl", "csv"))
        self._reader = check_kind("reader", reader, Reader, "a Reader")
        self._file: IO[bytes] | None = None
        self._place = _Place(0, 0)
        self._header: list[str] | None = None
        self._mark: _Place | None = None
        self._skipping = False
        self._unfinished = 0

    @property
    def trouble(self) -> str:
        """Whether the file is there."""
        return "" if self._file is not None else f"{self._path.name} is not there yet"

    @property
    def positions(self) -> str:
        """The file and how many of its bytes were read."""
        return json.dumps({"inode": self._place.inode, "offset": self._place.offset})

    def begin(self, positions: str) -> None:
        """Open the file that was read, also under the name it has now."""
        if positions:
            known = json.loads(positions)
            found = self._find(known["inode"])
            if found is not None:
                self._open(found, known["offset"])
                return
        self._open_newest()

    def read(self, most: int, *, wait: float) -> Batch:
        """Return the records of the next lines."""
        lines = self._lines(most)
        if not lines and wait and self._mark is None:
            time.sleep(min(wait, 0.05))
            lines = self._lines(most)
        if self._layout == "jsonl":
            return self._reader.read(lines)
        return self._reader.read_csv(lines, self._header or [])

    def mark(self) -> bool:
        """Fix the size of the newest file as what has come."""
        if self._file is None:
            self._open_newest()
        try:
            status = self._path.stat()
            self._mark = _Place(status.st_ino, status.st_size)
        except OSError:
            size = os.fstat(self._file.fileno()).st_size if self._file is not None else 0
            self._mark = _Place(self._place.inode, size)
        return True

    @property
    def at_mark(self) -> bool:
        """Whether no whole line is left before the mark."""
        mark = self._mark
        if mark is None:
            return False
        if mark.inode != self._place.inode:
            return self._file is None
        return self._place.offset + self._unfinished >= mark.offset

    def unmark(self) -> None:
        """Let reading go on."""
        self._mark = None

    def confirm(self) -> None:
        """Nobody has to be told."""

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _lines(self, most: int) -> list[bytes]:
        if self._file is None and not self._open_newest():
            return []
        assert self._file is not None
        size = os.fstat(self._file.fileno()).st_size
        if size < self._place.offset:  # cut short: what it holds now is new
            self._open(self._path, 0)
            size = os.fstat(self._file.fileno()).st_size
        end = size
        if self._mark is not None and self._mark.inode == self._place.inode:
            end = min(end, self._mark.offset)
        self._file.seek(self._place.offset)
        wanted = max(0, min(end - self._place.offset, max(most * _LINE, 2 * LARGEST)))
        content = self._file.read(wanted)
        whole, newline, rest = content.rpartition(b"\n")
        self._unfinished = len(rest)
        if not newline:
            if len(rest) > LARGEST:  # no record is so long: pass over it, up to where its line ends
                self._skipping = True
                self._move(len(rest))
                self._unfinished = 0
            elif self._place.offset + len(rest) >= size:
                self._follow_rotation()
            return []
        self._move(len(whole) + 1)
        lines = whole.split(b"\n")
        if self._skipping:
            self._skipping = False
            lines = [b"?", *lines[1:]]  # counts as one record that cannot be read
        if self._layout == "csv" and self._header is None and lines:
            self._header = _header(lines.pop(0))
        return [line.rstrip(b"\r") for line in lines if line.strip()]

    def _move(self, count: int) -> None:
        self._place = _Place(self._place.inode, self._place.offset + count)

    def _follow_rotation(self) -> None:
        """Go over to a new file of the same name, or to the marked one; all of the old one was read."""
        mark = self._mark
        if mark is not None and mark.inode == self._place.inode:
            return  # a new file came after the mark
        if mark is not None:
            found = self._find(mark.inode)
            if found is not None:
                self._open(found, 0)
            else:  # it is gone, and what it held
                self._mark = self._place
            return
        with contextlib.suppress(OSError):
            if self._path.stat().st_ino != self._place.inode:
                self._open(self._path, 0)

    def _open_newest(self) -> bool:
        try:
            self._open(self._path, 0)
        except OSError:
            return False
        return True

    def _open(self, path: Path, offset: int) -> None:
        file = path.open("rb")
        self.close()
        self._file = file
        self._place = _Place(os.fstat(file.fileno()).st_ino, offset)
        self._header, self._unfinished, self._skipping = None, 0, False
        if offset and self._layout == "csv":
            self._header = _header(file.readline(LARGEST))

    def _find(self, inode: int) -> Path | None:
        try:
            return next(path for path in self._path.parent.iterdir() if path.is_file() and path.stat().st_ino == inode)
        except (StopIteration, OSError):
            return None


def _header(line: bytes) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line.decode("utf-8-sig").strip()]))]
    except (ValueError, csv.Error, StopIteration):
        return []
