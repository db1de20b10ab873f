"""Broken twins: mechanisms with a classical mistake, and the claim they wrongly make.

They are shipped so that anyone can see the auditor catch them, and used nowhere else.
"""

from chronodp.audit.twins.catalogue import TWINS
from chronodp.audit.twins.twin import Twin

__all__ = ["TWINS", "Twin"]
