"""How far floating point may be off, by an argument: what a test allows a library, and no more.

Products, sums and square roots are rounded once each, by at most u = 2^-53 of the result (IEEE 754). The order of a
sum, fused products and vector instructions are the library's own choice, so that a test may lean on none of them.
"""

from __future__ import annotations

__all__ = ["FUNCTION", "UNIT", "eliminated", "summed"]

UNIT = 2.0**-53
FUNCTION = 8 * UNIT
"""Relative: four units in the last place, within which numpy and C libraries keep exp, log, erf and the like."""


def summed(terms: int) -> float:
    """Return the most, relative, by which a sum or a length of so many terms of one sign is off, in any order."""
    return (2 * terms + 64) * UNIT


def eliminated(size: int) -> float:
    """Return the most, relative, of each entry of a stationary law found by elimination without subtractions.

    O'Cinneide (1993), Entrywise perturbation theory and error analysis for Markov chains: 2 n³ u and lower orders.
    """
    return (2 * size**3 + 64) * UNIT
