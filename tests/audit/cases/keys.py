"""Keys that nobody declared: people who hold some come or go, and what is published must hide it; mistakes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import gaussian
from chronodp.audit.case import AuditCase
from chronodp.audit.exact import Outcomes
from chronodp.audit.walked import Enumerated, Known
from chronodp.engines import HeldKeys, Record, Reference
from chronodp.privacy import (
    Claim,
    FailureCost,
    GaussianCost,
    LaplaceCost,
    SequenceCost,
    Unit,
    User,
    Window,
    decimal_value,
)
from chronodp.randomness import Entropy
from chronodp.selection.keys import (
    CountNoise,
    Decided,
    Held,
    OptimalRule,
    Peel,
    PublishedCounts,
    Round,
    Rounds,
    Weigh,
    threshold_for,
)
from chronodp.series import Discover, DiscoverPlan
from chronodp.series.discovery import finding_entropy
from tests.audit.cases.ledgers import daily
from tests.audit.key_rules import Noisy, Peeled, People, Weighted, candidates, counts, ruled, weighted
from tests.audit.key_walks import CutNoise, follow, gaussian_above, laplace_above
from tests.audit.registry import Entry, Mutant, on_trial

_ARGUMENT = "docs/explanation/proofs/keys.md"
_PERSON = User()
_MIDNIGHT = 1_767_225_600_000_000  # of 2026-01-01, in microseconds
_SECRET = "00" * 32
_FAR = 6.0  # where Gaussian noise has no delta left to speak of, and a lone key shows


@dataclass(frozen=True)
class Planned(Weighted):
    """The rounds of a plan, on people's weights as an engine bounds them."""

    def __call__(self, people: People, *, entropy: Entropy) -> Noisy:
        """Return the keys that are published, with noise as a release draws it: from a nonce and a secret."""
        staged = discovering(people).making(_held(people), entropy, key=_SECRET, progress=None)
        nonce = staged.choices[0](())()
        return super().__call__(people, entropy=finding_entropy(_SECRET, nonce))

    def _weigh(self, people: People, keys: list[int]) -> Weigh:
        held = _held(people)
        if held.keys != tuple(map(str, keys)):
            raise AssertionError("every key that counts is a candidate, in the order of its bytes")
        return lambda dropped: held.weigh(self.weights, dropped)


@cache
def _held(people: People) -> HeldKeys:
    return discovering(people).read(key=_SECRET, progress=lambda _: None)


def discovering(people: People, **finding: Any) -> DiscoverPlan:
    """Return a plan that finds keys of a table in which people hold these keys on one day."""
    rows = [Record(f"u{who}", _MIDNIGHT, None, (str(key),)) for who, keys in enumerate(people) for key in keys]
    series = daily(rows, max_periods=1, engine=Reference())
    options: dict[str, Any] = {"max_keys": 3, "delta": 0.01, **finding}
    plan: Any = series.count().by(key=Discover(**options)).plan(epsilon=4.0, delta=0.02)
    return cast("DiscoverPlan", plan)


def _discovered() -> tuple[AuditCase, ...]:
    rule = cast("Rounds", discovering(()).design.finding)
    some = ((0,), (0,), (0, 1), (0, 1, 2))
    return (
        on_trial(
            "keys found by a plan, one person more",
            Planned(rule.rounds, rule.hopeless, rule.weights),
            (((), ((0, 1, 2),)), (some, (*some, (1, 2)))),
            Claim(_PERSON, rule.cost, _ARGUMENT),
            Known(),
            epsilon=_FAR,
            delta=rule.delta + gaussian.delta_of(rule.mu, _FAR),
        ),
    )


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
    return on_trial(
        name,
        weighted(rule),
        neighbours,
        Claim(unit, rule.cost, _ARGUMENT),
        Known(),
        epsilon=epsilon,
        delta=rule.delta + gaussian.delta_of(rule.mu, epsilon),
    )


def _optimal() -> tuple[AuditCase, ...]:
    one, two = ruled(1.0, 0.05, 1), ruled(1.0, 0.05, 2)
    crowd: People = tuple((0,) for _ in range(3))
    return tuple(
        on_trial(
            f"optimal rule, {subject.rule.most} of a person's keys",
            subject,
            neighbours,
            Claim(User(), subject.rule.cost, _ARGUMENT),
            Known(),
            epsilon=1.0,
            delta=0.05,
        )
        for subject, neighbours in (
            (one, (((), ((0,),)), (crowd, (*crowd, (0,))), (crowd, (*crowd, (1,))))),
            (two, (((), ((0, 1),)), (crowd, (*crowd, (0, 1))))),
        )
    )


