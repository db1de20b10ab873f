"""The plain exact path: one draw at a time, in interval arithmetic, with as many bits as it takes.

It decides the few draws that the fast path cannot, and it is the reference that the fast path is checked
against: it shares no arithmetic with it. Each function returns what the ideal real-valued variate would give,
with certainty: a result is returned only when the whole interval agrees on it.

This is the last step of "How a draw is made" in ``docs/explanation/proofs/noise.md``: bits of θ are drawn until both
ends of the interval round alike, which ends with probability one and never guesses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from chronodp.randomness.keystream import Keystream

__all__ = ["Across", "Beyond", "UniformReal", "Variate", "exceeds", "floored", "gaussian", "lies_under", "rounded"]


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
        return interval.zero


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
        size = variate.size(interval, words) * _known(interval, scale)
        result = _rounded(interval, -size if variate.uniform.negative else size)
        if result is not None:
            return result
    raise AssertionError("unreachable")


def floored(variate: Variate, scale: float) -> int:
    """Return floor(scale * |Z|)."""
    for words in count(1):
        interval = _interval(words)
        result = _floor(variate.size(interval, words) * _known(interval, scale))
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
        high = _between(interval, *level(bits)) / _between(interval, 2**bits, 2**bits) + share
        below = variate.fall(interval, words) - _logarithm(interval, high)
        return below - depth(interval, variate.size(interval, words))

    return _is_positive(apart)


def gaussian(radius: UniformReal, angle: UniformReal, scale: float, *, cosine: bool) -> int:
    """Return floor(scale * Z + 1/2) for one Gaussian of the pair.

    With R = sqrt(-2 ln|V1|): Z = R sin(pi V2 / 2), or Z = sgn(V1) R cos(pi V2 / 2).
    """
    for words in count(1):
        interval = _interval(words)
        result = _rounded(interval, _of_pair(interval, radius, angle, words, cosine) * _known(interval, scale))
        if result is not None:
            return result
    raise AssertionError("unreachable")


def _of_pair(interval: Any, radius: UniformReal, angle: UniformReal, words: int, cosine: bool) -> Any:
    """Return an interval around one Gaussian of the pair."""
    length = interval.sqrt(_exponential(interval, radius, words) * _known(interval, 2.0))
    low = angle.numerator(words)
    turn = interval.pi / 2 * _between(interval, low, low + 1) / _unit(interval, words)
    if cosine:
        value = length * interval.cos(turn)
        return -value if radius.negative else value
    return length * interval.sin(turn)


def _is_positive(value: Callable[[Any, int], Any]) -> bool:
    """Return the sign of a real number, given intervals around it that more words make narrower."""
    for words in count(1):
        low, high = value(_interval(words), words)._mpi_
        if _sign(low) > 0:
            return True
        if _sign(high) < 0:
            return False
    raise AssertionError("unreachable")


def _point(interval: Any, number: Fraction) -> Any:
    over, under = number.numerator, number.denominator
    return _between(interval, over, over) / _between(interval, under, under)


def _magnitude(interval: Any, uniform: UniformReal, words: int) -> Any:
    return _between(interval, *uniform.magnitude(words)) / _unit(interval, words)


def _logarithm(interval: Any, value: Any) -> Any:
    """Return ln of an interval that may begin at 0."""
    if _sign(value._mpi_[0]) > 0:
        return interval.log(value)
    return interval.mpf([-interval.inf, interval.log(interval.mpf(value.b)).b])


def _exponential(interval: Any, uniform: UniformReal, words: int) -> Any:
    """Return -ln|V| >= 0 as an interval; its upper end is infinite while |V| may be 0."""
    value = -_logarithm(interval, _magnitude(interval, uniform, words))
    low, high = value._mpi_
    # |V| <= 1, so -ln|V| is never negative, whatever the interval's own rounding says at |V| = 1.
    return interval.make_mpf((low if _sign(low) > 0 else interval.zero._mpi_[0], high))


def _between(interval: Any, low: int, high: int) -> Any:
    """Return the interval between two whole numbers, without all that ``interval.mpf`` asks of what it is given."""
    from mpmath.libmp import from_int

    bits = interval.prec
    return interval.make_mpf((from_int(low, bits, "f"), from_int(high, bits, "c")))


@cache
def _unit(interval: Any, words: int) -> Any:
    return interval.mpf(2) ** (64 * words - 1)


@lru_cache(maxsize=64)
def _known(interval: Any, number: float) -> Any:
    """Return a number that is met again and again as an interval."""
    return interval.mpf(number)


def _rounded(interval: Any, value: Any) -> int | None:
    """Return floor(value + 1/2) if both ends agree on it."""
    return _floor(value + _known(interval, 0.5))


def _floor(value: Any) -> int | None:
    """Return floor(value) if both ends agree on it."""
    low, high = map(_whole, value._mpi_)
    return low if low == high else None


End: TypeAlias = tuple[int, int, int, int]
"""An end of an interval as mpmath keeps it: sign, mantissa, exponent and how many bits the mantissa has."""


def _whole(end: End) -> int | None:
    """Return the floor of an end, None if it is not finite."""
    sign, mantissa, exponent, _ = end
    if not mantissa and exponent:  # how mpmath writes what is not finite
        return None
    size = -int(mantissa) if sign else int(mantissa)
    return size << exponent if exponent >= 0 else size >> -exponent


def _sign(end: End) -> int:
    """Return 1, 0 or -1."""
    sign, mantissa, exponent, _ = end
    return -1 if sign else int(bool(mantissa or exponent))


@cache
def _interval(words: int) -> Any:
    """A context of its own for each precision: mpmath's shared one is not safe in threads."""
    from mpmath.ctx_iv import MPIntervalContext

    context = MPIntervalContext()
    context.prec = 64 * words + 120  # the arithmetic must not be wider than the bits of V that are known
    return context
