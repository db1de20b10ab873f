"""Keys that are published because of their own published counts: people who hold some come or go."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import gaussian
from chronodp.audit.case import AuditCase
from chronodp.audit.exact import Outcomes
from chronodp.audit.walked import Enumerated, Known
from chronodp.dataset import TimeSeries
from chronodp.engines import Record, Reference
from chronodp.privacy import Claim, GaussianCost, LaplaceCost, SequenceCost, Unit, User
from chronodp.randomness import Entropy
from chronodp.selection.keys import CountNoise, Decided, PublishedCounts
from chronodp.series import Discover, DiscoverPlan
from tests.audit.key_rules import People, candidates, counts
from tests.audit.key_walks import CutNoise, follow, gaussian_above
from tests.audit.registry import Entry

__all__ = ["ENTRIES", "Counted", "Noisy"]

Noisy = tuple[tuple[int, int], ...]
"""Keys that are published, each with its number."""
Publishing = Callable[[NDArray[np.int64], Decided, CountNoise, Entropy], NDArray[np.int64]]

_ARGUMENT = "docs/explanation/proofs/keys.md"
_MIDNIGHT = 1_767_225_600_000_000  # of 2026-01-01, in microseconds
_SECRET = "00" * 32
_FAR = 6.0  # where Gaussian noise has no delta left to speak of, and a lone key shows
_CUTS = 12  # half people above the threshold at which published counts are told apart


@dataclass(frozen=True)
class Counted:
    """Counts with noise that decide which keys are published, on a table of people.

    Attributes:
        rule: what decides.
        noise: of each count; one person is few steps here, so that every outcome can be walked through.
        publishing: the number that stands beside a published key; a mutant has another.
        lowered: by how many steps a mutant's threshold is too low.
    """

    rule: PublishedCounts
    noise: CountNoise
    publishing: Publishing = lambda _, decided, __, ___: decided.noisy
    lowered: int = 0

    def __call__(self, people: People, *, entropy: Entropy) -> Noisy:
        """Return the keys that are published, with their numbers."""
        keys = candidates(people)
        held = np.array(counts(people, keys), np.int64)
        decided = self.rule.decide(held, self.noise, entropy)
        found = decided.noisy >= self.rule.threshold(self.noise) - self.lowered
        numbers = self.publishing(held, decided, self.noise, entropy)
        told = zip(keys, found.tolist(), numbers.tolist(), strict=True)
        return tuple((key, number) for key, one, number in told if one)

    @property
    def claim(self) -> Claim:
        """What the counts and the decision cost together."""
        change = self.rule.sensitivity
        if self.noise.law == "laplace":
            noise: LaplaceCost | GaussianCost = LaplaceCost(change.l1, self.noise.scale / self.noise.person)
        else:
            noise = GaussianCost(change.l2, self.noise.scale / self.noise.person)
        unit: Unit = User(relation="replace" if self.rule.replace else "add_remove")
        return Claim(unit, SequenceCost((noise, self.rule.cost)), _ARGUMENT)


def _counted() -> tuple[AuditCase, ...]:
    one, two, other = PublishedCounts(0.01, 1), PublishedCounts(0.05, 2), PublishedCounts(0.05, 1, replace=True)
    crowd: People = ((0,),) * 4
    lone = ((), ((0,),))
    return (
        _case("one key of a person, Laplace noise", Counted(one, CountNoise("laplace", 1.0, 1)), 1.0,
              (lone, (crowd, (*crowd, (0,))), (crowd, (*crowd, (1,))))),
        _case("two keys of a person, Laplace noise", Counted(two, CountNoise("laplace", 1.0, 1)), 2.0,
              (((), ((0, 1),)), (crowd, (*crowd, (0, 1))))),
        _case("one person in another's place, Laplace noise", Counted(other, CountNoise("laplace", 1.0, 1)), 2.0,
              ((((0,),), ((1,),)), ((*crowd, (0,)), (*crowd, (1,))))),
        _case("one key of a person, Gaussian noise", Counted(one, CountNoise("gaussian", 1.5, 1)), 2.0,
              (lone, (crowd, (*crowd, (0,))))),
        _case("two keys of a person, Gaussian noise", Counted(two, CountNoise("gaussian", 1.5, 1)), _FAR,
              (((), ((0, 1),)),)),
    )  # fmt: skip


def _case(name: str, subject: Counted, epsilon: float, neighbours: tuple[tuple[People, People], ...]) -> AuditCase:
    change, noise = subject.rule.sensitivity, subject.noise
    beside = 0.0 if noise.law == "laplace" else gaussian.delta_of(change.l2 / noise.scale, epsilon)
    return AuditCase(
        name=f"published counts, {name}",
        mechanism=subject,
        neighbours=neighbours,
        claim=subject.claim,
        epsilon=epsilon,
        delta=subject.rule.delta + beside,
        checks=(Enumerated(),),
    )


@dataclass(frozen=True)
class PlannedCounts:
    """A plan whose published counts decide: from the table of people to the text of the release."""

    def __call__(self, people: People, *, entropy: Entropy) -> Noisy:
        """Return keys and numbers as they are written, with noise from a nonce and a secret."""
        plan = _asked(people)
        held = plan.read(key=_SECRET, progress=lambda _: None)
        staged = plan.making(held, entropy, key=_SECRET, progress=None)
        written, _ = staged.release((staged.choices[0](())(),))()
        content = json.loads(written if isinstance(written, str) else written.text)
        (grouping,) = content["design"]["table"]["groupings"]
        return tuple(zip(map(int, grouping["keys"]), content["noisy"][0], strict=True))

    def law(self, people: People) -> Outcomes:
        """Return the probability of every set of keys, with counts told apart by half people near the threshold."""
        plan = _asked(people)
        design, noise = plan.design, plan.design.count_noise
        rule = cast("PublishedCounts", design.finding)
        held = plan.read(key=_SECRET, progress=lambda _: None)
        least = rule.threshold(noise)
        cuts = tuple(least + step * noise.person // 2 for step in range(_CUTS))

        def run(branches: Any) -> Noisy:
            walked: Any = CutNoise(branches, (cuts,), gaussian_above)
            walked.weighed = held.people * noise.person
            decided = rule.decide(held.people, noise, walked)
            told = zip(map(int, held.keys), decided.found.tolist(), decided.noisy.tolist(), strict=True)
            return tuple((key, noisy) for key, found, noisy in told if found)

        probabilities = follow(run)
        return Outcomes.of(probabilities, 1 - sum(probabilities.values(), Fraction(0)))


@cache
def _asked(people: People) -> DiscoverPlan:
    """Return a plan whose counts decide, of a table in which people hold these keys on one day."""
    rows = [Record(f"u{who}", _MIDNIGHT, None, (str(key),)) for who, keys in enumerate(people) for key in keys]
    series = TimeSeries(
        rows,
        time="at",
        user="who",
        every="1D",
        start="2026-01-01",
        end="2026-01-02",
        unit=User(),
        max_periods=1,
        engine=Reference(),
    )
    plan: Any = series.count().by(key=Discover(max_keys=2, delta=0.01, share=0)).plan(epsilon=4.0, delta=0.02)
    return cast("DiscoverPlan", plan)


def _planned() -> tuple[AuditCase, ...]:
    plan = _asked(())
    some: People = ((0,),) * 3
    return (
        AuditCase(
            name="published counts of a plan, one person more",
            mechanism=PlannedCounts(),
            neighbours=(((), ((0, 1),)), (some, (*some, (0, 1)))),
            claim=plan.claim,
            epsilon=_FAR,
            delta=plan.design.finding.delta + gaussian.delta_of(plan.design.split.noise, _FAR),
            checks=(Known(),),
        ),
    )


ENTRIES = (
    Entry(
        name="keys found by their published counts",
        covers=(PublishedCounts,),
        precision="whole steps, noise of exactly the stated law; thresholds proven by 200 bits",
        cases=_counted,
    ),
    Entry(
        name="keys found by the published counts of a plan",
        covers=(DiscoverPlan,),
        precision="counts in whole numbers on every engine; rounded Gaussian noise",
        cases=_planned,
    ),
)
