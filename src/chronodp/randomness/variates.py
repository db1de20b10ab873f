"""Unit variates by stairs, in floating point, with a proven distance from the ideal ones.

A variate is a function of a uniform V = (w + θ) / 2^63 on [-1, 1): w is a word of the keystream, θ in [0, 1) stands for
bits nobody has drawn yet. Where a bound would be too wide the variate is NaN, which means: ask the slow path.

The formulas are those of "How a draw is made" in ``docs/explanation/proofs/noise.md``; `Family.bounds` and `CERTAIN`
are argued below its table "The bounds".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from chronodp.randomness import slow
from chronodp.randomness.logarithm import Floats, Words, Workspace, logarithm, magnitudes
from chronodp.randomness.rounding import Bounds
from chronodp.randomness.stairs import BELL, PEAK, Stairs, read_stairs

__all__ = ["CERTAIN", "Family", "exponential", "gaussian", "laplace"]

_NEAREST = Bounds(tolerance=2.0**-46, largest=20.0, half=0.5)
_SMALLEST_TAIL = 2.0**-15  # below it the unseen θ moves ln|V| by more than 2^-48
_SMALLEST_HEIGHT = 2.0**-30  # … by more than 2^-33
CERTAIN = 2.0**-30
"""A point is under the curve, or above it, if its logarithm is so far from the curve's."""


def step_widths(stairs: Stairs, words: Words, steps: Words, out: Floats, work: Workspace) -> None:
    """Write Z = x_i V for every word, i of its last ten bits and V of all the others; NaN for the rest."""
    numbers = work.first[: len(out)]
    stairs.widths.take(steps, out=out, mode="clip")  # "clip" never does, and is what numpy does without a copy
    # The last ten bits stay in the factor: they are below θ, which the tolerance covers.
    np.copyto(numbers, words)
    np.multiply(out, numbers, out)


def judge_points(stairs: Stairs, strips: Words, across: Words, heights: Words) -> tuple[Floats, Floats]:
    """Return |Z| of points in the boxes of strips, and by how much the logarithm of the curve is above the point's.

    Sizes are NaN where |V| is too small in the tail, and so are distances, also where the height is too small.
    """
    left, width, level, reach = (part[strips] for part in stairs.boxes)
    share, height = np.empty(len(strips)), np.empty(len(strips))
    magnitudes(across, share)
    magnitudes(heights, height)
    low = height < _SMALLEST_HEIGHT
    height *= reach
    height += level
    height[low] = 0.5  # any number will do: it keeps ln 0 and its warning away, and is overwritten below
    work = Workspace(len(strips))
    logarithm(height, work)
    tail = np.flatnonzero(strips == 0)
    beyond = share[tail]
    hard = beyond < _SMALLEST_TAIL
    beyond[hard] = 0.5
    logarithm(beyond, work)
    beyond[hard] = np.nan
    share[tail] = -beyond
    sizes = left + share * width
    height[tail] += beyond  # the tail's box falls by |V|
    apart = -height - stairs.curve.depth(sizes)
    apart[low] = np.nan
    return sizes, apart


@dataclass(frozen=True, eq=False)
class Family:
    """One kind of noise by stairs: how it is made and what is proven of it.

    Attributes:
        stairs: under the density.
        transform: writes Z for every word that chose a step, NaN for the rest.
        judge: returns sizes and distances from the curve for points of the rest's boxes.
        signed: whether Z is drawn, or |Z|.
        slowly: the slow path of one draw.
        bounds: of variates that are not NaN.
    """

    stairs: Stairs
    transform: Callable[[Stairs, Words, Words, Floats, Workspace], None] = step_widths
    judge: Callable[[Stairs, Words, Words, Words], tuple[Floats, Floats]] = judge_points
    signed: bool = True
    slowly: Callable[[slow.Variate, float], int] = slow.rounded
    bounds: Bounds = _NEAREST


@cache
def gaussian() -> Family:
    """Return Gaussian noise; its stairs are read when they are needed first."""
    return Family(read_stairs(BELL))


@cache
def laplace() -> Family:
    """Return Laplace noise."""
    return Family(read_stairs(PEAK))


@cache
def exponential() -> Family:
    """Return exponential noise: the sizes of Laplace noise, rounded down."""
    return Family(read_stairs(PEAK), signed=False, slowly=slow.floored, bounds=replace(_NEAREST, half=0.0))
