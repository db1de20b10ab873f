"""What the process that feeds a stream says of itself: a small file beside the ledger, for those who show streams."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from chronodp.errors import UnknownDocument
from chronodp.reading import parse_json

__all__ = ["Feeding", "Gap", "feeding_path", "read_feeding", "write_feeding"]


@dataclass(frozen=True, slots=True)
class Gap:
    """A place where records may be missing in what a source brought. For the owner: it depends on the data.

    Attributes:
        at: when it was noticed.
        what: what was noticed, in plain words.
    """

    at: str
    what: str


@dataclass(frozen=True, slots=True)
class Feeding:
    """How it is with what feeds a stream.

    Attributes:
        at: when this was said.
        waits: what windows wait for, in plain words; empty if for nothing but their end. Public.
        gaps: the last gaps that were noticed. For the owner.
    """

    at: str
    waits: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def feeding_path(ledger: str, stream: str) -> Path | None:
    """Return where the file lies: beside the ledger's; None where the ledger is a database."""
    return None if "://" in ledger else Path(f"{ledger}.{quote(stream, safe='')}.live.status")


def read_feeding(path: Path) -> Feeding | None:
    """Return what was last said; None if nothing was, or it cannot be read."""
    try:
        said = parse_json(path.read_bytes())
        gaps = tuple(Gap(str(gap["at"]), str(gap["what"])) for gap in said["gaps"])
        return Feeding(str(said["at"]), tuple(str(wait) for wait in said["waits"]), gaps)
    except (OSError, UnknownDocument, KeyError, TypeError):
        return None


def write_feeding(path: Path, feeding: Feeding) -> None:
    """Say it, whole or not at all. That it cannot be said stops nothing: it is no part of what must not be lost."""
    text = json.dumps(
        {"at": feeding.at, "waits": feeding.waits, "gaps": [{"at": gap.at, "what": gap.what} for gap in feeding.gaps]}
    )
    beside = path.with_name(f"{path.name}.new")
    with contextlib.suppress(OSError):
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, path)
