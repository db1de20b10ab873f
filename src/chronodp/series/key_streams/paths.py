"""The noise of keys at each look: one path a key, whenever it is asked for, for keys that nobody holds yet too.

"Noise" in ``docs/explanation/proofs/key-streams.md``. Looks are gone through one by one and every operation is on
numbers of one key alone, in a fixed order: IEEE 754 fixes the result to the last bit, whichever other keys stand beside
it, how many looks are asked for at once, and after a restart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from chronodp.randomness import KeyedNoise
from chronodp.series.key_streams.design import KeyStreamDesign
from chronodp.series.key_streams.thresholds import KeyShape
from chronodp.series.recursion import Floats, Integers
from chronodp.series.shapes.buffered import BufferedLinear

__all__ = ["KeyPaths", "Paths"]

_CELLS = 2**20  # draws in memory at once


class Paths(Protocol):
    """What tells the noise of keys."""

    def at(self, look: int, keys: Sequence[str]) -> Integers:
        """Return the noise of each key's total at a look."""
        ...

    def until(self, look: int, keys: Sequence[str]) -> Integers:
        """Return the noise of each key's totals from the first look to this one, looks by keys."""
        ...


@dataclass(slots=True)
class _Memory:
    """How far the paths of some keys were gone: buffers by key, and the noise of each key's total."""

    buffers: Floats
    totals: Integers


class KeyPaths:
    """Paths of shaped noise from the stream's secret.

    What is remembered between looks saves time and nothing else: `until` begins anew, and both give the same numbers.

    Args:
        design: of the stream.
        secret: of its noise.
    """

    def __init__(self, design: KeyStreamDesign, secret: bytes) -> None:
        self._shape: KeyShape = design.shape
        self._scale = design.noise.scale / design.noise.step
        self._noise = KeyedNoise(secret)
        self._gone, self._known = 0, self._fresh(0)

    def at(self, look: int, keys: Sequence[str]) -> Integers:
        """Return the noise at a look; keys must be those of the look before, in that order, and new ones after."""
        old = len(self._known.totals)
        for _, totals in self._walk(self._known, keys[:old], self._gone, look + 1):
            self._known.totals = totals
        fresh = self._fresh(len(keys) - old)
        for _, totals in self._walk(fresh, keys[old:], 0, look + 1):
            fresh.totals = totals
        self._gone = look + 1
        self._known = _Memory(
            np.concatenate((self._known.buffers, fresh.buffers), axis=1),
            np.concatenate((self._known.totals, fresh.totals)),
        )
        return self._known.totals.copy()

    def until(self, look: int, keys: Sequence[str]) -> Integers:
        """Return the noise from the first look on."""
        made = np.zeros((look + 1, len(keys)), dtype=np.int64)
        for place, totals in self._walk(self._fresh(len(keys)), keys, 0, look + 1):
            made[place] = totals
        return made

    def _fresh(self, keys: int) -> _Memory:
        buffers = len(self._shape.theta) if isinstance(self._shape, BufferedLinear) else 0
        return _Memory(np.zeros((buffers, keys)), np.zeros(keys, dtype=np.int64))

    def _walk(self, memory: _Memory, keys: Sequence[str], begin: int, end: int) -> Iterator[tuple[int, Integers]]:
        """Yield looks and the totals at them; the buffers of the memory go along."""
        totals = memory.totals
        together = max(1, _CELLS // max(1, len(keys)))
        for first in range(begin, end, together):
            draws = self._noise.gaussian(self._scale, keys, begin=first, end=min(end, first + together))
            for place, drawn in enumerate(draws):
                totals = totals + self._shaped(memory.buffers, drawn)
                yield first + place, totals

    def _shaped(self, buffers: Floats, drawn: Integers) -> Integers:
        """Return w = z - r of one look, and put it into the buffers: s_i becomes theta_i s_i + w."""
        if not isinstance(self._shape, BufferedLinear):
            return drawn
        taken = np.zeros(len(drawn))
        for weight, buffer in zip(self._shape.omega, buffers, strict=True):
            taken += weight * buffer
        made: Integers = drawn - np.rint(taken).astype(np.int64)
        for fade, buffer in zip(self._shape.theta, buffers, strict=True):
            np.multiply(buffer, fade, buffer)
            np.add(buffer, made, buffer)
        return made
