"""Rounding the leaves of a tree so that the sum of every node is rounded too, by less than one step.

Rounded one by one, n leaves move their sum by up to n/2. Here running totals over the leaves are rounded, and each leaf
gets the difference of two of them. A node's leaves are neighbours, so its sum is the difference of two rounded running
totals as well: each is off by at most 1/2, and not both by 1/2 in opposite ways, so the sum is less than 1 off.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess.columns import Floats

__all__ = ["round_leaves"]

_BITS = 32  # of a fraction: 2^-33 of a step is lost a leaf, and 2^30 leaves add up within 64 bits


def round_leaves(values: Floats) -> NDArray[np.int64]:
    """Return whole numbers, leaves along the last axis: of every run of neighbours the sum is less than 1 away.

    >>> round_leaves(np.array([[0.4, 0.4, 0.4, -0.2]])).tolist()
    [[0, 1, 0, 0]]
    """
    below = np.floor(values)
    fractions = values - below
    fractions *= 2.0**_BITS
    # From here on whole numbers: nothing is rounded, so the argument above holds to the last digit of these fractions.
    running = np.rint(fractions, out=fractions).astype(np.int64)
    np.cumsum(running, axis=-1, out=running)
    running += 2 ** (_BITS - 1)
    running >>= _BITS  # ⌊total + 1/2⌋; whole parts add up by themselves
    out = below.astype(np.int64)
    out += running
    out[..., 1:] -= running[..., :-1]
    return out
