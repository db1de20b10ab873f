"""From counts of an event to a lower bound on epsilon, at a stated error.

With counts K ~ Bin(n, p) and L ~ Bin(n, q), the statistic T = K - c L is fixed before they are drawn. A level (an
epsilon, or a mu) is refuted if, wherever it lets p and q be, T as large as the one seen has probability at most the
error. What is allowed grows with the level, so the largest refuted level is a bound of that error (Buehler 1957). T
weighs both counts together, which proves more than a bound of each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc, betaincinv, ndtr, ndtri

from chronodp.accounting import gather, gaussian
from chronodp.privacy import Claim

__all__ = [
    "Counts",
    "GaussianRule",
    "PointRule",
    "Rule",
    "at_least",
    "at_most",
    "largest_refuted",
    "refutes",
    "rules_for",
]

Floats = NDArray[np.float64]

_BLOCKS = 160  # stretches in which the second count is summed
_FINEST = 16  # parts of its deviation that q is known to, at the end
_ROUNDS = 12  # of bisection
_RARE = 5


def at_least(count: NDArray[np.int64] | int, of: int, error: float) -> Floats:
    """Return a lower bound of a probability: too high with probability at most ``error`` (Clopper and Pearson).

    >>> float(at_least(0, 100, 0.05)), round(float(at_least(100, 100, 0.05)), 4)
    (0.0, 0.9705)
    """
    hits = np.asarray(count, dtype=np.float64)
    found = betaincinv(np.maximum(hits, 1.0), of - hits + 1, error)
    return np.asarray(np.where(hits > 0, found, 0.0))


def at_most(count: NDArray[np.int64] | int, of: int, error: float) -> Floats:
    """Return an upper bound of a probability: too low with probability at most ``error``."""
    return 1 - at_least(of - np.asarray(count), of, error)


class Rule(Protocol):
    """What a claim of some level allows: P(S) at most ``ceiling`` of Q(S), for every event S."""

    @property
    def rare(self) -> int:
        """How many rarer events are worth trying beside the one that promises most."""
        ...

    def level(self, first: Floats, second: Floats) -> Floats:
        """Return the least level that allows these probabilities."""
        ...

    def ceiling(self, level: float, second: float) -> float:
        """Return the largest P(S) that a level allows at this Q(S); it grows with both."""
        ...

    def slope(self, first: float, second: float) -> float:
        """Return how fast the ceiling grows with Q(S) where it is ``first`` at ``second``."""
        ...

    def epsilon(self, level: float) -> float:
        """Return the epsilon of a level."""
        ...


@dataclass(frozen=True, slots=True)
class PointRule:
    """The definition at one delta: P(S) <= e^epsilon Q(S) + delta. Levels are epsilons."""

    delta: float

    @property
    def rare(self) -> int:
        """Some if delta is above 0: then the loss may have no bound, and the largest ones are rare."""
        return _RARE if self.delta else 0

    def level(self, first: Floats, second: Floats) -> Floats:
        """Return ln((P - delta) / Q)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log(np.maximum(first - self.delta, 0.0) / second)
        return np.asarray(np.nan_to_num(found, nan=-np.inf, neginf=-np.inf, posinf=np.inf))

    def ceiling(self, level: float, second: float) -> float:
        """Return e^epsilon Q + delta."""
        return min(1.0, math.exp(min(level, 700.0)) * second + self.delta)

    def slope(self, first: float, second: float) -> float:
        """Return (P - delta) / Q."""
        return max(first - self.delta, 1e-300) / max(second, 1e-300)

    def epsilon(self, level: float) -> float:
        """Return the level, at least 0."""
        return max(0.0, level)


@dataclass(frozen=True, slots=True)
class GaussianRule:
    """The whole curve of Gaussian noise: Φ⁻¹(P(S)) <= Φ⁻¹(Q(S)) + mu for every event S, whatever delta.

    A claim of Gaussian noise is a claim about all deltas at once. Levels are mus; their epsilon is read at the claim's
    delta.
    """

    delta: float

    @property
    def rare(self) -> int:
        """None: common events show a mu best."""
        return 0

    def level(self, first: Floats, second: Floats) -> Floats:
        """Return Φ⁻¹(P) - Φ⁻¹(Q)."""
        with np.errstate(invalid="ignore"):
            found = ndtri(first) - ndtri(second)
        return np.asarray(np.nan_to_num(found, nan=-np.inf, neginf=-np.inf, posinf=np.inf))

    def ceiling(self, level: float, second: float) -> float:
        """Return Φ(Φ⁻¹(Q) + mu)."""
        return float(ndtr(ndtri(second) + level)) if 0 < second < 1 else second

    def slope(self, first: float, second: float) -> float:
        """Return φ(Φ⁻¹(P)) / φ(Φ⁻¹(Q))."""
        one, two = float(ndtri(min(max(first, 1e-12), 1 - 1e-12))), float(ndtri(min(max(second, 1e-12), 1 - 1e-12)))
        return math.exp((two * two - one * one) / 2)

    def epsilon(self, level: float) -> float:
        """Return the epsilon of mu at delta."""
        return 0.0 if level <= 0 else gaussian.epsilon_of(level, self.delta)


def rules_for(claim: Claim, delta: float) -> tuple[Rule, ...]:
    """Return the rules a claim can be held to: the definition, and for Gaussian noise alone its whole curve."""
    spending = gather(claim.cost)
    # A failure gives away more at small probabilities than any curve of Gaussian noise allows.
    if spending.gaussian and not spending.bounded and not spending.failures and delta:
        return (PointRule(delta), GaussianRule(delta))
    return (PointRule(delta),)


