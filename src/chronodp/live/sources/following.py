"""The file of a name, through rotation and replacement: where reading goes on, and what may be missing.

"Files that are replaced" in ``docs/explanation/proofs/live.md``.
"""

from __future__ import annotations

import contextlib
import json
import os
from io import FileIO
from pathlib import Path
from typing import Any

from chronodp.live.sources.read_bytes import Identity, ReadBytes, identity_of
from chronodp.live.sources.rotation import Found, find_content, find_identity, next_rotated, open_plain

__all__ = ["FollowedFile"]


class FollowedFile:
    """An open file and what was read of it; the one that comes after it, when all of it was read.

    Attributes:
        file: the open file; None while there is none.
        identity: its number on the disk.
        read: what was read of it.
        gaps: what was noticed, in plain words without data: where lines may be missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._key = b""
        self.file: FileIO | None = None
        self.identity = Identity(0, 0)
        self.read = ReadBytes()
        self.gaps: list[str] = []
        self._known = ""  # where reading stands, while no file is open
        self._written = 0  # when the file was last written, as it was last seen, in nanoseconds
        self._size = 0  # and how long it was then
        self._left: tuple[FileIO, int] | None = None

    @property
    def awaited(self) -> bool:
        """Whether a file was read before, and none is there now."""
        return self.file is None and bool(self._known)

    @property
    def positions(self) -> str:
        """The file, how many of its bytes were read, and a keyed digest of the first and the last of them."""
        if self.file is None:
            return self._known
        return json.dumps(
            {
                "device": self.identity.device,
                "inode": self.identity.inode,
                "offset": self.read.offset,
                "head": len(self.read.head),
                "written": self._written,
                "digest": self.read.digest(self._key),
            }
        )

    @property
    def end(self) -> tuple[Identity, int] | None:
        """Where what has come ends: in the newest file that holds something; None where there is no file."""
        if self.file is None:
            return None
        newest = self._newest()
        if newest is None or not newest.st_size or identity_of(newest) == self.identity:
            return self.identity, os.fstat(self.file.fileno()).st_size
        return identity_of(newest), newest.st_size

    def begin(self, positions: str, key: bytes) -> None:
        """Take up what was read before, if anything was."""
        self._key = key
        if positions:
            self._known = positions
        self.open()

    def open(self) -> bool:
        """Open the file that was read, or the one of the name, unless one is open; return whether one is now."""
        if self.file is not None:
            return True
        known = json.loads(self._known) if self._known else None
        found = None if known is None else self._find(known)
        try:
            if found is None:
                rotated = None if known is None else next_rotated(self._path, after=known["written"])[0]
                found = open_plain(rotated or self._path), ReadBytes()
                if known is not None and known["head"]:  # of an empty file nothing is missing
                    self.report("is another file than the one that was read, which is gone")
            self._adopt(found)
        except OSError:
            return False
        self._known = ""
        return True

    def look(self, status: os.stat_result, *, least: int = 0) -> bool:
        """Return whether the open file still begins with what was read of it, and is not shorter than it was.

        Args:
            status: of the file before the bytes were read that this is asked for.
            least: how long it was when it was marked.
        """
        assert self.file is not None
        found = self.read.found_in(self.file)
        if found is None:
            self._replace()
            return False
        self.read = found
        size, self._size, self._written = self._size, status.st_size, status.st_mtime_ns
        if status.st_size < max(size, least):
            self.report("was cut short behind what was read of it")
            return False
        return True

    def follow(self, unfinished: int) -> None:
        """Go over to the file that came next, once it holds something; all of this one was read.

        Args:
            unfinished: how many bytes at its end are no whole line.
        """
        assert self.file is not None
        status, newest = os.fstat(self.file.fileno()), self._newest()
        if newest is not None and identity_of(newest) == self.identity:
            return
        left = {self.identity} | ({identity_of(os.fstat(self._left[0].fileno()))} if self._left else set())
        rotated, packed = next_rotated(self._path, after=status.st_mtime_ns, besides=left)
        if rotated is None and (newest is None or not newest.st_size):
            return  # who writes may not have gone over to a new file yet
        try:
            file = open_plain(rotated or self._path)
        except OSError:
            return  # gone again: the next look finds another
        # A file that has no name any more, and whose content lies here under another number, was saved anew.
        same = self.read.found_in(file) if self.read.offset and not status.st_nlink else None
        self._leave(status.st_size)
        self._adopt((file, same or ReadBytes()))
        if packed:
            self.report("was rotated and compressed before all of it was read")
        if unfinished and not same:
            self.report("was rotated within a line, which is left out")

    def check_left(self) -> None:
        """Report lines that came to a rotated file after it was left."""
        if self._left is not None:
            file, size = self._left
            grown = os.fstat(file.fileno()).st_size
            if grown > size:
                self._left = (file, grown)
                self.report("was written to under its old name after the new file was")

    def lose(self) -> None:
        """Wait for a file that cannot be read any more."""
        self._known = self.positions
        if self.file is not None:
            self.file.close()
            self.file = None

    def close(self) -> None:
        """Let go of all files."""
        self.lose()
        if self._left is not None:
            self._left[0].close()
            self._left = None

    def report(self, what: str) -> None:
        """Note a gap."""
        self.gaps.append(f"{self._path.name} {what}: lines may be missing")

    def _find(self, known: dict[str, Any]) -> Found | None:
        """Return the file that positions tell of: by its number if its content agrees, else by its content."""
        offset, head, digest = known["offset"], known["head"], known["digest"]

        def read_of(file: FileIO) -> ReadBytes | None:
            read = ReadBytes.of(file, offset, head)
            return read if read is not None and read.digest(self._key) == digest else None

        named = find_identity(self._path, Identity(known["device"], known["inode"]))
        with contextlib.suppress(OSError):
            if named is not None:
                file = open_plain(named)
                read = read_of(file)
                if read is not None:
                    return file, read
                file.close()
        # Where nothing was seen, no content is known that another file could have.
        return find_content(self._path, read_of, since=known["written"]) if head else None

    def _replace(self) -> None:
        """Go on in a copy of what was read, or from the start of what there is now."""
        found = find_content(self._path, self.read.found_in, since=self._written)
        try:
            self._adopt(found or (open_plain(self._path), ReadBytes()))
        except OSError:
            self.lose()
            return
        if found is None:
            self.report("was cut short or written anew, and no copy of what it held was found")

    def _newest(self) -> os.stat_result | None:
        try:
            return self._path.stat()
        except OSError:
            return None

    def _leave(self, size: int) -> None:
        """Keep the file open for a while: as long as it is, its number is given to no other."""
        assert self.file is not None
        if self._left is not None:
            self._left[0].close()
        self._left, self.file = (self.file, size), None

    def _adopt(self, found: Found) -> None:
        """Go on in a file behind what was read of it."""
        if self.file is not None:
            self.file.close()
        self.file, read = found
        self.read = read.found_in(self.file) or read
        status = os.fstat(self.file.fileno())
        self.identity = identity_of(status)
        self._written, self._size = status.st_mtime_ns, status.st_size
