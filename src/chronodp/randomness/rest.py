"""Variates of the rest, between curve and stairs: points of boxes over its strips, kept if they lie under the curve.

A word chooses a strip by its share, a second one the place across it, a third one the height in its box. Boxes have
masses in the ratio of their shares, so points are uniform over all boxes, and the places of those under the curve have
the density of the rest, exactly: "Stairs" in ``docs/explanation/proofs/noise.md``. Points are judged many at a time,
and what is kept waits for the batches that need it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from chronodp.randomness import slow
from chronodp.randomness.keystream import Keystream
from chronodp.randomness.logarithm import Floats, Words
from chronodp.randomness.stairs import FINE, SHARES, Stairs
from chronodp.randomness.variates import CERTAIN, Family

__all__ = ["Kept", "Rest", "on_step"]

_TOGETHER = 2048  # points judged at once: about half of them are kept


@dataclass(frozen=True)
class Kept:
    """Some variates of the rest, and what they were made from.

    Attributes:
        values: in floats, signed; NaN where the slow path must be asked.
        strips: where each lies.
        across: the word that chose its place.
        begun: the uniform numbers of which more than that word has been drawn.
    """

    values: Floats
    strips: Words
    across: Words
    begun: dict[int, slow.UniformReal]

    def variate(self, place: int, stairs: Stairs, keystream: Keystream) -> slow.Variate:
        """Return one of them as the slow path takes it."""
        uniform = self.begun.get(place) or slow.UniformReal(int(self.across[place]), keystream)
        return _in_strip(stairs, int(self.strips[place]), uniform)

    def part(self, begin: int, end: int) -> Kept:
        """Return a run of them."""
        begun = self.begun and {place - begin: number for place, number in self.begun.items() if begin <= place < end}
        return Kept(self.values[begin:end], self.strips[begin:end], self.across[begin:end], begun)

    def __add__(self, other: Kept) -> Kept:
        return Kept(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.strips, other.strips]),
            np.concatenate([self.across, other.across]),
            self.begun | {place + len(self.values): number for place, number in other.begun.items()},
        )


class Rest:
    """Independent variates of the rest of one family; each is given out once. For one thread."""

    def __init__(self, keystream: Keystream, family: Family) -> None:
        self._keystream = keystream
        self._family = family
        nothing = np.empty(0, dtype=np.int64)
        self._kept, self._next = Kept(np.empty(0), nothing, nothing, {}), 0

    def take(self, count: int) -> Kept:
        """Return so many fresh ones."""
        while (end := self._next + count) > len(self._kept.values):
            self._kept, self._next = self._kept.part(self._next, len(self._kept.values)) + self._draw(), 0
        begin, self._next = self._next, end
        return self._kept.part(begin, end)

    def _draw(self) -> Kept:
        chosen, across, heights = self._keystream.words(3 * _TOGETHER).reshape(3, _TOGETHER)
        stairs = self._family.stairs
        strips = stairs.strips_of(chosen & (SHARES - 1))
        sizes, apart = self._family.judge(stairs, strips, across, heights)
        under = apart > CERTAIN
        begun = {}
        for point in np.flatnonzero(~(np.abs(apart) > CERTAIN)).tolist():
            begun[point] = slow.UniformReal(int(across[point]), self._keystream)
            height = slow.UniformReal(int(heights[point]), self._keystream)
            under[point] = _lies_under(stairs, int(strips[point]), begun[point], height)
        places = np.flatnonzero(under)
        values = np.copysign(sizes[places], across[places])
        known = {place: begun[point] for place, point in enumerate(places.tolist()) if point in begun} if begun else {}
        return Kept(values, strips[places], across[places], known)


def on_step(stairs: Stairs, word: int, keystream: Keystream) -> slow.Variate:
    """Return the variate of a word that chose a step as the slow path takes it."""
    last = stairs.layers - 1
    # The bits that chose the step are not bits of V: others take their place.
    uniform = slow.UniformReal((word & ~last) | (int(keystream.words(1)[0]) & last), keystream)
    return slow.Across(uniform, Fraction(0), Fraction(stairs.edges[(word & last) - stairs.spare], FINE))


def _in_strip(stairs: Stairs, strip: int, uniform: slow.UniformReal) -> slow.Variate:
    if strip == 0:
        return slow.Beyond(uniform, stairs.left(0), stairs.rate)
    return slow.Across(uniform, stairs.left(strip), stairs.width(strip))


def _lies_under(stairs: Stairs, strip: int, across: slow.UniformReal, height: slow.UniformReal) -> bool:
    level, depth = partial(stairs.level, strip), stairs.curve.depth_between
    return slow.lies_under(depth, _in_strip(stairs, strip, across), height, level, stairs.reach(strip))
