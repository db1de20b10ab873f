"""How far runs of ones reach through a shape for running totals that is put on differences.

A run that begins at a and ends before b has the differences +1 at a and -1 at b. *Stays* of
``docs/explanation/proofs/active-people.md``: for c that is never negative, never rises and is convex, disjoint runs of
one sign never add up to more than their squared lengths, so those of all runs are bounded by the least concave
majorant of one.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.privacy import Presence, Sensitivity
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.power_series import Floats, product
from chronodp.series.shapes.reach import above
from chronodp.series.shapes.toeplitz import SquareRoot

__all__ = ["majorant_at", "run_lengths", "stays_sensitivity"]

_TRANSFORM = 2.0**-40  # of the squared length of c: far above the error of a Fourier transform of any length in use
_STRAIGHT = 2.0**-44  # a difference of c that grows by more is no rounding


@lru_cache(maxsize=64)
def stays_sensitivity(shape: SquareRoot | BufferedLinear, horizon: int, presence: Presence) -> Sensitivity:
    """Return the most that one unit changes C x, where x are the differences of who is present.

        l2 = sides √(R π̂(L / R)),   π(l) = ‖C (e_0 - e_l)‖²

    where R is how many runs one side has, L how many numbers they have together, and π̂ the least concave function that
    is nowhere below π.

    >>> from chronodp.privacy import User, presence_of
    >>> from chronodp.series.workloads import RunningTotal
    >>> year = presence_of(User(), horizon=365, window=28, max_stays=4)
    >>> round(stays_sensitivity(SquareRoot(RunningTotal()), 365, year).l2, 4)
    4.0596
    """
    column = shape.coefficients(horizon)
    bent = _bend(column)
    runs = presence.runs
    mean = min(float(horizon), presence.length / runs)
    size = float(column.sum())
    # Where c bends the wrong way by rounding, two runs add at most T times the bend times the sum of c; all pairs do.
    square = runs * majorant_at(run_lengths(column), mean) + runs * runs * horizon * bent * size
    return Sensitivity(
        l1=above(presence.sides * 2.0 * runs * size, horizon), l2=above(presence.sides * math.sqrt(square), horizon)
    )


def run_lengths(column: Floats) -> Floats:
    """Return bounds on π(l) for runs of 0 to T periods, never falling; the last is that of a run without an end.

    A run that begins later, or is still on at the end, is a partial sum of the same squares.
    """
    horizon = len(column)
    squares = np.cumsum(column**2)
    whole = float(squares[-1])
    lagged = product(column, column[::-1], horizon)[::-1]
    found = np.zeros(horizon + 1)
    found[1:horizon] = whole + squares[horizon - 2 :: -1] - 2 * lagged[1:] + 4 * _TRANSFORM * whole
    found[horizon] = whole
    found[1:] *= 1 + 4 * horizon * 2.0**-53
    return np.maximum.accumulate(found)


def majorant_at(values: Floats, at: float) -> float:
    """Return the least concave function that is nowhere below ``values`` (at 0, 1, …), at a point between.

    The chord that holds the point is lifted to the highest value above it until none is.

    >>> majorant_at(np.array([0.0, 4.0, 4.0, 6.0]), 2.0)
    5.0
    """
    left, right = 0, len(values) - 1
    while True:
        slope = (values[right] - values[left]) / max(1, right - left)
        over = values[left : right + 1] - values[left] - slope * np.arange(right - left + 1)
        highest = int(over.argmax())
        if over[highest] <= 1e-13 * values[-1]:  # what is left is rounding, and added
            return float(values[left] + slope * (at - left) + max(0.0, float(over[highest])))
        if left + highest <= at:
            left += highest
        else:
            right = left + highest


def _bend(column: Floats) -> float:
    """Return by how much the falling of c is not itself falling: 0, or rounding; refuse any other shape."""
    falling = -np.diff(column)
    bent = float((falling - np.minimum.accumulate(falling)).max()) if len(falling) else 0.0
    if (column < 0).any() or (falling < 0).any() or bent > _STRAIGHT * float(column[0]):
        allowed = "with a first column that is never negative, never rises and is convex"
        raise InvalidArgument("shape", "a shape for differences", allowed)
    return bent
