"""Whole numbers P and Q with P / Q just below e^epsilon, so that every choice is a draw of whole numbers.

*Odds* under "Block shuffle" in ``docs/explanation/proofs/temporal.md``: both roundings go down, so that P / Q is never
above e^ε.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_number, decimal_value

__all__ = ["MOST", "Odds", "check_budget", "odds_below"]

MOST = 2**62
"""No draw has more equally likely outcomes: such numbers fit 64 bits with room for a sign."""

_LARGEST = 1e60  # what a cost can hold
_HUGE = 43  # e^43 is above MOST

Odds = tuple[int, int]
"""P and Q: something is P / Q times as likely as one of its alternatives."""


def check_budget(name: str, value: object) -> float:
    """Return a budget of temporal perturbation: from 0 to 1e60, where 0 means that no time is preferred."""
    allowed = f"a finite number from 0 to {_LARGEST:g}"
    number = check_number(name, value, allowed)
    if not 0 <= number <= _LARGEST:
        raise InvalidArgument(name, value, allowed)
    return number


@lru_cache(maxsize=256)
def odds_below(epsilon: float, alternatives: int) -> Odds:
    """Return whole P and Q, with 1 <= P / Q <= e^epsilon and P + Q · alternatives <= `MOST`, as near as that allows.

    Rounded against ourselves: P / Q is never above e^epsilon, neither of the float nor of the number as people write
    it. Below ε = 42 it falls short by less than one part in 2^42 for fewer than 2^20 alternatives.

    >>> odds_below(0.0, 9) == (MOST // 10, MOST // 10)
    True
    """
    exact = min(Fraction(epsilon), decimal_value(epsilon))
    if exact <= 0:
        return MOST // (1 + alternatives), MOST // (1 + alternatives)
    if exact >= _HUGE:
        return MOST - alternatives, 1
    low = _exponential_below(exact)
    whole = max(1, math.floor(MOST / (low + alternatives)))
    return min(max(whole, math.floor(whole * low)), MOST - whole * alternatives), whole


@lru_cache(maxsize=256)
def _exponential_below(x: Fraction) -> Fraction:
    """Return a number below e^x for x > 0, by less than one part in 2^150."""
    from mpmath.ctx_iv import MPIntervalContext

    interval = MPIntervalContext()
    interval.prec = 200
    low = interval.exp(interval.mpf(x.numerator) / x.denominator).a
    sign, mantissa, exponent, _ = low._mpi_[0]
    if sign:
        raise AssertionError("e^x is above 0")
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
