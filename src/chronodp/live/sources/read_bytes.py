"""What tells a file that was read from another in its place: the bytes that were read, not their number.

"Files that are replaced" in ``docs/explanation/proofs/live.md``.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from io import FileIO
from typing import Self

__all__ = ["SPAN", "Identity", "ReadBytes", "identity_of", "read_at"]

SPAN = 4096  # bytes that are remembered of a file's beginning, and as many before the place
_DIGEST = 16
_PURPOSE = b"bytes of a file".ljust(16)


@dataclass(frozen=True, slots=True)
class Identity:
    """The number of a file on its disk, which it keeps when it is renamed; another file may get it later.

    Attributes:
        device: the disk.
        inode: the number.
    """

    device: int
    inode: int


@dataclass(frozen=True, slots=True)
class ReadBytes:
    """What is known of a file: the first and the last bytes that were read. Private, stored as a digest only.

    Attributes:
        offset: how many bytes were read.
        head: the first of them; of a file of which nothing was read, those that were seen.
        tail: the last of them.
    """

    offset: int = 0
    head: bytes = b""
    tail: bytes = b""

    @classmethod
    def of(cls, file: FileIO, offset: int, head: int) -> Self | None:
        """Return what a file holds before an offset, and so many of its first bytes; None if it is shorter."""
        span = min(offset, SPAN)
        first, tail = read_at(file, 0, head), read_at(file, offset - span, span)
        return cls(offset, first, tail) if len(first) == head and len(tail) == span else None

    def and_then(self, more: bytes | memoryview) -> ReadBytes:
        """Return the same with what was read next."""
        head = (self.head if self.offset else b"") + bytes(more[:SPAN])
        return ReadBytes(self.offset + len(more), head[:SPAN], (self.tail + bytes(more[-SPAN:]))[-SPAN:])

    def found_in(self, file: FileIO) -> ReadBytes | None:
        """Return what is known of a file if it begins with this, and None if it is another one."""
        if self.offset:
            return self if ReadBytes.of(file, self.offset, len(self.head)) == self else None
        seen = read_at(file, 0, SPAN)
        return ReadBytes(0, seen) if seen.startswith(self.head) else None

    def digest(self, key: bytes) -> str:
        """Return what tells these bytes from others, and nothing else to whoever has no key."""
        content = len(self.head).to_bytes(8, "little") + self.head + self.tail
        return hashlib.blake2b(content, key=key, digest_size=_DIGEST, person=_PURPOSE).hexdigest()


def identity_of(status: os.stat_result) -> Identity:
    """Return the identity of a file."""
    return Identity(status.st_dev, status.st_ino)


def read_at(file: FileIO, offset: int, count: int) -> bytes:
    """Return so many bytes from an offset on, or those that there are. Nothing is kept between calls."""
    file.seek(offset)
    return file.read(count)
