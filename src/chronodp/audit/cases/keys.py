"""Keys that nobody declared: people who hold some come or go, and what is published must hide it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import gaussian
from chronodp.audit.case import AuditCase
from chronodp.audit.exact import Outcomes
from chronodp.audit.key_walks import Above, Accepted, CutNoise, EdgeWords, follow, gaussian_above
from chronodp.audit.registry import Entry
from chronodp.audit.walked import Known
from chronodp.privacy import Claim, Unit, User, Window
from chronodp.randomness import Entropy
from chronodp.selection.keys import Decided, OptimalRule, Peel, Round, Rounds, Weigh, decide

__all__ = ["ENTRIES", "Peeled", "People", "Weighted", "ruled", "weighted"]

People = tuple[tuple[int, ...], ...]
"""The keys of each person."""
Published = tuple[int, ...]
Noisy = tuple[tuple[int, int], ...]

_ARGUMENT = "docs/explanation/proofs/keys.md"
_PERSON = User()
_FAR = 6.0  # where Gaussian noise has no delta left to speak of, and a lone key shows


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
        return Outcomes(probabilities, 1 - sum(probabilities.values(), Fraction(0)))

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

        return Outcomes(follow(run), Fraction(0))


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

        return Outcomes(follow(run), Fraction(0))


def candidates(people: People) -> list[int]:
    """Return the keys that somebody holds, in order."""
    return sorted({key for held in people for key in held})


def counts(people: People, keys: list[int]) -> list[int]:
    """Return how many people hold each key."""
    return [sum(key in held for held in people) for key in keys]


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


def _rounds() -> tuple[AuditCase, ...]:
    one, two = Rounds(1.0, 0.01, 1), Rounds(1.0, 0.01, 3)
    some = ((0,), (0,), (0, 1), (0, 1, 2))
    return (
        _case("one round, a key that one person holds", one, (((), ((0,),)), (((0,),) * 3, ((0,),) * 4))),
        _case("two rounds, keys that one person holds", two, (((), ((0, 1, 2),)), ((), ((0, 1),)))),
        _case("two rounds, people who share keys", two, ((some, (*some, (1, 2))), (some[:2], some[:3])), epsilon=1.0),
        _case(
            "two rounds, one person in another's place",
            Rounds(1.0, 0.01, 2, replace=True),
            ((((0, 1),), ((2, 3),)), (((0,),), ((0, 1),))),
            User(relation="replace"),
        ),
        # Two periods of one person are two blocks: as if two people came who hold a key each.
        _case("one round, two periods of a window", Rounds(1.0, 0.01, 1, blocks=2), (((), ((0,), (1,))),), Window(2)),
    )


def _case(
    name: str,
    rule: Rounds,
    neighbours: tuple[tuple[People, People], ...],
    unit: Unit = _PERSON,
    *,
    epsilon: float = _FAR,
) -> AuditCase:
    return AuditCase(
        name=name,
        mechanism=weighted(rule),
        neighbours=neighbours,
        claim=Claim(unit, rule.cost, _ARGUMENT),
        epsilon=epsilon,
        delta=rule.delta + gaussian.delta_of(rule.mu, epsilon),
        checks=(Known(),),
    )


def _optimal() -> tuple[AuditCase, ...]:
    one, two = ruled(1.0, 0.05, 1), ruled(1.0, 0.05, 2)
    crowd: People = tuple((0,) for _ in range(3))
    return tuple(
        AuditCase(
            name=f"optimal rule, {subject.rule.most} of a person's keys",
            mechanism=subject,
            neighbours=neighbours,
            claim=Claim(User(), subject.rule.cost, _ARGUMENT),
            epsilon=1.0,
            delta=0.05,
            checks=(Known(),),
        )
        for subject, neighbours in (
            (one, (((), ((0,),)), (crowd, (*crowd, (0,))), (crowd, (*crowd, (1,))))),
            (two, (((), ((0, 1),)), (crowd, (*crowd, (0, 1))))),
        )
    )


def _peels() -> tuple[AuditCase, ...]:
    subject = Peeled(Peel(0.5, 0.02, 2, 2))
    return (
        AuditCase(
            name="the two largest keys, peeled",
            mechanism=subject,
            neighbours=(((0, 0, 0), (1, 1, 0)), ((2, 1, 0), (2, 2, 1)), ((9, 7, 1), (9, 8, 2))),
            claim=Claim(User(), subject.peel.cost, _ARGUMENT),
            epsilon=1.0,
            delta=0.02,
            checks=(Known(),),
        ),
    )


ENTRIES = (
    Entry(
        name="keys found by weights",
        covers=(Rounds,),
        precision="whole weights, rounded Gaussian noise; thresholds proven by 200 bits",
        cases=_rounds,
    ),
    Entry(
        name="keys found by the optimal rule",
        covers=(OptimalRule,),
        precision="probabilities in whole numbers over 2^128",
        cases=_optimal,
    ),
    Entry(
        name="the k largest keys, peeled",
        covers=(Peel,),
        precision="whole steps of counts; exact coins",
        cases=_peels,
    ),
)
