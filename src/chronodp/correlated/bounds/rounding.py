"""What a computed bound may lack through rounding, added before it is called a bound.

Sums, products and quotients of positive floats, and logarithms away from one, take fewer than 10^5 roundings one after
another here: their relative error stays below 10^5 · 2^-53 < 2·10^-11, and the margin is fifty times that. It covers
nothing else. Where numbers are subtracted, or a logarithm is taken near one, the digits that go are made up for on the
spot, relative to what was subtracted (`influences`, `space_time`, `ratios`, `total_variation`): beside a tiny
probability no margin that is added in the end would do.

The last lines of "Finite precision" in ``docs/explanation/proofs/correlated.md``.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from chronodp.correlated.chain import Floats

__all__ = ["MARGIN", "round_up"]

MARGIN = 1e-9

Number = TypeVar("Number", float, Floats)


def round_up(value: Number) -> Number:
    """Return a number that is no smaller than what was meant, though it was computed in floats.

    >>> round_up(1.0) > 1.0, round_up(0.0)
    (True, 1e-12)
    """
    raised: Number = (
        np.add(np.multiply(value, 1 + MARGIN), 1e-12) if isinstance(value, np.ndarray) else value * (1 + MARGIN) + 1e-12
    )
    return raised
