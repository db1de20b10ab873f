"""Costs in, guarantees out: every composition theorem, calibration, and what a loss means to an adversary.

Each theorem is a module with the same call, ``epsilon(costs, delta)``. None of them knows a mechanism.
"""

from chronodp.accounting import advanced, adversary, basic, gaussian, optimal, pld, renyi, sampled, zcdp
from chronodp.accounting.calibration import calibrate, most_releases
from chronodp.accounting.comparison import Bound as Bound, Comparison as Comparison, compare
from chronodp.accounting.group_privacy import enlarge, group
from chronodp.accounting.loss_variable import LossVariable as LossVariable, loss
from chronodp.accounting.prices import epsilon_at as epsilon_at, price_words as price_words
from chronodp.accounting.rounding import sum_up as sum_up
from chronodp.accounting.spending import (
    Costs as Costs,
    Spending as Spending,
    exact_loss as exact_loss,
    gather as gather,
)

__all__ = [
    "advanced",
    "adversary",
    "basic",
    "calibrate",
    "compare",
    "enlarge",
    "gaussian",
    "group",
    "loss",
    "most_releases",
    "optimal",
    "pld",
    "renyi",
    "sampled",
    "zcdp",
]
