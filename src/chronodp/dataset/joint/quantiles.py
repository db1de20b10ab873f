"""Quantiles among queries that are planned together; their errors are of ranks.

*Quantiles* under "Composition" of ``docs/explanation/proofs/sharing-a-budget.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from chronodp.dataset.joint.series import same_origin
from chronodp.dataset.joint.sharing import Following, PlanPart, Shareable, terms_of
from chronodp.ledger import Dates
from chronodp.postprocess import Law
from chronodp.privacy import Unit
from chronodp.series import EachPeriod, Origin, QuantilePlan, Table, make_quantile_plan, rank_change

__all__ = ["QuantilePart", "SharedQuantiles"]

# The tangent at 0 of 2 ln(Φ(μ/2) / Φ(-μ/2)), which is convex: a choice never has a wider range than its share pays.
_RANGE = 2 * math.sqrt(2 / math.pi) * (1 - 1e-12)


@dataclass(frozen=True, slots=True)
class SharedQuantiles:
    """A table whose quantiles are to be released and where its counts come from."""

    table: Table
    origin: Origin

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self.table.claimed

    @property
    def numbers(self) -> int:
        """How many quantiles are asked for, of all periods and groups."""
        return self.table.horizon * self.table.groups * len(self.table.measure.asked_quantiles)

    @property
    def scale(self) -> float:
        """The most that one unit adds to a rank."""
        return rank_change(self.table)

    def at(self, law: Law, share: float) -> QuantilePart | None:
        """Return its plan at a share: of the ways with this law the one whose ranks err least, squared."""
        epsilon, delta = terms_of(law, share)
        plan = make_quantile_plan(
            self.table, self.origin, epsilon=epsilon, delta=delta, tuned_for=EachPeriod(), missing=None
        )
        designs = [one for one in (plan.design, *plan.others) if one.delta == delta]
        if law == "gaussian":
            designs = [one.with_ranges(_RANGE * share) for one in designs]
        if not designs:
            return None
        return QuantilePart(replace(plan, design=min(designs, key=lambda one: one.rank_rmse), others=()))

    def follows_from(self, other: Shareable) -> Following | None:
        """Return how it follows from other quantiles: it is the same."""
        if not isinstance(other, SharedQuantiles) or not same_origin(self.origin, other.origin):
            return None
        return Following(1.0, None) if self.table == other.table else None

    def __str__(self) -> str:
        return self.table.released + (f"; {self.table.calendar}" if self.table.calendar is not None else "")


@dataclass(frozen=True, slots=True)
class QuantilePart(PlanPart):
    """Quantiles planned at their share."""

    plan: QuantilePlan

    @property
    def drawn(self) -> bool:
        """Whether bins are drawn, and not read from a histogram."""
        return self.plan.design.drawn

    @property
    def rmse(self) -> float:
        """The root mean squared error of one rank, beyond what bins cost; where these lie evenly."""
        return self.plan.design.rank_rmse

    @property
    def dates(self) -> Dates | None:
        """When its data begin and end."""
        return self.plan.design.table.span
