"""Files that their owner alone may read, whatever the umask says."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

__all__ = ["create_private", "sync_folder", "tighten"]

_OWNER_ONLY = 0o600


def create_private(path: Path) -> None:
    """Make an empty file that only its owner may read and write, unless a file is there; then tighten that."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY))
    tighten(path)


def tighten(path: Path) -> None:
    """Take everyone else's rights from a file of ours; one that is somebody else's is theirs to decide about."""
    with contextlib.suppress(FileNotFoundError):
        found = path.stat()
        ours = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
        if ours and stat.S_ISREG(found.st_mode) and stat.S_IMODE(found.st_mode) & ~_OWNER_ONLY:
            path.chmod(_OWNER_ONLY)


def sync_folder(path: Path) -> None:
    """Make a file's name as durable as its content."""
    if os.name == "nt":
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
