"""Each person's gradient as whole numbers of bounded length, from that gradient alone.

Lengths are compared in exact integer arithmetic, so that what one person adds to a sum is bounded whatever floats do,
and no rounding depends on who else is in the sample.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["whole_rows"]


def whole_rows(gradients: NDArray[np.floating], *, clip: float, resolution: int) -> NDArray[np.float64]:
    """Return rows of whole numbers, each a person's gradient cut to l2 length ``clip``, in steps of clip / resolution.

    k = trunc(g min(1, clip / length) resolution / clip), where length is that of g, rounded up. Truncation towards 0
    makes no row longer. A row that is not finite becomes 0.

    Guarantee: sum of k^2 <= resolution^2 in exact arithmetic; a row of the result depends on the same row only.

    >>> whole_rows(np.array([[3.0, 4.0], [0.3, 0.0]]), clip=1.0, resolution=1000).tolist()
    [[599.0, 799.0], [299.0, 0.0]]
    """
    rows = np.asarray(gradients, dtype=np.float64)
    size = rows.shape[1]
    largest = np.abs(rows).max(axis=1, initial=0.0)
    usable = np.isfinite(largest) & (largest > 0)
    rows = np.where(usable[:, None], rows, 0.0)
    largest = np.where(usable, largest, 1.0)[:, None]
    # Squares of numbers of so many bits add up below 2^53, which floats do without rounding, in any order.
    bits = (52 - math.ceil(math.log2(size))) // 2 if size > 1 else 26
    coarse = np.rint(rows / largest * 2.0**bits)
    # Rounding took at most √size / 2 off the length.
    reach = (np.sqrt(_squares(coarse)) + math.sqrt(size) / 2) * 2.0**-bits * (1 + 2.0**-40)
    with np.errstate(over="ignore"):
        factor = resolution * np.minimum(1 / clip, 1 / (reach * largest)) * (1 - 2.0**-40)
    whole = np.trunc(rows * factor)
    # Never so in practice; it makes the bound a fact of integers.
    whole[(_squares(whole) > float(resolution) ** 2)[:, 0]] = 0.0
    return whole


def _squares(whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of squares of each row of whole numbers, as a column; exact below 2^53."""
    summed: NDArray[np.float64] = np.einsum("ij,ij->i", whole, whole)[:, None]
    return summed
