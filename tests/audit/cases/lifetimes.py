"""Lifetime series: a person in all issues or in none, under owners who choose terms by what was told.

The rule by which people count and pay is attacked with every outcome of whole histories, in units of ln 2: noise on a
number is such that a move of one at rate r loses r of them. Sound rules meet their bound with equality.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from chronodp.accounting import gaussian
from chronodp.audit.case import AuditCase
from chronodp.audit.walked import Known
from chronodp.engines import WholePrice, reference_book
from chronodp.privacy import Claim, GaussianCost, LaplaceCost, User
from chronodp.randomness import Entropy
from tests.audit.issues import Forget, History, Issues, Kept, Row, Table, Terms
from tests.audit.registry import Entry

__all__ = ["ARGUMENT", "ENTRIES", "GAUSSIAN", "Pairs", "claimed", "one_a_month", "owners", "squares", "with_others"]

ARGUMENT = "docs/explanation/proofs/lifetime.md"
Pairs = tuple[tuple[History, History], ...]
Owner = tuple[tuple[int, int], ...]
"""The rate of each issue, after a number that was even and after one that was odd."""

_SHARE = Terms(WholePrice((1,)), groups=2, max_places=1)
_ANN: tuple[Table, ...] = ((), (Row("ann"),), (Row("ann", 1),))
_KEEPS = 4


def claimed(lost: int) -> Claim:
    """Return a claim of so many units of ln 2."""
    return Claim(User(), LaplaceCost(sensitivity=float(lost), scale=1 / math.log(2)), ARGUMENT)


def one_a_month(kept: Kept) -> Terms:  # noqa: ARG001 (of Issues)
    """One share for a month, whatever was told."""
    return _SHARE


def with_others(histories: Iterable[History], *others: History) -> Pairs:
    """Return each history of one person beside others, and the others alone."""
    return tuple((_beside(history, other), other) for other in others for history in histories if any(history))


def _beside(history: History, other: History) -> History:
    return tuple(_joined(one, two) for one, two in zip(history, other, strict=True))


def _joined(one: Table | Forget, two: Table | Forget) -> Table | Forget:
    return (*one, *two) if isinstance(one, tuple) and isinstance(two, tuple) else one


def owners(issues: int) -> tuple[Owner, ...]:
    """Return every owner who asks at rate 1 or 2, as any function of the last number's parity."""
    rules = tuple((even, odd) for even in (1, 2) for odd in (1, 2))
    return tuple(((first, first), *rest) for first in (1, 2) for rest in itertools.product(rules, repeat=issues - 1))


def _terms_of(owner: Owner) -> Callable[[Kept], Terms]:
    return lambda kept: _by_shares(owner[kept.issue][sum(kept.last) % 2])


def _by_shares(rate: int) -> Terms:
    return Terms(WholePrice((rate,)), rate)


def _walked() -> tuple[AuditCase, ...]:
    return (*_first_months(), *_thinned(), *_histories(), *_owned())


def _first_months() -> tuple[AuditCase, ...]:
    histories = tuple(itertools.product(_ANN, repeat=_KEEPS))
    beside: History = ((Row("bo"),), (Row("bo", 1),), (), (Row("bo"),))
    return tuple(
        _case(f"the first {life} of 4 months", life, Issues(life, one_a_month), with_others(histories, beside))
        for life in (1, 2, 3)
    )


def _thinned() -> tuple[AuditCase, ...]:
    """Every pattern of months that a key keeps of a person; the other is kept always, or in every second month."""
    cases = []
    for name, others in (("who is always kept", (True,) * _KEEPS), ("who is kept now and then", (True, False) * 2)):
        alone: History = tuple((Row("bo"),) if kept else () for kept in others)
        patterns = itertools.product((False, True), repeat=_KEEPS)
        histories = tuple(tuple((Row("ann"),) if kept else () for kept in pattern) for pattern in patterns)
        pairs = with_others(histories, alone)
        cases.append(_case(f"months kept by a key, beside one {name}", 2, Issues(2, one_a_month), pairs))
    return tuple(cases)


def _histories() -> tuple[AuditCase, ...]:
    both: Table = (Row("ann"), Row("ann", 1))
    bo: History = ((Row("bo"),), (Row("bo", 1),), (Row("bo"),))
    ann: History = ((Row("ann"),), (Row("ann", 1),), (Row("ann"),))
    erased = with_others((((Row("ann"),), Forget("ann"), (Row("ann"),)),), ((), Forget("ann"), ()))
    return (
        _case(
            "one group of two in a month, two months", 2, Issues(2, one_a_month), with_others(((both,) * 3, ann), bo)
        ),
        _case("someone forgotten who comes back", 1, Issues(1, one_a_month), erased),
    )


