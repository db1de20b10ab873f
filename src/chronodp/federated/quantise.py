"""Updates as whole numbers of a ring, with a step so fine that the sum of all holders just fits.

*Quantisation* under "Why it holds" in ``docs/explanation/proofs/secure-aggregation.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.federated.aggregation.masks import RingVector
from chronodp.federated.aggregation.terms import RINGS
from chronodp.privacy import check_positive, check_whole

__all__ = ["Quantiser"]

_FINEST = 2**52  # steps up to the clip: floats tell them apart
_COARSEST = 2**7


@dataclass(frozen=True, slots=True)
class Quantiser:
    """How numbers between -clip and clip become elements of the ring 2^bits, and how a sum of them is read.

        element = ⌊x / step⌉ mod 2^bits,   step = clip / steps,   steps = ⌊(2^(bits - 1) - 1) / holders⌋

    where ⌊·⌉ rounds to the nearest whole number, halves to the even one.

    Guarantee: the sum of any ``holders`` elements lies within ± (2^(bits - 1) - 1), so it never wraps around. Rounding
    is the same for everyone and draws nothing: updates are private before they come here, and stay so.

    Attributes:
        clip: the largest size of a number; others are moved there.
        bits: of the ring: 16, 32 or 64.
        holders: how many take part at most.

    >>> grid = Quantiser(clip=1.0, bits=16, holders=3)
    >>> one = grid.encode([0.5, -1.0, 7.0])
    >>> np.round(grid.decode(one + one), 3).tolist(), grid.steps
    ([1.0, -2.0, 2.0], 10922)
    """

    clip: float
    bits: int
    holders: int

    def __post_init__(self) -> None:
        check_positive("clip", self.clip)
        check_whole("holders", self.holders)
        if self.bits not in RINGS:
            raise InvalidArgument("bits", self.bits, f"one of {', '.join(map(str, RINGS))}")
        if self.steps < _COARSEST:
            needed = f"more: sums of {self.holders:,} holders in 2^{self.bits} leave {self.steps} steps for a number"
            raise InvalidArgument("bits", self.bits, f"{needed}, and {_COARSEST} are the least")

    @property
    def steps(self) -> int:
        """How many steps lie between 0 and the clip."""
        # Down: holders · steps <= 2^(bits - 1) - 1, so that the sum of all, read with a sign, is the sum itself.
        return min(((1 << (self.bits - 1)) - 1) // self.holders, _FINEST)

    @property
    def step(self) -> float:
        """The difference that one step makes."""
        return self.clip / self.steps

    def encode(self, update: ArrayLike) -> RingVector:
        """Return numbers as elements of the ring; what is not finite is refused."""
        numbers = np.asarray(update)
        if numbers.dtype.kind not in "iuf" or not np.all(np.isfinite(numbers)):
            raise InvalidArgument("update", update, "finite numbers", private=True)
        scaled = np.rint(np.clip(numbers.astype(np.float64), -self.clip, self.clip) / self.clip * self.steps)
        # Two's complement: -1 becomes 2^bits - 1, and sums that wrap around come back as the signed number.
        return scaled.astype(np.int64).astype(RINGS[self.bits])

    def decode(self, total: RingVector) -> NDArray[np.float64]:
        """Return the numbers that a sum of elements stands for."""
        return total.view(f"<i{self.bits // 8}").astype(np.float64) * self.step