def _peels() -> tuple[AuditCase, ...]:
    subject = Peeled(Peel(0.5, 0.02, 2, 2))
    return (
        on_trial(
            "the two largest keys, peeled",
            subject,
            (((0, 0, 0), (1, 1, 0)), ((2, 1, 0), (2, 2, 1)), ((9, 7, 1), (9, 8, 2))),
            Claim(User(), subject.peel.cost, _ARGUMENT),
            Known(),
            epsilon=1.0,
            delta=0.02,
        ),
    )


Publishing = Callable[[NDArray[np.int64], Decided, CountNoise, Entropy], NDArray[np.int64]]
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
        _counts("one key of a person, Laplace noise", Counted(one, CountNoise("laplace", 1.0, 1)), 1.0,
                (lone, (crowd, (*crowd, (0,))), (crowd, (*crowd, (1,))))),
        _counts("two keys of a person, Laplace noise", Counted(two, CountNoise("laplace", 1.0, 1)), 2.0,
                (((), ((0, 1),)), (crowd, (*crowd, (0, 1))))),
        _counts("one person in another's place, Laplace noise", Counted(other, CountNoise("laplace", 1.0, 1)), 2.0,
                ((((0,),), ((1,),)), ((*crowd, (0,)), (*crowd, (1,))))),
        _counts("one key of a person, Gaussian noise", Counted(one, CountNoise("gaussian", 1.5, 1)), 2.0,
                (lone, (crowd, (*crowd, (0,))))),
        _counts("two keys of a person, Gaussian noise", Counted(two, CountNoise("gaussian", 1.5, 1)), _FAR,
                (((), ((0, 1),)),)),
    )  # fmt: skip


