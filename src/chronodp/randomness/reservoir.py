"""Exact noise on the integers, from a reservoir of unit variates made ahead of need.

A request multiplies the next variates by its scale and rounds: N = floor(s Z + 1/2) with Z the ideal real
variate; exponential noise is rounded down. For an integer x, x + N = floor(x + s Z + 1/2) is post-processing of
the ideal continuous mechanism, so every guarantee of that mechanism holds for it, exactly: "Why rounding costs nothing"
in ``docs/explanation/proofs/noise.md``. `Rounding` is *Rounding* under "The bounds" there, `Reservoir.exceed` *Coins*.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_positive
from chronodp.randomness import slow
from chronodp.randomness.keystream import Keystream
from chronodp.randomness.variates import Family, Workspace

__all__ = ["LARGEST_SCALE", "SMALLEST_SCALE", "Reservoir", "Rounding", "check_scale", "rounding"]

LARGEST_SCALE = 2.0**30
SMALLEST_SCALE = 2.0**-30
_NONE = np.empty(0, dtype=np.intp)
_BATCH = 16384  # 128 KiB of words: a batch and its scratch stay in the second-level cache


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
        """Write rounded s Z to ``target``, using up the variates, and return the places that are not certain."""
        mantissas = variates.view(np.int64)
        np.multiply(variates, self.scale, variates)
        np.add(variates, self.magic, variates)
        np.bitwise_and(mantissas, self.fraction, fractions)
        np.right_shift(mantissas, self.shift, mantissas)
        np.subtract(mantissas, self.offset, target)
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
def rounding(scale: float, family: Family) -> Rounding:
    """Return the constants that round s Z for one scale."""
    tolerance, largest = family.tolerance, family.largest
    reach = scale * largest * 1.3 + 2
    # |s Z| + 1 < 2^(50 - bits): two bits below the exponent's, so that no sum leaves its octave.
    bits = min(46, 50 - math.ceil(math.log2(reach)))
    # The variate's own error; the product's rounding, half an ulp; the sum's rounding (1/2) and slack.
    error = scale * tolerance + scale * largest * 2.0**-52
    margin = math.ceil(error * 2.0**bits) + 2  # up: a wider margin sends more draws to the slow path, none astray
    base = 1.5 * 2.0 ** (52 - bits)
    return Rounding(
        scale=np.array(scale),
        magic=np.array(base + family.half + margin * 2.0**-bits),
        fraction=np.array(2**bits - 1, dtype=np.int64),
        uncertain=2 * margin,
        shift=np.array(bits, dtype=np.int64),
        offset=np.array(np.array(base).view(np.int64) >> bits, dtype=np.int64),
    )


class Reservoir:
    """Unit variates of one family with the words they came from; each is used once. For one thread."""

    def __init__(self, keystream: Keystream, family: Family, batch: int = _BATCH) -> None:
        self._keystream = keystream
        self._family = family
        self._variates = np.empty(batch)
        self._bits = np.empty(batch, dtype=np.int64)
        self._work = Workspace(batch)
        self._words = np.empty(0, dtype=np.int64)
        self._next = batch
        self._pairs: dict[int, tuple[slow.UniformReal, slow.UniformReal]] = {}

    def draw(self, scale: float, size: int) -> NDArray[np.int64]:
        """Return ``size`` independent copies of floor(scale * Z + 1/2), of exponential noise of floor(scale * Z)."""
        number = check_scale(scale)
        constants = rounding(number, self._family)
        result = np.empty(size, dtype=np.int64)
        done = 0
        for start, variates in self._take(size):
            count = len(variates)
            target = result[done : done + count]
            for index in constants.round(variates, target, self._bits[:count]):
                target[index] = self._slowly(start + int(index), number)
            done += count
        return result

    def exceed(self, thresholds: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return, for each threshold x >= 0, whether a fresh unit exponential |Z| of a Laplace variate is above x."""
        result = np.empty(len(thresholds), dtype=np.bool_)
        done = 0
        for start, variates in self._take(len(thresholds)):
            wanted = thresholds[done : done + len(variates)]
            excess = np.abs(variates) - wanted
            decided = result[done : done + len(variates)]
            np.greater(excess, 0, decided)
            # |Z| - x is rounded once more, by less than 2^-49 for |Z| <= 16: far inside the doubled tolerance.
            for index in np.flatnonzero(~(np.abs(excess) > 2 * self._family.tolerance)):
                decided[index] = slow.exponential_exceeds(self._uniform(start + int(index)), float(wanted[index]))
            done += len(variates)
        return result

    def _take(self, size: int) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield runs of unused variates with the index of the first; they count as used before anyone sees them."""
        batch = len(self._variates)
        while size:
            if self._next == batch:
                self._words = self._keystream.words(batch)
                self._pairs.clear()
                self._family.transform(self._words, self._variates, self._work)
                self._next = 0
            start = self._next
            self._next = min(batch, start + size)
            size -= self._next - start
            yield start, self._variates[start : self._next]

    def _slowly(self, index: int, scale: float) -> int:
        if self._family.slowly is not None:
            return self._family.slowly(self._uniform(index), scale)
        half = len(self._variates) // 2
        cosine, pair = divmod(index, half)
        if pair not in self._pairs:
            self._pairs[pair] = (self._uniform(pair), self._uniform(half + pair))
        return slow.gaussian(*self._pairs[pair], scale, cosine=bool(cosine))

    def _uniform(self, index: int) -> slow.UniformReal:
        return slow.UniformReal(int(self._words[index]), self._keystream)
