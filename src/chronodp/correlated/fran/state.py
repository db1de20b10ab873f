"""What a stream of aged answers remembers: the snapshots that are not old enough yet, packed into few bits."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Self

import numpy as np

from chronodp.correlated.chain import Integers
from chronodp.correlated.fran.design import FranDesign
from chronodp.errors import UnknownDocument

__all__ = ["FranState", "begin"]

_HEAD = struct.Struct("<8s4q")
_MAGIC = b"franstr1"


@dataclass(frozen=True, slots=True, eq=False)
class FranState:
    """Where a stream stands. It holds data of people: it is kept sealed, and shows nothing of them.

    Attributes:
        step: the number of the next period, from 0.
        past: the last snapshots, the oldest first, one a row; as many as the oldest age.
    """

    step: int
    past: Integers

    def __post_init__(self) -> None:
        self.past.setflags(write=False)

    def __repr__(self) -> str:
        return f"FranState(step={self.step}, {len(self.past)} snapshots)"

    def to_bytes(self, states: int) -> bytes:
        """Return the state for storage: a row of bits for every binary digit of the snapshots."""
        digits = max(1, (states - 1).bit_length())
        planes = [np.packbits((self.past >> digit & 1).astype(np.uint8)).tobytes() for digit in range(digits)]
        return _HEAD.pack(_MAGIC, self.step, *self.past.shape, digits) + b"".join(planes)

    @classmethod
    def from_bytes(cls, stored: bytes) -> Self:
        """Return a stored state."""
        if len(stored) < _HEAD.size or stored[: len(_MAGIC)] != _MAGIC:
            raise UnknownDocument("not the state of a stream of aged answers")
        _, step, rows, columns, digits = _HEAD.unpack(stored[: _HEAD.size])
        size = (rows * columns + 7) // 8
        if min(step, rows, columns, digits) < 0 or len(stored) != _HEAD.size + size * digits:
            raise UnknownDocument("the state of a stream of aged answers is damaged: its length is not what it says")
        past = np.zeros(rows * columns, dtype=np.int64)
        for digit in range(digits):
            plane = np.frombuffer(stored, np.uint8, size, _HEAD.size + digit * size)
            past |= np.unpackbits(plane, count=rows * columns).astype(np.int64) << digit
        return cls(step, past.reshape(rows, columns))


def begin(design: FranDesign) -> FranState:
    """Return the state before the first period."""
    return FranState(0, np.zeros((0, design.sequences), dtype=np.int64))
