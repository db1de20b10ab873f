"""Broken twins: mechanisms with a classical mistake, and the claim they wrongly make.

They are shipped so that anyone can see the auditor catch them, and used nowhere else.
"""

from chronodp.audit.twins import alerts, budgets, catalogue, choices
from chronodp.audit.twins.catalogue import Twin

TWINS: tuple[Twin, ...] = (
    *catalogue.TWINS,
    *alerts.ALERT_TWINS,
    *choices.CHOICE_TWINS,
    *budgets.BUDGET_TWINS,
)

__all__ = ["TWINS", "Twin"]
