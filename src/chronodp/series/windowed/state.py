"""What a windowed stream remembers between steps: nothing but what was released and charged.

*One step* of ``docs/explanation/proofs/w-event.md``: the state before step t is a function of the outputs before it. As
bytes, all numbers little-endian of 64 bits:

    0 … 7     the letters windowd1
    8 … 47    step, anchor, worst, columns d, window w
    48 …      d numbers of the last release, then w of what was spent, the oldest first
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import UnknownDocument
from chronodp.series.windowed.design import WindowedDesign

__all__ = ["WindowedState", "start"]

_HEAD = struct.Struct("<8s5q")
_MAGIC = b"windowd1"


@dataclass(frozen=True, slots=True, eq=False)
class WindowedState:
    """Where a windowed stream stands. All of it follows from what was released: it holds no secret.

    Attributes:
        step: the number of the next step, from 0.
        anchor: the last step whose share is used up or given up (budget absorption); -1 at the start.
        worst: the most parts that any window so far was charged.
        released: the last release, in steps of the grid; 0 before the first.
        spent: parts charged at each of the last w steps, the oldest first; 0 before the start.
    """

    step: int
    anchor: int
    worst: int
    released: NDArray[np.int64]
    spent: NDArray[np.int64]

    def __post_init__(self) -> None:
        for numbers in (self.released, self.spent):
            numbers.setflags(write=False)

    def rolling_spend(self, design: WindowedDesign) -> Fraction:
        """Return the largest share of the guarantee, from 0 to 1, that any window so far was charged.

        Shares are of epsilon for Laplace noise and of mu², which adds up likewise, for Gaussian noise.
        """
        return Fraction(self.worst, design.total)

    def to_bytes(self) -> bytes:
        """Return the state for storage."""
        head = _HEAD.pack(_MAGIC, self.step, self.anchor, self.worst, len(self.released), len(self.spent))
        return head + self.released.astype("<i8").tobytes() + self.spent.astype("<i8").tobytes()

    @classmethod
    def from_bytes(cls, stored: bytes) -> Self:
        """Return a stored state."""
        if len(stored) < _HEAD.size or stored[: len(_MAGIC)] != _MAGIC:
            raise UnknownDocument("not the state of a windowed stream")
        _, step, anchor, worst, columns, window = _HEAD.unpack(stored[: _HEAD.size])
        if len(stored) != _HEAD.size + 8 * (columns + window) or min(step, worst, columns, window) < 0:
            raise UnknownDocument("the state of a windowed stream is damaged: its length is not what it says")
        numbers = np.frombuffer(stored, dtype="<i8", offset=_HEAD.size).astype(np.int64)
        return cls(step, anchor, worst, numbers[:columns].copy(), numbers[columns:].copy())


def start(design: WindowedDesign) -> WindowedState:
    """Return the state before the first step."""
    return WindowedState(0, -1, 0, np.zeros(design.columns, np.int64), np.zeros(design.window, np.int64))
