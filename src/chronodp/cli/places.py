"""Where a command writes: checked before it does anything."""

from __future__ import annotations

import os
from pathlib import Path

from chronodp.errors import InvalidArgument

__all__ = ["check_place"]


def check_place(name: str, path: Path | None, *suffixes: str) -> None:
    """Raise before anything is spent if the file could not be written in the end; None is no file at all."""
    if path is None:
        return
    folder = path.absolute().parent
    if suffixes and path.suffix.lower() not in suffixes:
        raise InvalidArgument(name, str(path), f"a file that ends in {' or '.join(suffixes)}")
    if not folder.is_dir() or path.is_dir():
        raise InvalidArgument(name, str(path), "a file in a folder that exists")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InvalidArgument(name, str(path), "a place that can be written")
