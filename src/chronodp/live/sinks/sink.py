"""Where releases go: after they are on disk, at least once, each known by its window."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

__all__ = ["Row", "Sink", "as_message"]

Row: TypeAlias = dict[str, Any]


class Sink(Protocol):
    """Takes rows of released windows in order. A row holds nothing that was not released."""

    name: str
    remembers: bool
    """Whether the sink itself knows which windows it has."""

    def check(self) -> None:
        """Refuse what can never be written to, before anything is spent."""
        ...

    def begin(self, columns: Sequence[str], known: int | None) -> int:
        """Return the first window that is wanted; ``known`` is the one after the last that was taken, if known."""
        ...

    def write(self, windows: Sequence[Sequence[Row]]) -> None:
        """Take the rows of the next windows, or raise OSError and be asked again with the same ones."""
        ...

    def close(self) -> None:
        """Let go."""
        ...


def as_message(window: Sequence[Row]) -> bytes:
    """Return the rows of one window as one JSON text: the same rows, the same text."""
    rows: list[Any] = list(window)
    return json.dumps(rows[0] if len(rows) == 1 else rows).encode()
