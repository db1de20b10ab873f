"""What a computed bound may lack through rounding, added before it is called a bound.

Every quantity here is a product, quotient or sum of positive floats, or the logarithm of one, and takes fewer than 10^5
roundings one after another: its relative error stays below 10^5 · 2^-53 < 2·10^-11. The margin is fifty times that.
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
