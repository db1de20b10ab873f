"""An entropy that answers from a script and notes every other answer it could have given."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.randomness import Shape

__all__ = ["BITS", "EnumeratedEntropy", "Unfollowed", "Weights", "exponential", "weigh"]

BITS = 300
_TAIL = Fraction(1, 2**80)
_LEAST_BITS = 8  # that one draw is followed at least, however unlikely what came before
_STEP_BITS = 4


class Unfollowed(Exception):
    """Noise beyond the tail was drawn: the rest of this run is not followed."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Probabilities of choices as whole numbers: these multiply and add many times faster than fractions.

    Attributes:
        shares: of each choice, over ``whole``.
        whole: their common denominator.
        following: for each place the first possible choice from there on, None where there is none.
    """

    shares: tuple[int, ...]
    whole: int
    following: tuple[int | None, ...]


def weigh(chances: Iterable[Fraction]) -> Weights:
    """Return probabilities over their common denominator."""
    kept = tuple(chances)
    whole = math.lcm(*(chance.denominator for chance in kept))
    return _over(whole, tuple(chance.numerator * (whole // chance.denominator) for chance in kept))


Law: TypeAlias = Callable[[float], Weights]
"""Makes the probabilities of noise of a scale, the last of them that of all beyond."""


class EnumeratedEntropy:
    """Follows a script of choices, then always takes the first possible one. An `Entropy` for one run.

    Noise is followed out to a tail of 2^-80; with ``bits``, no further than to where the tail has 2^-bits of all runs.

    Attributes:
        share: of all choices taken so far, over ``whole``; not in lowest terms.
        whole: its denominator.
    """

    seeded = True

    def __init__(self, script: Sequence[int], bits: int | None = None) -> None:
        self._script = script
        self._bits = bits
        self._path: list[int] = []  # each choice taken
        self._others: list[int | None] = []  # the next one possible in its place
        self.share = 1
        self.whole = 1

    @property
    def probability(self) -> Fraction:
        """The probability of all choices taken so far."""
        return Fraction(self.share, self.whole)

    def integers(self, below: ArrayLike, size: Shape | None = None) -> NDArray[np.int64]:
        """Choose each integer in turn, all equally likely."""
        bounds, shape = _each(below, size)
        drawn = [self._choose(_even(int(bound))) for bound in bounds]
        return np.array(drawn, dtype=np.int64).reshape(shape)

    def coins(self, numerators: ArrayLike, denominator: int, size: Shape | None = None) -> NDArray[np.bool_]:
        """Choose each coin in turn."""
        parts, shape = _each(numerators, size)
        return self._coins([_coin(int(part), int(denominator)) for part in parts], shape)

    def exponential_coins(self, exponents: ArrayLike) -> NDArray[np.bool_]:
        """Choose each coin in turn."""
        wanted = np.asarray(exponents, dtype=np.float64)
        return self._coins([_exponential_coin(part) for part in wanted.ravel().tolist()], wanted.shape)

    def permutations(self, count: int, rows: int = 1) -> NDArray[np.int64]:
        """Choose among all orders, equally likely."""
        choices = list(itertools.permutations(range(count)))
        weights = _even(len(choices))
        return np.array([choices[self._choose(weights)] for _ in range(rows)], dtype=np.int64)

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Choose each integer that the noise can be, out to the tail."""
        return self._noise(_laplace_weights, scale, size)

    def gaussian(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Choose each integer that the noise can be, out to the tail."""
        return self._noise(_gaussian_weights, scale, size)

    def exponential(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Choose each integer that the noise can be, out to the tail."""
        return self._noise(_exponential_weights, scale, size, least=0)

    def _coins(self, coins: list[Weights], shape: Shape) -> NDArray[np.bool_]:
        drawn = [self._choose(coin) == 1 for coin in coins]
        return np.array(drawn, dtype=np.bool_).reshape(shape)

    def _noise(self, law: Law, scale: float, size: Shape, least: int | None = None) -> NDArray[np.int64]:
        drawn = []
        for _ in range(math.prod(size) if isinstance(size, tuple) else size):
            weights = law(scale) if self._bits is None else _followed(law, scale, self._bits_left(), least is None)
            beyond = len(weights.shares) - 1
            choice = self._choose(weights)
            if choice == beyond:
                raise Unfollowed
            drawn.append(choice - beyond // 2 if least is None else choice + least)
        return np.array(drawn, dtype=np.int64).reshape(size)

    def _bits_left(self) -> int:
        """Return b so that 2^-b of this run is at most 2^-bits of all; in steps, so that few are known."""
        used = self.whole.bit_length() - self.share.bit_length() - 1  # the run has at most 2^-used of all
        return max(_LEAST_BITS, (self._bits or 0) - used // _STEP_BITS * _STEP_BITS)

    def following(self) -> list[int]:
        """Return the script of the next run in lexical order, empty after the last."""
        for place in range(len(self._others) - 1, -1, -1):
            other = self._others[place]
            if other is not None:
                return [*self._path[:place], other]
        return []

    def _choose(self, weights: Weights) -> int:
        position = len(self._path)
        choice = self._script[position] if position < len(self._script) else weights.following[0]
        if choice is None:
            raise AssertionError("some choice has a probability")
        self._path.append(choice)
        self._others.append(weights.following[choice + 1])
        self.share *= weights.shares[choice]
        self.whole *= weights.whole
        return choice


def _each(values: ArrayLike, size: Shape | None) -> tuple[list[Any], Shape]:
    """Return a value for every draw, and the shape of the draws."""
    # A walk draws millions of times, mostly by one number: that one is not sent through an array.
    if isinstance(values, int):
        shape: Shape = () if size is None else size if isinstance(size, tuple) else (size,)
        return [values] * math.prod(shape), shape
    given = np.asarray(values)
    spread = given if size is None else np.broadcast_to(given, size)
    return spread.ravel().tolist(), spread.shape


def _over(whole: int, shares: tuple[int, ...]) -> Weights:
    following: list[int | None] = [None]
    for place in range(len(shares) - 1, -1, -1):
        following.append(place if shares[place] else following[-1])
    return Weights(shares, whole, tuple(reversed(following)))


@lru_cache(maxsize=1024)
def _even(below: int) -> Weights:
    return _over(below, (1,) * below)


@lru_cache(maxsize=1024)
def _coin(numerator: int, denominator: int) -> Weights:
    return weigh([1 - Fraction(numerator, denominator), Fraction(numerator, denominator)])


@lru_cache(maxsize=1024)
def _exponential_coin(exponent: float) -> Weights:
    chance = exponential(-Fraction(exponent))
    return weigh([1 - chance, chance])


@lru_cache(maxsize=4096)
def _followed(law: Law, scale: float, bits: int, both_sides: bool) -> Weights:
    """Return probabilities of what noise can be out to a tail of at most 2^-bits, then of the tail."""
    *inside, beyond = law(scale).shares
    whole = law(scale).whole
    cut = 0
    while True:
        lost = beyond + (inside[cut] if both_sides else 0) + inside[len(inside) - 1 - cut]
        if lost << bits > whole:
            break
        beyond, cut = lost, cut + 1
    return _over(whole, (*inside[cut if both_sides else 0 : len(inside) - cut], beyond))


@lru_cache(maxsize=64)
def _laplace_weights(width: float) -> Weights:
    """Probabilities of floor(scale Z + 1/2) = -reach .. reach, then of everything beyond."""
    scale = Fraction(width)

    def above(x: Fraction) -> Fraction:  # P(scale Z >= x)
        tail = exponential(-abs(x) / scale) / 2
        return tail if x >= 0 else 1 - tail

    return _weights(above, math.ceil(scale * 60))


@lru_cache(maxsize=64)
def _exponential_weights(width: float) -> Weights:
    """Probabilities of floor(scale Z) = 0 .. reach, then of everything beyond."""
    scale = Fraction(width)
    edges = [exponential(-step / scale) for step in range(math.ceil(scale * 60) + 2)]
    return weigh([*(upper - lower for upper, lower in itertools.pairwise(edges)), edges[-1]])


@lru_cache(maxsize=64)
def _gaussian_weights(width: float) -> Weights:
    import mpmath

    scale = Fraction(width)

    def above(x: Fraction) -> Fraction:
        with mpmath.workprec(BITS + 60):
            ratio = mpmath.mpf(x.numerator) / x.denominator * scale.denominator / scale.numerator
            return _fraction(mpmath.erfc(ratio / mpmath.sqrt(2)) / 2)

    return _weights(above, math.ceil(scale * 11))


def _weights(above: Callable[[Fraction], Fraction], reach: int) -> Weights:
    edges = [above(Fraction(2 * step - 1, 2)) for step in range(-reach, reach + 2)]
    inside = [upper - lower for upper, lower in itertools.pairwise(edges)]
    beyond = 1 - sum(inside, Fraction(0))
    if beyond >= _TAIL:
        raise AssertionError("the reach is too short for the tail")
    return weigh([*inside, beyond])


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
