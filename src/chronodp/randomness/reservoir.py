"""Exact noise on the integers, from a reservoir of unit variates made ahead of need.

A request multiplies the next variates by its scale and rounds (`rounding.py`); what is not certain is decided slowly.
`Reservoir.exceed` is *Coins* in ``docs/explanation/proofs/noise.md``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from chronodp.randomness import slow
from chronodp.randomness.keystream import Keystream
from chronodp.randomness.logarithm import Workspace
from chronodp.randomness.rest import Rest, on_step
from chronodp.randomness.rounding import check_scale, rounding
from chronodp.randomness.variates import Family

__all__ = ["Reservoir"]

_FEWEST = 16  # rounded at once: as many take no longer than one
_BATCH = 16384  # 128 KiB of words: a batch and its scratch stay in the second-level cache


class Reservoir:
    """Unit variates of one family with the words they came from; each is used once. For one thread.

    Variates are rounded ahead of need too, twice as many each time that the same scale is asked for again: most small
    requests are then a copy. What was rounded at another scale is forgotten, and its variates, which nobody has seen,
    are rounded anew.
    """

    def __init__(self, keystream: Keystream, family: Family, batch: int = _BATCH) -> None:
        self._keystream = keystream
        self._family = family
        self._rest = Rest(keystream, family)
        self._variates, self._rounded = np.empty(batch), np.empty(batch, dtype=np.int64)
        self._bits = np.empty(batch, dtype=np.int64)
        self._work = Workspace(batch)
        self._next = self._until = batch  # unused from here on; rounded until there
        self._scale, self._ahead = math.nan, 0

    def draw(self, scale: float, size: int) -> NDArray[np.int64]:
        """Return ``size`` independent copies of floor(scale * Z + 1/2), of exponential noise of floor(scale * Z)."""
        if type(scale) is not float or scale != self._scale:
            self._turn_to(check_scale(scale))
        begin, end = self._next, self._next + size
        if end <= self._until:
            self._next = end  # used before anyone sees it
            return self._rounded[begin:end].copy()
        result = np.empty(size, dtype=np.int64)
        done = 0
        while done < size:
            done += self._give(result[done:])
        return result

    def exceed(self, thresholds: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return, for each threshold x >= 0, whether a fresh unit exponential |Z| of a Laplace variate is above x."""
        result = np.empty(len(thresholds), dtype=np.bool_)
        done = 0
        while done < len(thresholds):
            begin, end = self._unused(len(thresholds) - done)
            wanted = thresholds[done : done + end - begin]
            excess = np.abs(self._variates[begin:end]) - wanted
            decided = result[done : done + end - begin]
            np.greater(excess, 0, decided)
            self._next = end
            # |Z| - x is rounded once more, by less than 2^-48 for |Z| <= 20: inside the doubled tolerance.
            for index in np.flatnonzero(~(np.abs(excess) > 2 * self._family.bounds.tolerance)).tolist():
                decided[index] = slow.exceeds(self._variate(begin + index), float(wanted[index]))
            done += end - begin
        return result

    def _turn_to(self, scale: float) -> None:
        if scale != self._scale:
            self._scale, self._ahead, self._until = scale, 0, self._next
            self._constants = rounding(scale, self._family.bounds)

    def _give(self, target: NDArray[np.int64]) -> int:
        """Write the next draws to the start of a target, as many as are there, and return how many."""
        begin, end = self._unused(len(target))
        if begin < self._until:
            end = min(end, self._until)
            target[: end - begin] = self._rounded[begin:end]
        elif end == len(self._variates):
            self._round(begin, end, target[: end - begin])
        else:
            self._ahead = max(len(target), 2 * self._ahead, _FEWEST)
            self._until = min(begin + self._ahead, len(self._variates))
            self._round(begin, self._until, self._rounded[begin : self._until])
            target[: end - begin] = self._rounded[begin:end]
        self._next = end
        return end - begin

    def _round(self, begin: int, end: int, target: NDArray[np.int64]) -> None:
        fractions = self._bits[: end - begin]
        for index in self._constants.round(self._variates[begin:end], target, fractions).tolist():
            target[index] = self._family.slowly(self._variate(begin + index), self._scale)

    def _unused(self, size: int) -> tuple[int, int]:
        """Return where a run of unused variates begins and ends, at most so many."""
        if self._next == len(self._variates):
            self._refill()
        return self._next, min(self._next + size, len(self._variates))

    def _refill(self) -> None:
        family, steps = self._family, self._bits
        self._words = self._keystream.words(len(self._variates))
        np.bitwise_and(self._words, family.stairs.layers - 1, steps)
        family.transform(family.stairs, self._words, steps, self._variates, self._work)
        self._spare = np.flatnonzero(steps < family.stairs.spare)
        self._kept = self._rest.take(len(self._spare))
        self._variates[self._spare] = self._kept.values
        if not family.signed:
            np.absolute(self._variates, self._variates)
        self._begun: dict[int, slow.Variate] = {}
        self._next = self._until = 0

    def _variate(self, index: int) -> slow.Variate:
        """Return an ideal variate; asked for again, with the same bits."""
        if index not in self._begun:
            place = int(np.searchsorted(self._spare, index))
            if place < len(self._spare) and self._spare[place] == index:
                self._begun[index] = self._kept.variate(place, self._family.stairs, self._keystream)
            else:
                self._begun[index] = on_step(self._family.stairs, int(self._words[index]), self._keystream)
        return self._begun[index]
