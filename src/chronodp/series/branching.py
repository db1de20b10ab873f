"""Noise of a tree of block sums, step by step, in whole numbers, with a few numbers of memory.

The noise of the running total after t steps is, level by level, the sum of the draws of the blocks between two points:
from arity · (the position one level above) to the position of this level, which lies at most (arity - 1) / 2 blocks
away. Both points only ever move on, so of all draws only those between them are needed again.

*Trees* under "How r is computed, and E" in ``docs/explanation/proofs/streams.md``: whole numbers throughout, so E is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from chronodp.series.recursion import Floats, Integers
from chronodp.series.shapes.tree import Tree

__all__ = ["Branching"]


@dataclass(frozen=True, slots=True)
class Branching:
    """How the noise of a tree goes on, for many series at once.

    Attributes:
        tree: of block sums.
        horizon: how many steps there will be at most; levels that only later steps would need are left out.
    """

    tree: Tree
    horizon: int

    def start(self, keys: int = 1) -> Floats:
        """Return the memory before the first step: of each level the draws in use, nearest the start first."""
        return np.zeros((self.tree.levels(self.horizon) * self.tree.half, keys))

    def advance(
        self, known: Floats, begin: int, count: int, draw: Callable[[tuple[int, int]], Integers]
    ) -> tuple[Floats, Integers]:
        """Return the memory after ``count`` more steps and their noise; their running sums are the tree's.

        Args:
            known: the memory.
            begin: how many steps there were before.
            count: how many come now.
            draw: returns fresh draws of a given shape.
        """
        tree, keys = self.tree, known.shape[1]
        digits = tree.digits(np.arange(begin, begin + count + 1), self.horizon)
        kept = np.zeros_like(known).reshape(len(digits), tree.half, keys)
        before = known.reshape(kept.shape)
        totals = np.zeros((count + 1, keys), dtype=np.int64)
        position = np.zeros(count + 1, dtype=np.int64)
        for level in reversed(range(len(digits))):
            above = position * tree.arity
            position = above + digits[level]
            low, high = np.minimum(above, position), np.maximum(above, position)
            first, reached, last = int(low[0]), int(high[0]), int(high[-1])
            # Blocks [first, reached) were drawn before, [reached, last) are new: no block is drawn twice, and none is
            # forgotten while a later step may still take it away. Draws are below 2^53 in size, so floats hold them.
            again = before[level, : reached - first].astype(np.int64)
            drawn = np.concatenate((again, draw((last - reached, keys))))
            kept[level, : last - low[-1]] = drawn[low[-1] - first :]
            sums = np.zeros((len(drawn) + 1, keys), dtype=np.int64)
            np.cumsum(drawn, axis=0, out=sums[1:])
            totals += sums[position - first] - sums[above - first]
        return kept.reshape(known.shape), np.diff(totals, axis=0)
