"""Tries to refute every claim: the exact auditor and the broken twins it must catch."""

from chronodp.audit import devices, exact, twins

__all__ = ["devices", "exact", "twins"]
