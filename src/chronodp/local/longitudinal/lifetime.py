"""What a device gives away over time, in three numbers and a word."""

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

__all__ = ["Lifetime", "lifetime_of"]


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
            return Lifetime(epsilon, horizon * epsilon, horizon * epsilon, linkable=False)
        case Slots(reports=reports):
            return Lifetime(epsilon, reports * epsilon, reports * epsilon, linkable=False)
        case Memoised():
            if levels is None:
                raise AssertionError("kept answers have two levels")
            return _kept(epsilon, protocol, levels)
        case WindowBudget() | WindowPopulation() | WindowAsked():
            return Lifetime(epsilon, math.inf, math.inf, linkable=False)
        case never:
            assert_never(never)


def _kept(epsilon: float, protocol: Memoised, levels: TwoLevels) -> Lifetime:
    horizon = protocol.horizon
    if levels.choices == 2 and horizon <= LONGEST_EXACT and protocol.max_values in (None, 2):
        same, different = worst_losses(levels, horizon)
        # Rounded up by more than the floats in it can be wrong.
        return Lifetime(epsilon, same * (1 + 1e-13), max(same, different) * (1 + 1e-13), linkable=True)
    distinct = min(levels.choices, horizon, protocol.max_values or levels.choices)
    reports = horizon * levels.report_bound
    return Lifetime(epsilon, min(distinct * protocol.permanent_epsilon, reports), reports, linkable=True)
