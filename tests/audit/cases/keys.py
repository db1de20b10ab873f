"""Keys that nobody declared: people who hold some come or go, and what is published must hide it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, cast

from chronodp.accounting import gaussian
from chronodp.audit.case import AuditCase
from chronodp.audit.walked import Known
from chronodp.dataset import TimeSeries
from chronodp.engines import HeldKeys, Record, Reference
from chronodp.privacy import Claim, Unit, User, Window
from chronodp.randomness import Entropy
from chronodp.selection.keys import OptimalRule, Peel, Rounds, Weigh
from chronodp.series import Discover, DiscoverPlan
from chronodp.series.discovery import finding_entropy
from tests.audit.key_rules import Noisy, Peeled, People, Weighted, ruled, weighted
from tests.audit.registry import Entry

__all__ = ["ENTRIES", "Planned"]

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


def discovering(people: People) -> DiscoverPlan:
    """Return a plan that finds keys of a table in which people hold these keys on one day."""
    rows = [Record(f"u{who}", _MIDNIGHT, None, (str(key),)) for who, keys in enumerate(people) for key in keys]
    series = TimeSeries(
        rows,
        time="at",
        user="who",
        every="1D",
        start="2026-01-01",
        end="2026-01-02",
        unit=_PERSON,
        max_periods=1,
        engine=Reference(),
    )
    plan: Any = series.count().by(key=Discover(max_keys=3, delta=0.01)).plan(epsilon=4.0, delta=0.02)
    return cast("DiscoverPlan", plan)


def _discovered() -> tuple[AuditCase, ...]:
    rule = cast("Rounds", discovering(()).design.finding)
    some = ((0,), (0,), (0, 1), (0, 1, 2))
    return (
        AuditCase(
            name="keys found by a plan, one person more",
            mechanism=Planned(rule.rounds, rule.hopeless, rule.weights),
            neighbours=(((), ((0, 1, 2),)), (some, (*some, (1, 2)))),
            claim=Claim(_PERSON, rule.cost, _ARGUMENT),
            epsilon=_FAR,
            delta=rule.delta + gaussian.delta_of(rule.mu, _FAR),
            checks=(Known(),),
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
        name="keys found by a plan",
        covers=(DiscoverPlan,),
        precision="counts and weights in whole numbers on every engine; rounded Gaussian noise",
        cases=_discovered,
    ),
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
