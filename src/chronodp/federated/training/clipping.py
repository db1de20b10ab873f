"""Each person's gradient as whole numbers of bounded length, from that gradient alone.

Lengths are compared in exact integer arithmetic, so that what one person adds to a sum is bounded whatever floats do,
and no rounding depends on who else is in the sample: every operation here acts on each number alone, or adds up a row
in an order that is written down, or adds whole numbers, which floats do without rounding.

‖k_p‖₂ ≤ R of "One step" in ``docs/explanation/proofs/private-training.md``, and the last paragraph of "No bit depends
on the others".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["whole_rows", "whole_sum"]

_EXACT = 2**24  # whole numbers up to here add up without rounding in 32 bits, in any order
_CACHED = 2**18  # numbers that several passes are made over
_FINE = 256  # steps of a clip to each √size / 2 that rounding may add: cutting first costs at most 1 / 512 of the clip
_SLACK = 1 + 2.0**-18  # more than lengths and products of up to 2^32 numbers err by in 32 bits


def whole_rows(gradients: NDArray[np.floating], *, clip: float, resolution: int) -> NDArray[np.floating]:
    """Return rows of whole numbers, each a person's gradient cut to l2 length ``clip``, in steps of clip / resolution.

    The nearest whole numbers to g min(1, clip / length) resolution / clip, where length is that of g. Rounding may add
    √size / 2 steps: numbers of 32 bits are cut to so much less than the clip, others that rounding made too long are
    cut towards 0. A row that is not finite becomes 0.

    Guarantee: the sum of squares of a row is at most resolution^2, in exact arithmetic; a row of the result depends on
    the same row only.

    >>> whole_rows(np.array([[3.0, 4.0], [0.3, 0.0]]), clip=1.0, resolution=1000).tolist()
    [[600.0, 800.0], [300.0, 0.0]]
    """
    rounding = math.sqrt(gradients.shape[1]) / 2
    if gradients.dtype != np.float32 or resolution < 2 * _FINE * rounding:
        return _with_care(np.asarray(gradients, dtype=np.float64), clip, resolution)
    with np.errstate(all="ignore"):  # a warning would tell of a row
        length = np.sqrt(_halved(gradients * gradients)).astype(np.float64)
        factor = np.minimum(resolution / clip, (resolution - rounding) / (length * _SLACK))
        whole: NDArray[np.float32] = gradients * factor.astype(np.float32)[:, None]
        np.rint(whole, out=whole)
        kept = _fit(whole, resolution) & np.isfinite(length)
    if not kept.all():
        whole[~kept] = _with_care(gradients[~kept].astype(np.float64), clip, resolution)
    return whole


def whole_sum(gradients: NDArray[np.floating], *, clip: float, resolution: int) -> NDArray[np.float64]:
    """Return the sum of `whole_rows` over people, exact below 2^53, a few people at a time."""
    people, size = gradients.shape
    total = np.zeros(size)
    together, added = max(1, _CACHED // size), max(1, _EXACT // resolution)
    for first in range(0, people, together):
        whole = whole_rows(gradients[first : first + together], clip=clip, resolution=resolution)
        for few in range(0, len(whole), added):
            total += whole[few : few + added].sum(axis=0)
    return total


def _halved(parts: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the sum of each row, its second half added to its first until one number is left; overwrites the rows.

    Sums of two numbers are rounded in one way everywhere, so this order makes a row's sum a function of the row.
    """
    width = parts.shape[1]
    while width > 1:
        half = (width + 1) // 2
        parts[:, : width - half] += parts[:, half:width]
        width = half
    return parts[:, 0]


def _with_care(rows: NDArray[np.float64], clip: float, resolution: int) -> NDArray[np.float64]:
    """Return the same for any numbers that 64 bits hold: lengths are those of rows scaled to whole numbers."""
    size = rows.shape[1]
    largest = np.abs(rows).max(axis=1, initial=0.0)
    usable = np.isfinite(largest) & (largest > 0)
    rows = np.where(usable[:, None], rows, 0.0)  # a warning would tell of a row
    largest = np.where(usable, largest, 1.0)[:, None]
    # Squares of numbers of so many bits add up below 2^53, which floats do without rounding, in any order.
    bits = (52 - math.ceil(math.log2(size))) // 2
    reach = np.sqrt(_squares(np.rint(rows / largest * 2.0**bits)))[:, None] * 2.0**-bits
    with np.errstate(over="ignore", divide="ignore"):
        factor = resolution * np.minimum(1 / clip, 1 / (reach * largest))
    # To the nearest, for little bias; only rows that this made too long are cut towards 0.
    whole: NDArray[np.float64] = np.rint(rows * factor)
    if np.any(long := ~_fit(whole, resolution)):
        # The length was found to within √size / 2 steps of the largest number: with that allowed for, none is too long.
        shorter = factor[long] * reach[long] / (reach[long] + math.sqrt(size) * 2.0 ** -(bits + 1)) * (1 - 2.0**-40)
        cut = np.trunc(rows[long] * shorter)
        whole[long] = np.where(_fit(cut, resolution)[:, None], cut, 0.0)  # never so; it makes the bound a fact
    return whole


def _fit(whole: NDArray[np.floating], resolution: int) -> NDArray[np.bool_]:
    """Return whether each row of whole numbers is within the bound, in exact arithmetic; NaN is not."""
    short: NDArray[np.bool_] = _squares(whole.astype(np.float64, copy=False)) <= float(resolution) ** 2
    return short


def _squares(whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of squares of each row of whole numbers; exact below 2^53."""
    summed: NDArray[np.float64] = np.einsum("ij,ij->i", whole, whole)
    return summed
