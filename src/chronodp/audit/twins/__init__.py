"""Broken twins: mechanisms with a classical mistake, and the claim they wrongly make.

They are shipped so that anyone can see the auditor catch them, and used nowhere else.
"""

from chronodp.audit.twins import catalogue
from chronodp.audit.twins.catalogue import Twin
from chronodp.audit.twins.correlated import CORRELATED

__all__ = ["TWINS", "Twin"]

TWINS: tuple[Twin, ...] = (*catalogue.TWINS, *CORRELATED)
