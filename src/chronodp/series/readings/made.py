"""Readings as they are shown: linear ones with their intervals, ratios of two with the sets of what they may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess import (
    Estimates,
    FiellerSets,
    Law,
    Within,
    deviations,
    mixed_quantiles,
    mixed_sets,
    quadratic_sets,
    quantiles,
    simultaneous_level,
)
from chronodp.series.readings.axes import Columns, Rows
from chronodp.series.readings.cells import NONE, Cells, blank_cells, gathered_cells
from chronodp.series.readings.even import even_draws
from chronodp.series.readings.kinds import kinds_of
from chronodp.series.readings.linear import Linear
from chronodp.series.readings.weights import Floats
from chronodp.series.shapes.toeplitz import White

__all__ = ["LinearReading", "Made", "RatioReading", "level_of_each"]

_KINDS = 4096  # sums of Laplace draws of different weights up to which each gets a quantile of its own
_SETS = 64  # the same for ratios, where each takes a table
_BLOCK = 2**15  # cells that are worked on at once: what they need stays near the processor


class Made(Protocol):
    """What a view's numbers are made of: enough to show them at any level."""

    @property
    def rows(self) -> Rows:
        """What its rows are."""
        ...

    @property
    def columns(self) -> Columns:
        """What its columns are."""
        ...

    @property
    def product(self) -> bool:
        """Whether the product of levels is at most the level of all at once."""
        ...

    @property
    def noise(self) -> tuple[Linear, ...]:
        """All that noise enters by; nothing where it is not told."""
        ...

    def cells(self, level: float) -> Cells:
        """Return the numbers with what they may be at a level each."""
        ...


def level_of_each(made: Made, level: float) -> float:
    """Return the level of single sets at which all hold together with probability ``level``."""
    count = len(made.rows.windows.labels) * len(made.columns)
    return simultaneous_level(level, count, product=made.product)


@dataclass(frozen=True, eq=False)
class LinearReading:
    """Weighted sums of released numbers.

    Attributes:
        rows: what rows are.
        columns: what columns are.
        linear: the weights.
        nonnegative: whether the truth is known never to be below 0.
    """

    rows: Rows
    columns: Columns
    linear: Linear
    nonnegative: bool

    @property
    def product(self) -> bool:
        """Whether noise is Gaussian: of any covariance (Šidák 1967)."""
        return self.linear.law == "gaussian"

    @property
    def noise(self) -> tuple[Linear, ...]:
        """All that noise enters by."""
        return (self.linear,)

    @property
    def rows_apart(self) -> bool:
        """Whether no two rows share noise: none share a period, and every period has noise of its own."""
        return self.rows.abut and all(isinstance(source.shape, White) for source in self.linear.sources.values())

    def half_widths(self, level: float) -> Floats:
        """Return how far noise reaches, rows × columns, or 1 where all are alike."""
        if self.linear.law == "gaussian":
            return float(quantiles("gaussian", [1.0], level)[0]) * np.sqrt(self.linear.variance())
        if (even := even_draws(self.linear)) is not None:
            return even.half_widths(level)
        found = kinds_of(self.linear, most=_KINDS)
        if found is None:
            return deviations("laplace", level) * np.sqrt(self.linear.variance())
        half = np.zeros(self.linear.shape)
        for group in found:
            if group.kinds:
                weights = [[first for first, _, _ in group.kinds]]
                reach = mixed_quantiles("laplace", weights, [count for _, _, count in group.kinds], level)
                half[np.ix_(group.rows, group.columns)] = reach[0]
        return half

    def cells(self, level: float) -> Cells:
        """Return values with even intervals."""
        value = self.linear.values()
        if not value.size:
            return blank_cells(*value.shape)
        half = self.half_widths(level)
        kind, why = np.zeros(value.shape, np.int8), np.full(value.shape, NONE, np.int8)
        return Cells(Estimates(value, value - half, value + half), kind, None, None, why)


@dataclass(frozen=True, eq=False)
class RatioReading:
    """One linear reading over another, times a factor and then moved: a ratio, a share, a change.

    Attributes:
        numerator: above.
        denominator: below, of the same rows and columns.
        within: where the ratio is known to be.
        factor: of the ratio in what is shown.
        offset: of what is shown.
    """

    rows: Rows
    columns: Columns
    numerator: Linear
    denominator: Linear
    within: Within | None
    factor: float = 1.0
    offset: float = 0.0

    @property
    def law(self) -> Law:
        """Of its noise: Laplace where any of it is."""
        return "laplace" if "laplace" in (self.numerator.law, self.denominator.law) else "gaussian"

    @property
    def product(self) -> bool:
        """Whether noise is Gaussian: N - ρ D at the true ratios is Gaussian noise of some covariance."""
        return self.law == "gaussian"

    @property
    def noise(self) -> tuple[Linear, ...]:
        """All that noise enters by."""
        return self.numerator, self.denominator

    def cells(self, level: float) -> Cells:
        """Return ratios with Fieller's sets."""
        above, below = self.numerator.values(), self.denominator.values()
        made = blank_cells(*above.shape)
        if not above.size:
            return made
        found = kinds_of(self.numerator, self.denominator, most=_SETS) if self.law == "laplace" else None
        if found is None:
            made = self._quadratic(made, above, below, deviations(self.law, level))
        else:
            for group in found:
                cells = np.ix_(group.rows, group.columns)
                sets = mixed_sets(
                    above[cells],
                    below[cells],
                    group.kinds or ((0.0, 0.0, 1),),
                    scale=1.0,
                    level=level,
                    within=self.within,
                )
                made = gathered_cells(made, cells, sets)
        return self._exact(made).moved(self.factor, self.offset)

    def _quadratic(self, made: Cells, above: Floats, below: Floats, multiplier: float) -> Cells:
        spreads = [self.numerator.variance(), self.numerator.covariance(self.denominator), self.denominator.variance()]
        rows, columns = above.shape
        wide = min(columns, _BLOCK)
        step = max(1, _BLOCK // wide)
        blocks = [(start, first) for start in range(0, rows, step) for first in range(0, columns, wide)]
        for start, first in blocks:
            chosen = slice(start, start + step), slice(first, first + wide)
            aa, ab, bb = (_part(spread, chosen) for spread in spreads)
            sets: FiellerSets = quadratic_sets(
                above[chosen], below[chosen], aa=aa, ab=ab, bb=bb, multiplier=multiplier, within=self.within
            )
            made = gathered_cells(made, chosen, sets)
        return made

    def _exact(self, made: Cells) -> Cells:
        """Where both are the very same numbers their ratio is 1, whatever noise they have."""
        same: NDArray[np.bool_] = self.numerator.same_as(self.denominator)
        if not same.any():
            return made
        told = made.estimates
        for part in (told.value, told.lower, told.upper):
            part[same] = 1.0
        made.kind[same], made.why[same] = 0, NONE
        for gap in (made.not_above, made.not_below):
            if gap is not None:
                gap[same] = np.nan
        return made


def _part(spread: Floats, chosen: tuple[slice, slice]) -> Floats:
    """The variances of some cells; where all rows or columns are alike there is one for all."""
    rows, columns = chosen
    part: Floats = spread[rows if len(spread) > 1 else slice(None), columns if spread.shape[1] > 1 else slice(None)]
    return part
