"""Numbers in whole steps of a grid: how fine it is, and how values are rounded to it."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy.parameters import check_number

__all__ = ["FARTHEST", "LARGEST_SCALE", "SMALLEST_SCALE", "at_least", "choose_step", "reach_of", "to_step", "to_steps"]

FARTHEST = 2**52
"""Values beyond so many steps are moved to there, which brings no two of them farther apart.

Below it floats are at most half a step apart, so that rounding a whole number to a float on the way adds nothing.
"""
LARGEST_SCALE = 2**30
"""Steps of the grid that noise may span: what the sampler draws exactly."""
SMALLEST_SCALE = Fraction(1, 2**30)

_FINE = 16  # the narrowest noise spans at least 2^16 steps where there is room
_COARSEST = 7  # and one person's change at least 2^7
_WIDEST = 29  # the widest noise spans at most about 2^29
_THRESHOLD = 50  # and the threshold lies within 2^50 of zero


def choose_step(threshold: float, change: float, epsilon: float, *, narrowest: float, widest: float) -> float:
    """Return the step of a grid that is fine for noise and people alike, and that the sampler can draw on.

    Args:
        threshold: what values are compared with.
        change: the most that one unit changes a value.
        epsilon: what is paid, for the message if it is too little.
        narrowest: the scale of the narrowest noise, in units of the change.
        widest: that of the widest.

    >>> choose_step(500.0, 1.0, 1.0, narrowest=5.6, widest=12.2) < 1e-4
    True
    """
    check_number("threshold", threshold)
    size = math.frexp(change)[1] - 1
    exponent = min(math.frexp(change * narrowest)[1] - 1 - _FINE, size - _COARSEST)
    exponent = max(exponent, math.frexp(change * widest)[1] - _WIDEST)
    if exponent > size:
        allowed = f"larger, or alerts fewer: noise as wide as {widest:.3g} changes cannot be drawn exactly"
        raise InvalidArgument("epsilon", epsilon, allowed)
    if threshold:
        exponent = max(exponent, math.frexp(threshold)[1] - _THRESHOLD)
    if exponent > size:
        raise InvalidArgument("threshold", threshold, f"nearer to zero, or the change ({change:g}) larger")
    return math.ldexp(1.0, exponent)


def reach_of(change: float, step: float) -> int:
    """Return the most that one unit changes a value, in steps: ⌈change / step⌉."""
    # The float and the number as people write it may differ in the last bit: the larger of the two counts.
    return math.ceil(max(Fraction(change), Fraction(repr(change))) / Fraction(step))


def at_least(scale: Fraction) -> float:
    """Return the least float that is not below a scale."""
    found = float(scale)
    return found if Fraction(found) >= scale else math.nextafter(found, math.inf)


def to_step(value: object, step: float, sign: int) -> int:
    """Return ⌊sign · value / step + 1/2⌋ exactly, so that a change of k steps stays one of at most k."""
    if type(value) is not float:
        value = _plain(value)
    number = value if sign > 0 else -value
    limit = FARTHEST * step
    if -limit < number < limit:
        scaled = number / step
        below = math.floor(scaled)
        # The difference is exact but for numbers between -1/2 and 0, where it is rounded and stays at least 1/2.
        return below + (scaled - below >= 0.5)
    if not isinstance(number, int) and not math.isfinite(number):
        raise InvalidArgument("value", value, "a finite number", private=True)
    return FARTHEST if number > 0 else -FARTHEST


def to_steps(values: ArrayLike, step: float, sign: int) -> NDArray[np.int64]:
    """Return ⌊sign · values / step + 1/2⌋ exactly, for values one after another."""
    allowed = "finite numbers, one a step"
    try:
        numbers = np.asarray(values)
    except (ValueError, TypeError):
        raise InvalidArgument("values", values, allowed, private=True) from None
    if numbers.size == 0:
        numbers = numbers.astype(np.float64)
    if numbers.dtype.kind not in "iuf" or numbers.ndim != 1 or not np.all(np.isfinite(numbers)):
        raise InvalidArgument("values", values, allowed, private=True)
    limit = FARTHEST * step
    with np.errstate(over="ignore"):  # a warning would tell of a value
        scaled = np.clip(sign * numbers.astype(np.float64), -limit, limit) / step
    below = np.floor(scaled)
    steps: NDArray[np.int64] = (below + (scaled - below >= 0.5)).astype(np.int64)
    return steps


def _plain(value: object) -> float | int:
    if not isinstance(value, bool | np.bool_):
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, Real):
            return float(value)
    raise InvalidArgument("value", value, "a finite number", private=True)
