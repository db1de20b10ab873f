"""Rules that find keys, as mechanisms on small tables of people, with the law of what they publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.exact import Outcomes
from chronodp.randomness import Entropy
from chronodp.selection.keys import Decided, OptimalRule, Peel, Round, Rounds, Weigh, decide
from tests.audit.key_walks import Above, Accepted, CutNoise, EdgeWords, follow, gaussian_above

People = tuple[tuple[int, ...], ...]
"""The keys of each person."""
Published = tuple[int, ...]
Noisy = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Weighted:
    """Rounds of weights and noise on a table of people.

    Attributes:
        rounds: noise and threshold of each.
        hopeless: as of `Rounds`.
        weights: what each of d keys of a person gets.
        above: the law of the noise.
        deciding: the rule itself, or a mutant of it.
        drawing: makes of entropy what the rule draws Gaussian noise from, if its noise is of another kind.
    """

    rounds: tuple[Round, ...]
    hopeless: int | None
    weights: tuple[int, ...]
    above: Above = gaussian_above
    deciding: Callable[[tuple[Round, ...], int | None, Weigh, Entropy], Decided] = decide
    drawing: Callable[[Entropy], Any] = lambda entropy: entropy

    def __call__(self, people: People, *, entropy: Entropy) -> Noisy:
        """Return the keys that are published, with their noisy weights."""
        keys = candidates(people)
        return _found(keys, self.deciding(self.rounds, self.hopeless, self._weigh(people, keys), self.drawing(entropy)))

    def law(self, people: People) -> Outcomes:
        """Return the probability of every set of keys, each with the least noisy weight that is like its own."""
        probabilities = {output: Fraction(part) for output, part in self.chances(people).items()}
        return Outcomes.of(probabilities, 1 - sum(probabilities.values(), Fraction(0)))

    def chances(self, people: People) -> dict[Any, Any]:
        """Return the same in the numbers that the noise's law comes in."""
        first, last = self.rounds[0], self.rounds[-1]
        low = () if self.hopeless is None else (min(self.hopeless, first.threshold),)
        cuts = ((*low, first.threshold), (last.threshold,))
        keys = candidates(people)

        def run(branches: Any) -> Noisy:
            noise: Any = CutNoise(branches, cuts, self.above)
            weigh = self._weigh(people, keys)

            def told(dropped: NDArray[np.bool_] | None) -> NDArray[np.int64]:
                noise.weighed = weigh(dropped)
                return cast("NDArray[np.int64]", noise.weighed)

            return _found(keys, self.deciding(self.rounds, self.hopeless, told, noise))

        return follow(run)

    def _weigh(self, people: People, keys: list[int]) -> Weigh:
        def weigh(dropped: NDArray[np.bool_] | None) -> NDArray[np.int64]:
            gone = set() if dropped is None else {key for key, out in zip(keys, dropped.tolist(), strict=True) if out}
            totals = dict.fromkeys(keys, 0)
            for held in people:
                left = [key for key in held if key not in gone]
                for key in left:
                    totals[key] += self.weights[len(left) - 1]
            return np.array(list(totals.values()), np.int64)

        return weigh


@dataclass(frozen=True)
class Ruled:
    """The optimal rule on a table of people."""

    rule: OptimalRule

    def __call__(self, people: People, *, entropy: Entropy) -> Published:
        """Return the keys that are published."""
        keys = candidates(people)
        kept = self.rule.decide(np.array(counts(people, keys), np.int64), entropy)
        return tuple(key for key, one in zip(keys, kept.tolist(), strict=True) if one)

    def law(self, people: People) -> Outcomes:
        """Return the probability of every set of keys, exactly."""
        table = self.rule.table
        entries = [table[min(count, len(table) - 1)] for count in counts(people, candidates(people))]

        def run(branches: Any) -> Published:
            words: Any = EdgeWords(branches, entries)
            return self(people, entropy=words)

        return Outcomes.of(follow(run), Fraction(0))


@dataclass(frozen=True)
class Peeled:
    """Peeling with a stop on a table of counts; ``ending`` says what else a list tells, which a mutant makes use of."""

    peel: Peel
    ending: Callable[[Published, tuple[int, ...]], Published] = lambda drawn, _: drawn

    def __call__(self, table: tuple[int, ...], *, entropy: Entropy) -> Published:
        """Return the keys that are drawn, in order."""
        return self.ending(self.peel.decide(np.array(table, np.int64), entropy), table)

    def law(self, table: tuple[int, ...]) -> Outcomes:
        """Return the probability of every list."""

        def run(branches: Any) -> Published:
            accepted: Any = Accepted(branches)
            return self(table, entropy=accepted)

        return Outcomes.of(follow(run), Fraction(0))


def candidates(people: People) -> list[int]:
    """Return the keys that somebody holds, in order."""
    return sorted(_holders(people))


def counts(people: People, keys: list[int]) -> list[int]:
    """Return how many people hold each key."""
    holders = _holders(people)
    return [holders[key] for key in keys]


@lru_cache(maxsize=64)  # a walk through all outcomes asks thousands of times about a few tables
def _holders(people: People) -> Counter[int]:
    return Counter(key for held in people for key in set(held))


def _found(keys: list[int], decided: Decided) -> Noisy:
    told = zip(keys, decided.found.tolist(), decided.noisy.tolist(), strict=True)
    return tuple((key, noisy) for key, found, noisy in told if found)


def weighted(rule: Rounds) -> Weighted:
    """Return a shipped rule on a table of people."""
    shipped = Weighted(rule.rounds, rule.hopeless, rule.weights)
    return replace(shipped, deciding=lambda _, __, weigh, entropy: rule.decide(weigh, entropy))


def ruled(epsilon: float, delta: float, most: int) -> Ruled:
    """Return the shipped optimal rule on a table of people."""
    return Ruled(OptimalRule(epsilon, delta, most))
