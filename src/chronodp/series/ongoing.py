"""Noise that goes on step by step, for every shape that needs a few numbers of memory.

w_t of "What is released" in ``docs/explanation/proofs/streams.md``, whatever the shape: `Recursion` rounds,
`Independent` and `Branching` do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, assert_never

import numpy as np

from chronodp.series.branching import Branching
from chronodp.series.recursion import Floats, Integers, Recursion
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shapes.tree import Tree

__all__ = ["Draw", "OngoingNoise", "OngoingShape", "ongoing_noise"]

OngoingShape: TypeAlias = White | BufferedLinear | Tree
"""Shapes that go on with a few numbers of memory."""

Draw: TypeAlias = Callable[[tuple[int, int]], Integers]
"""Returns fresh draws, of steps by series."""


class OngoingNoise(Protocol):
    """How the noise of a shape goes on, for many series at once."""

    def start(self, keys: int) -> Floats:
        """Return what is remembered before the first step, a column for each series."""
        ...

    def advance(self, known: Floats, begin: int, count: int, draw: Draw) -> tuple[Floats, Integers]:
        """Return the memory after ``count`` steps from step ``begin`` on, and their noise in steps of the grid."""
        ...


@dataclass(frozen=True, slots=True)
class Independent:
    """Noise of each step by itself, without any memory."""

    def start(self, keys: int) -> Floats:
        """Return nothing, of so many series."""
        return np.zeros((0, keys))

    def advance(self, known: Floats, begin: int, count: int, draw: Draw) -> tuple[Floats, Integers]:
        """Return fresh draws."""
        del begin
        return known, draw((count, known.shape[1]))


def ongoing_noise(shape: OngoingShape, length: int) -> OngoingNoise:
    """Return how the noise of a shape goes on, for at most ``length`` steps."""
    match shape:
        case White():
            return Independent()
        case BufferedLinear():
            return Recursion(shape)
        case Tree():
            return Branching(shape, length)
        case _:
            assert_never(shape)
