"""Quantiles as they are designed: everything public about them, fixed before any data is read."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chronodp.privacy import Claim, Cost, document
from chronodp.series.design import Design
from chronodp.series.noise import Noise
from chronodp.series.quantiles.choices import ByChoice
from chronodp.series.quantiles.histograms import ByHistogram
from chronodp.series.quantiles.order import levels_of, steps_of
from chronodp.series.shapes.toeplitz import White
from chronodp.series.table import Table
from chronodp.series.workloads import EachPeriod

__all__ = ["QuantileDesign"]

_ARGUMENT = "docs/explanation/proofs/quantiles.md"
_NORMAL, _LAPLACE = math.sqrt(2 / math.pi), math.sqrt(0.5)  # the mean size of a draw of deviation 1
_PARTS = 2.0**-10  # of a row, where rows are weighed and edges drawn


@document("quantile_design")
@dataclass(frozen=True)
class QuantileDesign:
    """A table of counts by bin, how quantiles of them are told, and the guarantee that follows.

    Attributes:
        table: what is counted; its measure names the quantiles.
        epsilon: of the guarantee.
        delta: of the guarantee.
        way: how quantiles are told.
    """

    table: Table
    epsilon: float
    delta: float
    way: ByChoice | ByHistogram

    @property
    def quantiles(self) -> tuple[float, ...]:
        """The quantiles that were asked for."""
        return self.table.measure.asked_quantiles

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return self.table.measure.bins

    @property
    def drawn(self) -> bool:
        """Whether quantiles are drawn edges, and not read from a histogram."""
        return isinstance(self.way, ByChoice)

    @property
    def numbers(self) -> int:
        """How many whole numbers are released of each period and group."""
        return len(self.quantiles) if self.drawn else self.bins

    @property
    def cells(self) -> int:
        """How many whole numbers are released."""
        return self.table.horizon * self.table.groups * self.numbers

    @property
    def step(self) -> float:
        """The grid on which people or rows are counted."""
        if isinstance(self.way, ByHistogram):
            return self.way.noise.step
        return 1.0 if self.table.measure.whole else _PARTS

    @property
    def reading(self) -> Design:
        """The histogram that is read, as other plans read theirs; its noise says nothing but the grid."""
        grid = Noise("laplace", 1.0, 1.0, self.step)
        return Design(self.table, (grid,), self.epsilon, self.delta, EachPeriod(), White())

    @property
    def cost(self) -> Cost:
        """What the release costs."""
        return self.way.cost(len(self.quantiles))

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        return Claim(self.table.claimed, self.cost, _ARGUMENT)

    @cached_property
    def rank_error(self) -> float:
        """How many ranks a quantile is off on average, beyond what its edges cost; where edges lie evenly."""
        if isinstance(self.way, ByHistogram):
            return self.way.rank_error(self.quantiles, self.bins)
        errors = [_mean_size(row) for row in self._weights(self.way)]
        return math.fsum(errors) / len(errors)

    @cached_property
    def rank_rmse(self) -> float:
        """The root mean squared error of a rank, beyond what its edges cost; where edges lie evenly."""
        if isinstance(self.way, ByHistogram):
            return self.way.rank_rmse(self.quantiles, self.bins)
        squares = [2 * float((row**2).sum()) for row in self._weights(self.way)]
        return math.sqrt(math.fsum(squares) / len(squares))

    def with_ranges(self, whole: float) -> QuantileDesign:
        """Return the design with drawn edges whose ranges are at most so large, as the root of the sum of squares."""
        if not isinstance(self.way, ByChoice):
            return self
        each = whole / math.sqrt(self.way.periods * levels_of(len(self.quantiles)))
        return replace(self, way=replace(self.way, epsilon=min(self.way.epsilon, each)))

    def _weights(self, way: ByChoice) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
        """Return what every choice's own error, a Laplace draw, adds to that of each quantile."""
        found = np.zeros((len(self.quantiles), len(self.quantiles)))
        for step in steps_of(self.quantiles):
            # B = B_low + q' (B_high - B_low) + its own error, so errors of the part's ends come with these weights.
            share = float(step.target)
            if step.low is not None:
                found[step.index] += (1 - share) * found[step.low]
            if step.high is not None:
                found[step.index] += share * found[step.high]
            found[step.index, step.index] += way.spread(step)
        return list(found)

    def rank_bounds(self, level: float) -> tuple[float, ...]:
        """Return how many ranks each quantile is off at most beyond its edges, at a level; of drawn edges only."""
        if not isinstance(self.way, ByChoice):
            raise AssertionError("asked of drawn edges only")
        # All choices on the way to a quantile, at most one a level, keep to their bounds together.
        each = 1 - (1 - level) / levels_of(len(self.quantiles))
        found = [0.0] * len(self.quantiles)
        for step in steps_of(self.quantiles):
            share = float(step.target)
            low = 0.0 if step.low is None else found[step.low]
            high = 0.0 if step.high is None else found[step.high]
            found[step.index] = self.way.shortfall(step, self.bins + 1, each) + (1 - share) * low + share * high
        return tuple(found)


def _mean_size(weights: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Return the mean size of a sum of Laplace draws: between that of one and that of a normal law, by its kurtosis."""
    squares = weights**2
    total = float(squares.sum())
    alone = float((squares**2).sum()) / total**2
    return math.sqrt(2 * total) * (_NORMAL - (_NORMAL - _LAPLACE) * alone)
