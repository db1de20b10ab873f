"""Rounding against ourselves: floats err by stated units of 2^-53, and each result is moved that far to the safe side.

Which formula needs how many units, and why: ``docs/explanation/proofs/accounting.md``, finite precision.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from fractions import Fraction

from chronodp.privacy import decimal_value

__all__ = ["TINY", "UNIT", "down", "product", "sum_up", "times_up", "up", "written_up"]

UNIT = 2.0**-53
"""The most, relative, that one operation on floats is off by."""
TINY = sys.float_info.min
"""No probability is said to be below it: smaller floats have lost digits."""

_LONGEST, _FINEST = 4096, 1120  # bits of a denominator, and of what takes its place


def up(value: float, units: float) -> float:
    """Return a number above every truth that a float >= 0 may stand for if it is off by ``units`` of 2^-53."""
    # Four more than asked for: the factor and the product are rounded themselves, and units may be a rounded number.
    return value * (1 + (units + 4) * UNIT)


def down(value: float, units: float) -> float:
    """Return a number below every truth that a float >= 0 may stand for if it is off by ``units`` of 2^-53."""
    return value * (1 - (units + 4) * UNIT)


def times_up(times: int, value: float) -> float:
    """Return ``times`` values >= 0 together, infinite where floats end; off by 2 units."""
    try:
        return times * value
    except OverflowError:  # the number alone is beyond floats
        return math.inf if value else 0.0


def product(times: int, value: float) -> float:
    """Return the least float that, as people write it, is not below ``times`` the number as they write it.

    >>> product(3, 0.1)
    0.3
    """
    return written_up(times * decimal_value(value))


def sum_up(parts: Iterable[Fraction]) -> Fraction:
    """Return the sum of numbers >= 0: exact while its denominator is small, else 2^-1100 above it or less."""
    total = Fraction(0)
    for part in parts:
        total += part
        if total.denominator.bit_length() > _LONGEST:
            # Up, to a step far below any float: the denominator of a long sum would be the product of all of them.
            total = Fraction(math.ceil(total * 2**_FINEST), 2**_FINEST)
    return total


def written_up(exact: Fraction) -> float:
    """Return the least float that, as people write it, is not below a number >= 0; infinite where floats end."""
    try:
        found = float(exact)
    except OverflowError:
        return math.inf
    while math.isfinite(found) and decimal_value(found) < exact:
        found = math.nextafter(found, math.inf)
    return found
