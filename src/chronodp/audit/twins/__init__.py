"""Broken twins: mechanisms with a classical mistake, and the claim they wrongly make.

They are shipped so that anyone can see the auditors catch them, and used nowhere else. Each module lists its own in
``TWINS``; they are found, not listed here.
"""

import sys

from chronodp.audit.registry import members
from chronodp.audit.twins.twin import Twin

__all__ = ["TWINS", "Twin"]

TWINS: tuple[Twin, ...] = tuple(members(sys.modules[__name__], "TWINS"))
