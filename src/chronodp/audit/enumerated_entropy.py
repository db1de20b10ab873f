"""An entropy that answers from a script and notes every other answer it could have given."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.randomness import Shape

__all__ = ["BITS", "EnumeratedEntropy", "Unfollowed", "exponential"]

BITS = 300
_TAIL = Fraction(1, 2**80)


class Unfollowed(Exception):
    """Noise beyond the tail was drawn: the rest of this run is not followed."""


class EnumeratedEntropy:
    """Follows a script of choices, then always takes the first possible one. An `Entropy` for one run.

    Attributes:
        probability: of all choices taken so far.
    """

    seeded = True

    def __init__(self, script: Sequence[int]) -> None:
        self._script = script
        self._path: list[tuple[int, int | None]] = []  # each choice taken, and the next one possible in its place
        self.probability = Fraction(1)

    def integers(self, below: ArrayLike, size: Shape | None = None) -> NDArray[np.int64]:
        """Choose each integer in turn, all equally likely."""
        bounds = np.asarray(below)
        shape = bounds.shape if size is None else size
        flat = np.broadcast_to(bounds, shape).ravel()
        drawn = [self._choose([Fraction(1, int(bound))] * int(bound)) for bound in flat]
        return np.array(drawn, dtype=np.int64).reshape(shape)

    def coins(self, numerators: ArrayLike, denominator: int, size: Shape | None = None) -> NDArray[np.bool_]:
        """Choose each coin in turn."""
        wanted = np.asarray(numerators)
        shape = wanted.shape if size is None else size
        return self._coins([Fraction(int(part), denominator) for part in np.broadcast_to(wanted, shape).ravel()], shape)

    def exponential_coins(self, exponents: ArrayLike) -> NDArray[np.bool_]:
        """Choose each coin in turn."""
        wanted = np.asarray(exponents, dtype=np.float64)
        return self._coins([exponential(-Fraction(float(part))) for part in wanted.ravel()], wanted.shape)

    def permutations(self, count: int, rows: int = 1) -> NDArray[np.int64]:
        """Choose among all orders, equally likely."""
        choices = list(itertools.permutations(range(count)))
        weights = [Fraction(1, len(choices))] * len(choices)
        return np.array([choices[self._choose(weights)] for _ in range(rows)], dtype=np.int64)

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Choose each integer that the noise can be, out to the tail."""
        return self._noise(_laplace_weights(Fraction(scale)), size)

    def gaussian(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Choose each integer that the noise can be, out to the tail."""
        return self._noise(_gaussian_weights(Fraction(scale)), size)

    def exponential(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Choose each integer that the noise can be, out to the tail."""
        return self._noise(_exponential_weights(Fraction(scale)), size, least=0)

    def _coins(self, chances: list[Fraction], shape: Shape) -> NDArray[np.bool_]:
        drawn = [self._choose([1 - chance, chance]) == 1 for chance in chances]
        return np.array(drawn, dtype=np.bool_).reshape(shape)

    def _noise(self, weights: list[Fraction], size: Shape, least: int | None = None) -> NDArray[np.int64]:
        first = 1 - len(weights) // 2 if least is None else least
        drawn = []
        for _ in range(math.prod(size) if isinstance(size, tuple) else size):
            choice = self._choose(weights)
            if choice == len(weights) - 1:
                raise Unfollowed
            drawn.append(choice + first)
        return np.array(drawn, dtype=np.int64).reshape(size)

    def following(self) -> list[int]:
        """Return the script of the next run in lexical order, empty after the last."""
        path = self._path
        while path and path[-1][1] is None:
            path = path[:-1]
        return [*(choice for choice, _ in path[:-1]), *(other for _, other in path[-1:] if other is not None)]

    def _choose(self, weights: list[Fraction]) -> int:
        position = len(self._path)
        choice = self._script[position] if position < len(self._script) else _possible(weights, 0)
        if choice is None:
            raise AssertionError("some choice has a probability")
        self._path.append((choice, _possible(weights, choice + 1)))
        self.probability *= weights[choice]
        return choice


def _possible(weights: list[Fraction], start: int) -> int | None:
    return next((index for index in range(start, len(weights)) if weights[index]), None)


@lru_cache(maxsize=64)
def _laplace_weights(scale: Fraction) -> list[Fraction]:
    """Probabilities of floor(scale Z + 1/2) = -reach .. reach, then of everything beyond."""

    def above(x: Fraction) -> Fraction:  # P(scale Z >= x)
        tail = exponential(-abs(x) / scale) / 2
        return tail if x >= 0 else 1 - tail

    return _weights(above, math.ceil(scale * 60))


@lru_cache(maxsize=64)
def _exponential_weights(scale: Fraction) -> list[Fraction]:
    """Probabilities of floor(scale Z) = 0 .. reach, then of everything beyond."""
    edges = [exponential(-step / scale) for step in range(math.ceil(scale * 60) + 2)]
    return [*(upper - lower for upper, lower in itertools.pairwise(edges)), edges[-1]]


@lru_cache(maxsize=64)
def _gaussian_weights(scale: Fraction) -> list[Fraction]:
    import mpmath

    def above(x: Fraction) -> Fraction:
        with mpmath.workprec(BITS + 60):
            ratio = mpmath.mpf(x.numerator) / x.denominator * scale.denominator / scale.numerator
            return _fraction(mpmath.erfc(ratio / mpmath.sqrt(2)) / 2)

    return _weights(above, math.ceil(scale * 11))


def _weights(above: Callable[[Fraction], Fraction], reach: int) -> list[Fraction]:
    edges = [above(Fraction(2 * step - 1, 2)) for step in range(-reach, reach + 2)]
    inside = [upper - lower for upper, lower in itertools.pairwise(edges)]
    beyond = 1 - sum(inside, Fraction(0))
    if beyond >= _TAIL:
        raise AssertionError("the reach is too short for the tail")
    return [*inside, beyond]


@lru_cache(maxsize=1024)
def exponential(x: Fraction) -> Fraction:
    """Return e^x to 300 bits, over a power of two."""
    import mpmath

    with mpmath.workprec(BITS + 60):
        return _fraction(mpmath.exp(mpmath.mpf(x.numerator) / x.denominator))


def _fraction(value: Any) -> Fraction:
    sign, mantissa, exponent, _ = value._mpf_
    size = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -size if sign else size
