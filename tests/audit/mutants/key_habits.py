"""Mutants of habits around keys: days that are not added up, last month's keys, limits read from the data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from chronodp.audit.exact import Outcomes
from chronodp.audit.walked import Known
from chronodp.privacy import Claim, LaplaceCost, User
from chronodp.randomness import Entropy
from chronodp.selection.keys import CountNoise, PublishedCounts
from tests.audit.cases.published_counts import Counted, Noisy
from tests.audit.key_rules import People, candidates, counts
from tests.audit.key_walks import laplace_above
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS", "DaysApart", "DeclaredKeys", "LimitOfData", "SeenKeys"]

_ARGUMENT = "docs/explanation/proofs/keys.md"
_NOISE = CountNoise("laplace", 1.0, 1)
_FOLLOWED = 4  # days on which a lone key is published: more are hardly ever


@dataclass(frozen=True)
class DaysApart:
    """Keys found on each of some days by a rule that is paid for once: on how many of them was any published?"""

    counted: Counted
    days: int

    def __call__(self, people: People, *, entropy: Entropy) -> int:
        """Return on how many days some key is published, of people who hold the same keys every day."""
        return sum(bool(self.counted(people, entropy=entropy)) for _ in range(self.days))

    def law(self, people: People) -> Outcomes:
        """Return the probability of each number of days."""
        least = self.counted.rule.threshold(self.counted.noise)
        held = counts(people, candidates(people))
        silent = math.prod(
            (1 - laplace_above(self.counted.noise.scale, least - one) for one in held), start=Fraction(1)
        )
        told = {
            days: math.comb(self.days, days) * (1 - silent) ** days * silent ** (self.days - days)
            for days in range(min(self.days, _FOLLOWED) + 1)
        }
        return Outcomes.of({days: part for days, part in told.items() if part}, 1 - sum(told.values(), Fraction(0)))


@dataclass(frozen=True)
class DeclaredKeys:
    """Noisy counts of keys that are declared, whoever holds them."""

    keys: tuple[int, ...] = (0, 1)

    def __call__(self, people: People, *, entropy: Entropy) -> Noisy:
        """Return the count of each key."""
        return _with_noise(people, list(self.keys), entropy)


@dataclass(frozen=True)
class SeenKeys:
    """Noisy counts of the keys that somebody held last month, when the same people were there."""

    def __call__(self, people: People, *, entropy: Entropy) -> Noisy:
        """Return the count of each key that was seen."""
        return _with_noise(people, candidates(people), entropy)


def _with_noise(people: People, keys: list[int], entropy: Entropy) -> Noisy:
    noisy = np.array(counts(people, keys), np.int64) + entropy.laplace(_NOISE.scale, len(keys))
    return tuple(zip(keys, noisy.tolist(), strict=True))


@dataclass(frozen=True)
class LimitOfData:
    """Published counts with as many keys of a person as 95 of 100 have, and noise and threshold for that many."""

    delta: float
    scale: float

    def __call__(self, people: People, *, entropy: Entropy) -> Noisy:
        """Return the keys that are published, with their numbers."""
        most = sorted(map(len, people))[math.ceil(0.95 * len(people)) - 1]
        kept = _first(people, most)
        rule, noise = PublishedCounts(self.delta, most), CountNoise("laplace", self.scale * most, 1)
        return Counted(rule, noise)(kept, entropy=entropy)


@dataclass(frozen=True)
class _Declared:
    """The same with the limit declared: one key of a person."""

    counted: Counted

    def __call__(self, people: People, *, entropy: Entropy) -> Noisy:
        return self.counted(_first(people, 1), entropy=entropy)


@lru_cache(maxsize=64)
def _first(people: People, most: int) -> People:
    """Return the first few keys of everyone."""
    return tuple(keys[:most] for keys in people)


def _days() -> Mutant:
    daily = Counted(PublishedCounts(1e-6, 1), _NOISE)
    return Mutant(
        name="each of 365 days paid as if it were one",
        claim=daily.claim,
        epsilon=1.0,
        delta=daily.rule.delta,
        sound=DaysApart(daily, 1),
        broken=DaysApart(daily, 365),
        neighbours=(((), ((0,),)),),
        checks=(Known(),),
    )


def _seen() -> Mutant:
    return Mutant(
        name="keys seen last month taken as public",
        claim=Claim(User(), LaplaceCost(1.0, _NOISE.scale), _ARGUMENT),
        sound=DeclaredKeys(),
        broken=SeenKeys(),
        neighbours=(((), ((0,),)), (((0,),), ((0,), (1,)))),
    )


def _limit() -> Mutant:
    sound = Counted(PublishedCounts(0.01, 1), CountNoise("laplace", 0.5, 1))
    # Of 400 people 20 hold a second key. One more, and it counts for all 21.
    people: People = ((0,),) * 380 + ((0, 1),) * 20
    return Mutant(
        name="max_keys read from the data, as many as 95 of 100 people have",
        claim=sound.claim,
        epsilon=2.0,
        delta=sound.rule.delta,
        sound=_Declared(sound),
        broken=LimitOfData(sound.rule.delta, sound.noise.scale),
        neighbours=((people, (*people, (0, 1))),),
    )


MUTANTS: tuple[Mutant, ...] = (_days(), _seen(), _limit())
