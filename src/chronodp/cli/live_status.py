"""What a live stream waits for and what was missing: said by the process that runs, and shown beside it."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from chronodp.ledger import Feeding
    from chronodp.live import Progress

__all__ = ["StatusFile", "show_status"]


class StatusFile:
    """Writes how a stream is whenever that changes.

    Args:
        path: of the file; written anew by each process.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._said: object = None

    def refresh(self, progress: Progress) -> None:
        """Write what windows wait for and what was missing, if either changed."""
        from chronodp.ledger import Feeding, write_feeding

        said = progress.waits, tuple(progress.owner.gaps)
        if said != self._said:
            write_feeding(self._path, Feeding(datetime.now(UTC).isoformat(timespec="seconds"), *said))
            self._said = said


def show_status(path: Path, *, as_json: bool) -> None:
    """Print what was last said."""
    from chronodp.ledger import read_feeding

    feeding = read_feeding(path)
    if as_json:
        typer.echo(json.dumps(None if feeding is None else asdict(feeding)))
    else:
        typer.echo("nothing is known: the stream has not run yet" if feeding is None else "\n".join(_lines(feeding)))


def _lines(feeding: Feeding) -> list[str]:
    waits = [f"waits: {wait}" for wait in feeding.waits] or ["waits for nothing but the next window's end"]
    gaps = [f"gap noticed {gap.at}: {gap.what}" for gap in feeding.gaps] or ["no gap was noticed"]
    return [f"as of {feeding.at}:", *waits, *gaps]