def _owned() -> tuple[AuditCase, ...]:
    """Owners are part of the input, the same on both sides: each is another mechanism."""
    months: tuple[History, ...] = (((Row("ann"),),) * 3, ((Row("ann"),), (), (Row("ann"),)))
    nobody: History = ((),) * 3
    pairs = tuple(((owner, history), (owner, nobody)) for owner in owners(3) for history in months)
    name, lost = "32 owners who choose prices by what was told", 3
    return (AuditCase(name=name, mechanism=Owned(lost), neighbours=pairs, claim=claimed(lost), checks=(Known(),)),)


@dataclass(frozen=True)
class Owned:
    """A series under an owner; the input is the owner and a history."""

    life: int

    def __call__(self, data: tuple[Any, History], *, entropy: Entropy) -> object:
        """Run it once."""
        return self._walk(data[0])(data[1], entropy=entropy)

    def law(self, data: tuple[Any, History]) -> Any:
        """Return the law of all that is told."""
        return self._walk(data[0]).law(data[1])

    def _walk(self, owner: Any) -> Any:
        return Issues(self.life, _terms_of(owner)).walk()


def _case(name: str, lost: int, issues: Issues, pairs: Pairs) -> AuditCase:
    return AuditCase(name=name, mechanism=issues.walk(), neighbours=pairs, claim=claimed(lost), checks=(Known(),))


def squares(clips: Callable[[Kept], int], sigma: float) -> Callable[[Kept], Terms]:
    """Return terms under which a clip of f steps takes f², with Gaussian noise and a clip by what was told."""

    def terms(kept: Kept) -> Terms:
        clip = clips(kept)
        return Terms(WholePrice((max(1, clip**2),)), most=clip, sigma=sigma)

    return terms


@dataclass(frozen=True, slots=True)
class GaussianLife:
    """A life of 10 square steps under noise of as many: 1 step in the first issue, and 3 in the second if it pays.

    Attributes:
        life: in square steps.
        second: steps of the second issue.
        telling: from which number on the first answer speaks for someone.
        epsilon: where the claim is read.
    """

    life: int = 10
    second: int = 3
    telling: int = 5
    epsilon: float = 4.0

    @property
    def sigma(self) -> float:
        """Of the noise: a life is μ = 1."""
        return math.sqrt(self.life)

    @property
    def claim(self) -> Claim:
        """What a life costs."""
        return Claim(User(), GaussianCost(self.sigma, self.sigma), ARGUMENT)

    @property
    def delta(self) -> float:
        """At the epsilon of the claim."""
        return gaussian.delta_of(1.0, self.epsilon)

    def asks(self, kept: Kept) -> int:
        """Return the clip of an owner who asks for more where the first answer was telling."""
        if not kept.issue:
            return 1
        return self.second if kept.last[0] >= self.telling else 0

    @property
    def pair(self) -> tuple[History, History]:
        """Someone whose totals reach every clip, or nobody."""
        return ((Row("ann", value=99),),) * 2, ((),) * 2


GAUSSIAN = GaussianLife()


def _gaussian_lives() -> tuple[AuditCase, ...]:
    life = GAUSSIAN
    adapting = Issues(life.life, squares(life.asks, life.sigma)).walk()
    loud = Issues(life.life, squares(lambda kept: life.second if kept.issue else 1, life.sigma)).walk()
    return tuple(
        AuditCase(
            name=f"a life with Gaussian noise, {name}",
            mechanism=walk,
            neighbours=(life.pair,),
            claim=life.claim,
            epsilon=life.epsilon,
            delta=life.delta,
            checks=(Known(),),
        )
        for name, walk in (("asking more where the first answer tells", adapting), ("asking alike", loud))
    )


ENTRIES = (
    Entry(
        name="lives of shares, every outcome of a few issues",
        covers=(reference_book,),
        precision="shares and prices in whole numbers, rounded up; walked in exact fractions",
        cases=_walked,
    ),
    Entry(
        name="lives of shares under Gaussian noise",
        covers=(WholePrice,),
        precision="shares and prices in whole numbers, rounded up; noise rounded to whole steps",
        cases=_gaussian_lives,
    ),
)
