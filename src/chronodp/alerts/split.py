"""How a budget is shared between the threshold and the alerts.

*Split* of ``docs/explanation/proofs/alerts.md``; ε₀ + c ε₁ is rounded up where it is stated, and ε₁ down where it is
chosen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from chronodp.privacy import check_epsilon, check_flag, check_whole, decimal_value, document, settle

__all__ = ["Split", "best_split", "float_above"]


@document("alert_split")
@dataclass(frozen=True, slots=True)
class Split:
    """What the noisy threshold costs once, and what every alert costs: ε₀ + c ε₁ in all.

    Attributes:
        threshold: ε₀.
        alert: ε₁.

    >>> Split(threshold=0.5, alert=0.25).total(max_alerts=3)
    1.25
    """

    threshold: float
    alert: float

    def __post_init__(self) -> None:
        settle(self, threshold=check_epsilon(self.threshold, "threshold"), alert=check_epsilon(self.alert, "alert"))

    def exact(self, max_alerts: int) -> Fraction:
        """Return ε₀ + c ε₁ of the numbers as people write them."""
        return decimal_value(self.threshold) + max_alerts * decimal_value(self.alert)

    def total(self, max_alerts: int) -> float:
        """Return ε₀ + c ε₁, rounded up."""
        return float_above(self.exact(max_alerts))


def best_split(epsilon: float, *, max_alerts: int, monotone: bool) -> Split:
    """Return the split whose comparisons have the least variance.

    ε₀ : c ε₁ = 1 : (2c)^(2/3), for monotone values 1 : c^(2/3), where c is the number of alerts. The variance of a
    comparison is then 2 (1 + (2c)^(2/3))³ / ε² for Laplace noise and half of it for exponential noise, in units of
    change².

    References:
        Lyu, Su, Li (2017), Understanding the sparse vector technique for differential privacy, section 4.2.

    >>> best_split(1.0, max_alerts=1, monotone=True)
    Split(threshold=0.5, alert=0.5)
    """
    epsilon = check_epsilon(epsilon)
    max_alerts = check_whole("max_alerts", max_alerts)
    check_flag("monotone", monotone)
    weight = (max_alerts if monotone else 2 * max_alerts) ** (2 / 3)
    threshold = epsilon / (1 + weight)
    alert = (epsilon - threshold) / max_alerts
    whole = decimal_value(epsilon)
    while decimal_value(threshold) + max_alerts * decimal_value(alert) > whole:  # what rounding added is taken back
        alert = math.nextafter(alert, 0.0)
    return Split(threshold, alert)


def float_above(exact: Fraction) -> float:
    """Return the least float that, as written, is not below a number."""
    found = float(exact)
    while decimal_value(found) < exact:
        found = math.nextafter(found, math.inf)
    return found