@dataclass(frozen=True, slots=True)
class Counts:
    """How often an event came on each of two inputs, in so many runs each."""

    first: int
    second: int
    runs: int


def largest_refuted(rule: Rule, counts: Counts, weight: float, error: float) -> float:
    """Return a level that exceeds the true one with probability at most ``error``; 0 if none above 0 is refuted.

    Args:
        rule: what levels allow.
        counts: of an event that was fixed before they were drawn.
        weight: c of T = K - c L, fixed before too.
        error: of the bound.

    >>> round(largest_refuted(PointRule(0.0), Counts(7311, 2689, 10_000), 2.7, 0.05), 3)
    0.968
    """
    runs = counts.runs
    tried = _Tried(rule, counts, weight, error)
    # What a level allows grows with it: parts that were too coarse for one are too coarse for every higher one.
    parts = tried.refuting(0.0, [tried.range()])
    if parts is None:
        return 0.0
    shown = float(
        rule.level(np.array([(counts.first + 0.5) / (runs + 1)]), np.array([(counts.second + 0.5) / (runs + 1)]))[0]
    )
    low, high = 0.0, max(shown, 1e-3)
    while (finer := tried.refuting(high, parts)) is not None:
        low, high, parts = high, 2 * high, finer
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        finer = tried.refuting(middle, parts)
        low, high, parts = (low, middle, parts) if finer is None else (middle, high, finer)
    return low


def refutes(rule: Rule, level: float, counts: Counts, weight: float, error: float) -> bool:
    """Return whether such a T has probability at most ``error`` at every q and every p that the level allows."""
    tried = _Tried(rule, counts, weight, error)
    return tried.refuting(level, [tried.range()]) is not None


Part: TypeAlias = tuple[float, float]


class _Tried:
    """One T as it was seen, and the levels it refutes."""

    def __init__(self, rule: Rule, counts: Counts, weight: float, error: float) -> None:
        self._rule, self._counts, self._weight = rule, counts, weight
        self._seen = counts.first - weight * counts.second
        # q outside of the range has a share of the error of its own (Berger and Boos 1994).
        self._aside = error / 20
        self._most = error - self._aside
        self._known: dict[float, _Stretches] = {}  # by q: the same ones come back at every level

    def range(self) -> Part:
        """Return where q is looked for."""
        second, runs = self._counts.second, self._counts.runs
        return float(at_least(second, runs, self._aside / 2)), float(at_most(second, runs, self._aside / 2))

    def refuting(self, level: float, parts: Sequence[Part]) -> list[Part] | None:
        """Return these parts of the range, or finer ones, that refute a level each; None if some q does not.

        What came nearest to not refuting it comes last, and is looked at first: at a higher level it gives way first.
        """
        low, high = self.range()
        runs = self._counts.runs
        likely = min(max((self._counts.second + 0.5) / (runs + 1), low), high)
        if self._chance(self._rule.ceiling(level, likely), likely) > self._most:
            return None
        finest = math.sqrt(max(high * (1 - low), 1.0 / runs) / runs) / _FINEST
        waiting, refuted = list(parts), []
        while waiting:
            start, stop = waiting.pop()
            # T grows with p and falls with q: no point of the part has a larger probability than this corner.
            chance = self._chance(self._rule.ceiling(level, stop), start)
            if chance <= self._most:
                refuted.append((chance, (start, stop)))
                continue
            if stop - start < finest:
                return None
            middle = (start + stop) / 2
            waiting += [(start, middle), (middle, stop)]
        return [part for _, part in sorted(refuted)]

    def _chance(self, first: float, second: float) -> float:
        """Return P(K - c L >= seen), or a little more."""
        if second not in self._known:
            self._known[second] = _stretches(second, self._seen, self._counts.runs, self._weight)
        return self._known[second].chance(first)


@dataclass(frozen=True, slots=True, eq=False)
class _Stretches:
    """L summed in stretches, at the end of each that favours T.

    Attributes:
        runs: of either count.
        sure: the probability of those that reach what was seen whatever K is.
        needed: the K that the others need.
        shares: their probabilities.
    """

    runs: int
    sure: float
    needed: NDArray[np.int64]
    shares: Floats

    def chance(self, first: float) -> float:
        """Return the probability of reaching what was seen, at one p."""
        return self.sure + float(self.shares @ bdtrc(self.needed - 1, self.runs, first))


def _stretches(second: float, seen: float, runs: int, weight: float) -> _Stretches:
    spread = 9 * math.sqrt(runs * second * (1 - second)) + 40
    edges = np.linspace(runs * second - spread, runs * second + spread, _BLOCKS).astype(np.int64)
    edges = edges[(edges >= 0) & (edges <= runs) & (np.diff(edges, prepend=edges[0] - 1) > 0)]
    needed = np.ceil(seen + weight * edges - 1e-9 * (1 + abs(seen))).astype(np.int64)
    below = np.where(edges > 0, bdtr(np.maximum(edges - 1, 0), runs, second), 0.0)
    shares = np.diff(below, append=1.0)
    undecided = (needed > 0) & (needed <= runs)
    return _Stretches(runs, float(below[0] + shares[needed <= 0].sum()), needed[undecided], shares[undecided])
