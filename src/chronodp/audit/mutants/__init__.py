"""Mutants: mechanisms with a classical mistake, and the claim they wrongly make.

They are shipped so that anyone can see the auditors catch them, and used nowhere else. Each module lists its own in
``MUTANTS``; they are found, not listed here.
"""

import sys

from chronodp.audit.mutants.mutant import Mutant
from chronodp.audit.registry import members

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: tuple[Mutant, ...] = tuple(members(sys.modules[__name__], "MUTANTS"))
