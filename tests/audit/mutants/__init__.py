"""Mutants: mechanisms with a classical mistake, and the claim they wrongly make.

They show that the auditors catch them. Each module lists its own in ``MUTANTS``; they are found, not listed here.
"""

import sys

from tests.audit.mutants.mutant import Mutant
from tests.audit.registry import members

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: tuple[Mutant, ...] = tuple(members(sys.modules[__name__], "MUTANTS"))
