"""Growing files of JSON or CSV lines, followed through rotation; what is replaced is noticed by its content."""

from __future__ import annotations

import csv
import os
import time
from io import FileIO
from pathlib import Path

from chronodp.errors import InvalidArgument
from chronodp.live.records import LARGEST, Batch, Reader
from chronodp.live.sources.following import FollowedFile
from chronodp.live.sources.read_bytes import Identity, read_at
from chronodp.privacy import check_kind, check_word
from chronodp.reading import check_path

__all__ = ["FileSource"]

_LINE = 1_000  # bytes that a line is taken to have when a number of lines is wanted
_NOTHING = (Identity(0, 0), 0)


class FileSource:
    """Lines that are appended to a file, and to the one that takes its place when it is rotated.

    A line counts once it ends. A file that was renamed is read to its end before the new one of its name, once that one
    holds something; after a restart it, and those that were rotated after it, are looked for in its folder. A file that
    no longer begins with what was read of it was cut short or replaced: if a copy of it lies in the folder, as after
    logrotate's copytruncate, that one is read to its end first, otherwise a gap is reported; then the file is read from
    its start. A file that was read before and is gone is waited for.

    Args:
        path: of the file; it need not exist yet.
        reader: of the records.
        layout: 'jsonl' or 'csv'; CSV files begin with the names of their columns.
    """

    waiting: int | None = None
    prompt = False

    def __init__(self, path: str | Path, *, reader: Reader, layout: str = "jsonl") -> None:
        self._path = check_path("path", path)
        if os.path.isdir(self._path):  # unlike `Path.is_dir` says no of names that no file can have
            allowed = "one file, no folder: a stream follows one name, and what rotation puts in its place"
            raise InvalidArgument("path", path, allowed)
        self._layout = check_word("layout", layout, ("jsonl", "csv"))
        self._reader = check_kind("reader", reader, Reader, "a Reader")
        self._followed = FollowedFile(self._path)
        self._mark: tuple[Identity, int] | None = None
        self._begun: FileIO | None = None  # the file that what follows is about
        self._header: list[str] | None = None
        self._skipping = False
        self._unfinished = 0

    @property
    def trouble(self) -> str:
        """Whether the file is there."""
        if self._followed.file is not None:
            return ""
        if self._followed.awaited:
            return f"{self._path.name} was read before and is gone: windows wait for it"
        return f"{self._path.name} is not there yet"

    @property
    def positions(self) -> str:
        """The file, how many of its bytes were read, and a keyed digest of the first and the last of them."""
        return self._followed.positions

    def begin(self, positions: str, *, key: bytes = b"") -> None:
        """Open the file that was read, also under the name it has now."""
        self._followed.begin(positions, key)

    def read(self, most: int, *, wait: float) -> Batch:
        """Return the records of the next lines."""
        lines = self._lines(most)
        if not lines and wait and not self.at_mark:
            time.sleep(min(wait, 0.05))
            lines = self._lines(most)
        if self._layout == "jsonl":
            return self._reader.read(lines)
        return self._reader.read_csv(lines, self._header or [])

    def mark(self) -> bool:
        """Fix the size of the newest file as what has come; False while a file is waited for."""
        followed = self._followed
        try:
            if followed.open() and followed.file is not None:
                followed.look(os.fstat(followed.file.fileno()))  # what was exchanged before the mark is noticed by it
        except OSError:
            followed.lose()
        self._begin_file()
        if followed.awaited:
            return False
        followed.check_left()
        self._mark = followed.end or _NOTHING
        return True

    @property
    def at_mark(self) -> bool:
        """Whether no whole line is left before the mark."""
        if self._mark is None or self._followed.awaited:
            return False
        identity, end = self._mark
        if self._mark is _NOTHING:
            return True
        return identity == self._followed.identity and self._followed.read.offset + self._unfinished >= end

    def unmark(self) -> None:
        """Let reading go on."""
        self._mark = None

    def take_gaps(self) -> list[str]:
        """Return where lines may be missing, as noticed since this was last asked."""
        taken, self._followed.gaps = self._followed.gaps, []
        return taken

    def confirm(self) -> None:
        """Nobody has to be told."""

    def close(self) -> None:
        """Close the file."""
        self._followed.close()

    def _lines(self, most: int) -> list[bytes]:
        """Return the next whole lines, none beyond the mark; none where another file has to be read first."""
        followed = self._followed
        if self._mark is _NOTHING:  # what there is by now came after the mark
            return []
        if followed.file is None:
            if not followed.open():
                return []
            self._mark_anew()
        self._begin_file()
        assert followed.file is not None
        marked = self._mark[1] if self._mark is not None and self._mark[0] == followed.identity else None
        offset = followed.read.offset
        try:
            status = os.fstat(followed.file.fileno())
            end = status.st_size if marked is None else min(status.st_size, marked)
            content = read_at(followed.file, offset, max(0, min(end - offset, max(most * _LINE, 2 * LARGEST))))
            # Asked after the content was read: a file that begins as it did was not exchanged before.
            intact = followed.look(status, least=marked or 0)
        except OSError:  # a disk, or a server of files, that went away
            followed.lose()
            return []
        if not intact:
            self._begin_file()
            self._mark_anew()
            return []
        whole, newline, rest = content.rpartition(b"\n")
        self._unfinished = len(rest)
        if newline:
            followed.read = followed.read.and_then(memoryview(content)[: len(whole) + 1])
            return self._whole_lines(whole)
        if len(rest) > LARGEST:  # no record is so long: pass over it, up to where its line ends
            self._skipping = True
            followed.read = followed.read.and_then(rest)
            self._unfinished = 0
        elif marked is None and offset + len(rest) >= status.st_size:  # a file that came after the mark waits
            self._follow_rotation()
        return []

    def _whole_lines(self, whole: bytes) -> list[bytes]:
        lines = whole.split(b"\n")
        if self._skipping:
            self._skipping = False
            lines = [b"?", *lines[1:]]  # counts as one record that cannot be read
        if self._layout == "csv" and self._header is None and lines:
            self._header = _header(lines.pop(0))
        return [line.rstrip(b"\r") for line in lines if line.strip()]

    def _follow_rotation(self) -> None:
        before = self._followed.file
        self._followed.follow(self._unfinished)
        if self._followed.file is before:  # no file comes next, also if a mark was set in one
            self._mark_anew()
        self._begin_file()

    def _begin_file(self) -> None:
        """Forget the line that was begun, and the header, once another file is read."""
        followed = self._followed
        if followed.file is None or followed.file is self._begun:
            return
        self._begun, self._header, self._skipping, self._unfinished = followed.file, None, False, 0
        if followed.read.offset and self._layout == "csv":
            self._header = _header(read_at(followed.file, 0, LARGEST).partition(b"\n")[0])

    def _mark_anew(self) -> None:
        """Let what has come by now count as what had come: the file of the mark is not what it was."""
        if self._mark is not None:
            self._mark = self._followed.end or _NOTHING


def _header(line: bytes) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line.decode("utf-8-sig").strip()]))]
    except (ValueError, csv.Error, StopIteration):
        return []
