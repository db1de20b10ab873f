"""Which numbers are reliable enough to be published, and what their intervals must be after that choice.

Both rules read released numbers alone. Who is left out is chosen by the noise, so intervals of the rest no longer hold
at their level unless they are corrected (``docs/explanation/proofs/suppression.md``).
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess.columns import Floats
from chronodp.postprocess.tails import Law

__all__ = ["given_publication", "published_level", "reliable_relative"]

Bools: TypeAlias = NDArray[np.bool_]

_STEPS = 200  # of halving, at most; Newton's steps end it after about six


def reliable_relative(value: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, relative: float) -> Bools:
    """Return where neither end is farther from the value than ``relative`` times its size.

    >>> reliable_relative([10, 10, float("nan")], [8, 5, 0], [12, 15, 1], relative=0.2).tolist()
    [True, False, False]
    """
    _check_positive("relative", relative)
    middle = np.asarray(value, np.float64)
    half = np.maximum(middle - np.asarray(lower, np.float64), np.asarray(upper, np.float64) - middle)
    found: Bools = np.isfinite(half) & (half <= relative * np.abs(middle))
    return found


def published_level(level: float, published: int, cells: int, *, any_dependence: bool = False) -> float:
    """Return at which level to tell the numbers that a rule has published, ``published`` of ``cells``.

    The rule looks at each cell by itself, and cells share no noise. Then of the published intervals a share of
    1 - level at most is expected to miss (the false coverage rate; none published counts as no miss). With
    ``any_dependence`` this holds whatever the cells share, for wider intervals.

    >>> round(published_level(0.95, 10, 100), 6), round(published_level(0.95, 10, 100, any_dependence=True), 6)
    (0.995, 0.999036)
    """
    if not 0 <= published <= cells:
        raise InvalidArgument("published", published, f"between 0 and the number of cells, {cells}")
    if not published:
        return level
    divisor = math.fsum(1 / j for j in range(1, cells + 1)) if any_dependence else 1.0
    return 1 - (1 - level) * published / (cells * divisor)


def given_publication(
    law: Law, value: ArrayLike, *, deviation: ArrayLike, threshold: ArrayLike, level: float
) -> tuple[Floats, Floats]:
    """Return the equal-tailed interval of each number, given that it is published: |value| >= threshold.

    >>> lower, upper = given_publication("gaussian", [4.0, 6.0], deviation=1.0, threshold=3.92, level=0.95)
    >>> lower.round(3).tolist(), upper.round(3).tolist()
    ([-0.396, 3.678], [4.885, 7.96])
    """
    if law != "gaussian":
        # y - c given y >= c is exponential whatever the truth below c is: no lower end holds at any level.
        allowed = (
            '"gaussian": given that a number with Laplace noise is published nothing bounds it from below; use '
            'coverage="published", or decide on another release'
        )
        raise InvalidArgument("law", law, allowed)
    given = (value, deviation, threshold)
    signed, sd, edge = np.broadcast_arrays(*(np.asarray(one, np.float64) for one in given))
    y, c = np.abs(signed) / sd, np.maximum(edge / sd, 0.0)
    if not np.all(y >= c):
        raise InvalidArgument(
            "value", value, "at least the threshold in size: the others are not published", private=True
        )
    tail = (1 - level) / 2
    low, high = (_solve(y.ravel(), c.ravel(), tail, upper=upper).reshape(y.shape) for upper in (False, True))
    turned = signed < 0
    return np.where(turned, -high, low) * sd, np.where(turned, -low, high) * sd


def _solve(y: Floats, c: Floats, tail: float, *, upper: bool) -> Floats:
    """Return the mean at which y, or what is beyond it on the other side, has probability ``tail`` given |Y| >= c."""
    from scipy.special import log_ndtr, ndtri

    goal = math.log(tail)
    reach = -float(ndtri(tail))

    def excess(mean: Floats, y: Floats, c: Floats) -> tuple[Floats, Floats]:
        """Log of the probability less the goal, and its slope."""
        above, below = log_ndtr(mean - c), log_ndtr(-mean - c)
        chosen = np.logaddexp(above, below)
        beyond = log_ndtr(mean - y)
        slope = np.exp(_log_density(mean - c) - chosen) - np.exp(_log_density(mean + c) - chosen)
        if not upper:
            return beyond - chosen - goal, np.exp(_log_density(mean - y) - beyond) - slope
        # P(Y < -c) + P(c < Y < y): the second from the side on which it is the difference of two small numbers.
        far = mean > (c + y) / 2
        ends = np.where(far, log_ndtr(y - mean), above), np.where(far, log_ndtr(c - mean), beyond)
        with np.errstate(divide="ignore", invalid="ignore"):
            between = ends[0] + np.log(-np.expm1(np.minimum(ends[1] - ends[0], 0.0)))
        inside = np.logaddexp(between, below)
        with np.errstate(over="ignore", invalid="ignore"):
            moved = np.exp(_log_density(mean - c) - inside) - np.exp(_log_density(mean - y) - inside)
        return -(inside - chosen - goal), slope - (moved - np.exp(_log_density(mean + c) - inside))

    # Whatever is chosen, the lower end is not above y - reach and the upper one not above y + reach. Far from c they
    # are equal to it: beyond 8.3 deviations nothing is left that a float could hold.
    found = y + reach if upper else y - reach
    left = np.flatnonzero(y - c < reach + 8.3)
    mean, y, c = found[left], y[left], c[left]
    low, high = np.full(mean.shape, -np.inf), mean
    for stride in 2.0 ** np.minimum(np.arange(_STEPS), 60):
        if not len(left):
            break
        off, slope = excess(mean, y, c)
        low, high = np.where(off <= 0, mean, low), np.where(off > 0, mean, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = mean - off / slope
        # Newton's step where it stays between the ends that are known, else half of them, or down to find the lower.
        fits = (newton >= low) & (newton <= high) & (newton >= mean - 4 * stride)
        fresh = np.where(fits, newton, np.where(low > -np.inf, (low + high) / 2, mean - stride))
        found[left] = fresh
        # Steps are squared, so after one of 1e-7 nothing is left to gain; halved ones end where rounding ends them.
        small = np.where(fits, 1e-7, 1e-15) * (1 + np.abs(mean))
        going = np.abs(fresh - mean) > small
        left, mean, low, high, y, c = (part[going] for part in (left, fresh, low, high, y, c))
    return found


def _log_density(x: Floats) -> Floats:
    found: Floats = -0.5 * x**2 - 0.5 * math.log(2 * math.pi)
    return found


def _check_positive(name: str, value: float) -> None:
    if not (value > 0 and math.isfinite(value)):
        raise InvalidArgument(name, value, "a number above 0")
