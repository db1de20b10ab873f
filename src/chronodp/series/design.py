"""A release as it is designed: everything public about it, fixed before any data is read.

The plan's design of the *Argument* in ``docs/explanation/proofs/release.md``: computed from declared things alone,
before the data is opened.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from chronodp.accounting import basic, gaussian, renyi
from chronodp.postprocess import Law
from chronodp.privacy import (
    LATER,
    Claim,
    Cost,
    RepeatedCost,
    document,
)
from chronodp.series.found import Found
from chronodp.series.missing import MissingDesign
from chronodp.series.noise import Noise, cost_of
from chronodp.series.shapes.errors import Errors, errors_of
from chronodp.series.shaping import ReleasedShape
from chronodp.series.split import Split
from chronodp.series.table import Table
from chronodp.series.workloads import Workload

__all__ = ["Design"]

_ARGUMENT = "docs/explanation/proofs/release.md"
_ARGUMENT_OF_STEPS = "docs/explanation/proofs/finding.md"
_ARGUMENT_OF_KEYS = "docs/explanation/proofs/keys.md"


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

    @property
    def law(self) -> Law:
        """Laplace or Gaussian."""
        return self.noises[0].law

    @property
    def cost(self) -> Cost:
        """What the release costs, with the private steps before it."""
        return cost_of(self.noises) if self.split is None else self.split.cost

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        argument = _ARGUMENT
        if self.split is not None:
            argument = _ARGUMENT_OF_STEPS if self.split.keys is None else _ARGUMENT_OF_KEYS
        return Claim(self.table.claimed, self.cost, argument)

    @cached_property
    def errors(self) -> Errors:
        """The root mean squared error of what it was tuned for: on average, and at worst."""
        unit = errors_of(self.tuned_for, self.shape, self.table.horizon)
        deviation = self.noises[0].deviation
        return Errors(unit.rmse_mean * deviation, unit.rmse_max * deviation)

    def epsilon_of(self, releases: int, delta: float) -> float:
        """Return epsilon after so many such releases about the same people."""
        costs = RepeatedCost(self.cost, releases)
        if self.law == "gaussian":
            return gaussian.epsilon(costs, delta)
        plain = basic.epsilon(costs, 0.0)
        return min(plain, renyi.epsilon(costs, delta)) if delta else plain
