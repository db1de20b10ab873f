"""How precisely each level of a tree of places is measured, so that what is asked for errs least.

*The best split* of ``docs/explanation/proofs/places.md``. Nothing of privacy hangs on it: a poor split costs error. For
a tree whose nodes differ in size the averages of each level stand in, a few parts in a thousand from the best there is.

Letters: level j has N_j nodes of n_j leaves each; p_j is its precision, w_j the weight of the variance of one of its
nodes; λ_j = Σ_{ℓ≥j} p_ℓ n_ℓ; g_j = Σ_{ℓ≥j} w_ℓ n_ℓ; d_j = N_j - N_{j-1} new directions, d_0 = 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.series.shapes.power_series import Floats

__all__ = ["LevelShape", "largest_least", "split_levels"]

_PARTS = 10**6  # shares of a budget are whole millionths: the same on every processor, and 1 in all
_MOST_SEARCHED = 7  # levels up to which every set of them is tried
_SEARCH: Any = {"xatol": 1e-7, "fatol": 1e-12, "maxiter": 2000}


@dataclass(frozen=True, slots=True)
class LevelShape:
    """What a split needs of a tree: of each level, root first, how many nodes there are and what one unit changes.

    Attributes:
        counts: how many nodes each level has.
        changes: the most that the squares of one unit's changes of the level's nodes sum up to.
    """

    counts: tuple[int, ...]
    changes: tuple[int, ...]

    @property
    def sizes(self) -> Floats:
        """n: how many leaves a node of each level has, on average."""
        return self.counts[-1] / np.array(self.counts, dtype=np.float64)

    @property
    def directions(self) -> Floats:
        """d: how many directions each level adds to what the levels above tell apart."""
        return np.diff(np.array(self.counts, dtype=np.float64), prepend=0.0)

    def variances(self, precisions: Sequence[float] | Floats) -> Floats:
        """Return the variance of a node of each level: (n_ℓ / N_ℓ) Σ_{j≤ℓ} d_j / λ_j; exact where nodes are alike."""
        sums = np.cumsum((np.asarray(precisions) * self.sizes)[::-1])[::-1]
        found: Floats = self.sizes / np.array(self.counts) * np.cumsum(self.directions / sums)
        return found

    def error(self, precisions: Sequence[float] | Floats, weights: Sequence[float]) -> float:
        """Return the sum over levels of the mean variance of its nodes, each level with its weight."""
        return float(np.asarray(weights) @ self.variances(precisions))


def split_levels(shape: LevelShape, weights: Sequence[float], law: Law) -> tuple[Fraction, ...]:
    """Return each level's share of a budget, of mu² or of epsilon: whole millionths that sum up to 1; 0 for none.

    Args:
        shape: of the tree.
        weights: what the mean squared error of each level counts, root first.
        law: of the noise.

    >>> [float(share) for share in split_levels(LevelShape((1, 6, 60), (1, 1, 1)), (1, 1, 1), "gaussian")]
    [0.307634, 0.328916, 0.36345]
    """
    if len(weights) != len(shape.counts) or not all(weight > 0 for weight in weights):
        raise InvalidArgument("weights", weights, "a number above 0 for each level")
    if law == "gaussian":
        shares = best_precisions(shape, weights) * np.array(shape.changes, dtype=np.float64)
    else:
        shares = _laplace_shares(shape, weights)
    return _whole(shares)


def best_precisions(shape: LevelShape, weights: Sequence[float]) -> Floats:
    """Return the precisions of Gaussian noise with the least error at a cost of mu² = Σ p_ℓ Δ_ℓ² = 1.

    λ_j ∝ √(d_j g_j / κ_j), κ_j = Δ_j² / n_j - Δ_{j-1}² / n_{j-1}, with neighbours taken together where λ would rise
    with j: p would be below 0 there. For one leaf a person it is p_j ∝ (√g_j - √g_{j+1}) / n_j, the best of all linear
    Gaussian mechanisms.
    """
    sizes, changes = shape.sizes, np.array(shape.changes, dtype=np.float64)
    # What a level counts is shared out among its nodes: w_ℓ n_ℓ = weight n_ℓ / N_ℓ.
    together = np.cumsum((np.asarray(weights) * sizes / np.array(shape.counts))[::-1])[::-1]
    gains = shape.directions * together
    prices = np.diff(changes / sizes, prepend=0.0)
    blocks: list[tuple[float, float, int]] = []
    for gain, price in zip(gains.tolist(), prices.tolist(), strict=True):
        # Where n_{j-1} divides m a price is 0: the level joins the one above before anything is divided. Sums of prices
        # from the first level on are Δ²/n > 0, so that at the end each block's price is above 0.
        block = (gain, price, 1)
        while blocks and (block[1] <= 0 or block[0] * blocks[-1][1] >= blocks[-1][0] * block[1]):
            before = blocks.pop()
            block = (before[0] + block[0], before[1] + block[1], before[2] + block[2])
        blocks.append(block)
    sums = np.repeat([math.sqrt(gain / price) for gain, price, _ in blocks], [count for *_, count in blocks])
    found: Floats = -np.diff(sums, append=0.0) / sizes
    return found / float(found @ changes)


def largest_least(shape: LevelShape) -> tuple[float, ...]:
    """Return the weights under which the largest error of a level is least, under Gaussian noise: all err alike."""
    weights = np.ones(len(shape.counts))
    for _ in range(400):
        found = shape.variances(best_precisions(shape, weights.tolist()))
        if found.max() - found.min() <= 1e-9 * found.max():
            break
        weights = np.maximum(weights * (found / found.max()) ** 0.2, 1e-9)
    return tuple(float(f"{weight:.6g}") for weight in weights / weights.max())


def _laplace_shares(shape: LevelShape, weights: Sequence[float]) -> Floats:
    """Return shares of epsilon: p ∝ share². The error is not convex in them, so every set of levels is tried."""
    from scipy.optimize import minimize

    levels = len(shape.counts)
    best, least = np.zeros(levels), math.inf
    if levels > _MOST_SEARCHED:
        return np.full(levels, 1 / levels)
    for above in itertools.product((False, True), repeat=levels - 1):
        measured = np.flatnonzero([*above, True])  # leaves always: without them a leaf is known by nothing

        error = partial(_laplace_error, shape, weights, measured)
        free = np.zeros(len(measured) - 1)
        if len(free):
            free = minimize(error, free, method="Nelder-Mead", options=_SEARCH).x
        if error(free) < least:
            best, least = _shares(levels, measured, free), error(free)
    return best


def _shares(levels: int, measured: NDArray[np.int64], free: Floats) -> Floats:
    out = np.zeros(levels)
    powers = np.exp(np.append(free, 0.0))
    out[measured] = powers / powers.sum()
    return out


def _laplace_error(shape: LevelShape, weights: Sequence[float], measured: NDArray[np.int64], free: Floats) -> float:
    return shape.error(_shares(len(shape.counts), measured, free) ** 2, weights)


def _whole(shares: Floats) -> tuple[Fraction, ...]:
    """Return shares in whole millionths that sum up to 1; what was measured keeps at least one."""
    # Below a thousandth of a part a share is what floats left of 0.
    parts = [max(1, math.floor(s * _PARTS)) if s * _PARTS > 1e-3 else 0 for s in (shares / shares.sum()).tolist()]
    parts[parts.index(max(parts))] += _PARTS - sum(parts)
    return tuple(Fraction(part, _PARTS) for part in parts)
