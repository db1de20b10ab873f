"""The exact auditor: runs a mechanism through every outcome of its randomness and compares neighbours.

It sees only a mechanism's public call. In place of the secure entropy it passes one that answers each draw with
every possible value in turn, so the result is the mechanism's whole output distribution, as implemented. Finite
choices have rational probabilities and are exact; probabilities of noise and of e^-x coins are rounded at 2^-300;
noise is followed out to a tail of 2^-80, whose mass is kept apart and counted against or for the mechanism, whichever
makes the statement true.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.randomness import Entropy, Shape

__all__ = ["Finding", "Mechanism", "Outcomes", "compare_outcomes", "examine", "outcomes"]

Data_contra = TypeVar("Data_contra", contravariant=True)
Anything = TypeVar("Anything")

_BITS = 300
_TAIL = Fraction(1, 2**80)
_MOST_RUNS = 1_000_000


class Mechanism(Protocol[Data_contra]):
    """The public call of a mechanism: data and entropy in, an output out."""

    def __call__(self, data: Data_contra, /, *, entropy: Entropy) -> object:
        """Run once."""
        ...


@dataclass(frozen=True, slots=True)
class Outcomes:
    """A mechanism's output distribution on one input.

    Attributes:
        probabilities: probability of every output that was reached.
        unresolved: probability of noise so large that it was not followed.
    """

    probabilities: Mapping[Hashable, Fraction]
    unresolved: Fraction


@dataclass(frozen=True, slots=True)
class Finding:
    """How far apart a mechanism's outputs on neighbours are at worst.

    Attributes:
        ratio: the largest probability ratio that certainly occurs, or None if some output is impossible on a
            neighbour; rational and exact if only finite choices were drawn.
        output: where it occurs; None if no difference is certain.
        pairs: the distributions on each pair of neighbours.
    """

    ratio: Fraction | None
    output: Hashable
    pairs: tuple[tuple[Outcomes, Outcomes], ...]

    @property
    def epsilon(self) -> float:
        """The logarithm of the ratio: no smaller pure epsilon is true of this mechanism."""
        return math.inf if self.ratio is None else _log(self.ratio)

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return two numbers that the smallest true delta at ``epsilon`` >= 0 lies between."""
        factor = _exponential(Fraction(epsilon))
        bounds = [_delta(first, second, factor) for pair in self.pairs for first, second in (pair, pair[::-1])]
        return float(max(low for low, _ in bounds)), float(max(high for _, high in bounds))

    def curve(self, epsilons: Iterable[float]) -> list[tuple[float, float, float]]:
        """Return (epsilon, lower, upper) rows of the privacy curve."""
        return [(epsilon, *self.delta(epsilon)) for epsilon in epsilons]

    def refutes(self, epsilon: float, delta: float = 0.0) -> bool:
        """Return whether (epsilon, delta) is certainly false, beyond rounding."""
        return self.delta(epsilon)[0] > delta + 1e-15


def examine(mechanism: Mechanism[Anything], neighbours: Iterable[tuple[Anything, Anything]]) -> Finding:
    """Return the worst that any of the neighbouring pairs shows, in either direction.

    >>> def truthful(bit, *, entropy):              # randomised response: true with probability 3/4
    ...     return bit ^ int(not entropy.coins(3, 4))
    >>> finding = examine(truthful, [(0, 1)])
    >>> finding.ratio, round(finding.epsilon, 6)
    (Fraction(3, 1), 1.098612)
    """
    known: dict[Hashable, Outcomes] = {}

    def of(data: Anything) -> Outcomes:
        key = _freeze(data)
        if key not in known:
            known[key] = outcomes(lambda entropy: mechanism(data, entropy=entropy))
        return known[key]

    return compare_outcomes([(of(first), of(second)) for first, second in neighbours])


def compare_outcomes(pairs: Iterable[tuple[Outcomes, Outcomes]]) -> Finding:
    """Return the worst ratio over pairs of distributions, in either direction."""
    kept = tuple(pairs)
    if not kept:
        raise InvalidArgument("neighbours", None, "at least one pair of inputs")
    worst, where = Fraction(1), None
    for pair in kept:
        for first, second in (pair, pair[::-1]):
            for output, probability in first.probabilities.items():
                other = second.probabilities.get(output, Fraction(0)) + second.unresolved
                if not other:
                    return Finding(None, output, kept)
                if probability > worst * other:
                    worst, where = probability / other, output
    return Finding(worst, where, kept)


def outcomes(run: Callable[[Entropy], object], *, most_runs: int = _MOST_RUNS) -> Outcomes:
    """Return the output distribution of a run, by walking through every outcome of what it draws."""
    probabilities: dict[Hashable, Fraction] = {}
    unresolved = Fraction(0)
    script: list[int] = []
    for runs in itertools.count(1):
        if runs > most_runs:
            raise InvalidArgument("mechanism", None, f"small enough to enumerate in {most_runs} runs")
        entropy = _EnumeratedEntropy(script)
        try:
            output = _freeze(run(entropy))
        except _Unfollowed:
            unresolved += entropy.probability
        else:
            probabilities[output] = probabilities.get(output, Fraction(0)) + entropy.probability
        script = _next(entropy.path)
        if not script:
            return Outcomes(probabilities, unresolved)
    raise AssertionError("unreachable")


class _Unfollowed(Exception):
    """Noise beyond the tail was drawn: the rest of this run is not followed."""


