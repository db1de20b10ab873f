"""Reports over time: when a device answers, what it keeps, and what all of it tells in the end."""

from chronodp.local.longitudinal.lifetime import Lifetime, lifetime_of
from chronodp.local.longitudinal.protocols import (
    Fresh,
    Memoised,
    Protocol,
    Slots,
    WindowAsked,
    WindowBudget,
    WindowPopulation,
)
from chronodp.local.longitudinal.two_levels import TwoLevels, two_levels, worst_losses

__all__ = [
    "Fresh",
    "Lifetime",
    "Memoised",
    "Protocol",
    "Slots",
    "TwoLevels",
    "WindowAsked",
    "WindowBudget",
    "WindowPopulation",
    "lifetime_of",
    "two_levels",
    "worst_losses",
]
