"""Noise on sums over blocks of bins, reconciled by least squares: the shape along values for Laplace noise.

With ``branches`` k and height h there are levels of blocks of k^(h-1), …, k, 1 bins, each with its own noise; the sum
of all bins has none. One person is in one block of each level, so the l1 sensitivity is that of one bin times h.

*Block sums* of ``docs/explanation/proofs/quantiles.md``: the matrices of bins in one block commute, so every variance
is a sum over levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chronodp.postprocess import Floats
from chronodp.privacy import check_whole, document

__all__ = ["BlockSums"]

Wholes = NDArray[np.int64]


@document("block_sums")
@dataclass(frozen=True, slots=True)
class BlockSums:
    """Sums over blocks of branches^0, branches^1, … bins, each with its own noise.

    >>> BlockSums(3).levels(9), BlockSums(3).levels(10)
    (2, 3)
    >>> print(BlockSums(15))
    sums over blocks of bins with 15 branches

    References:
        Hay, Rastogi, Miklau, Suciu (2010), Boosting the accuracy of differentially private histograms through
        consistency.
    """

    branches: int

    def __post_init__(self) -> None:
        check_whole("branches", self.branches, least=2)

    def levels(self, bins: int) -> int:
        """Return how many levels there are below the sum of all bins."""
        check_whole("bins", bins)
        height = 1
        while self.branches**height < bins:
            height += 1
        return height

    def sums(self, counts: Wholes) -> list[Wholes]:
        """Return the block sums of each level, single bins last, of counts (cells, bins)."""
        height = self.levels(counts.shape[1])
        full = np.zeros((len(counts), self.branches**height), np.int64)
        full[:, : counts.shape[1]] = counts
        found = [full]
        for _ in range(height - 1):
            found.append(found[-1].reshape(len(counts), -1, self.branches).sum(axis=2))
        return found[::-1]

    def reconcile(self, noisy: list[Floats], bins: int) -> Floats:
        """Return the bins that fit noisy block sums best, in least squares."""
        k = self.branches
        # Up: what the blocks below say of each, averaged with its own sum by how sure both are.
        fitted, below, spread = [noisy[-1]], list[Floats](), 1.0
        for own in noisy[-2::-1]:
            inner = fitted[-1].reshape(len(own), -1, k).sum(axis=2)
            below.append(inner)
            spread *= k
            weight = spread / (1 + spread)
            fitted.append(inner + weight * (own - inner))
            spread = weight
        # Down: what a block turned out to differ from the sum below it is shared evenly.
        final = fitted.pop()
        while below:
            missing = (final - below.pop()) / k
            final = fitted.pop() + np.repeat(missing, k, axis=1)
        return final[:, :bins]

    def variances(self, q: float, bins: int) -> Floats:
        """Return the variance of (below edge j) - q (all), j = 1 … bins, for noise of variance 1 on every sum.

        With a the weights of that reading and P_i what of it is the same within blocks of level i but not of a larger
        one: Σ_i |P_i a|² / λ_i, λ_i = the sizes of all blocks from level i down.
        """
        height, k = self.levels(bins), self.branches
        sizes = [k**level for level in range(height, -1, -1)]
        whole, edges = sizes[0], np.arange(1, bins + 1, dtype=np.float64)
        # Bins past the last are 0 and no part of the reading: weights are 1 - q below the edge, -q from it to the last.
        squares = [_block_squares(edges, bins, size, whole, q) for size in sizes]
        # No sum of all bins is measured, so what is the same everywhere is known by the level below it.
        found = squares[0] / sum(sizes[1:])
        for level in range(1, height + 1):
            found = found + (squares[level] - squares[level - 1]) / sum(sizes[level:])
        return np.asarray(np.maximum(found, 0.0))

    def __str__(self) -> str:
        return f"sums over blocks of bins with {self.branches} branches"


def _within(place: Floats, size: int) -> Floats:
    # What `np.clip` does, which takes several times as long for as few numbers as there are bins.
    return np.asarray(np.minimum(np.maximum(place, 0.0), size))


def _block_squares(edges: Floats, bins: int, size: int, whole: int, q: float) -> Floats:
    """Return Σ over blocks of (sum of weights in the block)² / size."""
    del whole

    def ramp(first: Floats | float, last: Floats | float, start: Floats) -> Floats:
        """Return how much of [first, last) lies in blocks that begin at ``start``."""
        return _within(last - start, size) - _within(first - start, size)

    # Blocks that hold neither the edge nor the last bin's end are all alike; at most two are not.
    cut, end = np.floor(edges / size) * size, float((bins // size) * size)
    inside = cut / size * ((1 - q) * size) ** 2
    between = np.maximum(end - cut - size, 0.0) / size * (q * size) ** 2
    at_edge = ((1 - q) * ramp(0.0, edges, cut) - q * ramp(edges, float(bins), cut)) ** 2
    at_end = np.where(cut < end, (q * (bins - end)) ** 2, 0.0)
    return (inside + between + at_edge + at_end) / size
