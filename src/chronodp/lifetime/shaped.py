"""Noise that is shaped inside an issue, fresh in each: what 1, 2, … counted periods of one issue take together.

More than as many times what one takes. "Noise shaped inside an issue" of ``docs/explanation/proofs/lifetime.md``:
prices are exact fractions of floats that are rounded up, rounded up once more to whole quanta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.engines import LONGEST_LIFE
from chronodp.errors import InvalidArgument
from chronodp.lifetime.shares import quanta_of
from chronodp.privacy import exact_sensitivity
from chronodp.series import Design, Noise, Table, calibrated, rounding_bound
from chronodp.series.shapes import Banded, BufferedLinear, FilterReach, SquareRoot

__all__ = ["LONGEST_ISSUE", "InsideShape", "is_shaped", "most_of", "shaped_design", "shaped_prices", "shaped_worth"]

LONGEST_ISSUE = 1024
"""Periods of an issue up to which its noise is shaped: each number of counted periods has a price of its own."""

InsideShape = SquareRoot | Banded | BufferedLinear
_COUNTED_OUT = 4096  # periods of a life up to which the dearest way to spread them is looked for


@dataclass(frozen=True, slots=True)
class _Squares:
    """Exact fractions with one denominator: s(r)² of r = 1, 2, … counted periods."""

    numerators: list[int]
    denominator: int

    @property
    def first(self) -> Fraction:
        """That of one counted period."""
        return Fraction(self.numerators[0], self.denominator)

    def over(self, unit: Fraction) -> list[int]:
        """Return how many units each of them is, rounded up."""
        above, below = unit.denominator, unit.numerator * self.denominator
        return [-(-one * above // below) for one in self.numerators]


@dataclass(frozen=True, slots=True)
class _Part:
    """One kind of numbers: squares of how far one counted period moves it, and of what rounding adds at most."""

    size: Fraction
    rounding: Fraction
    touched: int
    places: int

    def squares(self, reaches: Sequence[Fraction]) -> _Squares:
        """Return s(r)² of r = 1, 2, … counted periods."""
        # (a + b)² ≤ (1 + η) a² + (1 + 1/η) b² for every η: sums of squares, so that two lives add up. With η = b/a of
        # one period it is exact there. Each period touches so many places, on both sides where someone is replaced.
        beside = [2 * min(self.places, count * self.touched) for count in range(1, len(reaches) + 1)]
        eta = Fraction(math.sqrt(self.rounding * beside[0] / (self.size * reaches[0]))) or Fraction(1)
        a, b = (1 + eta) * self.size, (1 + 1 / eta) * self.rounding
        whole = math.lcm(*(reach.denominator for reach in reaches))
        of_reach, of_place = a.numerator * b.denominator, b.numerator * a.denominator * whole
        numerators = [
            of_reach * reach.numerator * (whole // reach.denominator) + of_place * places
            for reach, places in zip(reaches, beside, strict=True)
        ]
        return _Squares(numerators, a.denominator * b.denominator * whole)


def is_shaped(base: Design) -> bool:
    """Return whether the noise of issues is shaped."""
    return isinstance(base.shape, SquareRoot | Banded | BufferedLinear)


@lru_cache(maxsize=64)
def _reaches(shape: InsideShape, horizon: int) -> tuple[Fraction, ...] | None:
    """Return bounds on ‖C 1‖² for the first 1, 2, … periods; None where these may not be the worst."""
    reach = FilterReach(shape.coefficients(horizon))
    if not reach.falling:
        return None
    return tuple(Fraction(reach.l2(count, together=False)) ** 2 for count in range(1, horizon + 1))


def _parts(base: Design, table: Table, deviations: float) -> list[_Part]:
    """Return how far one period moves each kind of numbers, with rounding of draws so many times as wide."""
    horizon, parts = base.table.horizon, []
    for part, noise in zip(table.contributions(), base.noises, strict=True):
        opposite = table.opposite(part)
        one_sign = opposite is not None and opposite <= 0
        folds = 1 if table.unit.relation != "replace" else 2 if one_sign else 4
        bound = rounding_bound(base.shape, horizon, deviations * noise.scale / noise.step)
        rounding = (2 * Fraction(bound) * Fraction(noise.step)) ** 2 * horizon
        size = folds * table.max_places * part.presence**2
        parts.append(_Part(size, rounding, table.places_touched, table.places))
    return parts


def _squares(base: Design, table: Table, deviations: float = 1.0) -> list[_Squares]:
    """Return s(r)² of each kind of numbers and r = 1, 2, … counted periods of an issue."""
    reaches = _reaches(base.shape, base.table.horizon) if is_shaped(base) else None
    if reaches is None:
        raise InvalidArgument("shape", str(base.shape), "white, or one whose coefficients are not negative or rising")
    return [part.squares(reaches) for part in _parts(base, table, deviations)]


def shaped_prices(base: Design, table: Table, *, life: int, reissues: int) -> tuple[int, ...]:
    """Return what 1, 2, … counted periods of an issue take together: at most its share of what the noise hides."""
    dearest = [0] * base.table.horizon
    for squares, noise in zip(_squares(base, table), base.noises, strict=True):
        hidden = Fraction(noise.sensitivity) ** 2 / (life * (1 + reissues))
        dearest = list(map(max, dearest, squares.over(hidden)))
    return tuple(dearest)


def shaped_worth(base: Design, *, life: int, reissues: int) -> Fraction:
    """Return how much one quantum of a life stands for, of μ²."""
    parts = ((Fraction(noise.sensitivity) / Fraction(noise.scale)) ** 2 for noise in base.noises)
    return sum(parts, Fraction(0)) / (life * (1 + reissues))


def most_of(prices: Sequence[int], periods: int) -> int:
    """Return at least what so many periods of one person take, however they lie in issues.

    Not always as many full issues as there are: the last periods of an issue reach less far than those before.

    >>> most_of([2, 5, 7], 4), most_of([2, 5, 7], 6), most_of([2, 5, 7], 5000)
    (10, 15, 12500)
    """
    dearest = math.ceil(periods * max(Fraction(price, count) for count, price in enumerate(prices, 1)))
    if periods > _COUNTED_OUT or dearest > LONGEST_LIFE:
        return dearest
    known = np.array(prices, np.int64)
    return int(_best(known, periods, periods)[-1])


def _best(known: NDArray[np.int64], first: int, last: int) -> NDArray[np.int64]:
    """Return the most that ``first`` to ``last`` periods take."""
    longest = len(known)
    if last <= 8 * longest:
        best = np.zeros(last + 1, np.int64)
        for count in range(1, last + 1):
            some = min(count, longest)
            best[count] = (best[count - some : count][::-1] + known[:some]).max()
        return best[first:]
    # Issues in a row: those that end by the middle leave less than one whole issue before it, so that a few sums about
    # the middle tell all. Ranges stay narrower than four issues, and so above zero.
    low, high = first // 2 - longest + 1, (last + 1) // 2 + longest - 1
    halves = _best(known, low, high)
    counts, left = np.arange(first, last + 1)[:, None], np.arange(longest)
    ended = counts // 2 - left
    most: NDArray[np.int64] = (halves[ended - low] + halves[counts - ended - low]).max(axis=1)
    return most


def shaped_design(unshaped: Design, shape: InsideShape, *, periods: int, reissues: int) -> tuple[Design, int] | None:
    """Return an issue with noise of a shape that hides a life of so many periods, and the quanta of that life.

    None where the shape cannot be priced by the first periods of an issue, or a life would be too long.
    """
    table = unshaped.table
    if table.horizon > LONGEST_ISSUE or _reaches(shape, table.horizon) is None:
        return None
    plain = replace(unshaped, shape=shape, noises=tuple(replace(one, scale=one.step) for one in unshaped.noises))
    free = [replace(part, rounding=Fraction(0)) for part in _parts(plain, table, 1.0)]
    reaches = _reaches(shape, table.horizon) or ()
    first = _calibrated(unshaped, [part.squares(reaches) for part in free], periods, reissues)
    if first is None:
        return None
    # What rounding adds is known once there is a grid; its draws are then wider by less than twice.
    thin = tuple(
        table.measure.on_grid("gaussian", index, noise.sensitivity, noise.scale, times=1)
        for index, noise in enumerate(first[0])
    )
    design = replace(plain, noises=thin)
    found = _calibrated(design, _squares(design, table, 2.0), periods, reissues)
    if found is None:
        return None
    noises = tuple(replace(one, step=grid.step) for one, grid in zip(found[0], thin, strict=True))
    if any(one.scale > 2 * grid.scale or not one.drawable for one, grid in zip(noises, thin, strict=True)):
        return None
    return replace(design, noises=noises), found[1]


def _calibrated(base: Design, squares: list[_Squares], periods: int, reissues: int) -> tuple[list[Noise], int] | None:
    """Return noise for the dearest life of so many periods, and its quanta: one counted period takes 2^32."""
    full = quanta_of("gaussian")
    prices = [max(several) for several in zip(*(one.over(one.first / full) for one in squares), strict=True)]
    life = most_of(prices, periods)
    if life > LONGEST_LIFE:
        return None
    hidden = [exact_sensitivity(Fraction(0), life * (1 + reissues) * one.first / full) for one in squares]
    scales = calibrated("gaussian", hidden, epsilon=base.epsilon, delta=base.delta)
    return [Noise("gaussian", *scale, base.noises[0].step) for scale in scales], life
