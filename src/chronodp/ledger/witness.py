"""A witness kept elsewhere, by which a ledger that was set back together with its keys is noticed.

"What cannot be noticed" of ``docs/explanation/proofs/ledger.md``: which of these a witness notices.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from chronodp.ledger.marks import MarkFile

__all__ = ["FileWitness", "Witness"]


class Witness(Protocol):
    """Remembers the highest number of each counter: of charges, releases and steps, by names in JSON."""

    def newest(self, stream: str) -> int:
        """Return the highest number witnessed, 0 if none."""
        ...

    def saw(self, stream: str, step: int) -> None:
        """Remember a number, durably, before what it counts is announced."""
        ...


class FileWitness:
    """A witness in a file that lines are added to; put it on another disk or machine than the ledger and its keys.

    For any number of processes. Never put it into the ledger's backup: both would be set back together.
    """

    def __init__(self, path: str | Path) -> None:
        self.marks = MarkFile(Path(os.path.realpath(path)))

    def newest(self, stream: str) -> int:
        """Return the highest number witnessed."""
        return self.marks.read().get(stream, 0)

    def saw(self, stream: str, step: int) -> None:
        """Add a line and sync it."""
        self.marks.add({stream: step}, sync=True)
