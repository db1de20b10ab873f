"""Copies of a ledger's database, as a backup makes them and as someone puts them back."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

__all__ = ["copy_database", "replace_database"]


def copy_database(path: Path, to: Path) -> None:
    """The database's own copy, which is whole while others write."""
    source, target = sqlite3.connect(path), sqlite3.connect(to)
    source.backup(target)
    source.close()
    target.close()


def replace_database(path: Path, by: Path) -> None:
    """Put a copy in place of a database, without what waited beside it."""
    for part in ("", "-wal", "-shm"):
        path.with_name(path.name + part).unlink(missing_ok=True)
    shutil.copy(by, path)
