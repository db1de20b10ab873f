"""A tree of places whose leaves all lie on the last level, as counts of children.

Nodes are numbered level by level, the root first; the children of a node stand side by side. So the leaves under any
node are a run of neighbours, which is what makes sums, and rounding, one pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument

__all__ = ["PlaceTree"]

Wholes = NDArray[np.int64]
Number = TypeVar("Number", np.int64, np.float64)

_ALLOWED = "for each level above the leaves, root first, how many children each node has: at least one each"


class PlaceTree:
    """The shape of a tree: for each level above the leaves how many children each node has.

    >>> tree = PlaceTree([[2], [3, 1]])
    >>> tree.counts, [sizes.tolist() for sizes in tree.sizes]
    ((1, 2, 4), [[4], [3, 1], [1, 1, 1, 1]])
    """

    def __init__(self, children: Sequence[Sequence[int] | Wholes]) -> None:
        self.children: tuple[Wholes, ...] = tuple(_whole(level) for level in children)
        expected = 1
        for level in self.children:
            if len(level) != expected:
                raise InvalidArgument("children", f"{len(level)} nodes under {expected}", _ALLOWED)
            expected = int(level.sum())

    @property
    def levels(self) -> int:
        """How many levels there are, root and leaves included."""
        return len(self.children) + 1

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """How many nodes each level has."""
        return (1, *(int(level.sum()) for level in self.children))

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return self.counts[-1]

    @property
    def nodes(self) -> int:
        """How many nodes there are in all."""
        return sum(self.counts)

    @cached_property
    def starts(self) -> tuple[Wholes, ...]:
        """Of each level above the leaves, where the children of each node begin on the level below."""
        return tuple(np.cumsum(level) - level for level in self.children)

    @cached_property
    def parents(self) -> tuple[Wholes, ...]:
        """Of each level below the root, on which place of the level above the parent of each node stands."""
        return tuple(np.repeat(np.arange(len(level)), level) for level in self.children)

    @cached_property
    def sizes(self) -> tuple[Wholes, ...]:
        """Of each level, how many leaves each node has under it."""
        found = [np.ones(self.leaves, np.int64)]
        for starts in reversed(self.starts):
            found.append(np.add.reduceat(found[-1], starts))
        return tuple(reversed(found))

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """The number of the first node of each level."""
        return tuple(sum(self.counts[:level]) for level in range(self.levels))

    def level_of(self, node: int) -> tuple[int, int]:
        """Return the level of a node, and on which place of it the node stands."""
        if not 0 <= node < self.nodes:
            raise InvalidArgument("node", node, f"a number from 0 to {self.nodes - 1}")
        level = next(level for level in reversed(range(self.levels)) if self.offsets[level] <= node)
        return level, node - self.offsets[level]

    def sums(self, leaves: NDArray[Number]) -> list[NDArray[Number]]:
        """Return the sums of all levels, root first, of numbers whose last axis are the leaves; the last is those."""
        found: list[NDArray[Any]] = [leaves]
        for starts in reversed(self.starts):
            found.append(np.add.reduceat(found[-1], starts, axis=-1))
        return found[::-1]


def _whole(level: Sequence[int] | Wholes) -> Wholes:
    counts = np.asarray(level)
    if counts.ndim != 1 or not len(counts) or counts.dtype.kind not in "iu" or counts.min() < 1:
        raise InvalidArgument("children", level, _ALLOWED)
    return counts.astype(np.int64)
