"""A release as it is designed: everything public about it, fixed before any data is read.

The plan's design of the *Argument* in ``docs/explanation/proofs/release.md``: computed from declared things alone,
before the data is opened.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from chronodp.accounting import basic, gaussian, renyi
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.postprocess.hierarchy import TreeCovariance
from chronodp.privacy import LATER, Claim, Cost, RepeatedCost, document
from chronodp.selection.keys import PublishedCounts
from chronodp.series.found import Found
from chronodp.series.life import Life
from chronodp.series.missing import MissingDesign
from chronodp.series.noise import Noise, cost_of
from chronodp.series.places import covariance_of, spread_of
from chronodp.series.shapes.errors import Errors, errors_of
from chronodp.series.shaping import ReleasedShape
from chronodp.series.split import Split
from chronodp.series.table import Table
from chronodp.series.workloads import Workload

__all__ = ["Design"]

_ARGUMENT = "docs/explanation/proofs/release.md"
_ARGUMENT_OF_PRESENCE = "docs/explanation/proofs/active-people.md"
_ARGUMENT_OF_STEPS = "docs/explanation/proofs/finding.md"
_ARGUMENT_OF_PLACES = "docs/explanation/proofs/places.md"
_ARGUMENT_OF_KEYS = "docs/explanation/proofs/keys.md"
_ARGUMENT_OF_LIVES = "docs/explanation/proofs/lifetime.md"


@document("design")
@dataclass(frozen=True)
class Design:
    """A table, the noise that goes on it, and the guarantee that follows.

    Attributes:
        table: what is released.
        noises: of each kind of numbers, before they are shaped.
        epsilon: of the guarantee.
        delta: of the guarantee.
        tuned_for: what the error was made small for.
        shape: how the noise of one period hangs together with that of others.
        split: what each private step costs, where there are several.
        found: the bounds of the table that were found, and not declared.
        missing: the figure of what bounds take away, if there is one.
        measured: of a tree of places, the levels that ``noises`` are of, leaves first; 0 is the root.
        life: of an issue of a lifetime series, what it takes of a life; ``noises`` then hide one person in all issues.
    """

    table: Table
    noises: tuple[Noise, ...]
    epsilon: float
    delta: float
    tuned_for: Workload
    shape: ReleasedShape
    split: Split | None = field(default=None, metadata=LATER)
    found: Found | None = field(default=None, metadata=LATER)
    missing: MissingDesign | None = field(default=None, metadata=LATER)
    measured: tuple[int, ...] | None = field(default=None, metadata=LATER)
    life: Life | None = field(default=None, metadata=LATER)

    def __post_init__(self) -> None:
        levels = self.table.levels
        if (levels is None) != (self.measured is None):
            raise InvalidArgument("measured", self.measured, "given with the levels of places, and not without")
        if levels is None or self.measured is None:
            return
        last = levels.tree.levels - 1
        falling = all(one > other for one, other in pairwise(self.measured))
        if not falling or len(self.measured) != len(self.noises) or not self.measured or self.measured[-1] < 0:
            raise InvalidArgument("measured", self.measured, "levels with a noise each, the leaves first")
        if self.measured[0] != last or len({noise.step for noise in self.noises}) > 1:
            raise InvalidArgument("measured", self.measured, f"levels from {last}, the leaves, on one grid")

    @property
    def law(self) -> Law:
        """Laplace or Gaussian."""
        return self.noises[0].law

    @cached_property
    def cost(self) -> Cost:
        """What the release costs, with the private steps before it; of an issue, what its series was bought for."""
        if self.life is not None and self.life.asks is not None:
            return self.life.asks.cost
        return cost_of(self.noises) if self.split is None else self.split.cost

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        argument = _ARGUMENT if self.table.presence is None else _ARGUMENT_OF_PRESENCE
        if self.table.measure.norm is not None:
            argument = _ARGUMENT_OF_STEPS
        if self.measured is not None:
            argument = _ARGUMENT_OF_PLACES
        if self.split is not None:
            argument = _ARGUMENT_OF_STEPS if self.split.keys is None else _ARGUMENT_OF_KEYS
        if self.life is not None:
            argument = _ARGUMENT_OF_LIVES
        return Claim(self.table.claimed, self.cost, argument)

    @property
    def counts_decide(self) -> bool:
        """Whether keys were published because of the very numbers that are: so there are no small ones."""
        return self.split is not None and isinstance(self.split.keys, PublishedCounts)

    @cached_property
    def errors(self) -> Errors:
        """The root mean squared error of what it was tuned for: on average, and at worst."""
        unit = errors_of(self.tuned_for, self.shape, self.table.horizon)
        covariance, levels = self.place_covariance, self.table.levels
        if covariance is not None and levels is not None:
            mean, worst = spread_of(covariance, levels.weights)
            return Errors(unit.rmse_mean * mean, unit.rmse_max * worst)
        deviation = self.noises[0].deviation
        return Errors(unit.rmse_mean * deviation, unit.rmse_max * deviation)

    @cached_property
    def place_covariance(self) -> TreeCovariance | None:
        """The covariance of all nodes of a tree of places in one period of white noise; None without a tree."""
        if self.table.levels is None or self.measured is None:
            return None
        return covariance_of(self.table.levels.tree, self.noises, self.measured)

    def epsilon_of(self, releases: int, delta: float) -> float:
        """Return epsilon after so many such releases about the same people."""
        costs = RepeatedCost(self.cost, releases)
        if self.law == "gaussian":
            return gaussian.epsilon(costs, delta)
        plain = basic.epsilon(costs, 0.0)
        return min(plain, renyi.epsilon(costs, delta)) if delta else plain
