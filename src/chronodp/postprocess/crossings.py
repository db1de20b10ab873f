"""Where a line meets a convex reach: the ends of Fieller's sets.

The reach q(ρ) is convex, and no steeper than its slope far out. So |N - ρ D| <= q(ρ) holds on an interval around N/D if
|D| is above that slope, and else everywhere but in at most one open interval (``docs/explanation/proofs/ratios.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess.columns import Floats

__all__ = ["Reach", "cross"]

Places: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Reach:
    """A convex function of ρ: straight between its knots, and beyond them with slope ± ``steepest``.

    With a convex function's own values at the knots it is nowhere below that function: a chord lies above it. So what
    is read from it is too wide, if anything.
    """

    knots: Floats
    values: Floats
    steepest: float

    @property
    def slopes(self) -> Floats:
        """The slope left of the first knot, between each two, and right of the last one."""
        between = np.diff(self.values) / np.diff(self.knots)
        # Rounding must not bend the function: slopes rise, and none is beyond the steepest.
        rising = np.maximum.accumulate(np.clip(between, -self.steepest, self.steepest))
        return np.concatenate(([-self.steepest], rising, [self.steepest]))

    def at(self, ratios: Floats) -> Floats:
        """Return the reach at these ratios."""
        inner = np.interp(ratios, self.knots, self.values)
        beyond = np.maximum(self.knots[0] - ratios, ratios - self.knots[-1])
        found: Floats = inner + self.steepest * np.maximum(beyond, 0.0)
        return found


def cross(numerator: Floats, denominator: Floats, reach: Reach) -> tuple[Bools, Bools, Floats, Floats]:
    """Return whether each set is bounded, whether it has a gap, and the ends of the interval or of the gap."""
    # N and D with both signs turned are the same question.
    n, d = np.where(denominator < 0, -numerator, numerator), np.asarray(np.abs(denominator))
    bounded = np.asarray(d > reach.steepest)
    low, high = np.full(n.shape, np.nan), np.full(n.shape, np.nan)
    gap = np.zeros(n.shape, bool)
    slopes = reach.slopes
    if np.any(bounded):
        for ends, side in ((low, 1.0), (high, -1.0)):
            ends[bounded] = _falls_to_zero(n[bounded], d[bounded], side, reach, slopes)
    rest = ~bounded & ((d > 0) | (reach.steepest > 0))
    if np.any(rest):
        gap[rest], low[rest], high[rest] = _gaps(n[rest], d[rest], reach, slopes)
    return bounded, gap, low, high


def _falls_to_zero(n: Floats, d: Floats, side: float, reach: Reach, slopes: Floats) -> Floats:
    """Return where n - ρ d - side * reach(ρ), which falls since d is above every slope, is 0."""
    allowed = side * reach.values

    def excess(at: Places) -> Floats:
        found: Floats = n - reach.knots.take(at, mode="clip") * d - allowed.take(at, mode="clip")
        return found

    last = len(reach.knots) - 1
    above = _first(lambda at: excess(at) <= 0, np.zeros(n.shape, np.intp), np.full(n.shape, last + 1))
    start = np.maximum(above - 1, 0)
    found = reach.knots[start] + excess(start) / (d + side * slopes[above])
    return _between(found, above, reach)


def _gaps(n: Floats, d: Floats, reach: Reach, slopes: Floats) -> tuple[Bools, Floats, Floats]:
    """Return where |n - ρ d| is above the reach: of the two concave differences at most one is ever above 0."""
    sign = np.ones(n.shape)
    tops = []
    for one in (1.0, -1.0):
        top = np.clip(np.searchsorted(slopes, -one * d) - 1, 0, len(reach.knots) - 1)
        tops.append((one * (n - reach.knots[top] * d) - reach.values[top], top))
    positive = tops[0][0] >= tops[1][0]
    sign = np.where(positive, 1.0, -1.0)
    height, top = np.where(positive, tops[0][0], tops[1][0]), np.where(positive, tops[0][1], tops[1][1])

    def excess(at: Places) -> Floats:
        found: Floats = sign * (n - reach.knots.take(at, mode="clip") * d) - reach.values.take(at, mode="clip")
        return found

    with np.errstate(divide="ignore", invalid="ignore"):
        # Up to its top the difference rises, from there it falls. Where it does neither far out, the gap has no end.
        first = _first(lambda at: excess(at) > 0, np.zeros(n.shape, np.intp), top)
        low = reach.knots[first] - excess(first) / (-sign * d - slopes[first])
        last = _first(lambda at: excess(at) <= 0, top, np.full(n.shape, len(reach.knots)))
        start = np.maximum(last - 1, 0)
        high = reach.knots[start] + excess(start) / (sign * d + slopes[last])
    low, high = _between(low, first, reach), _between(high, last, reach)
    return height > 0, low, high


def _first(holds: Callable[[Places], Bools], low: Places, high: Places) -> Places:
    """Return the first place from low on at which a condition holds that stays true once it is; else high.

    Where the first place is known already, the condition is asked at that place again, which may lie beyond the last.
    """
    while np.any(open_ := low < high):
        middle = (low + high) >> 1
        held = holds(middle)
        # Multiplied, not chosen: which way a search goes is like chance, and a processor guesses wrong.
        low, high = low + (middle + 1 - low) * (open_ & ~held), high - (high - middle) * held
    return low


def _between(found: Floats, above: Places, reach: Reach) -> Floats:
    """Return what was solved for inside its own stretch: rounding may have put it beside."""
    edges = np.concatenate(([-np.inf], reach.knots, [np.inf]))
    kept: Floats = np.clip(found, edges[above], edges[above + 1])
    return kept
