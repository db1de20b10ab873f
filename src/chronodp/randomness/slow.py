"""The plain exact path: one draw at a time, in interval arithmetic, with as many bits as it takes.

It decides the few draws that the fast path cannot, and it is the reference that the fast path is checked
against: it shares no arithmetic with it. Each function returns what the ideal real-valued variate would give,
with certainty: a result is returned only when the whole interval agrees on it.

This is the last step of "How a draw is made" in ``docs/explanation/proofs/noise.md``: bits of θ are drawn until both
ends of the interval round alike, which ends with probability one and never guesses.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chronodp.randomness.keystream import Keystream

__all__ = ["UniformReal", "exponential", "exponential_exceeds", "gaussian", "laplace"]


class UniformReal:
    """A uniform real number on [-1, 1): its first 64 bits are known, the others are drawn once asked for.

    Two draws made from one number, such as the two Gaussians of a Box-Muller pair, must share this object.
    """

    def __init__(self, word: int, keystream: Keystream) -> None:
        self._words = [word]
        self._keystream = keystream

    def numerator(self, words: int) -> int:
        """Return the whole part of V * 2^(64 words - 1): V lies between it and the next integer."""
        missing = words - len(self._words)
        if missing > 0:
            # Only the first word has a sign: further digits are those of two's complement, from 0 to 2^64 - 1.
            self._words += [int(word) % 2**64 for word in self._keystream.words(missing)]
        result = self._words[0]
        for word in self._words[1:words]:
            result = (result << 64) + word
        return result

    def magnitude(self, words: int) -> tuple[int, int]:
        """Return whole bounds of |V| * 2^(64 words - 1)."""
        # V lies in [low, low + 1) in these units; of a negative V the end nearer to 0 is low + 1.
        low = self.numerator(words)
        return (low, low + 1) if low >= 0 else (-low - 1, -low)

    @property
    def negative(self) -> bool:
        """Whether V is below zero."""
        return self._words[0] < 0


def laplace(uniform: UniformReal, scale: float) -> int:
    """Return floor(scale * Z + 1/2) for the Laplace variate Z = sgn(V) ln|V|."""
    for words in count(1):
        interval = _interval(words)
        size = scale * _exponential(interval, uniform, words)
        result = _rounded(interval, size if uniform.negative else -size)
        if result is not None:
            return result
    raise AssertionError("unreachable")


def exponential(uniform: UniformReal, scale: float) -> int:
    """Return floor(scale * Z) for the exponential variate Z = -ln|V|."""
    for words in count(1):
        result = _floor(scale * _exponential(_interval(words), uniform, words))
        if result is not None:
            return result
    raise AssertionError("unreachable")


def gaussian(radius: UniformReal, angle: UniformReal, scale: float, *, cosine: bool) -> int:
    """Return floor(scale * Z + 1/2) for one Gaussian of the pair.

    With R = sqrt(-2 ln|V1|): Z = R sin(pi V2 / 2), or Z = sgn(V1) R cos(pi V2 / 2).
    """
    for words in count(1):
        interval = _interval(words)
        length = interval.sqrt(2 * _exponential(interval, radius, words))
        low = angle.numerator(words)
        turn = interval.pi / 2 * interval.mpf([low, low + 1]) / _unit(interval, words)
        if cosine:
            value = length * interval.cos(turn)
            value = -value if radius.negative else value
        else:
            value = length * interval.sin(turn)
        result = _rounded(interval, scale * value)
        if result is not None:
            return result
    raise AssertionError("unreachable")


def exponential_exceeds(uniform: UniformReal, threshold: float) -> bool:
    """Return whether -ln|V| > threshold, which has probability e^-threshold."""
    if threshold <= 0:
        return True
    for words in count(1):
        low, high = _ends(_exponential(_interval(words), uniform, words))
        if low > threshold:
            return True
        if high < threshold:
            return False
    raise AssertionError("unreachable")


def _exponential(interval: Any, uniform: UniformReal, words: int) -> Any:
    """Return -ln|V| >= 0 as an interval; its upper end is infinite while |V| may be 0."""
    low, high = uniform.magnitude(words)
    unit = _unit(interval, words)
    least = -interval.log(interval.mpf(high) / unit)
    most = -interval.log(interval.mpf(low) / unit) if low else interval.inf
    # |V| <= 1, so -ln|V| is never negative, whatever the interval's own rounding says at |V| = 1.
    return interval.mpf([max(least.a, 0), most.b if low else most])


def _unit(interval: Any, words: int) -> Any:
    return interval.mpf(2) ** (64 * words - 1)


def _rounded(interval: Any, value: Any) -> int | None:
    """Return floor(value + 1/2) if both ends agree on it."""
    return _floor(value + interval.mpf(0.5))


def _floor(value: Any) -> int | None:
    """Return floor(value) if both ends agree on it."""
    low, high = _ends(value)
    if math.inf in (low, high) or -math.inf in (low, high):
        return None
    return math.floor(low) if math.floor(low) == math.floor(high) else None


def _ends(value: Any) -> tuple[Fraction | float, Fraction | float]:
    low, high = (_exactly(end) for end in value._mpi_)
    return low, high


def _exactly(end: tuple[int, int, int, int]) -> Fraction | float:
    sign, mantissa, exponent, _ = end
    if not mantissa and exponent:  # how mpmath writes what is not finite
        return -math.inf if sign or exponent == -789 else math.inf
    size = Fraction(int(mantissa)) * Fraction(2) ** exponent
    return -size if sign else size


@cache
def _interval(words: int) -> Any:
    """A context of its own for each precision: mpmath's shared one is not safe in threads."""
    from mpmath.ctx_iv import MPIntervalContext

    context = MPIntervalContext()
    context.prec = 64 * words + 120  # the arithmetic must not be wider than the bits of V that are known
    return context
