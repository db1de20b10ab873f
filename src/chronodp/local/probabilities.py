"""Odds of an answer in whole numbers, never above e^epsilon.

Every table of this room is made of whole numbers, so that the odds an observer can gain are a ratio of whole numbers.
They are rounded towards noise: the ratio is at most e^epsilon, of the float and of the number as people write it,
and below it by about one part in the smaller weight.

a and b of "One report" in ``docs/explanation/proofs/local.md``: `split_odds` rounds both down, b first, so that a / b
is at most e^ε.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_epsilon, decimal_value

__all__ = ["LARGEST_EPSILON", "WHOLE", "check_local_epsilon", "exponential_below", "split_odds"]

LARGEST_EPSILON = 40.0
"""Beyond it e^epsilon no longer fits the tables; an answer is then as good as the truth."""
WHOLE = 2**62
"""What numerators add up to, or stay below: the vectorised draws take any bound up to it."""

_BITS = 200


def check_local_epsilon(value: object, name: str = "epsilon") -> float:
    """Return an epsilon that a table can hold."""
    epsilon = check_epsilon(value, name)
    if not 1e-6 <= epsilon <= LARGEST_EPSILON:
        raise InvalidArgument(name, value, f"a number from 1e-06 to {LARGEST_EPSILON:g}")
    return epsilon


@lru_cache(maxsize=256)
def exponential_below(epsilon: float) -> Fraction:
    """Return a rational number at most e^epsilon, below it by less than one part in 2^190."""
    import mpmath

    with mpmath.workprec(_BITS):
        least = min(Fraction(epsilon), decimal_value(epsilon))
        scaled = int(mpmath.floor(mpmath.ldexp(mpmath.exp(mpmath.mpf(least.numerator) / least.denominator), _BITS)))
    # Less one part in 2^192, far more than an exponential of 200 digits is off by: below e^epsilon for certain.
    return Fraction(scaled - (scaled >> (_BITS - 8)), 2**_BITS)


def split_odds(epsilon: float, *, likely: int, others: int) -> tuple[int, int]:
    """Return whole weights a, b with a/b ≤ e^epsilon and a · likely + b · others ≤ 2^62.

    >>> a, b = split_odds(1.0, likely=1, others=3)
    >>> f"{a / b:.12f}"
    '2.718281828459'
    """
    odds = exponential_below(epsilon)
    b = int(WHOLE / (odds * likely + others))
    if b < 1:
        raise InvalidArgument("epsilon", epsilon, f"small enough for a table of {likely + others} answers")
    return int(b * odds), b
