"""Numbers in whole steps of a grid: how fine it is, and how values are rounded to it.

"Finite precision" of ``docs/explanation/proofs/alerts.md``: rounding is monotone and commutes with whole steps.
"""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import FARTHEST, Grid, check_number

__all__ = ["LARGEST_SCALE", "SMALLEST_SCALE", "choose_step", "to_quanta", "to_quantum"]

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


def to_quantum(value: object, step: float) -> int:
    """Return what `Grid.to_quanta` does for one value, in a fraction of the time."""
    number = value if type(value) is float else _plain(value)
    limit = FARTHEST * step
    if -limit < number < limit:
        scaled = number / step
        below = math.floor(scaled)
        return below + (scaled - below >= 0.5)
    if not isinstance(number, int) and not math.isfinite(number):
        raise InvalidArgument("value", value, "a finite number", private=True)
    return FARTHEST if number > 0 else -FARTHEST


def to_quanta(values: ArrayLike, step: float) -> NDArray[np.int64]:
    """Return values one after another in whole steps."""
    steps = Grid(step).to_quanta(values)
    if steps.ndim != 1:
        raise InvalidArgument("values", values, "finite numbers, one a step", private=True)
    return steps


def _plain(value: object) -> float | int:
    if not isinstance(value, bool | np.bool_):
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, Real):
            try:
                return float(value)
            except OverflowError:  # a fraction beyond all floats is a value like any other
                return int(value)  # type: ignore[call-overload, no-any-return]  # Real has no __int__ of its own
    raise InvalidArgument("value", value, "a finite number", private=True)
