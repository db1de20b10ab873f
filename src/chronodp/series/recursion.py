"""Noise shaped step by step, in whole numbers, with a few numbers of memory.

A shape C turns independent draws z into noise w with C w = z: w_t = z_t - h_t, where h_t is what C takes from the noise
of earlier steps. Here h_t is rounded to a whole number r_t, which depends on earlier draws alone. So z can be told from
w exactly, and for one output the draws of two neighbours differ by C (x - x') and what rounding adds: at most 2 E in
each step, with E from `rounding_bound`. The argument stands in ``docs/explanation/proofs/streams.md``: "Why it is
private", and *Decaying buffers* under "How r is computed, and E".
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.series.shapes.buffered import BufferedLinear

__all__ = ["BLOCK", "FAR", "PIECE", "UNIT", "Floats", "Integers", "Recursion"]

BLOCK = 1024
"""Steps that are computed together: more would round more, fewer would be slower."""

PIECE = 32
"""Steps whose noise is added up before it goes into a buffer."""

FAR = 2.0**7
"""No draw, and no buffer, lies so many deviations from 0, but with probability e^-8000."""

UNIT = 2.0**-53
"""How much one floating-point operation rounds."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_CELLS = 2**18  # numbers that are filtered together


@dataclass(frozen=True)
class Recursion:
    """How the noise of a shape of decaying buffers goes on, for many series at once."""

    shape: BufferedLinear

    def start(self, keys: int = 1) -> Floats:
        """Return empty buffers of so many series."""
        return np.zeros((len(self.shape.theta), keys))

    def advance(
        self, known: Floats, begin: int, count: int, draw: Callable[[tuple[int, int]], Integers]
    ) -> tuple[Floats, Integers]:
        """Return the buffers after ``count`` more steps, and their noise; when they begin does not matter."""
        del begin
        return self.shape_draws(known, draw((count, known.shape[1])))

    def shape_draws(self, buffers: Floats, draws: Integers) -> tuple[Floats, Integers]:
        """Return the buffers afterwards and the noise of the next steps, from draws of steps by series."""
        noise = np.empty_like(draws)
        if not draws.shape[1]:  # no key was found: nothing to shape
            return buffers, noise
        together = BLOCK * max(1, _CELLS // (BLOCK * draws.shape[1]))
        for begin in range(0, len(draws), together):
            some = draws[begin : begin + together]
            own = self._own(some)
            for at in range(0, len(some), BLOCK):
                block = slice(at, at + BLOCK)
                taken = own[block] + self._carried[: len(own[block])] @ buffers
                # Whatever ``taken`` is off by, r stays a whole number made of earlier draws: z can be told from w.
                made = some[block] - np.rint(taken).astype(np.int64)
                noise[begin + at : begin + at + BLOCK] = made
                buffers = self._remember(buffers, made)
        return buffers, noise

    def rounding_bound(self, length: int, deviation: float) -> float:
        """Return E: how far a rounded r_t can be from h_t in a stream of at most ``length`` steps.

        Args:
            length: how many steps there will be at most.
            deviation: the standard deviation of draws, in steps of the grid.
        """
        draw, spreads = FAR * deviation, _spreads(self.shape)
        rounded, fading = _inside(self.shape)
        carried = FAR * deviation * math.fsum(map(operator.mul, self.shape.omega, spreads))
        within = 64 * UNIT * (draw + carried) * (4 + fading)
        across = 0.0
        for fade, taken, spread in zip(self.shape.theta, self.shape.omega, spreads, strict=True):
            # Buffers are rounded when they are updated, once a step where steps come one by one, or once a piece: sums
            # of PIECE draws, and of PIECE such sums. What an update loses fades like the buffer itself.
            lasting = min(float(length), 1 / (1 - fade))
            across += taken * UNIT * lasting * (4 * FAR * deviation * spread + 4 * PIECE * draw)
        return rounded + within + across

    def _own(self, draws: Integers) -> Floats:
        """What C takes, at each step, from the noise that the draws before it in its block make, whatever came before.

        Inside a block C w = z less what is carried over, so w is the inverse shape of that: some fading sums.
        """
        own = np.zeros(draws.shape)
        for begin, size in _even(len(draws)):
            blocks = draws[begin : begin + size].reshape(-1, min(size, BLOCK), draws.shape[1])
            self._fade(blocks, -1.0, own[begin : begin + size].reshape(blocks.shape))
        return own

    def _fade(self, series: Integers | Floats, sign: float, out: Floats) -> None:
        """Add the inverse's fading sums of all earlier steps, time along the second axis."""
        from scipy.signal import lfilter

        if series.shape[1] == 1:
            return
        numbers = series.astype(np.float64)
        for rate, weight in zip(*self.shape.inverse_parameters(), strict=True):
            out += lfilter([0.0, sign * weight], [1.0, -rate], numbers, axis=1)

    def _remember(self, buffers: Floats, noise: Integers) -> Floats:
        """Return the buffers after a block, added up piece by piece: short sums round less than long ones."""
        pieces, rest = divmod(len(noise), PIECE)
        if pieces:
            some = noise[: pieces * PIECE].reshape(pieces, PIECE, -1).astype(np.float64)
            sums = self._fading[:PIECE][::-1].T @ some
            later = self._fading[PIECE * np.arange(pieces)][::-1]
            buffers = self._fading[pieces * PIECE][:, None] * buffers + (later[:, :, None] * sums).sum(axis=0)
        if rest:
            buffers = self._fading[rest][:, None] * buffers + self._fading[:rest][::-1].T @ noise[pieces * PIECE :]
        return buffers

    @cached_property
    def _carried(self) -> Floats:
        """What C takes, at each step of a block, from a buffer that stood at 1 before it.

        That is the buffer's own part, and what it did to the noise of the block so far.
        """
        carried: Floats = self._fading[:BLOCK] * np.array(self.shape.omega)
        self._fade(carried.copy()[None], 1.0, carried[None])
        return carried

    @cached_property
    def _fading(self) -> Floats:
        """theta_i^t for t from 0 to a block's length."""
        powers: Floats = np.array(self.shape.theta) ** np.arange(BLOCK + 1)[:, None]
        return powers


# Every plan asks what rounding adds for the same few shapes.
@lru_cache(maxsize=256)
def _inside(shape: BufferedLinear) -> tuple[float, float]:
    """What rounding adds inside a block, whatever the draws, and by how much fading sums add up what they lose."""
    # r itself is rounded, and so is the noise of earlier steps of a block, which h takes by the coefficients of C.
    rounded = 0.5 + 0.5 * float(shape.coefficients(BLOCK)[1:].sum())
    # Fading sums inside a block: what an addition loses, a part of the sum so far, fades like the sum. Decays and
    # weights of the inverse are themselves right to some sixteen units.
    inverse = zip(*shape.inverse_parameters(), strict=True)
    return rounded, math.fsum(abs(weight) * min(BLOCK, 1 / (1 - rate)) ** 2 for rate, weight in inverse)


@lru_cache(maxsize=256)
def _spreads(shape: BufferedLinear) -> tuple[float, ...]:
    """The standard deviation of each buffer for draws of deviation 1, however long the stream.

    A buffer's response to a draw is a sum of parts_k rate_k^t, with the rates of the inverse, by partial fractions.
    """
    theta = np.array(shape.theta)
    rates = np.array(shape.inverse_parameters()[0])
    products = 1 / (1 - np.outer(rates, rates))
    spreads = []
    for index in range(len(theta)):
        others = np.delete(theta, index)
        parts = np.array(
            [np.prod(rate - others) / np.prod(rate - np.delete(rates, at)) for at, rate in enumerate(rates)]
        )
        spreads.append(math.sqrt(max(float(parts @ products @ parts), 0.0)))
    return tuple(spreads)


def _even(count: int) -> list[tuple[int, int]]:
    """Where whole blocks begin and how many steps they have, and likewise the rest."""
    whole = count - count % BLOCK
    return [(begin, size) for begin, size in ((0, whole), (whole, count - whole)) if size]
