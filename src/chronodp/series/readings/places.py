"""How the noise of places of one tree hangs together: *Covariance* of ``docs/explanation/proofs/places.md``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronodp.postprocess.hierarchy import TreeCovariance
from chronodp.series.readings.weights import Floats, Weights, Wholes

__all__ = ["TreePlaces"]

_SHORT = 64  # pairs of points up to which rows are compared point by point


@dataclass(frozen=True, eq=False)
class TreePlaces:
    """Nodes of one tree, which share noise; and copies of it, one for each key and bin beside them, which do not.

    Attributes:
        tree: the covariance of its nodes.
        after: how many keys and bins stand after the nodes in the order of columns.
        variance: of one draw, by which covariances are divided.
    """

    tree: TreeCovariance
    after: int
    variance: float

    def of(self, one: Weights, other: Weights) -> Floats:
        """Return the covariance of the sums with these weights over places, row by row, for draws of variance 1."""
        pairs, which = one.distinct_pairs(other)
        first, second = pairs[:, 0], pairs[:, 1]
        if one.points.shape[1] * other.points.shape[1] <= _SHORT:
            found = np.zeros(len(pairs))
            for left in range(one.points.shape[1]):
                for right in range(other.points.shape[1]):
                    weight = one.weights[first, left] * other.weights[second, right]
                    used = np.flatnonzero(weight)
                    (copy, node), (others, under) = (
                        self._split(weights.points[rows[used], at])
                        for weights, rows, at in ((one, first, left), (other, second, right))
                    )
                    same = np.flatnonzero(copy == others)
                    found[used[same]] += weight[used[same]] * self.tree.covariances(node[same], under[same])
            return found[which] / self.variance
        if len(np.unique(first)) < len(np.unique(second)):
            one, other, first, second = other, one, second, first
        return self._against(one, other, first, second)[which] / self.variance

    def _against(self, one: Weights, other: Weights, first: Wholes, second: Wholes) -> Floats:
        """Each distinct row of the second against all nodes of its copies, and the first's nodes looked up there."""
        found = np.zeros(len(first))
        for row in np.unique(second):
            chosen = np.flatnonzero(second == row)
            copies, nodes = self._split(other.points[row])
            rows = first[chosen]
            own_copies, own_nodes = self._split(one.points[rows])
            for copy in np.unique(copies[other.weights[row] != 0]):
                here = copies == copy
                weights = np.bincount(nodes[here], weights=other.weights[row, here], minlength=self.tree.tree.nodes)
                along = self.tree.product(weights)
                found[chosen] += (one.weights[rows] * (own_copies == copy) * along[own_nodes]).sum(axis=1)
        return found

    def _split(self, points: Wholes) -> tuple[Wholes, Wholes]:
        """Return the copy of the tree, and the node, of columns: these stand before × nodes × after."""
        outer, after = np.divmod(points, self.after)
        before, node = np.divmod(outer, self.tree.tree.nodes)
        return before * self.after + after, node
