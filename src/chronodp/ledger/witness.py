"""A counter kept elsewhere, by which a ledger that was set back in time is noticed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Protocol

from chronodp.errors import LedgerUnavailable
from chronodp.reading import parse_json

__all__ = ["FileWitness", "Witness"]


class Witness(Protocol):
    """Remembers, for each stream, the newest step that was ever announced."""

    def newest(self, stream: str) -> int:
        """Return the newest step witnessed, 0 if none."""
        ...

    def saw(self, stream: str, step: int) -> None:
        """Remember a step, durably, before it is announced."""
        ...


class FileWitness:
    """A witness in a small file; put it on another disk or machine than the ledger. For one process at a time."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def newest(self, stream: str) -> int:
        """Return the newest step witnessed."""
        return self._read().get(stream, 0)

    def saw(self, stream: str, step: int) -> None:
        """Write the step to a new file, sync it, and put it in the old one's place."""
        steps = self._read()
        steps[stream] = max(step, steps.get(stream, 0))
        fresh = self._path.with_name(self._path.name + ".new")
        with fresh.open("w", encoding="utf-8") as file:
            json.dump(steps, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)

    def _read(self) -> dict[str, int]:
        try:
            content = parse_json(self._path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            content = None
        if not isinstance(content, dict) or not all(type(step) is int for step in content.values()):
            raise LedgerUnavailable(f"the witness {self._path.name} is damaged or cannot be read")
        return content
