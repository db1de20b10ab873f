"""Numbers as people write them, exactly, and floats that are safe to use for them.

Numbers "as people write them" and rounding "against the spender": *Finite precision* of
``docs/explanation/proofs/accounting.md`` and *Rounding* of ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

__all__ = ["at_least", "decimal_value"]


@lru_cache(maxsize=1024)
def decimal_value(number: float) -> Fraction:
    """Return a number as people write it: 0.1 is one tenth, though no float is.

    >>> decimal_value(0.1)
    Fraction(1, 10)
    """
    return Fraction(Decimal(repr(float(number))))  # the same as of the text itself, which is read slowly


@lru_cache(maxsize=1024)  # streams ask for the same noise at every step
def at_least(exact: Fraction) -> float:
    """Return the least float that is not below a number.

    >>> Fraction(at_least(Fraction(1, 3))) >= Fraction(1, 3)
    True
    """
    found = float(exact)  # to the nearest, so it may lie below: then the next float is the least one above
    return found if Fraction(found) >= exact else math.nextafter(found, math.inf)
