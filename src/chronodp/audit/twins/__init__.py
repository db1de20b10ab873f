"""Broken twins: mechanisms with a classical mistake, and the claim they wrongly make.

They are shipped so that anyone can see the auditor catch them, and used nowhere else.
"""

from chronodp.audit.twins import (
    alerts,
    budgets,
    catalogue,
    choices,
    correlated,
    devices,
    estimates,
    live,
    temporal,
    training,
)
from chronodp.audit.twins.twin import Twin

__all__ = ["TWINS", "Twin"]

TWINS: tuple[Twin, ...] = (
    *catalogue.TWINS,
    *alerts.TWINS,
    *budgets.TWINS,
    *choices.TWINS,
    *correlated.TWINS,
    *devices.TWINS,
    *estimates.TWINS,
    *live.TWINS,
    *temporal.TWINS,
    *training.TWINS,
)
