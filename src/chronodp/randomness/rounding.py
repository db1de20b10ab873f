"""Rounds scaled variates to integers, and knows when that is certain.

N = floor(s Z + 1/2) with Z the ideal real variate; exponential noise is rounded down. For an integer x, x + N =
floor(x + s Z + 1/2) is post-processing of the ideal continuous mechanism, so every guarantee of that mechanism holds
for it, exactly: "Why rounding costs nothing" in ``docs/explanation/proofs/noise.md``. `Rounding` is *Rounding* there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_positive

__all__ = ["LARGEST_SCALE", "SMALLEST_SCALE", "Bounds", "Rounding", "check_scale", "rounding"]

LARGEST_SCALE = 2.0**30
SMALLEST_SCALE = 2.0**-30
_NONE = np.empty(0, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is proven of variates, and how they are rounded.

    Attributes:
        tolerance: most that a variate which is not NaN differs from the ideal one, for every θ.
        largest: no variate which is not NaN is larger in absolute value.
        half: what is added to the scaled variate before the floor: 1/2 rounds to the nearest integer, 0 down.
    """

    tolerance: float
    largest: float
    half: float


@dataclass(frozen=True, slots=True)
class Rounding:
    """Constants that round s Z to an integer and tell at once whether the rounding is certain.

    Adding ``magic`` = 1.5 2^(52-k) + h + T 2^-k, with h = 1/2 or 0, puts the k fraction bits of s Z + h + T 2^-k at the
    bottom of the mantissa and its floor above them. The floor of the ideal s Z + h is the same unless those k bits are
    below 2 T, where T 2^-k bounds the sum of all errors. The sum lies in [2^(52-k), 2^(53-k)), so its last place is
    2^-k:

        bit     63     62 … 52      51 … k         k-1 … 0
                 0     exponent     whole part     fraction in steps of 2^-k

    1.5 and not 1 stands in ``magic`` so that a negative s Z borrows from the mantissa and never from the exponent: the
    exponent stays the same, and ``offset``, what stands above the fraction for s Z = 0, is taken off as one number.
    """

    scale: NDArray[np.float64]
    magic: NDArray[np.float64]
    fraction: NDArray[np.int64]
    uncertain: int
    shift: NDArray[np.int64]
    offset: NDArray[np.int64]

    def round(
        self, variates: NDArray[np.float64], target: NDArray[np.int64], fractions: NDArray[np.int64]
    ) -> NDArray[np.intp]:
        """Write rounded s Z to ``target`` and return the places that are not certain."""
        sums = target.view(np.float64)  # the target is scratch until its last step
        np.multiply(variates, self.scale, sums)
        np.add(sums, self.magic, sums)
        np.bitwise_and(target, self.fraction, fractions)
        np.right_shift(target, self.shift, target)
        np.subtract(target, self.offset, target)
        if fractions[fractions.argmin()] < self.uncertain:  # NaN has no fraction bits: it is caught here too
            return np.flatnonzero(fractions < self.uncertain)
        return _NONE


def check_scale(scale: object) -> float:
    """Return a scale that can be drawn exactly."""
    number = check_positive("scale", scale)
    if not SMALLEST_SCALE <= number <= LARGEST_SCALE:
        raise InvalidArgument("scale", scale, "from 2^-30 to 2^30 steps of the grid: choose another grid step")
    return number


@lru_cache(maxsize=256)
def rounding(scale: float, bounds: Bounds) -> Rounding:
    """Return the constants that round s Z for one scale."""
    tolerance, largest = bounds.tolerance, bounds.largest
    reach = scale * largest * 1.3 + 2
    # |s Z| + 1 < 2^(50 - bits): two bits below the exponent's, so that no sum leaves its octave.
    bits = min(46, 50 - math.ceil(math.log2(reach)))
    # The variate's own error; the product's rounding, half an ulp; the sum's rounding (1/2) and slack.
    error = scale * tolerance + scale * largest * 2.0**-52
    margin = math.ceil(error * 2.0**bits) + 2  # up: a wider margin sends more draws to the slow path, none astray
    base = 1.5 * 2.0 ** (52 - bits)
    return Rounding(
        scale=np.array(scale),
        magic=np.array(base + bounds.half + margin * 2.0**-bits),
        fraction=np.array(2**bits - 1, dtype=np.int64),
        uncertain=2 * margin,
        shift=np.array(bits, dtype=np.int64),
        offset=np.array(np.array(base).view(np.int64) >> bits, dtype=np.int64),
    )
