"""Broken twins: mechanisms with a classical mistake, and the claim they wrongly make.

They are shipped so that anyone can see the auditor catch them, and used nowhere else.
"""

from chronodp.audit.twins import catalogue, choices, estimates
from chronodp.audit.twins.catalogue import Twin

TWINS: tuple[Twin, ...] = (*catalogue.TWINS, *choices.CHOICE_TWINS, *estimates.ESTIMATE_TWINS)

__all__ = ["TWINS", "Twin"]
