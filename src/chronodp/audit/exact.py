"""The exact auditor: runs a mechanism through every outcome of its randomness and compares neighbours.

It sees only a mechanism's public call. In place of the secure entropy it passes one that answers each draw with
every possible value in turn, so the result is the mechanism's whole output distribution, as implemented. Finite
choices have rational probabilities and are exact; probabilities of noise and of e^-x coins are rounded at 2^-300;
noise is followed out to a tail of 2^-80, whose mass is kept apart and counted against or for the mechanism, whichever
makes the statement true.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Protocol, TypeVar

from chronodp.audit.enumerated_entropy import BITS, EnumeratedEntropy, Unfollowed, exponential
from chronodp.audit.frozen import freeze
from chronodp.errors import InvalidArgument
from chronodp.privacy import settle
from chronodp.randomness import Entropy

__all__ = ["Finding", "Mechanism", "Outcomes", "compare_outcomes", "examine", "outcomes", "total"]

Data_contra = TypeVar("Data_contra", contravariant=True)
Anything = TypeVar("Anything")

_MOST_RUNS = 1_000_000
_ROUNDED = 2.0**-50  # more than what two rounded quotients are wrong by, as a share of them
_LEAST = 1e-300  # above it a quotient loses no digits


class Mechanism(Protocol[Data_contra]):
    """The public call of a mechanism: data and entropy in, an output out."""

    def __call__(self, data: Data_contra, /, *, entropy: Entropy) -> object:
        """Run once."""
        ...


@dataclass(frozen=True)
class Outcomes:
    """A mechanism's output distribution on one input, over one denominator: fractions in lowest terms take far longer.

    Attributes:
        shares: of every output that was reached.
        lost: the share of noise so large that it was not followed.
        whole: their denominator.
    """

    shares: Mapping[Hashable, int]
    lost: int
    whole: int

    @classmethod
    def of(cls, probabilities: Mapping[Hashable, Fraction], unresolved: Fraction) -> Outcomes:
        """Return a distribution that is given by fractions."""
        whole = math.lcm(unresolved.denominator, *{part.denominator for part in probabilities.values()})

        def over(part: Fraction) -> int:
            return part.numerator * (whole // part.denominator)

        return cls({output: over(part) for output, part in probabilities.items()}, over(unresolved), whole)

    @cached_property
    def probabilities(self) -> Mapping[Hashable, Fraction]:
        """Probability of every output that was reached."""
        return {output: Fraction(share, self.whole) for output, share in self.shares.items()}

    @cached_property
    def unresolved(self) -> Fraction:
        """Probability of noise so large that it was not followed."""
        return Fraction(self.lost, self.whole)


@dataclass(frozen=True, slots=True)
class _Aligned:
    """Two distributions over one common denominator: whole numbers add many times faster than fractions.

    Attributes:
        shares: what each output of the first has there and in the second.
        lost: what was not followed of the first and of the second.
        whole: the denominator.
        by_ratio: the shares, from the largest rounded ratio to the least.
        falling: those rounded ratios, less than nothing, so that they rise.
        sums: of the shares before each place there, in the first and in the second.
    """

    shares: tuple[tuple[int, int], ...]
    lost: tuple[int, int]
    whole: int
    by_ratio: tuple[tuple[int, int], ...] = field(init=False, repr=False, compare=False)
    falling: tuple[float, ...] = field(init=False, repr=False, compare=False)
    sums: tuple[tuple[int, int], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rounded = sorted(((-_quotient(*pair), pair) for pair in self.shares), key=lambda known: known[0])
        by_ratio = tuple(pair for _, pair in rounded)
        heres, theres = ([0, *itertools.accumulate(pair[side] for pair in by_ratio)] for side in (0, 1))
        falling = tuple(ratio for ratio, _ in rounded)
        settle(self, by_ratio=by_ratio, falling=falling, sums=tuple(zip(heres, theres, strict=True)))

    def delta(self, factor: Fraction) -> tuple[Fraction, Fraction]:
        """Return two numbers that the smallest true delta at a factor lies between, in this direction."""
        times, over = factor.numerator, factor.denominator
        # What stands out is a beginning of the shares by ratio. Long numbers are multiplied near its end alone, where
        # rounded ratios leave it open: each is wrong by at most 2^-53 of itself.
        about = _quotient(times, over)
        sure, last = 0, len(self.shares)
        if _LEAST < about < math.inf:
            sure = bisect.bisect_left(self.falling, -about * (1 + _ROUNDED))
            last = bisect.bisect_right(self.falling, -about * (1 - _ROUNDED))
        excess = over * self.sums[sure][0] - times * self.sums[sure][1]
        for here, there in self.by_ratio[sure:last]:
            excess += max(0, over * here - times * there)
        low = max(0, excess - times * self.lost[1])
        return Fraction(low, self.whole * over), Fraction(excess + over * self.lost[0], self.whole * over)


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
    _aligned: tuple[_Aligned, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        settle(self, _aligned=self._aligned or tuple(_both_ways(self.pairs)))

    @property
    def impossible(self) -> Fraction:
        """The largest probability, over pairs and directions, of outputs that the neighbour certainly cannot give."""
        return max(_impossible(*ordered) for pair in self.pairs for ordered in (pair, pair[::-1]))

    @property
    def epsilon(self) -> float:
        """The logarithm of the ratio: no smaller pure epsilon is true of this mechanism."""
        return math.inf if self.ratio is None else _log(self.ratio)

    @property
    def range(self) -> float:
        """The most that log-likelihood ratios of one pair certainly span: no smaller bounded range is true."""
        return max(_range(ordered) for ordered in self._aligned)

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Return two numbers that the smallest true delta at ``epsilon`` >= 0 lies between."""
        factor = exponential(Fraction(epsilon))
        bounds = [ordered.delta(factor) for ordered in self._aligned]
        return float(max(low for low, _ in bounds)), float(max(high for _, high in bounds))

    def curve(self, epsilons: Iterable[float]) -> list[tuple[float, float, float]]:
        """Return (epsilon, lower, upper) rows of the privacy curve."""
        return [(epsilon, *self.delta(epsilon)) for epsilon in epsilons]

    def refutes(self, epsilon: float, delta: float = 0.0) -> bool:
        """Return whether (epsilon, delta) is certainly false, beyond rounding."""
        return self.delta(epsilon)[0] > delta + 1e-15


