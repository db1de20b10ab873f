"""Every outcome of rules that publish keys, though their noise has millions of steps.

What such a rule does changes only at a few cuts. So in place of a draw an entropy chooses an interval between cuts,
with its exact probability, and answers with the least value of that interval. Run through every choice, the shipped
rule gives its whole law.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.audit.enumerated_entropy import BITS, exponential
from chronodp.randomness import Shape

Above = Callable[[float, int], Any]
"""P(noise of a scale is at least so many steps), as a fraction or a float."""

_WORD = 2**128


class Branches:
    """Follows a script of choices, then always takes the first; knows which script comes next.

    Attributes:
        share: the probability of all choices taken so far.
    """

    def __init__(self, script: Sequence[int]) -> None:
        self._script = script
        self._path: list[tuple[int, int]] = []
        self.share: Any = 1

    def choose(self, chances: Sequence[Any]) -> int:
        """Return which of several choices is taken here."""
        place = len(self._path)
        choice = self._script[place] if place < len(self._script) else 0
        self._path.append((choice, len(chances)))
        self.share *= chances[choice]
        return choice

    def following(self) -> list[int]:
        """Return the next script, empty after the last."""
        for place in range(len(self._path) - 1, -1, -1):
            choice, choices = self._path[place]
            if choice + 1 < choices:
                return [*(one for one, _ in self._path[:place]), choice + 1]
        return []


def follow(run: Callable[[Branches], Hashable]) -> dict[Hashable, Any]:
    """Return the probability of every output of a run, by taking every branch."""
    found: dict[Hashable, Any] = {}
    script: list[int] = []
    while True:
        branches = Branches(script)
        output = run(branches)
        if branches.share:
            found[output] = found.get(output, 0) + branches.share
        script = branches.following()
        if not script:
            return found


class CutNoise:
    """Noise drawn as the interval, between the cuts of a round, in which weight and noise together end.

    Attributes:
        weighed: the weights that the next noise is added to; set by whoever hands them to the rule.
    """

    seeded = True

    def __init__(self, branches: Branches, cuts: Sequence[Sequence[int]], above: Above) -> None:
        self._branches, self._rounds, self._above = branches, iter(cuts), above
        self.weighed: NDArray[np.int64] = np.zeros(0, np.int64)

    def gaussian(self, scale: float, size: int) -> NDArray[np.int64]:
        """Choose an interval for each key."""
        cuts = tuple(next(self._rounds))
        noise = []
        for weight in self.weighed[:size].tolist():
            ends, chances = _intervals(self._above, scale, tuple(cut - weight for cut in cuts))
            noise.append(ends[self._branches.choose(chances)])
        return np.array(noise, np.int64)


class EdgeWords:
    """Words of 128 bits, each the last below an entry of a table or the first that is not."""

    seeded = True

    def __init__(self, branches: Branches, entries: Sequence[int]) -> None:
        self._branches, self._entries = branches, entries

    def integers(self, below: ArrayLike, size: Shape) -> NDArray[np.int64]:
        """Choose the side for each key, and return the word in its parts, the highest first."""
        if below != 2**32 or size != (len(self._entries), 4):
            raise AssertionError("a rule that draws in another way has to be walked in another way")
        words = []
        for entry in self._entries:
            chance = Fraction(entry, _WORD)
            kept = self._branches.choose((1 - chance, chance))
            word = entry - 1 if kept else min(entry, _WORD - 1)
            words.append([word >> shift & 2**32 - 1 for shift in (96, 64, 32, 0)])
        return np.array(words, np.int64).reshape(size)


class Accepted:
    """The try that a rejection accepts: its place has probability proportional to e^-exponent, whichever try it is."""

    seeded = True

    def __init__(self, branches: Branches) -> None:
        self._branches, self._places = branches, 0

    def integers(self, below: ArrayLike, size: Shape) -> NDArray[np.int64]:
        """Try every place."""
        self._places = int(np.asarray(below))
        return np.resize(np.arange(self._places), size)

    def exponential_coins(self, exponents: ArrayLike) -> NDArray[np.bool_]:
        """Accept one place."""
        wanted = np.asarray(exponents, np.float64)
        parts = [exponential(-Fraction(one)) for one in wanted[: self._places].tolist()]
        accepted, whole = np.zeros(len(wanted), np.bool_), sum(parts)
        accepted[self._branches.choose([part / whole for part in parts])] = True
        return accepted


def gaussian_above(scale: float, steps: int) -> Fraction:
    """Return P(⌊scale Z + ½⌋ ≥ steps) for a Gaussian Z, to 300 bits."""
    import mpmath

    with mpmath.workprec(BITS + 60):
        tail = mpmath.erfc((steps - mpmath.mpf(1) / 2) / (mpmath.mpf(scale) * mpmath.sqrt(2))) / 2
        return Fraction(int(mpmath.floor(mpmath.ldexp(tail, BITS))), 2**BITS)


def laplace_above(scale: float, steps: int) -> Fraction:
    """Return P(⌊scale Z + ½⌋ ≥ steps) for a Laplace Z, to 300 bits."""
    short = Fraction(2 * steps - 1, 2)
    tail = exponential(-abs(short) / Fraction(scale)) / 2
    return tail if short >= 0 else 1 - tail


@lru_cache(maxsize=4096)
def _intervals(above: Above, scale: float, cuts: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """Return the least value of each interval between cuts, of the first the greatest; and their probabilities."""
    edges = [1, *(above(scale, cut) for cut in cuts), 0]
    return (cuts[0] - 1, *cuts), tuple(upper - lower for upper, lower in itertools.pairwise(edges))
