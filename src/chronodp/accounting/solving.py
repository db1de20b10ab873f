"""Inverting monotone functions, always returning the side that keeps the promise.

What comes back was itself put to the test: no error of the search, nor of the function near its step, can make it a
point where the promise fails.

*Inverses* under "Finite precision" of ``docs/explanation/proofs/accounting.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["largest", "largest_count", "minimum", "smallest"]

_RELATIVE = 1e-14
_GOLDEN = 0.6180339887498949
_ABOUT = 1e-12
_STRIDE = 8  # of a scan: every so many points are tried first, and rule out most others
_NEAR = 1e-7  # of an optimum, whose value differs by the square of that


def smallest(
    holds: Callable[[float], bool], *, start: float = 1.0, step: float = 3.0, limit: float = 1e300
) -> float | None:
    """Return the smallest x > 0 where ``holds`` is true, rounded up; None if it is false up to ``limit``.

    ``holds`` must be false below some point and true above it. The search starts at ``start``; a small relative
    ``step`` says that it is near.
    """
    _, high = _around(holds, start, step, limit)  # the upper end: ``holds`` was found true there
    return high if high <= limit else None


def largest(holds: Callable[[float], bool], *, near: float = math.nan, limit: float = 1e300) -> float | None:
    """Return the largest x > 0 where ``holds`` is true, rounded down; None if it is false down to 1 / ``limit``.

    ``holds`` must be true below some point and false above it. A ``near`` of that point, right to twelve digits, saves
    most of the work and does not change the answer; if it is wrong, it saves nothing.
    """

    def fails(value: float) -> bool:
        return not holds(value)

    if math.isfinite(near):
        # The same search, step by step, but nothing is computed where the answer is known.
        low, high = _around(lambda value: fails(value) if _meets(value, near) else value > near, 1.0, 3.0, limit)
        # Both ends were put to the test, since they are near, and within the limits nothing else is returned.
        if 1 / limit <= low and high <= limit and _meets(low, near) and _meets(high, near):
            return low
    # The lower end, where ``not holds`` was found false.
    low, _ = _around(fails, 1.0, 3.0, limit)
    return low if low >= 1 / limit else None


def _meets(value: float, near: float) -> bool:
    return abs(value - near) <= _ABOUT * near


def _around(turns: Callable[[float], bool], start: float, step: float, limit: float) -> tuple[float, float]:
    """Return two near points, ``turns`` false at the first and true at the second; beyond the limit none was found."""
    low, high = start, start
    if turns(start):
        while turns(low):
            high, low, step = low, low / (1 + step), min(3.0, 16 * step)
            if low < 1 / limit:
                return low, high
    else:
        while not turns(high):
            low, high, step = high, high * (1 + step), min(3.0, 16 * step)
            if high > limit:
                return low, math.inf
    while high - low > _RELATIVE * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if turns(middle):
            high = middle
        else:
            low = middle
    return low, high


def largest_count(holds: Callable[[int], bool], *, limit: int = 2**62) -> int:
    """Return the largest whole number for which ``holds`` is true, 0 if it fails at 1."""
    if not holds(1):
        return 0
    low = 1
    while low < limit and holds(2 * low):
        low *= 2
    high = 2 * low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def minimum(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    coarse: int = 48,
    below: Callable[[float], float] = lambda _: -math.inf,
) -> float:
    """Return the least value found on [low, high]: a scan, then a golden-section search around its best point.

    For bounds that hold at every point, so that a missed optimum costs tightness and never truth. Where the function
    is not a number it bounds nothing, and counts as infinite. What is ``below`` the function, by all that is known of
    it so far, saves the scan most points and does not change the answer.
    """

    def at(point: float) -> float:
        value = function(point)
        return math.inf if math.isnan(value) else value

    points = [low + (high - low) * index / coarse for index in range(coarse + 1)]
    values, least = [math.inf] * len(points), math.inf
    for index in sorted(range(len(points)), key=lambda index: index % _STRIDE > 0):
        if below(points[index]) <= least:
            values[index] = at(points[index])
            least = min(least, values[index])
    best = values.index(least)
    left, right = points[max(best - 1, 0)], points[min(best + 1, coarse)]
    first, second = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
    one, two = at(first), at(second)
    while right - left > _NEAR * (1 + abs(left)):
        if one <= two:
            right, second, two = second, first, one
            first = right - _GOLDEN * (right - left)
            one = at(first)
        else:
            left, first, one = first, second, two
            second = left + _GOLDEN * (right - left)
            two = at(second)
        least = min(least, one, two)
    return least
