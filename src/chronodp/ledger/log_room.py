"""Room in SQLite's write-ahead log, set aside before what needs it is begun.

*The log has room* under "What could fail after a debit" of ``docs/explanation/proofs/ledger.md``. The log, as
https://www.sqlite.org/walformat.html has it:

    0 … 31      header: bytes 8 to 11 the size of a page, 16 to 23 a salt, drawn anew each time the log begins anew
    32 …        frames of 24 bytes and a page each: bytes 8 to 15 of a frame repeat the salt it was written under

Frames are written one after another, so those of the present salt come first, and whatever follows says nothing. SQLite
takes no locks on this file, so it may be opened and closed here; of the database, or its index, that would drop them.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

__all__ = ["allocate_log"]

_HEADER, _FRAME = 32, 24
_PIECE = 2**20  # zeros written at a time
_UNABLE = (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


def allocate_log(path: Path, size: int) -> bool:
    """Let a log hold so many bytes beyond its last frame; return whether it can. Nobody else may write meanwhile."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        _allocate(descriptor, _end(descriptor), size)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _end(descriptor: int) -> int:
    """Return where the last frame of the present salt ends, committed or not: no earlier than what counts."""
    header = os.pread(descriptor, _HEADER, 0)
    page = int.from_bytes(header[8:12], "big")
    if len(header) < _HEADER or page == 0:  # nothing was ever written
        return _HEADER
    salt, size = header[16:24], _FRAME + page
    first, beyond = 0, (os.fstat(descriptor).st_size - _HEADER) // size
    while first < beyond:  # frames before `first` are of this salt, those from `beyond` on are not
        middle = (first + beyond) // 2
        if os.pread(descriptor, 8, _HEADER + middle * size + 8) == salt:
            first = middle + 1
        else:
            beyond = middle
    return _HEADER + first * size


def _allocate(descriptor: int, begin: int, size: int) -> None:
    """Have a file hold a stretch of real blocks; what stands there stays."""
    try:
        os.posix_fallocate(descriptor, begin, size)
    except AttributeError:  # macOS, Windows
        pass
    except OSError as error:
        if error.errno not in _UNABLE:
            raise
    else:
        return
    place = os.lseek(descriptor, 0, os.SEEK_END)
    while place < begin + size:
        place += os.write(descriptor, bytes(min(_PIECE, begin + size - place)))