def examine(
    mechanism: Mechanism[Anything],
    neighbours: Iterable[tuple[Anything, Anything]],
    *,
    most_runs: int = _MOST_RUNS,
    bits: int | None = None,
) -> Finding:
    """Return the worst that any of the neighbouring pairs shows, in either direction.

    Args:
        mechanism: what is run.
        neighbours: pairs of inputs.
        most_runs: paths that may be walked for one input.
        bits: noise is followed no further along a path than to where 2^-bits of all runs is left.

    >>> def truthful(bit, *, entropy):              # randomised response: true with probability 3/4
    ...     return bit ^ int(not entropy.coins(3, 4))
    >>> finding = examine(truthful, [(0, 1)])
    >>> finding.ratio, round(finding.epsilon, 6)
    (Fraction(3, 1), 1.098612)
    """
    known: dict[Hashable, Outcomes] = {}

    def of(data: Anything) -> Outcomes:
        key = freeze(data)
        if key not in known:
            known[key] = outcomes(lambda entropy: mechanism(data, entropy=entropy), most_runs=most_runs, bits=bits)
        return known[key]

    return compare_outcomes([(of(first), of(second)) for first, second in neighbours])


def compare_outcomes(pairs: Iterable[tuple[Outcomes, Outcomes]]) -> Finding:
    """Return the worst ratio over pairs of distributions, in either direction."""
    kept = tuple(pairs)
    if not kept:
        raise InvalidArgument("neighbours", None, "at least one pair of inputs")
    aligned = tuple(_both_ways(kept))
    here, there, where = 1, 1, None  # the worst ratio so far, and its output
    for ordered, (first, _) in zip(aligned, _ordered(kept), strict=True):
        for output, (probability, known) in zip(first.shares, ordered.shares, strict=True):
            other = known + ordered.lost[1]
            if not other:
                return Finding(None, output, kept, aligned)
            if probability * there > here * other:
                here, there, where = probability, other, output
    return Finding(Fraction(here, there), where, kept, aligned)


