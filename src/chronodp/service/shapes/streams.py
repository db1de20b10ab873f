"""Streams and alerts."""

from __future__ import annotations

from pydantic import BaseModel

__all__ = ["GapShape", "StreamShape"]


class GapShape(BaseModel):
    """A place where records may be missing in what a live stream reads."""

    at: str
    what: str


class StreamShape(BaseModel):
    """The public state of a stream or an alert.

    `waits` says what the next windows of a live stream wait for, as of `said_at`; `gaps` is for the owner.
    """

    name: str
    dataset: str
    kind: str
    what: str
    steps: int
    finished: bool
    epsilon: float | None
    delta: float | None
    said_at: str | None = None
    waits: list[str] = []
    gaps: list[GapShape] | None = None
