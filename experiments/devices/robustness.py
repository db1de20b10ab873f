"""How far devices that lie could move an estimate.

Whoever controls a part of the reports can send any answer of valid shape. Noise hides each honest answer, so answers
are stretched to be unbiased, and a lie is stretched with them: the smaller ε, the more it weighs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.local.numbers import Number
from chronodp.local.plan import LocalPlan
from chronodp.privacy import check_kind, check_number

__all__ = ["Influence", "influence_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Influence:
    """What the whole of the reports could do if all lied: a part of them does as large a part of it.

    Attributes:
        up: the most an estimate rises.
        down: the most it falls.
    """

    up: float
    down: float

    def widen(self, lower: Floats, upper: Floats, lying: float) -> tuple[Floats, Floats]:
        """Return the interval with the truth in it if a part ``lying`` of the reports lies as it likes.

        Estimates may have been moved up, so the truth may lie below by as much, and the other way round. It is a
        part of reports, not of devices: where reports cannot be linked, one device may send many.
        """
        part = check_number("lying", lying, "a number from 0 to 1")
        if not 0 <= part <= 1:
            raise InvalidArgument("lying", lying, "a number from 0 to 1")
        return lower - part * self.up, upper + part * self.down

    def of_changes(self) -> Influence:
        """Return the influence on a difference of two slots, if the same part lies in both."""
        both = self.up + self.down
        return Influence(both, both)


def influence_of(plan: LocalPlan) -> Influence:
    """Return how far lies can move the estimates of a plan, in all.

    For frequencies a liar always names a value that it lacks, (1 - q)/(p - q), or never one that it has, p/(p - q); for
    means it sends the largest amount for the least value, or the least for the largest.

    >>> from chronodp.local import Fresh, LocalPlan, RandomizedResponse
    >>> quiet, loud = (LocalPlan("x", RandomizedResponse(epsilon=e), Fresh(1)) for e in (0.1, 3.0))
    >>> round(influence_of(quiet).up, 1), round(influence_of(loud).up, 2)
    (10.5, 1.05)
    """
    check_kind("plan", plan, LocalPlan, "a LocalPlan")
    if isinstance(plan.mechanism, Number):
        least, most = plan.mechanism.amount_bounds()
        lower, upper = plan.mechanism.clip
        return Influence(most - lower, upper - least)
    law = plan.law
    return Influence(float(1 - law.chance) / law.spread, float(law.truth) / law.spread)