def outcomes(run: Callable[[Entropy], object], *, most_runs: int = _MOST_RUNS, bits: int | None = None) -> Outcomes:
    """Return the output distribution of a run, by walking through every outcome of what it draws."""
    found: dict[Hashable, dict[int, int]] = {}  # of each output, shares summed by their denominator
    unresolved: dict[int, int] = {}
    script: list[int] = []
    for runs in itertools.count(1):
        if runs > most_runs:
            raise InvalidArgument("mechanism", None, f"small enough to enumerate in {most_runs} runs")
        entropy = EnumeratedEntropy(script, bits)
        try:
            reached = found.setdefault(freeze(run(entropy)), {})
        except Unfollowed:
            reached = unresolved
        reached[entropy.whole] = reached.get(entropy.whole, 0) + entropy.share
        script = entropy.following()
        if not script:
            return _together(found, unresolved)
    raise AssertionError("unreachable")


def _together(found: Mapping[Hashable, Mapping[int, int]], unresolved: Mapping[int, int]) -> Outcomes:
    whole = math.lcm(*unresolved, *{whole for parts in found.values() for whole in parts})
    return Outcomes({output: total(parts, whole) for output, parts in found.items()}, total(unresolved, whole), whole)


def total(parts: Mapping[int, int], whole: int) -> int:
    """Return the sum of shares that are given by their denominators, over a multiple of all of these."""
    return sum(share * (whole // part) for part, share in parts.items())


def _quotient(over: int, under: int) -> float:
    """Return a quotient of whole numbers, rounded once; infinite where floats end."""
    try:
        return over / under
    except (OverflowError, ZeroDivisionError):
        return math.inf


def _ordered(pairs: Iterable[tuple[Outcomes, Outcomes]]) -> Iterator[tuple[Outcomes, Outcomes]]:
    for first, second in pairs:
        yield first, second
        yield second, first


def _both_ways(pairs: Iterable[tuple[Outcomes, Outcomes]]) -> Iterator[_Aligned]:
    for first, second in _ordered(pairs):
        yield _align(first, second)


def _align(first: Outcomes, second: Outcomes) -> _Aligned:
    whole = math.lcm(first.whole, second.whole)
    here, there = whole // first.whole, whole // second.whole
    others = second.shares
    shares = tuple((share * here, others.get(output, 0) * there) for output, share in first.shares.items())
    return _Aligned(shares, (first.lost * here, second.lost * there), whole)


def _range(ordered: _Aligned) -> float:
    """Return the logarithm of the largest probability ratio over the least, each taken where it is certain."""
    lost_here, lost_there = ordered.lost
    # What was not followed may belong to any output: it counts against the largest ratio and for the least.
    highs = [Fraction(here, there + lost_there) for here, there in ordered.shares if there + lost_there]
    if len(highs) < sum(1 for here, _ in ordered.shares if here):
        return math.inf
    lows = [Fraction(here + lost_here, there) for here, there in ordered.shares if there]
    return max(0.0, _log(max(highs) / min(lows))) if highs and lows else 0.0


def _impossible(first: Outcomes, second: Outcomes) -> Fraction:
    if second.lost:
        return Fraction(0)
    alone = sum(first.shares[output] for output in first.shares.keys() - second.shares.keys())
    return Fraction(alone, first.whole)


def _log(ratio: Fraction) -> float:
    import mpmath

    with mpmath.workprec(BITS):
        return float(mpmath.log(mpmath.mpf(ratio.numerator)) - mpmath.log(mpmath.mpf(ratio.denominator)))
