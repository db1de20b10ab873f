"""The plain exact path: one draw at a time, in interval arithmetic, with as many bits as it takes.

It decides the few draws that the fast path cannot, and it is the reference that the fast path is checked
against: it shares no arithmetic with it. Each function returns what the ideal real-valued variate would give,
with certainty: a result is returned only when the whole interval agrees on it.

This is the last step of "How a draw is made" in ``docs/explanation/proofs/noise.md``: bits of θ are drawn until both
ends of the interval round alike, which ends with probability one and never guesses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from chronodp.randomness.keystream import Keystream

__all__ = [
    "Across",
    "Beyond",
    "UniformReal",
    "Variate",
    "exceeds",
    "floored",
    "gaussian",
    "lies_under",
    "rounded",
]


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


@dataclass(frozen=True)
class Across:
    """Z = sgn(V) (left + width |V|): uniform over a strip on both sides of 0, over a step if it begins at 0."""

    uniform: UniformReal
    left: Fraction
    width: Fraction

    def size(self, interval: Any, words: int) -> Any:
        """Return an interval around |Z|."""
        return _point(interval, self.left) + _point(interval, self.width) * _magnitude(interval, self.uniform, words)

    def fall(self, interval: Any, words: int) -> Any:  # noqa: ARG002 (the tail's call)
        """Return by how much the box over it is lower here, in logarithms: it is flat."""
        return interval.mpf(0)


@dataclass(frozen=True)
class Beyond:
    """Z = sgn(V) (left - ln|V| / rate): the tail, under a box that falls by e^(-rate) for each 1."""

    uniform: UniformReal
    left: Fraction
    rate: Fraction

    def size(self, interval: Any, words: int) -> Any:
        """Return an interval around |Z|."""
        return _point(interval, self.left) + self.fall(interval, words) / _point(interval, self.rate)

    def fall(self, interval: Any, words: int) -> Any:
        """Return by how much the box over it is lower here, in logarithms."""
        return _exponential(interval, self.uniform, words)


Variate: TypeAlias = Across | Beyond


def rounded(variate: Variate, scale: float) -> int:
    """Return floor(scale * Z + 1/2)."""
    for words in count(1):
        interval = _interval(words)
        size = scale * variate.size(interval, words)
        result = _rounded(interval, -size if variate.uniform.negative else size)
        if result is not None:
            return result
    raise AssertionError("unreachable")


def floored(variate: Variate, scale: float) -> int:
    """Return floor(scale * |Z|)."""
    for words in count(1):
        result = _floor(scale * variate.size(_interval(words), words))
        if result is not None:
            return result
    raise AssertionError("unreachable")


def exceeds(variate: Variate, threshold: float) -> bool:
    """Return whether |Z| > threshold."""
    return threshold <= 0 or _is_positive(lambda interval, words: variate.size(interval, words) - threshold)


def lies_under(
    depth: Callable[[Any, Any], Any],
    variate: Variate,
    height: UniformReal,
    level: Callable[[int], tuple[int, int]],
    reach: Fraction,
) -> bool:
    """Return whether a point of a strip's box lies under the curve.

    The point is at |Z|, and its height is level + reach |U|, in the tail times |V|; the curve's is e^-depth.
    """

    def apart(interval: Any, words: int) -> Any:
        bits = 64 * words + 64
        share = _point(interval, reach) * _magnitude(interval, height, words)
        high = interval.mpf(list(level(bits))) / interval.mpf(2) ** bits + share
        below = variate.fall(interval, words) - _logarithm(interval, high)
        return below - depth(interval, variate.size(interval, words))

    return _is_positive(apart)


def gaussian(radius: UniformReal, angle: UniformReal, scale: float, *, cosine: bool) -> int:
    """Return floor(scale * Z + 1/2) for one Gaussian of the pair.

    With R = sqrt(-2 ln|V1|): Z = R sin(pi V2 / 2), or Z = sgn(V1) R cos(pi V2 / 2).
    """
    for words in count(1):
        interval = _interval(words)
        result = _rounded(interval, scale * _of_pair(interval, radius, angle, words, cosine))
        if result is not None:
            return result
    raise AssertionError("unreachable")


def _of_pair(interval: Any, radius: UniformReal, angle: UniformReal, words: int, cosine: bool) -> Any:
    """Return an interval around one Gaussian of the pair."""
    length = interval.sqrt(2 * _exponential(interval, radius, words))
    low = angle.numerator(words)
    turn = interval.pi / 2 * interval.mpf([low, low + 1]) / _unit(interval, words)
    if cosine:
        value = length * interval.cos(turn)
        return -value if radius.negative else value
    return length * interval.sin(turn)


def _is_positive(value: Callable[[Any, int], Any]) -> bool:
    """Return the sign of a real number, given intervals around it that more words make narrower."""
    for words in count(1):
        low, high = _ends(value(_interval(words), words))
        if low > 0:
            return True
        if high < 0:
            return False
    raise AssertionError("unreachable")


def _point(interval: Any, number: Fraction) -> Any:
    return interval.mpf(number.numerator) / interval.mpf(number.denominator)


def _magnitude(interval: Any, uniform: UniformReal, words: int) -> Any:
    return interval.mpf(list(uniform.magnitude(words))) / _unit(interval, words)


def _logarithm(interval: Any, value: Any) -> Any:
    """Return ln of an interval that may begin at 0."""
    low, _ = _ends(value)
    most = interval.log(interval.mpf(value.b))
    return interval.mpf([interval.log(interval.mpf(value.a)).a if low > 0 else -interval.inf, most.b])


def _exponential(interval: Any, uniform: UniformReal, words: int) -> Any:
    """Return -ln|V| >= 0 as an interval; its upper end is infinite while |V| may be 0."""
    low, high = uniform.magnitude(words)
    unit = _unit(interval, words)
    least = -interval.log(interval.mpf(high) / unit)
    most = -interval.log(interval.mpf(low) / unit) if low else interval.inf
    # |V| <= 1, so -ln|V| is never negative, whatever the interval's own rounding says at |V| = 1.
    return interval.mpf([max(least.a, 0), most.b if low else most])


@cache
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
    size = Fraction(int(mantissa) << exponent) if exponent >= 0 else Fraction(int(mantissa), 1 << -exponent)
    return -size if sign else size


@cache
def _interval(words: int) -> Any:
    """A context of its own for each precision: mpmath's shared one is not safe in threads."""
    from mpmath.ctx_iv import MPIntervalContext

    context = MPIntervalContext()
    context.prec = 64 * words + 120  # the arithmetic must not be wider than the bits of V that are known
    return context
