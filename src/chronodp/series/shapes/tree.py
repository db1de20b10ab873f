"""Running totals from a tree of block sums, with subtraction: the shape for Laplace noise.

Time t is written in base ``arity`` with digits from -(arity-1)/2 to (arity-1)/2. The running total at t is then, level
by level, so many block sums added (a positive digit) or taken away (a negative one), about half as many as with
digits from 0 on. Every period lies in one block of each level, so one unit of change moves one sum of each.

*Tree* of ``docs/explanation/proofs/shapes.md``. For ``arity`` 3 and four periods there are two levels. C, on the left,
has a row for each block sum; on the right stands which of them make a running total:

         x_1 x_2 x_3 x_4                       s_1 s_2 s_3 s_4 b_1 b_2
    s_1   1   0   0   0              t = 1      1   0   0   0   0   0      1
    s_2   0   1   0   0              t = 2      0   0  -1   0   1   0      2 = 3 - 1
    s_3   0   0   1   0              t = 3      0   0   0   0   1   0      3
    s_4   0   0   0   1              t = 4      0   0   0   1   1   0      4 = 3 + 1
    b_1   1   1   1   0
    b_2   0   0   0   1              (and two periods past the end, which are 0)

Every column of C has one 1 a level: the l1 sensitivity is that of one period times the levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole, document
from chronodp.series.shapes.power_series import Floats

__all__ = ["Tree"]

Wholes = NDArray[np.int64]


@document("tree")
@dataclass(frozen=True, slots=True)
class Tree:
    """Sums over blocks of arity^0, arity^1, … periods, each with its own noise; running totals use few of them.

        total(t) = Σ_i Σ of |d_i| blocks of arity^i periods, with the sign of d_i,  t = Σ_i d_i arity^i

    where d_i are the balanced digits of t. With noise of variance 1 on each sum the variance at t is Σ_i |d_i|.

    >>> Tree(3).levels(13), Tree(3).digits([5, 13], 13).tolist()      # 5 = 9 - 3 - 1
    (3, [[-1, 1], [-1, 1], [1, 1]])
    >>> print(Tree(19))
    a tree of block sums with 19 branches

    References:
        Andersson, Pagh, Steinke, Torkamani (2024), Count on your elders: Laplace vs Gaussian noise.
    """

    arity: int

    def __post_init__(self) -> None:
        allowed = "an odd whole number of at least 3"
        if check_whole("arity", self.arity, least=3) % 2 == 0:
            raise InvalidArgument("arity", self.arity, allowed)

    @property
    def half(self) -> int:
        """The largest digit."""
        return (self.arity - 1) // 2

    def levels(self, horizon: int) -> int:
        """Return how many levels reach ``horizon`` periods: with h of them the digits go up to (arity^h - 1) / 2."""
        check_whole("horizon", horizon)
        height = 1
        while (self.arity**height - 1) // 2 < horizon:
            height += 1
        return height

    def digits(self, times: object, horizon: int) -> Wholes:
        """Return the balanced digits of each time, one row a level, single periods first."""
        height = self.levels(horizon)
        # Moved up by (arity^h - 1) / 2, half in every digit, times have digits from 0 on; half is taken off each again.
        rest = np.asarray(times, dtype=np.int64) + (self.arity**height - 1) // 2
        found = np.empty((height, *rest.shape), dtype=np.int64)
        for level in range(height):
            rest, found[level] = np.divmod(rest, self.arity)
        return found - self.half

    def memory(self, horizon: int) -> int:
        """Return how many numbers a stream must keep: of each level the blocks between two points."""
        return self.half * self.levels(horizon)

    def variances(self, times: object, horizon: int) -> Floats:
        """Return the variance of the running totals at these times for noise of variance 1 on every block sum."""
        used: Wholes = np.abs(self.digits(times, horizon)).sum(axis=0)
        return used.astype(np.float64)

    def window_variances(self, starts: Wholes, stops: Wholes, horizon: int) -> Floats:
        """Return the variance of the difference of two running totals: blocks that both use cancel."""
        before, after = self.digits(starts, horizon), self.digits(stops, horizon)
        used: Wholes = np.zeros(np.shape(starts), dtype=np.int64)
        left, right = used, used
        for level in reversed(range(len(before))):
            left, right = left * self.arity, right * self.arity
            one, other = before[level], after[level]
            low = np.maximum(np.minimum(left, left + one), np.minimum(right, right + other))
            high = np.minimum(np.maximum(left, left + one), np.maximum(right, right + other))
            shared = np.maximum(high - low, 0)
            used = used + np.abs(one) + np.abs(other) - 2 * shared * np.sign(one) * np.sign(other)
            left, right = left + one, right + other
        return used.astype(np.float64)

    def mean_variance(self, horizon: int) -> float:
        """Return the mean of `variances` without computing them: digits repeat with a period."""
        height = self.levels(horizon)
        offset = (self.arity**height - 1) // 2
        first, last = offset + 1, offset + horizon + 1
        total = sum(self._digits_below(last, level) - self._digits_below(first, level) for level in range(height))
        return total / horizon

    def most_variance(self, horizon: int) -> float:
        """Return the largest of `variances`.

        The largest time is the horizon itself, or first falls below it at some level and is free in all lower ones.
        """
        *lower, top = self.digits(horizon, horizon).tolist()
        best = sum(map(abs, lower)) + top
        above = 0
        for level, digit in reversed(list(enumerate([*lower, top]))):
            least = 0 if level == len(lower) else -self.half  # the leading digit of a time is not negative
            if digit > least:
                best = max(best, above + max(abs(least), abs(digit - 1)) + level * self.half)
            above += abs(digit)
        return float(best)

    def _digits_below(self, stop: int, level: int) -> int:
        """Σ |digit - half| of this level over all numbers below ``stop``, written with digits from 0 on."""
        block = int(self.arity**level)
        full, rest = divmod(stop, block * self.arity)
        digit, left = divmod(rest, block)
        over = max(0, digit - self.half - 1)
        rising = min(digit, self.half + 1)
        before = rising * self.half - rising * (rising - 1) // 2 + over * (over + 1) // 2
        return full * block * self.half * (self.half + 1) + block * before + left * abs(digit - self.half)

    def __str__(self) -> str:
        return f"a tree of block sums with {self.arity} branches"
