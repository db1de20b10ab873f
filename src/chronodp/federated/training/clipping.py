"""Each person's gradient as whole numbers of bounded length, from that gradient alone.

Lengths are compared in exact integer arithmetic, so that what one person adds to a sum is bounded whatever floats do,
and no rounding depends on who else is in the sample.

‖k_p‖₂ ≤ R of "One step" in ``docs/explanation/proofs/private-training.md``, and the last sentence of "No bit depends on
the others".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["whole_rows"]


def whole_rows(gradients: NDArray[np.floating], *, clip: float, resolution: int) -> NDArray[np.float64]:
    """Return rows of whole numbers, each a person's gradient cut to l2 length ``clip``, in steps of clip / resolution.

    The nearest whole numbers to g min(1, clip / length) resolution / clip, where length is that of g; if rounding made
    them too long, they are cut towards 0 instead, which makes nothing longer. A row that is not finite becomes 0.

    Guarantee: the sum of squares of a row is at most resolution^2, in exact arithmetic; a row of the result depends on
    the same row only.

    >>> whole_rows(np.array([[3.0, 4.0], [0.3, 0.0]]), clip=1.0, resolution=1000).tolist()
    [[600.0, 800.0], [300.0, 0.0]]
    """
    rows = np.asarray(gradients, dtype=np.float64)
    size = rows.shape[1]
    largest = np.abs(rows).max(axis=1, initial=0.0)
    usable = np.isfinite(largest) & (largest > 0)
    rows = np.where(usable[:, None], rows, 0.0)  # a warning would tell of a row
    largest = np.where(usable, largest, 1.0)[:, None]
    # Squares of numbers of so many bits add up below 2^53, which floats do without rounding, in any order.
    bits = (52 - math.ceil(math.log2(size))) // 2
    reach = np.sqrt(_squares(np.rint(rows / largest * 2.0**bits))) * 2.0**-bits
    with np.errstate(over="ignore", divide="ignore"):
        factor = resolution * np.minimum(1 / clip, 1 / (reach * largest))
    # To the nearest, for little bias; only rows that this made too long are cut towards 0.
    whole: NDArray[np.float64] = np.rint(rows * factor)
    most = float(resolution) ** 2
    if np.any(long := (_squares(whole) > most)[:, 0]):
        # The length was found to within √size / 2 steps of the largest number: with that allowed for, none is too long.
        shorter = factor[long] * reach[long] / (reach[long] + math.sqrt(size) * 2.0 ** -(bits + 1)) * (1 - 2.0**-40)
        cut = np.trunc(rows[long] * shorter)
        whole[long] = np.where(_squares(cut) > most, 0.0, cut)  # never so; it makes the bound a fact of integers
    return whole


def _squares(whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of squares of each row of whole numbers, as a column; exact below 2^53."""
    summed: NDArray[np.float64] = np.einsum("ij,ij->i", whole, whole)[:, None]
    return summed
