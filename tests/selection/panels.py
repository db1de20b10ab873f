"""People whose series follow a known model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from chronodp.selection import Order

ORDERS = tuple(Order(*order) for order in ((0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)))
TRUE = 2
"""The place of the order that the series have."""


def second_order_people(people: int, length: int, seed: int) -> NDArray[np.float64]:
    """Return series x_t = 1.1 x_{t-1} - 0.5 x_{t-2} + e_t, one row a person."""
    shocks = np.random.default_rng(seed).normal(size=(people, length + 50))
    series: NDArray[np.float64] = lfilter([1.0], [1.0, -1.1, 0.5], shocks, axis=1)[:, 50:]
    return series
