"""Where the file that was read is now, and which one comes after it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterator
from io import FileIO
from pathlib import Path

from chronodp.live.sources.read_bytes import Identity, ReadBytes, identity_of

__all__ = ["Found", "find_content", "find_identity", "next_rotated", "open_plain"]

_NUMBERED = re.compile(r"[.-][0-9][0-9.:T_-]*")
_PACKED = re.compile(r"[.-][0-9][0-9.:T_-]*\.(gz|xz|bz2|zst|lz4)")

Found = tuple[FileIO, ReadBytes]
"""An open file, and what of it was read before."""


def open_plain(path: Path) -> FileIO:
    """Open a file so that every read sees what is on disk then: nothing is kept in between."""
    return FileIO(path, "rb")


def find_identity(path: Path, wanted: Identity) -> Path | None:
    """Return where a file is, under its name or another one in the same folder."""
    return next((one for one, status in _files(path) if identity_of(status) == wanted), None)


def find_content(path: Path, read_of: Callable[[FileIO], ReadBytes | None], *, since: int) -> Found | None:
    """Return a file in the same folder that holds what was read: one that took the place of the other, or a copy.

    Files that were last written before ``since``, in nanoseconds, are older ones, which may begin alike.
    """
    for one, status in _files(path):
        if status.st_mtime_ns < since:
            continue
        with contextlib.suppress(OSError):
            file = open_plain(one)
            read = read_of(file)
            if read is not None:
                return file, read
            file.close()
    return None


def next_rotated(path: Path, *, after: int, besides: Collection[Identity] = ()) -> tuple[Path | None, int]:
    """Return the oldest rotated file that was last written after a moment, and how many before it cannot be read.

    Rotated files have the name, and a number or a date after it. Those that were compressed are counted, not read.

    Args:
        path: of the file that is rotated.
        after: the moment, in nanoseconds.
        besides: files that were read.
    """
    plain: list[tuple[int, Path]] = []
    packed: list[int] = []
    for one, status in _files(path):
        if status.st_mtime_ns <= after or identity_of(status) in besides or not one.name.startswith(path.name):
            continue
        ending = one.name.removeprefix(path.name)
        if _NUMBERED.fullmatch(ending):
            plain.append((status.st_mtime_ns, one))
        elif _PACKED.fullmatch(ending):
            packed.append(status.st_mtime_ns)
    if not plain:
        return None, len(packed)
    moment, found = min(plain)
    return found, sum(one < moment for one in packed)


def _files(path: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield the files of a folder, that of the name first."""
    with contextlib.suppress(OSError):
        for one in sorted(path.parent.iterdir(), key=lambda other: (other != path, other.name)):
            with contextlib.suppress(OSError):
                if one.is_file():
                    yield one, one.stat()
