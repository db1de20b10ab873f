"""Noise of a tree of block sums, step by step, in whole numbers, with a few numbers of memory.

The noise of the running total after t steps is, level by level, the sum of the draws of the blocks between two points:
from arity · (the position one level above) to the position of this level, which lies at most (arity - 1) / 2 blocks
away. Both points only ever move on, so of all draws only those between them are needed again.

*Trees* under "How r is computed, and E" in ``docs/explanation/proofs/streams.md``: whole numbers throughout, so E is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chronodp.series.recursion import Floats, Integers
from chronodp.series.shapes.tree import Tree

__all__ = ["Branching"]


@dataclass(frozen=True)
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
        return np.zeros((len(self._blocks) * self._half, keys))

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
        blocks, keys = self._blocks, known.shape[1]
        # What is left of a time below a level lies within half a block of it: its position is the nearest whole number.
        position = (np.arange(begin, begin + count + 1) + blocks // 2) // blocks
        above = np.zeros_like(position)
        above[:-1] = self.tree.arity * position[1:]
        low, high = np.minimum(above, position), np.maximum(above, position)
        kept = np.zeros_like(known).reshape(len(blocks), self._half, keys)
        before = known.reshape(kept.shape)
        totals = np.zeros((count + 1, keys), dtype=np.int64)
        ends = [0, -1]
        fresh = draw((int((high[:, -1] - high[:, 0]).sum()), keys))
        for level in reversed(range(len(blocks))):
            (first, left), (reached, last) = low[level, ends].tolist(), high[level, ends].tolist()
            # Blocks [first, reached) were drawn before, [reached, last) are new: no block is drawn twice, and none is
            # forgotten while a later step may still take it away. Draws are below 2^53 in size, so floats hold them.
            again = before[level, : reached - first].astype(np.int64)
            drawn = np.concatenate((again, fresh[: last - reached]))
            fresh = fresh[last - reached :]
            kept[level, : last - left] = drawn[left - first :]
            sums = np.zeros((len(drawn) + 1, keys), dtype=np.int64)
            np.cumsum(drawn, axis=0, out=sums[1:])
            totals += sums[position[level] - first] - sums[above[level] - first]
        return kept.reshape(known.shape), np.diff(totals, axis=0)

    @cached_property
    def _blocks(self) -> Integers:
        """How many steps a block of each level has, single steps first, a row each."""
        return np.array([[self.tree.arity**level] for level in range(self.tree.levels(self.horizon))], dtype=np.int64)

    @cached_property
    def _half(self) -> int:
        return self.tree.half
