"""How far a library's functions may be off in what a test compares.

Sums, products and square roots are rounded once each, by at most u = 2^-53 of the result (IEEE 754). Exponentials,
logarithms and the like have no such rule: a test that asks for their last bit fails on another machine.
"""

from __future__ import annotations

__all__ = ["FUNCTION", "UNIT"]

UNIT = 2.0**-53
FUNCTION = 8 * UNIT
"""Relative: four units in the last place. The GNU C library aims at "a few" for exp, log, erf; four is our choice."""
