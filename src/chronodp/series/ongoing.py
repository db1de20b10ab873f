"""Noise of the next steps, for every shape that goes on with a few numbers of memory.

w_t of "What is released" in ``docs/explanation/proofs/streams.md``, whatever the shape: `Recursion` rounds, `White` and
`Branching` do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, assert_never

import numpy as np

from chronodp.series.branching import Branching
from chronodp.series.recursion import Floats, Integers, Recursion
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shapes.tree import Tree

__all__ = ["Draw", "OngoingShape", "first_memory", "next_noise"]

OngoingShape: TypeAlias = White | BufferedLinear | Tree
"""Shapes that go on with a few numbers of memory."""

Draw: TypeAlias = Callable[[tuple[int, int]], Integers]
"""Returns fresh draws, of steps by series."""


def first_memory(shape: OngoingShape, length: int, keys: int) -> Floats:
    """Return what is remembered before the first of at most ``length`` steps, a column for each series."""
    match shape:
        case White():
            return np.zeros((0, keys))
        case BufferedLinear():
            return Recursion(shape).start(keys)
        case Tree():
            return Branching(shape, length).start(keys)
        case _:
            assert_never(shape)


def next_noise(
    shape: OngoingShape, length: int, memory: Floats, begin: int, count: int, draw: Draw
) -> tuple[Floats, Integers]:
    """Return the memory after ``count`` steps from step ``begin`` on, and their noise in steps of the grid."""
    match shape:
        case White():
            return memory, draw((count, memory.shape[1]))
        case BufferedLinear():
            return Recursion(shape).advance(memory, draw((count, memory.shape[1])))
        case Tree():
            return Branching(shape, length).advance(memory, begin, count, draw)
        case _:
            assert_never(shape)
