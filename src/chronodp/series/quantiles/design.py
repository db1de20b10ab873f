"""Quantiles as they are designed: everything public about them, fixed before any data is read."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

from chronodp.privacy import Claim, Cost, document
from chronodp.series.design import Design
from chronodp.series.noise import Noise
from chronodp.series.quantiles.choices import ByChoice
from chronodp.series.quantiles.histograms import ByHistogram
from chronodp.series.shapes.toeplitz import White
from chronodp.series.table import Table
from chronodp.series.workloads import EachPeriod

__all__ = ["QuantileDesign"]

_ARGUMENT = "docs/explanation/proofs/quantiles.md"
_PARTS = 2.0**-10  # of a row, where rows are weighed and bins drawn


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
        """Whether quantiles are drawn bins, and not read from a histogram."""
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
        """How many ranks a quantile is off on average, beyond what its bins cost; where these lie evenly."""
        if isinstance(self.way, ByHistogram):
            return self.way.rank_error(self.quantiles, self.bins)
        # Laplace's law, whose mean size is its scale.
        return math.fsum(map(self.way.spread, self.quantiles)) / len(self.quantiles)

    @cached_property
    def rank_rmse(self) -> float:
        """The root mean squared error of a rank, beyond what its bins cost; where these lie evenly."""
        if isinstance(self.way, ByHistogram):
            return self.way.rank_rmse(self.quantiles, self.bins)
        squares = [2 * self.way.spread(q) ** 2 for q in self.quantiles]
        return math.sqrt(math.fsum(squares) / len(squares))

    def with_ranges(self, whole: float) -> QuantileDesign:
        """Return the design with drawn bins whose ranges are at most so large, as the root of the sum of squares."""
        if not isinstance(self.way, ByChoice):
            return self
        each = whole / math.sqrt(self.way.periods * len(self.quantiles))
        return replace(self, way=replace(self.way, epsilon=min(self.way.epsilon, each)))