class _EnumeratedEntropy:
    """Follows a script of choices, then always takes the first choice, and notes how many there were."""

    seeded = True

    def __init__(self, script: Sequence[int]) -> None:
        self._script = script
        self.path: list[tuple[int, int]] = []
        self.probability = Fraction(1)

    def integers(self, below: ArrayLike, size: Shape | None = None) -> NDArray[np.int64]:
        bounds = np.asarray(below)
        shape = bounds.shape if size is None else size
        flat = np.broadcast_to(bounds, shape).ravel()
        drawn = [self._choose([Fraction(1, int(bound))] * int(bound)) for bound in flat]
        return np.array(drawn, dtype=np.int64).reshape(shape)

    def coins(self, numerators: ArrayLike, denominator: int, size: Shape | None = None) -> NDArray[np.bool_]:
        wanted = np.asarray(numerators)
        shape = wanted.shape if size is None else size
        return self._coins([Fraction(int(part), denominator) for part in np.broadcast_to(wanted, shape).ravel()], shape)

    def exponential_coins(self, exponents: ArrayLike) -> NDArray[np.bool_]:
        wanted = np.asarray(exponents, dtype=np.float64)
        return self._coins([_exponential(-Fraction(float(part))) for part in wanted.ravel()], wanted.shape)

    def permutations(self, count: int, rows: int = 1) -> NDArray[np.int64]:
        choices = list(itertools.permutations(range(count)))
        weights = [Fraction(1, len(choices))] * len(choices)
        return np.array([choices[self._choose(weights)] for _ in range(rows)], dtype=np.int64)

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:
        return self._noise(_laplace_weights(Fraction(scale)), size)

    def gaussian(self, scale: float, size: Shape) -> NDArray[np.int64]:
        return self._noise(_gaussian_weights(Fraction(scale)), size)

    def _coins(self, chances: list[Fraction], shape: Shape) -> NDArray[np.bool_]:
        drawn = [self._choose([1 - chance, chance]) == 1 for chance in chances]
        return np.array(drawn, dtype=np.bool_).reshape(shape)

    def _noise(self, weights: list[Fraction], size: Shape) -> NDArray[np.int64]:
        reach = len(weights) // 2 - 1
        drawn = []
        for _ in range(math.prod(size) if isinstance(size, tuple) else size):
            choice = self._choose(weights)
            if choice == len(weights) - 1:
                raise _Unfollowed
            drawn.append(choice - reach)
        return np.array(drawn, dtype=np.int64).reshape(size)

    def _choose(self, weights: list[Fraction]) -> int:
        position = len(self.path)
        choice = self._script[position] if position < len(self._script) else _first(weights)
        following = next((index for index in range(choice + 1, len(weights)) if weights[index]), len(weights))
        self.path.append((choice, following if following < len(weights) else -1))
        self.probability *= weights[choice]
        return choice


def _first(weights: list[Fraction]) -> int:
    return next(index for index, weight in enumerate(weights) if weight)


def _next(path: list[tuple[int, int]]) -> list[int]:
    """Return the script of the next run in lexical order, empty after the last."""
    last = len(path) - 1
    while last >= 0 and path[last][1] < 0:
        last -= 1
    return [choice for choice, _ in path[:last]] + [path[last][1]] if last >= 0 else []


@lru_cache(maxsize=64)
def _laplace_weights(scale: Fraction) -> list[Fraction]:
    """Probabilities of floor(scale Z + 1/2) = -reach .. reach, then of everything beyond."""

    def above(x: Fraction) -> Fraction:  # P(scale Z >= x)
        tail = _exponential(-abs(x) / scale) / 2
        return tail if x >= 0 else 1 - tail

    return _weights(above, math.ceil(scale * 60))


@lru_cache(maxsize=64)
def _gaussian_weights(scale: Fraction) -> list[Fraction]:
    import mpmath

    def above(x: Fraction) -> Fraction:
        with mpmath.workprec(_BITS + 60):
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


def _exponential(x: Fraction) -> Fraction:
    """Return e^x to 300 bits, over a power of two."""
    import mpmath

    with mpmath.workprec(_BITS + 60):
        return _fraction(mpmath.exp(mpmath.mpf(x.numerator) / x.denominator))


def _fraction(value: Any) -> Fraction:
    sign, mantissa, exponent, _ = value._mpf_
    size = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -size if sign else size


def _log(ratio: Fraction) -> float:
    import mpmath

    with mpmath.workprec(_BITS):
        return float(mpmath.log(mpmath.mpf(ratio.numerator)) - mpmath.log(mpmath.mpf(ratio.denominator)))


def _delta(first: Outcomes, second: Outcomes, factor: Fraction) -> tuple[Fraction, Fraction]:
    # Over one common denominator: whole numbers add many times faster than fractions.
    parts = [*first.probabilities.values(), *second.probabilities.values()]
    whole = math.lcm(*{part.denominator for part in parts})
    excess = 0
    for output, probability in first.probabilities.items():
        other = second.probabilities.get(output, Fraction(0))
        here = probability.numerator * (whole // probability.denominator) * factor.denominator
        there = other.numerator * (whole // other.denominator) * factor.numerator
        excess += max(0, here - there)
    total = Fraction(excess, whole * factor.denominator)
    return max(Fraction(0), total - factor * second.unresolved), total + first.unresolved


def _freeze(value: object) -> Hashable:
    """Return an output or input as something that can be compared and counted."""
    if isinstance(value, np.ndarray):
        return (value.shape, *value.ravel().tolist())
    if isinstance(value, np.generic):
        item: Hashable = value.item()
        return item
    if isinstance(value, list | tuple):
        return tuple(_freeze(part) for part in value)
    if isinstance(value, dict):
        return tuple(sorted((str(key), _freeze(part)) for key, part in value.items()))
    if isinstance(value, Hashable):
        return value
    raise InvalidArgument("mechanism", value, "a mechanism whose output can be compared: numbers, tuples or arrays")