def _counts(name: str, subject: Counted, epsilon: float, neighbours: tuple[tuple[People, People], ...]) -> AuditCase:
    change, noise = subject.rule.sensitivity, subject.noise
    beside = 0.0 if noise.law == "laplace" else gaussian.delta_of(change.l2 / noise.scale, epsilon)
    return on_trial(
        f"published counts, {name}",
        subject,
        neighbours,
        subject.claim,
        Enumerated(),
        epsilon=epsilon,
        delta=subject.rule.delta + beside,
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
    """Return a plan whose counts decide."""
    return discovering(people, max_keys=2, share=0)


def _planned() -> tuple[AuditCase, ...]:
    plan = _asked(())
    some: People = ((0,),) * 3
    return (
        on_trial(
            "published counts of a plan, one person more",
            PlannedCounts(),
            (((), ((0, 1),)), (some, (*some, (0, 1)))),
            plan.claim,
            Known(),
            epsilon=_FAR,
            delta=plan.design.finding.delta + gaussian.delta_of(plan.design.split.noise, _FAR),
        ),
    )


_LONE: tuple[tuple[People, People], ...] = (((), ((0,),)),)


class _Laplace:
    """Entropy whose every noise is Laplace's."""

    seeded = True

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy

    def gaussian(self, scale: float, size: int) -> Any:
        return self._entropy.laplace(scale, size)


def decide_by_true_weight(rounds: tuple[Round, ...], hopeless: int | None, weigh: Weigh, entropy: Entropy) -> Decided:
    """Decide by two rounds that drop a key by its true weight: who is no longer dropped takes weight from others."""
    first, last = rounds
    weighed = weigh(None)
    noisy = weighed + entropy.gaussian(first.scale, len(weighed))
    found = noisy >= first.threshold
    dropped = found | (weighed < (hopeless or 0))
    again = weigh(dropped) + entropy.gaussian(last.scale, len(weighed))
    return Decided(found | ~dropped & (again >= last.threshold), np.where(found, noisy, again), found)


def tell_no_more(drawn: tuple[int, ...], table: tuple[int, ...]) -> tuple[int, ...]:
    """Say that no candidate was left, in place of the stop."""
    return (*drawn, -1) if len(drawn) == sum(count > 0 for count in table) else drawn


@dataclass(frozen=True)
class _Declared:
    """Whether the noisy count of a declared key reaches a threshold: looked at whether or not anybody holds it."""

    one: Round

    def __call__(self, people: People, *, entropy: Entropy) -> bool:
        return len(people) + int(entropy.laplace(self.one.scale, 1)[0]) >= self.one.threshold

    def law(self, people: People) -> Outcomes:
        reached = laplace_above(self.one.scale, self.one.threshold - len(people))
        return Outcomes.of({True: reached, False: 1 - reached}, Fraction(0))


def _several_keys() -> Mutant:
    sound = ruled(1.0, 0.05, 2)
    pair: People = ((0, 1),)
    return Mutant(
        "one-key rule where people hold two keys",
        Claim(User(), sound.rule.cost, _ARGUMENT),
        sound,
        ruled(1.0, 0.05, 1),
        tuple((pair * people, pair * (people + 1)) for people in range(5)),
        epsilon=1.0,
        delta=0.05,
        checks=(Known(),),
    )


def _threshold_of_one() -> Mutant:
    rule = Rounds(0.5, 0.01, 3)
    parts = zip(rule.rounds, (decimal_value(0.002), decimal_value(0.008)), strict=True)
    low = tuple(Round(one.scale, threshold_for(one.scale, part, Held(rule.weights[:1]))) for one, part in parts)
    return Mutant(
        "threshold of one key where people hold three",
        Claim(User(), rule.cost, _ARGUMENT),
        weighted(rule),
        Weighted(low, rule.hopeless, rule.weights),
        (((), ((0, 1, 2),)),),
        epsilon=_FAR,
        delta=rule.delta + gaussian.delta_of(rule.mu, _FAR),
        checks=(Known(),),
    )


def _rounded_down() -> Mutant:
    scale, threshold = 4.225101357215768, 21.083699498630054  # 1 + σ z(1e-6), as for real numbers
    sound = Weighted((Round(scale, math.ceil(threshold + 0.5)),), None, (1,), gaussian_above)
    return Mutant(
        "threshold rounded down for whole-number noise",
        Claim(User(), SequenceCost((GaussianCost(1.0, scale), FailureCost(1e-6))), _ARGUMENT),
        sound,
        replace(sound, rounds=(Round(scale, math.floor(threshold)),)),
        _LONE,
        epsilon=_FAR,
        delta=1e-6 + gaussian.delta_of(1 / scale, _FAR),
        checks=(Known(),),
    )


def _boundary() -> Mutant:
    scale, delta = 1.0, 1e-6
    least = math.ceil(1.5 - scale * math.log(2 * delta))  # P(1 + noise ≥ t) = ½ e^-((t - 3/2) / scale)
    sound = Weighted((Round(scale, least),), None, (1,), laplace_above, drawing=_Laplace)
    return Mutant(
        "published at the threshold, its probability counted above it",
        Claim(User(), SequenceCost((LaplaceCost(1.0, scale), FailureCost(delta))), _ARGUMENT),
        sound,
        replace(sound, rounds=(Round(scale, least - 1),)),
        _LONE,
        epsilon=1 / scale,
        delta=delta,
        checks=(Known(),),
    )


def _true_weight() -> Mutant:
    # 12, 11 and 4 steps, weights 3, 2, 1: one unit moves 4 steps in l1, in each of two rounds.
    scale, thresholds = 1 / 0.35, (12, 11)
    sound = Weighted(tuple(Round(scale, one) for one in thresholds), 4, (3, 2, 1), laplace_above, drawing=_Laplace)
    lone = max(
        1 - math.prod(float(1 - laplace_above(scale, one - weight)) ** keys for one in thresholds)
        for keys, weight in enumerate(sound.weights, 1)
    )
    three: People = ((0, 1, 2),) * 3
    return Mutant(
        "hopeless by true weight",
        Claim(User(), SequenceCost((LaplaceCost(4.0, scale),) * 2 + (FailureCost(lone),)), _ARGUMENT),
        sound,
        replace(sound, deciding=decide_by_true_weight),
        ((three, (*three, (0,))),),
        epsilon=2.8,
        delta=lone,
        checks=(Known(),),
    )


def _stop_told_apart() -> Mutant:
    sound = Peeled(Peel(0.5, 0.02, 2, 2))
    return Mutant(
        "the end of the candidates told apart from the stop",
        Claim(User(), sound.peel.cost, _ARGUMENT),
        sound,
        replace(sound, ending=tell_no_more),
        (((0, 0), (0, 1)),),
        epsilon=1.0,
        delta=0.02,
        checks=(Known(),),
    )


def _booked_as_pure() -> Mutant:
    one = Round(1.0, 15)
    return Mutant(
        "Laplace noise and a threshold, booked as pure",
        Claim(User(), LaplaceCost(1.0, one.scale), _ARGUMENT),
        _Declared(one),
        Weighted((one,), None, (1,), laplace_above, drawing=_Laplace),
        _LONE,
        checks=(Known(),),
    )


_COUNTED = Counted(PublishedCounts(0.01, 1), CountNoise("laplace", 1.0, 1))
_CROWD: People = ((0,),) * 6  # about as many as a key needs


def publish_exact(held: NDArray[np.int64], decided: Decided, noise: CountNoise, entropy: Entropy) -> NDArray[np.int64]:
    """Publish how many people hold a key that is public now."""
    del decided, entropy
    return held * noise.person


def publish_fresh(held: NDArray[np.int64], decided: Decided, noise: CountNoise, entropy: Entropy) -> NDArray[np.int64]:
    """Publish a second draw of the count, as after a crash that kept the keys and not their noise."""
    del decided
    return held * noise.person + entropy.laplace(noise.scale, len(held))


def _counted_mutant(name: str, broken: Counted, *neighbours: tuple[People, People]) -> Mutant:
    return Mutant(
        name,
        _COUNTED.claim,
        _COUNTED,
        broken,
        neighbours,
        epsilon=_COUNTED.noise.person / _COUNTED.noise.scale,
        delta=_COUNTED.rule.delta,
    )


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
class _OneKey:
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
        "each of 365 days paid as if it were one",
        daily.claim,
        DaysApart(daily, 1),
        DaysApart(daily, 365),
        (((), ((0,),)),),
        epsilon=1.0,
        delta=daily.rule.delta,
        checks=(Known(),),
    )


