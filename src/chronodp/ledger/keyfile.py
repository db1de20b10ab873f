"""The owner's file: both keys and the id of their ledger, then how far it has come."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chronodp.errors import LedgerUnavailable, UnknownDocument
from chronodp.ledger.keys import Keys
from chronodp.ledger.marks import MarkFile
from chronodp.ledger.ownership import create_private, sync_folder, tighten
from chronodp.reading import parse_json

__all__ = ["KeyFile", "create_keys", "holds_keys", "read_keys"]


@dataclass(frozen=True, slots=True)
class KeyFile:
    """What stands in a keys file.

    Attributes:
        path: where it is.
        keys: both keys.
        ledger: the id of the ledger that they serve.
        used: whether that ledger was ever seen.
    """

    path: Path
    keys: Keys
    ledger: str
    used: bool

    @property
    def marks(self) -> MarkFile:
        """How far its ledger was seen to have come."""
        return MarkFile(self.path)


def read_keys(path: Path) -> KeyFile | None:
    """Return what a keys file holds, None if there is no file. No message tells anything of its content."""
    try:
        first, *lines = path.read_bytes().replace(b"\x00", b"\n").split(b"\n")
    except FileNotFoundError:
        return None
    except OSError:
        raise LedgerUnavailable(f"the keys file {path.name} cannot be read") from None
    tighten(path)
    head = _parsed(first)
    try:
        keys = Keys.from_dict(head)
        ledger = str(head["ledger"])
    except (ValueError, KeyError):
        raise LedgerUnavailable(f"{path.name} does not hold a ledger's keys") from None
    return KeyFile(path, keys, ledger, used=any(isinstance(one, dict) and "saw" in one for one in map(_parsed, lines)))


def create_keys(path: Path, ledger: str) -> KeyFile:
    """Write fresh keys for a ledger that is about to be made; of two processes that do so, one wins for both."""
    fresh = path.with_name(f"{path.name}.{os.urandom(6).hex()}")
    try:
        create_private(fresh)
        with fresh.open("w", encoding="ascii") as file:
            json.dump({**Keys.create().to_dict(), "ledger": ledger}, file)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(fresh, path)  # unlike a rename it never replaces keys that another process has made and used
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
        sync_folder(path)
    except OSError:
        raise LedgerUnavailable(f"the keys file {path.name} cannot be made: name one in a folder of yours") from None
    made = read_keys(path)
    if made is None:
        raise LedgerUnavailable(f"the keys file {path.name} was removed while it was made")
    return made


def holds_keys(content: bytes) -> bool:
    """Return whether a file's content is that of a keys file, damaged or not."""
    return b'"signing"' in content or b'"sealing"' in content


def _parsed(line: bytes) -> Any:
    try:
        return parse_json(line)
    except UnknownDocument:
        return None
