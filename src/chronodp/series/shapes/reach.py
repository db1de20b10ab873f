"""How far a change of several periods reaches through a noise shape: what every sensitivity is made of.

For a shape C a reach answers two questions about a change η of at most m periods, each of size at most 1 (a number, or
a vector over places of Euclidean length at most 1): how long C η can be, and how large the m largest column sums of |C|
are. All answers are upper bounds, rounded up. This is s(m) of "How far m periods reach" in
``docs/explanation/proofs/shapes.md``: `FilterReach` is *One period*, *c non-negative, never rising* and *Any other c*,
`TreeReach` is *Tree*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.series.shapes.power_series import Floats, product

__all__ = ["FilterReach", "Reach", "TreeReach", "above"]

_UNIT = 2.0**-53
_TRANSFORM = 2.0**-40  # of the squared length: far above the error of a Fourier transform of any length in use
_WORK = 2**23  # products of lagged columns that are worth computing one by one


class Reach(Protocol):
    """What a sensitivity needs to know of a shape."""

    @property
    def horizon(self) -> int:
        """Periods in the series."""

    @property
    def aligned(self) -> bool:
        """Whether no two columns of C point away from each other: CᵀC has no negative entry."""

    def l2(self, periods: int, *, together: bool) -> float:
        """Return a bound on ‖C η‖ for ``periods`` changed periods, consecutive (``together``) or anywhere."""

    def l1(self, periods: int) -> Floats:
        """Return bounds on the largest column sums of |C|, falling, one for each of so many periods."""


@dataclass(frozen=True)
class FilterReach:
    """The reach of a lower triangular matrix with constant diagonals, given by its first column c.

    With m changed periods ‖C η‖ is at most

        ‖Σ_{j<m} shift_j c‖  if c is non-negative and never rises, attained by the first m periods;
        the least of  m ‖c‖,  the above for ĉ_j = max_{i≥j} |c_i|,  and  √(Σ_{|d|<m} (m - |d|) κ_d)  otherwise

    where κ_d bounds the product of two columns d periods apart; if the periods may lie anywhere, d or more apart.
    """

    column: Floats

    def __post_init__(self) -> None:
        if self.column.ndim != 1 or not len(self.column) or not np.isfinite(self.column).all() or not self.column.any():
            raise InvalidArgument("coefficients", self.column, "a column of finite numbers, not all 0")

    @property
    def horizon(self) -> int:
        """Periods in the series."""
        return len(self.column)

    @cached_property
    def aligned(self) -> bool:
        """Whether c is non-negative."""
        return bool((self.column >= 0).all())

    @cached_property
    def falling(self) -> bool:
        """Whether c is non-negative and never rises."""
        return self.aligned and bool((np.diff(self.column) <= 0).all())

    @property
    def white(self) -> bool:
        """Whether C is a multiple of the identity."""
        return not self.column[1:].any()

    def l2(self, periods: int, *, together: bool) -> float:
        """Return a bound on ‖C η‖; exact for falling columns and for one period."""
        periods = min(periods, self.horizon)
        length = above(math.sqrt(float(self.column @ self.column)), self.horizon)
        if periods == 1:
            return length
        if self.falling:
            return _packed(self.column, periods)
        # The three bounds of "Any other c"; never the formula above, which columns of both signs can exceed ("The
        # trap"). In bound (3) each pair at distance d counts twice, the diagonal once.
        majorant = np.maximum.accumulate(np.abs(self.column)[::-1])[::-1]
        products = self._products(periods, together=together)
        weights = 2.0 * (periods - np.arange(periods))
        weights[0] /= 2
        return min(periods * length, _packed(majorant, periods), above(math.sqrt(weights @ products), self.horizon))

    def l1(self, periods: int) -> Floats:
        """Return the sums of the longest columns, the first period's first."""
        size = np.abs(self.column)
        start = self.horizon - min(periods, self.horizon)  # the last periods' columns are the shortest
        sums: Floats = size[:start].sum() + np.cumsum(size[start:])
        return sums[::-1] * (1 + 2 * self.horizon * _UNIT)

    def _products(self, periods: int, *, together: bool) -> Floats:
        """Bounds on |column_s · column_t| by their distance, or for all distances from it on, for the first distances.

        A later pair of columns is cut off earlier, so its product is a partial sum of Σ c_j c_{j+d}. For the nearest
        distances all partial sums are looked at; for the others terms are taken at their size.
        """
        size = np.abs(self.column)
        slack = _TRANSFORM * float(size @ size)
        lagged = product(size, size[::-1], self.horizon)[::-1] + slack
        for lag in range(min(periods, max(1, _WORK // self.horizon), 64)):
            partial = np.cumsum(self.column[: self.horizon - lag] * self.column[lag:])
            exact = float(np.abs(partial).max()) + 2 * self.horizon * _UNIT * float(lagged[lag])
            lagged[lag] = min(lagged[lag], exact)
        if not together:  # |s_i - s_j| >= |i - j|: a pair may lie farther apart, so the largest from d on counts
            lagged = np.maximum.accumulate(lagged[::-1])[::-1]
        return lagged[:periods]


@dataclass(frozen=True, slots=True)
class TreeReach:
    """The reach of block sums: with m periods ‖C η‖² is at most Σ_levels of (m // b) b² + (m mod b)², b = arity^level.

    Attained by the first m periods, which fill the blocks of every level one after another, if all those are released.
    """

    arity: int
    levels: int
    horizon: int
    aligned: bool = True

    def l2(self, periods: int, *, together: bool) -> float:
        """Return the largest ‖C η‖."""
        del together
        square = 0
        for level in range(self.levels):
            full, rest = divmod(min(periods, self.horizon), self.arity**level)
            # q b² + r²: full blocks first, by convexity. Whole numbers of any size, so nothing is rounded yet.
            square += full * self.arity ** (2 * level) + rest**2
        return above(math.sqrt(square), 1)

    def l1(self, periods: int) -> Floats:
        """Return the number of levels for each period."""
        return np.broadcast_to(float(self.levels), periods)  # of as many as millions


def above(value: float, terms: int) -> float:
    """Return a number above a computed length or sum of so many terms of one sign, whatever the order of adding."""
    # n·2^-53 for a sum of n terms, as much again for what went into it, 64 for roots and products; and up by one float.
    return math.nextafter(value * (1 + (2 * terms + 64) * _UNIT), math.inf)


def _packed(column: Floats, periods: int) -> float:
    """‖Σ_{j<periods} shift_j column‖, the moving sums built by doubling so that they never cancel."""
    sums: Floats | None = None
    window, width, done = column, 1, 0
    rest = periods
    while rest:
        if rest & 1:
            moved = _shifted(window, done)
            sums = moved if sums is None else sums + moved
            done += width
        rest >>= 1
        if rest:
            window, width = window + _shifted(window, width), 2 * width
    if sums is None:
        raise AssertionError("there is at least one period")
    return above(math.sqrt(float(sums @ sums)), len(column))


def _shifted(column: Floats, by: int) -> Floats:
    if by == 0:
        return column
    moved = np.zeros_like(column)
    moved[by:] = column[: len(column) - by]
    return moved
