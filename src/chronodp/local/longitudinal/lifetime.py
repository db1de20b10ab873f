"""What a device gives away over time, in three numbers and a word.

The bounds of "Over time" in ``docs/explanation/proofs/local.md``: *Fresh answers*, and *Same pattern* and *Any pattern*
of kept ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import assert_never

from chronodp.local.longitudinal.protocols import (
    Fresh,
    Memoised,
    Protocol,
    Slots,
    WindowAsked,
    WindowBudget,
    WindowPopulation,
)
from chronodp.local.longitudinal.two_levels import LONGEST_EXACT, TwoLevels, worst_losses
from chronodp.privacy import at_least, decimal_value

__all__ = ["Lifetime", "lifetime_of", "times"]


@dataclass(frozen=True, slots=True)
class Lifetime:
    """What all reports of one device tell, at worst.

    Attributes:
        report: epsilon of one report seen alone.
        same_pattern: epsilon of all reports, between histories that hold equal values at the same times; for counters
            rounded to a bit, between those that cross every threshold at the same times.
        any_pattern: epsilon of all reports, between any two histories; infinite if there is no bound.
        linkable: whether reports themselves show that they come from one device. That they arrive over one connection,
            at one time or from one address is not seen here.
    """

    report: float
    same_pattern: float
    any_pattern: float
    linkable: bool

    def __str__(self) -> str:
        bound = "without bound" if math.isinf(self.any_pattern) else f"ε = {self.any_pattern:.4g}"
        alike = "without bound" if math.isinf(self.same_pattern) else f"ε = {self.same_pattern:.4g}"
        linked = "can be linked to one device" if self.linkable else "cannot be linked by what they say"
        return (
            f"one report ε = {self.report:.4g}; all reports {bound} between any two histories, {alike} between "
            f"histories that change at the same times; reports {linked}"
        )


def lifetime_of(epsilon: float, protocol: Protocol, levels: TwoLevels | None) -> Lifetime:
    """Return what a device gives away under a protocol whose single reports have ``epsilon``."""
    match protocol:
        case Fresh(horizon=horizon):
            return Lifetime(epsilon, times(horizon, epsilon), times(horizon, epsilon), linkable=False)
        case Slots(reports=reports):
            return Lifetime(epsilon, times(reports, epsilon), times(reports, epsilon), linkable=False)
        case Memoised():
            if levels is None:
                raise AssertionError("kept answers have two levels")
            return _kept(epsilon, protocol, levels)
        case WindowPopulation():
            # A device's reports share their place in the window, slot mod w.
            return Lifetime(epsilon, math.inf, math.inf, linkable=True)
        case WindowBudget() | WindowAsked():
            return Lifetime(epsilon, math.inf, math.inf, linkable=False)
        case never:
            assert_never(never)


def _kept(epsilon: float, protocol: Memoised, levels: TwoLevels) -> Lifetime:
    horizon = protocol.horizon
    if levels.choices == 2 and horizon <= LONGEST_EXACT and protocol.max_values in (None, 2):
        same, different = worst_losses(levels, horizon)
        # Rounded up by more than the floats in it can be wrong: chances relatively, and logarithms near 0 absolutely.
        same, different = (loss * (1 + 1e-13) + 1e-14 for loss in (same, different))
        return Lifetime(epsilon, same, max(same, different), linkable=True)
    distinct = min(levels.choices, horizon, protocol.max_values or levels.choices)
    bound = levels.report_bound
    reports = bound if math.isinf(bound) else times(horizon, bound * (1 + 1e-13) + 1e-14)
    return Lifetime(epsilon, min(times(distinct, protocol.permanent_epsilon), reports), reports, linkable=True)


def times(count: int, epsilon: float) -> float:
    """Return so many times an epsilon, as a float that is not below the product as people write it.

    Tables keep to the smaller of the float and the number that is written (`split_odds`).

    >>> times(3, 0.1)
    0.30000000000000004
    """
    return at_least(count * decimal_value(epsilon))
