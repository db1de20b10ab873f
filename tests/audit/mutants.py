"""Mutants: mechanisms with a classical mistake and the claim they wrongly make, which the auditors must catch."""

from __future__ import annotations

from tests.audit import cases
from tests.audit.registry import Mutant, members

MUTANTS: tuple[Mutant, ...] = tuple(members(cases, "MUTANTS"))
