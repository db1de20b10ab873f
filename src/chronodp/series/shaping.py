"""Noise of a chosen shape for a whole series, in whole numbers, and how much its rounding adds to the sensitivity.

"What is released" of ``docs/explanation/proofs/streams.md``, and *Other filters* under "How r is computed, and E"
there: `filter_draws` makes w, `rounding_bound` returns E.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from chronodp.randomness import Entropy
from chronodp.series.noise import Noise
from chronodp.series.ongoing import OngoingShape, ongoing_noise
from chronodp.series.recursion import FAR, UNIT, Floats, Integers, Recursion
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.differenced import Differenced
from chronodp.series.shapes.toeplitz import Banded, SquareRoot, White
from chronodp.series.shapes.tree import Tree

__all__ = ["LONGEST_FILTER", "ReleasedShape", "draw_noise", "filter_draws", "rounding_bound"]

ReleasedShape: TypeAlias = OngoingShape | SquareRoot | Banded | Differenced
"""Shapes whose noise can be made."""

LONGEST_FILTER = 2**14
"""Periods up to which shapes without a recursion are used: their noise costs (periods)² / 256."""

_BLOCK = 256


def draw_noise(shape: ReleasedShape, noise: Noise, horizon: int, places: int, entropy: Entropy) -> Integers:
    """Return the noise of every period and place, in steps of the grid."""
    if isinstance(shape, Differenced):
        # Added to differences, and these added up: whole numbers, so each can be told from the other.
        return np.cumsum(draw_noise(shape.of, noise, horizon, places, entropy), axis=0)
    draw = noise.draws(entropy)
    if isinstance(shape, OngoingShape):
        noise_of = ongoing_noise(shape, horizon)
        return noise_of.advance(noise_of.start(places), 0, horizon, draw)[1]
    return filter_draws(shape, draw((horizon, places)))


def rounding_bound(shape: ReleasedShape, horizon: int, deviation: float) -> float:
    """Return E, such that rounding moves what C takes from earlier noise by at most E steps of the grid."""
    if isinstance(shape, White | Tree):
        return 0.0
    if isinstance(shape, Differenced):
        return rounding_bound(shape.of, horizon, deviation)
    if isinstance(shape, BufferedLinear):
        return Recursion(shape).rounding_bound(horizon, deviation)
    column, inverse = shape.coefficients(horizon), shape.inverse(horizon)
    # r is rounded by 1/2; so was each earlier w of the block, and h takes those by the coefficients of C.
    rounded = 0.5 + 0.5 * float(np.abs(column[1:_BLOCK]).sum())
    draw = FAR * deviation
    # The past of a block by Fourier transform, its inside by sums of at most _BLOCK terms.
    length = math.sqrt(float(column @ column)) * draw * math.sqrt(float(inverse @ inverse) * horizon)
    transform = 16 * UNIT * math.log2(4 * horizon) * length
    inside = 4 * UNIT * _BLOCK * draw * (1 + float(np.abs(inverse[:_BLOCK]).sum())) * (1 + float(np.abs(column).sum()))
    return rounded + transform + inside


def filter_draws(shape: SquareRoot | Banded, draws: Integers) -> Integers:
    """Return noise w with C w = z up to rounding, from draws z of periods by places.

    Each w_t is z_t less a whole number that depends on earlier draws alone, so z can be told from w. The work goes
    block by block: what C takes from earlier blocks is exact to rounding, and known before the block.
    """
    from scipy.fft import irfft, next_fast_len, rfft
    from scipy.linalg import toeplitz

    horizon = len(draws)
    column = shape.coefficients(horizon)
    size = next_fast_len(2 * horizon, real=True)
    spectrum = rfft(column, size)[:, None]
    width = min(_BLOCK, horizon)
    # Strictly below the diagonal: a draw has no part in what is taken from itself.
    inner: Floats = toeplitz(shape.inverse(width), np.zeros(width))
    inner -= np.eye(width) * inner[0, 0]
    noise = np.zeros_like(draws)
    for begin in range(0, horizon, width):
        stop = min(begin + width, horizon)
        past = (
            irfft(rfft(noise[:begin].astype(np.float64), size, axis=0) * spectrum, size, axis=0)[begin:stop]
            if begin
            else 0.0
        )
        left = draws[begin:stop] - past
        taken = past - inner[: stop - begin, : stop - begin] @ left
        noise[begin:stop] = draws[begin:stop] - np.rint(taken).astype(np.int64)
    return noise
