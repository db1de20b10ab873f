"""Costs in, guarantees out: every composition theorem, calibration, and what a loss means to an adversary.

Each theorem is a module with the same call, ``epsilon(costs, delta)``. None of them knows a mechanism.
"""

from chronodp.accounting import advanced, adversary, basic, gaussian, optimal, pld, renyi, sampled, zcdp
from chronodp.accounting.calibration import Accountant, calibrate, most_releases
from chronodp.accounting.comparison import Bound, Comparison, compare
from chronodp.accounting.group_privacy import enlarge, group
from chronodp.accounting.loss_variable import LossVariable, loss
from chronodp.accounting.spending import Costs, Spending, gather

__all__ = [
    "Accountant",
    "Bound",
    "Comparison",
    "Costs",
    "LossVariable",
    "Spending",
    "advanced",
    "adversary",
    "basic",
    "calibrate",
    "compare",
    "enlarge",
    "gather",
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