def _seen() -> Mutant:
    return Mutant(
        "keys seen last month taken as public",
        Claim(User(), LaplaceCost(1.0, _NOISE.scale), _ARGUMENT),
        DeclaredKeys(),
        SeenKeys(),
        (((), ((0,),)), (((0,),), ((0,), (1,)))),
    )


def _limit() -> Mutant:
    sound = Counted(PublishedCounts(0.01, 1), CountNoise("laplace", 0.5, 1))
    # Of 400 people 20 hold a second key. One more, and it counts for all 21.
    people: People = ((0,),) * 380 + ((0, 1),) * 20
    return Mutant(
        "max_keys read from the data, as many as 95 of 100 people have",
        sound.claim,
        _OneKey(sound),
        LimitOfData(sound.rule.delta, sound.noise.scale),
        ((people, (*people, (0, 1))),),
        epsilon=2.0,
        delta=sound.rule.delta,
    )


ENTRIES = (
    Entry("keys found by a plan", (DiscoverPlan,),
          "counts and weights in whole numbers on every engine; rounded Gaussian noise", _discovered),
    Entry("keys found by weights", (Rounds,), "whole weights, rounded Gaussian noise; thresholds proven by 200 bits",
          _rounds),
    Entry("keys found by the optimal rule", (OptimalRule,), "probabilities in whole numbers over 2^128", _optimal),
    Entry("the k largest keys, peeled", (Peel,), "whole steps of counts; exact coins", _peels),
    Entry("keys found by their published counts", (PublishedCounts,),
          "whole steps, noise of exactly the stated law; thresholds proven by 200 bits", _counted),
    Entry("keys found by the published counts of a plan", (DiscoverPlan,),
          "counts in whole numbers on every engine; rounded Gaussian noise", _planned),
)  # fmt: skip


MUTANTS: tuple[Mutant, ...] = (
    _several_keys(),
    _threshold_of_one(),
    _rounded_down(),
    _boundary(),
    _true_weight(),
    _stop_told_apart(),
    _booked_as_pure(),
    _counted_mutant("a published count at the threshold, its probability counted above it",
                    replace(_COUNTED, lowered=1), ((), ((0,),))),
    _counted_mutant("a kept key's exact count", replace(_COUNTED, publishing=publish_exact), (_CROWD, (*_CROWD, (0,)))),
    _counted_mutant("a second draw of a published count, not paid for", replace(_COUNTED, publishing=publish_fresh),
                    (_CROWD, (*_CROWD, (0,)))),
    _days(),
    _seen(),
    _limit(),
)  # fmt: skip
