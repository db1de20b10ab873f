"""The noise of every measured level of a tree of places, and the covariance of what is made of it.

*Price* of ``docs/explanation/proofs/places.md``: each level is a release of its own of the same people, priced at what
one unit changes there; all of them together are what the plan pays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from chronodp.postprocess import Law
from chronodp.postprocess.hierarchy import PlaceTree, TreeCovariance
from chronodp.series.noise import Noise
from chronodp.series.places.levels import PlaceLevels
from chronodp.series.places.split import LevelShape, split_levels

__all__ = ["covariance_of", "shares_of", "spread_of"]


def shares_of(levels: PlaceLevels, changes: tuple[int, ...], law: Law) -> tuple[Fraction, ...]:
    """Return each level's share of the budget, root first; 0 for levels that are not measured."""
    return _shares(levels.tree.counts, changes, levels.weights, law)


@lru_cache(maxsize=64)
def _shares(
    counts: tuple[int, ...], changes: tuple[int, ...], weights: tuple[float, ...], law: Law
) -> tuple[Fraction, ...]:
    return split_levels(LevelShape(counts, changes), weights, law)


def covariance_of(tree: PlaceTree, noises: Sequence[Noise], measured: Sequence[int]) -> TreeCovariance:
    """Return the covariance of the best estimates, of noise of the stated scales on the levels that were measured."""
    precisions = [0.0] * tree.levels
    for level, noise in zip(measured, noises, strict=True):
        precisions[level] = 1 / noise.deviation**2
    return TreeCovariance(tree, precisions)


def spread_of(covariance: TreeCovariance, weights: Sequence[float]) -> tuple[float, float]:
    """Return the root mean squared error of nodes, levels weighed as the plan has them, and that of the worst node."""
    means = [float(of.mean()) for of in covariance.variances]
    mean = math.fsum(w * v for w, v in zip(weights, means, strict=True)) / math.fsum(weights)
    return math.sqrt(mean), math.sqrt(max(float(of.max()) for of in covariance.variances))
