"""What tells a file that was read from another in its place: the bytes that were read, not their number.

"Files that are replaced" in ``docs/explanation/proofs/live.md``.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from io import FileIO
from typing import Self

__all__ = ["Identity", "ReadBytes", "identity_of", "read_at"]

_SPAN = 4096  # bytes that are remembered of a file's beginning, and as many before the place
_DIGEST = 16
_PURPOSE = b"bytes of a file".ljust(16)


@dataclass(frozen=True, slots=True)
class Identity:
    """The number of a file on its disk, which it keeps when it is renamed; another file may get it later.

    Attributes:
        device: the disk; None where a state of 0.1.0 does not say.
        inode: the number.
    """

    device: int | None
    inode: int

    def same(self, other: Identity) -> bool:
        """Return whether both may name one file."""
        return self.inode == other.inode and (None in (self.device, other.device) or self.device == other.device)


@dataclass(frozen=True, slots=True)
class ReadBytes:
    """The first bytes of what was read of a file, and the last: private, and stored as a keyed digest only.

    Attributes:
        offset: how many bytes were read.
        head: the first of them.
        tail: the last of them.
    """

    offset: int = 0
    head: bytes = b""
    tail: bytes = b""

    @classmethod
    def of(cls, file: FileIO, offset: int) -> Self | None:
        """Return what a file holds before an offset; None if it is shorter."""
        span = min(offset, _SPAN)
        head, tail = read_at(file, 0, span), read_at(file, offset - span, span)
        return cls(offset, head, tail) if len(head) == len(tail) == span else None

    def and_then(self, more: bytes | memoryview) -> ReadBytes:
        """Return the same with what was read next."""
        head, tail = self.head + bytes(more[:_SPAN]), self.tail + bytes(more[-_SPAN:])
        return ReadBytes(self.offset + len(more), head[:_SPAN], tail[-_SPAN:])

    def still_in(self, file: FileIO) -> bool:
        """Return whether a file begins with what was read, as far as it is remembered."""
        return ReadBytes.of(file, self.offset) == self

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
