"""What the best estimate on a tree has of noise: variances of all nodes, and the covariance of any two readings.

Up, for each node: u = 1 / (p + 1 / w), w the sum of its children's u. Down: r = u / w of the parent, and
V = u (1 - r) + r² V of the parent. A node's estimate is then r times its parent's and a rest ε that is independent of
all above and of other families; within a family Cov(ε) = diag(u) - u uᵀ / w. Everything here follows from that line.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.postprocess.columns import Floats
from chronodp.postprocess.hierarchy.tree import PlaceTree

__all__ = ["TreeCovariance"]


class TreeCovariance:
    """The covariance of the best estimates on a tree, each node measured with a precision (one over a variance).

    Args:
        tree: of places.
        precisions: of each level, root first: one for all its nodes, or one a node. 0 where nothing was measured; every
            leaf must have been.

    >>> pair = TreeCovariance(PlaceTree([[2]]), [1.0, 1.0])
    >>> [level.round(4).tolist() for level in pair.variances]
    [[0.6667], [0.6667, 0.6667]]
    >>> round(pair.covariance(1, 2), 4), round(pair.covariance(0, 1), 4)
    (-0.3333, 0.3333)
    """

    def __init__(self, tree: PlaceTree, precisions: Sequence[ArrayLike]) -> None:
        if len(precisions) != tree.levels:
            raise InvalidArgument("precisions", f"{len(precisions)} levels", f"one for each of {tree.levels} levels")
        self.tree = tree
        self.precisions = tuple(
            _precisions(of, count, leaf=count == tree.leaves and level == tree.levels - 1)
            for level, (of, count) in enumerate(zip(precisions, tree.counts, strict=True))
        )
        # Root first once reversed: what a subtree says of its top alone, and what the children say of it.
        below: list[Floats] = [1 / self.precisions[-1]]
        spread: list[Floats] = []
        for level in reversed(range(tree.levels - 1)):
            spread.append(np.add.reduceat(below[-1], tree.starts[level]))
            below.append(1 / (self.precisions[level] + 1 / spread[-1]))
        self.from_below = tuple(reversed(below))
        self.of_children = tuple(reversed(spread))
        shares: list[Floats] = [np.zeros(1)]  # the root has no parent
        variances: list[Floats] = [self.from_below[0]]
        for level in range(1, tree.levels):
            parents, own = tree.parents[level - 1], self.from_below[level]
            share = own / self.of_children[level - 1][parents]
            shares.append(share)
            variances.append(own * (1 - share) + share**2 * variances[-1][parents])
        self.shares, self.variances = tuple(shares), tuple(variances)

    @property
    def variance_of_all(self) -> Floats:
        """The variance of every node, in their order."""
        return np.concatenate(self.variances)

    def variance(self, node: int) -> float:
        """Return the variance of a node."""
        level, at = self.tree.level_of(node)
        return float(self.variances[level][at])

    def covariance(self, one: int, other: int) -> float:
        """Return the covariance of two nodes, in as many steps as the tree is deep.

        Of a node and its ancestor a: the product of shares on the way, times V of a. Else, with a the lowest node above
        both and c, d its children on the two ways: the shares below c and d, times (r_c r_d V_a - u_c u_d / w_a).
        """
        (high, at), (low, under) = sorted((self.tree.level_of(one), self.tree.level_of(other)))
        weight = 1.0
        while low > high:  # up to the same level
            weight *= float(self.shares[low][under])
            low, under = low - 1, int(self.tree.parents[low - 1][under])
        if at == under:
            return weight * float(self.variances[high][at])
        while True:
            parents = self.tree.parents[high - 1]
            first, second = int(parents[at]), int(parents[under])
            if first == second:
                break
            weight *= float(self.shares[high][at]) * float(self.shares[high][under])
            high, at, under = high - 1, first, second
        own, shares, top = self.from_below[high], self.shares[high], high - 1
        together = shares[at] * shares[under] * self.variances[top][first]
        return weight * float(together - own[at] * own[under] / self.of_children[top][first])

    def covariances(self, ones: NDArray[np.int64], others: NDArray[np.int64]) -> Floats:
        """Return the covariance of many pairs of nodes, as `covariance` does, a level at a time."""
        (high, at), (low, under) = self._levels_of(ones), self._levels_of(others)
        found, weight = np.zeros(len(ones)), np.ones(len(ones))
        left = np.ones(len(ones), np.bool_)
        for level in reversed(range(self.tree.levels)):
            met = left & (high == level) & (low == level) & (at == under)
            found[met] = weight[met] * self.variances[level][at[met]]
            left &= ~met
            if not level:
                break
            parents, shares, own = self.tree.parents[level - 1], self.shares[level], self.from_below[level]
            both = np.flatnonzero(left & (high == level) & (low == level))
            one, other = at[both], under[both]
            family = both[parents[one] == parents[other]]
            one, other = at[family], under[family]
            top = parents[one]
            together = shares[one] * shares[other] * self.variances[level - 1][top]
            found[family] = weight[family] * (together - own[one] * own[other] / self.of_children[level - 1][top])
            left[family] = False
            for depth, place in ((high, at), (low, under)):
                rising = np.flatnonzero(left & (depth == level))
                weight[rising] *= shares[place[rising]]
                depth[rising], place[rising] = level - 1, parents[place[rising]]
        return found

    def _levels_of(self, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        offsets = np.array(self.tree.offsets)
        levels = np.searchsorted(offsets, nodes, side="right") - 1
        return levels, nodes - offsets[levels]

    def product(self, weights: ArrayLike) -> Floats:
        """Return the covariance of a weighed sum of nodes with every node: the covariance matrix times the weights."""
        through = self._through(weights)
        found = [through[0] * self.variances[0]]
        for level in range(1, self.tree.levels):
            parents, own = self.tree.parents[level - 1], self.from_below[level]
            mean = np.add.reduceat(through[level] * own, self.tree.starts[level - 1]) / self.of_children[level - 1]
            found.append(self.shares[level] * found[-1][parents] + own * (through[level] - mean[parents]))
        return np.concatenate(found)

    def between(self, one: ArrayLike, other: ArrayLike) -> float:
        """Return the covariance of two weighed sums of nodes, weights in the order of nodes."""
        left, right = self._through(one), self._through(other)
        total = float(left[0] @ (self.variances[0] * right[0]))
        for level in range(1, self.tree.levels):
            own, starts = self.from_below[level], self.tree.starts[level - 1]
            # Σ u A B - (Σ u A)(Σ u B) / w as products of distances from the family's mean: without cancellation.
            families = self.of_children[level - 1]
            parents = self.tree.parents[level - 1]
            first, second = (
                through[level] - (np.add.reduceat(through[level] * own, starts) / families)[parents]
                for through in (left, right)
            )
            total += float(first @ (own * second))
        return total

    def _through(self, weights: ArrayLike) -> list[Floats]:
        """Return what a weighed sum has of each node once every estimate is written by its parent's."""
        given = np.asarray(weights, dtype=np.float64)
        if given.shape != (self.tree.nodes,):
            raise InvalidArgument("weights", f"shape {given.shape}", f"one for each of {self.tree.nodes} nodes")
        found = [given[start : start + count] for start, count in zip(self.tree.offsets, self.tree.counts, strict=True)]
        for level in reversed(range(1, self.tree.levels)):
            carried = np.add.reduceat(found[level] * self.shares[level], self.tree.starts[level - 1])
            found[level - 1] = found[level - 1] + carried
        return found


def _precisions(given: ArrayLike, count: int, *, leaf: bool) -> Floats:
    found = np.broadcast_to(np.asarray(given, dtype=np.float64), (count,))
    least = found > 0 if leaf else found >= 0
    if not (np.isfinite(found) & least).all():
        raise InvalidArgument("precisions", given, "finite numbers of at least 0, and above 0 for leaves")
    return found
