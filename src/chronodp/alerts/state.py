"""What an alert remembers between steps: its noisy threshold, which is secret, and what it has told."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Self

from chronodp.errors import UnknownDocument

__all__ = ["AlertState"]

_FORM = struct.Struct("<8s3q")
_MAGIC = b"alertst1"


@dataclass(frozen=True, slots=True)
class AlertState:
    """Where an alert stands.

    Attributes:
        threshold: the noisy threshold in steps of the grid. Whoever knows it can undo the guarantee.
        alerts: how many alerts were published.
        period: the number of the next step, from 0.
    """

    threshold: int = field(repr=False)
    alerts: int
    period: int

    def to_bytes(self) -> bytes:
        """Return the state for storage."""
        return _FORM.pack(_MAGIC, self.threshold, self.alerts, self.period)

    @classmethod
    def from_bytes(cls, stored: bytes) -> Self:
        """Return a stored state."""
        if len(stored) != _FORM.size or stored[: len(_MAGIC)] != _MAGIC:
            raise UnknownDocument("not the state of an alert")
        _, threshold, alerts, period = _FORM.unpack(stored)
        return cls(threshold, alerts, period)
