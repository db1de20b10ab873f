"""Lifetime series: a person in all issues or in none, under owners who choose terms by what was told.

The rule by which people count and pay is attacked with every outcome of whole histories, in units of ln 2: noise on a
number is such that a move of one at rate r loses r of them. Sound rules meet their bound with equality.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import tempfile
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import toeplitz

from chronodp.accounting import gaussian
from chronodp.audit.case import AuditCase
from chronodp.audit.numerical import Linear
from chronodp.audit.steps import StepEnumerator
from chronodp.audit.walked import Known
from chronodp.dataset import Lifetime
from chronodp.engines import Record, Reference, WholePrice, entry_of, reference_book
from chronodp.privacy import Claim, GaussianCost, LaplaceCost, Unit, User, Window
from chronodp.randomness import Entropy
from chronodp.series import RunningTotal
from chronodp.series.shapes import SquareRoot
from tests.audit.cases.ledgers import daily, temporary_ledger
from tests.audit.issues import SALT, Forget, History, Issues, Kept, Payer, Row, Spent, Table, Terms, booked, told_of
from tests.audit.registry import Entry, Mutant, on_trial

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
    return (on_trial(name, Owned(lost), pairs, claimed(lost), Known()),)


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
    return on_trial(name, issues.walk(), pairs, claimed(lost), Known())


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
        on_trial(
            f"a life with Gaussian noise, {name}",
            walk,
            (life.pair,),
            life.claim,
            Known(),
            epsilon=life.epsilon,
            delta=life.delta,
        )
        for name, walk in (("asking more where the first answer tells", adapting), ("asking alike", loud))
    )


_MIDNIGHT, _DAY = 1_767_225_600_000_000, 86_400_000_000  # of 2026-01-01, in microseconds

Months = tuple[tuple[tuple[str, str, float], ...], ...]
"""Who used how much where, month by month."""


@dataclass(frozen=True)
class Published:
    """A lifetime series by its front door: opened, issued month by month, and read back from the ledger.

    Attributes:
        law: of the noise.
        measure: 'count' or 'sum'.
        raised: the clip of the last issue, if it is another.
        unit: a person, who is there or not, or is replaced.
    """

    law: str
    measure: str
    raised: tuple[float, float] | None = None
    unit: User = field(default_factory=User)

    @property
    def delta(self) -> float:
        """Of the price."""
        return 0.0 if self.law == "laplace" else 0.01

    @property
    def plan(self) -> Any:
        """What all issues cost."""
        return self._planned((), Reference())

    def _planned(self, rows: Any, engine: Reference) -> Any:
        series = daily(rows, unit=self.unit, engine=engine)
        lowest = -2.0 if self.unit.relation == "replace" else 0.0
        asked = series.count() if self.measure == "count" else series.sum("used", clip=(lowest, 2.0))
        return asked.by(place=["a", "b"], max_groups=1).lifetime(epsilon=1.0, delta=self.delta, max_periods=2)

    def __call__(self, months: Months, *, entropy: Entropy) -> tuple[int, ...]:
        """Return the noisy numbers of every issue, in steps."""
        told: list[int] = []
        with tempfile.TemporaryDirectory() as folder, temporary_ledger(self.unit, delta=0.1) as ledger:
            load = self.plan.open(ledger, dataset="audit", name="load", tally=Path(folder) / "tally")
            for number, rows in enumerate(months):
                raised: dict[str, Any] = {"clip": self.raised} if self.raised and number == len(months) - 1 else {}
                with contextlib.redirect_stderr(io.StringIO()):  # where other terms are told to who asks
                    made = load.issue(
                        _records(rows, number),
                        start=f"2026-01-{number + 1:02}",
                        end=f"2026-01-{number + 2:02}",
                        request=str(number),
                        entropy=entropy,
                        progress=lambda _: None,
                        **raised,
                    )
                told += json.loads(made.text)["noisy"][0]
        return tuple(told)


def _records(rows: tuple[tuple[str, str, float], ...], day: int) -> list[Record]:
    return [Record(who, _MIDNIGHT + day * _DAY, used, (place,)) for who, place, used in rows]


def _series() -> tuple[AuditCase, ...]:
    bo = (("bo", "a", 1.0),)
    always: Months = ((("ann", "a", 2.0), ("ann", "b", 2.0)),) * 4
    moving: Months = ((("ann", "a", 1.0),), (("ann", "b", 2.0),), (("ann", "a", 0.5),), (("ann", "b", 2.0),))
    nobody: Months = (bo, bo, (), bo)
    pairs = tuple(
        (nobody, tuple((*one, *other) for one, other in zip(months, nobody, strict=True)))
        for months in (always, moving)
    )
    other: Months = tuple(tuple((who, place, -used) for who, place, used in month) for month in always)
    replaced = User(relation="replace")
    return (
        _published("people counted, Gaussian noise", Published("gaussian", "count"), pairs),
        _published("people counted, Laplace noise", Published("laplace", "count"), pairs),
        _published("sums, a clip raised midway", Published("gaussian", "sum", raised=(0.0, 3.0)), pairs),
        _published(
            "sums of both signs, one person replaced", Published("gaussian", "sum", unit=replaced), ((always, other),)
        ),
    )


def _published(name: str, published: Published, pairs: tuple[tuple[Months, Months], ...]) -> AuditCase:
    return on_trial(
        f"a lifetime series, {name}",
        published,
        pairs,
        published.plan.claim,
        Linear(),
        epsilon=1.0,
        delta=published.delta,
    )


_MONTHS = 4
_THERE: Table = (Row("ann"),)
_NOBODY: History = ((),) * _MONTHS
_ALWAYS: Pairs = (((_THERE,) * _MONTHS, _NOBODY),)
_ONE, _TWO = Issues(1, one_a_month), Issues(2, one_a_month)
_NUMBER = Terms(WholePrice((1,)))
_NEWEST_FIRST = "key 3"  # under which the later of any two months comes first for this person
_RARELY = 8  # steps that a rare second question may take of someone, so that 10 square steps hold on average


def _by_group(kept: Kept, table: Table) -> Table:  # noqa: ARG001 (of Issues)
    """Take a person in another group for another person."""
    return tuple(row._replace(person=f"{row.person} in {row.group}") for row in table)


def _first_by_name(kept: Kept, table: Table) -> Table:
    """Let one person into a month: the first by name of those who still count."""
    used = dict(kept.tally)
    return tuple(sorted(row for row in table if not used.get(entry_of(SALT, row.person)))[:1])


def _where_many_are(kept: Kept, table: Table) -> Table:  # noqa: ARG001 (of Issues)
    """Leave out months in which, truly, fewer than two people are there."""
    return table if len(table) > 1 else ()


def _before_the_last_row(rows: Table) -> Table:
    """Read a table that is still being written."""
    return rows[:-1]


def _one_for_all(entry: Payer) -> Payer:  # noqa: ARG001 (of Issues)
    """Keep so little of an entry that everyone shares it."""
    return 0, 0


def _new_every_year(kept: Kept, life: int) -> Spent:  # noqa: ARG001 (of Issues)
    """Begin a new tally with every year, which has two months here."""
    return () if kept.issue % 2 else kept.tally


def _new_every_month(kept: Kept, life: int) -> Spent:  # noqa: ARG001 (of Issues)
    """Open a new series every month, since the budget renews."""
    return ()


def _lost_at_first(kept: Kept, life: int) -> Spent:  # noqa: ARG001 (of Issues)
    """Die between the first release and its shares."""
    return kept.tally if kept.issue else kept.before


def _in_one_bit(kept: Kept, life: int) -> Spent:  # noqa: ARG001 (of Issues)
    """Keep shares in a number that is too short, and wraps."""
    return tuple((entry, used % 2) for entry, used in kept.tally)


def _delete(spent: Spent, entry: Payer, life: int) -> Spent:  # noqa: ARG001 (of Issues)
    """Erase an entry."""
    return tuple(one for one in spent if one[0] != entry)


def _used_up(kept: Kept, life: int) -> int:
    return sum(used >= life for _, used in kept.tally)


def _noisy_used_up(kept: Kept, life: int, entropy: Entropy) -> tuple[int, ...]:
    """Tell how many people are used up, with noise as if it were asked once."""
    return (told_of(_used_up(kept, life), _NUMBER, entropy),)


def _still_counting(kept: Kept, life: int, entropy: Entropy) -> tuple[int, ...]:  # noqa: ARG001 (of Issues)
    """Tell how many people still count, for information."""
    return (len(kept.tally) - _used_up(kept, life),)


def _nobody_left(kept: Kept, life: int) -> bool:
    """Stop when everyone known is used up: there is nothing left to count."""
    return bool(kept.tally) and _used_up(kept, life) == len(kept.tally)


def _chosen_anew() -> StepEnumerator[tuple[Table, ...]]:
    """Keep no tally: run a plan of one month of each person over all months so far, and tell the newest."""

    def step(months: tuple[Table, ...], table: Table, entropy: Entropy) -> tuple[tuple[Table, ...], Hashable]:
        now = (*months, table)
        terms = Terms(WholePrice((1,) * len(now)), days=len(now))
        rows = tuple(row._replace(day=day) for day, month in enumerate(now) for row in month)
        sums, _ = booked(rows, terms, 1, (), _NEWEST_FIRST, _ONE.entry)
        return now, told_of(sums[-1], terms, entropy)

    return StepEnumerator(start=lambda entropy: (), step=step, key=lambda months: months)  # noqa: ARG005


def _of_two_days(kept: Kept) -> Terms:  # noqa: ARG001 (of Issues)
    return Terms(WholePrice((1, 2)), days=2)


def _mutant(
    name: str, promised: int, sound: Issues, broken: Issues | StepEnumerator[tuple[Table, ...]], pairs: Pairs
) -> Mutant:
    return Mutant(
        name,
        claimed(promised),
        sound.walk(),
        broken.walk() if isinstance(broken, Issues) else broken,
        pairs,
        checks=(Known(),),
    )


def _kept_on_average() -> Mutant:
    """Spend little at first, and where the answer tells, more than a life: seldom enough that the mean is within it."""
    life = GAUSSIAN

    def asks(kept: Kept) -> int:
        return _RARELY if life.asks(kept) == life.second else life.asks(kept)

    return Mutant(
        "a life that is kept in expectation",
        life.claim,
        Issues(life.life, squares(life.asks, life.sigma)).walk(),
        Issues(1 + _RARELY**2, squares(asks, life.sigma)).walk(),
        (life.pair,),
        epsilon=life.epsilon,
        delta=life.delta,
        checks=(Known(),),
    )


def _mutants() -> tuple[Mutant, ...]:
    both: Table = (Row("ann"), Row("ann", 1))
    bo: Table = (Row("bo", 1),)
    some = tuple(itertools.product(((), _THERE), repeat=3))
    others = tuple(itertools.product(((), bo), repeat=3))
    days: Table = (Row("ann", day=0), Row("ann", day=1))
    read_twice = Issues(2, _of_two_days)
    erased: Pairs = (((_THERE, Forget("ann"), _THERE), ((), Forget("ann"), ())),)
    return (
        _mutant("a life for each group of a person", 2, _TWO, replace(_TWO, presenting=_by_group),
                with_others(((both,) * _MONTHS,), _NOBODY)),
        _mutant("a quota of people a month, in which one pushes another out", 1, _ONE,
                replace(_ONE, presenting=_first_by_name), with_others(((_THERE,) * 3,), (bo,) * 3)),
        _mutant("two people on one entry", 2, _TWO, replace(_TWO, entry=_one_for_all), with_others(some, *others)),
        _mutant("a life a year, told as a person's", 1, _ONE, replace(_ONE, remembering=_new_every_year), _ALWAYS),
        _mutant("a budget that renews as payer of a new series", 1, _ONE, replace(_ONE, remembering=_new_every_month),
                _ALWAYS),
        _mutant("months of a person chosen anew among all so far", 1, Issues(1, _one_number), _chosen_anew(), _ALWAYS),
        _mutant("an erasure that deletes the entry", 1, _ONE, replace(_ONE, erasing=_delete), erased),
        _mutant("shares written after the release", 1, _ONE, replace(_ONE, remembering=_lost_at_first), _ALWAYS),
        _mutant("shares in a number that wraps", 2, _TWO, replace(_TWO, remembering=_in_one_bit), _ALWAYS),
        _mutant("totals of one reading, shares of another", 2, read_twice,
                replace(read_twice, booked_from=_before_the_last_row), (((days, _THERE), ((), ())),)),
        _mutant("people picked by the true series", 2, _TWO, replace(_TWO, presenting=_where_many_are),
                with_others(((_THERE,) * _MONTHS,), (bo,) * _MONTHS)),
        _mutant("people who are used up, counted every month and paid once", 2, _ONE,
                replace(_ONE, beside=_noisy_used_up), _ALWAYS),
        _mutant("how many people still count, told exactly", 2, _TWO, replace(_TWO, beside=_still_counting), _ALWAYS),
        _mutant("a series that stops when everyone is used up", 1, _ONE, replace(_ONE, ends=_nobody_left), _ALWAYS),
        _kept_on_average(),
    )  # fmt: skip


def _one_number(kept: Kept) -> Terms:  # noqa: ARG001 (of Issues)
    return _NUMBER


Floats = NDArray[np.float64]
Series = tuple[float, ...]
Present = tuple[bool, ...]
"""In which months a person is there."""

_DELTA = 1e-5
_MU = gaussian.mu_for(1.0, _DELTA)
_STEP = 2.0**-20  # the grid of these releases
_ISSUES, _LONG, _WINDOW = 12, 120, 2


def _shape(length: int) -> Floats:
    column = SquareRoot(RunningTotal()).coefficients(length)
    return np.asarray(np.tril(toeplitz(column)), np.float64)


def _released(matrix: Floats, scales: Floats) -> Callable[..., Series]:
    """Release C x + noise, of which all else is computed, each number with noise of its own scale."""

    def release(series: Series, *, entropy: Entropy) -> Series:
        exact = matrix @ np.array(series)
        drawn = [int(entropy.gaussian(float(scale) / _STEP, 1)[0]) * _STEP for scale in scales]
        return tuple((exact + np.array(drawn)).tolist())

    return release


def _noise_mutant(
    name: str, unit: Unit, reach: float, sound: object, broken: object, changed: tuple[object, object]
) -> Mutant:
    return Mutant(
        name=name,
        claim=Claim(unit, GaussianCost(reach, reach / _MU), ARGUMENT),
        epsilon=1.0,
        delta=_DELTA,
        sound=sound,  # type: ignore[arg-type]  # mechanisms of inputs of their own kinds
        broken=broken,  # type: ignore[arg-type]  # as above
        neighbours=(changed,),
        checks=(Linear(),),
    )


def _less_noise_later() -> Mutant:
    """A person in the first issue, whose noise reaches into all later ones: there it is divided by ten."""
    matrix = _shape(_ISSUES)
    reach = float(np.linalg.norm(matrix[:, 0]))
    honest = np.full(_ISSUES, reach / _MU * (1 + 1e-9))
    thin = np.where(np.arange(_ISSUES) > 0, honest / 10, honest)
    someone = (1.0, *(0.0,) * (_ISSUES - 1))
    return _noise_mutant(
        "noise shaped across issues that is less from the second on",
        User(),
        reach,
        _released(matrix, honest),
        _released(matrix, thin),
        ((0.0,) * _ISSUES, someone),
    )


@lru_cache(maxsize=16)
def roll(months: Present, rolling: bool) -> tuple[int, ...]:
    """Return in which months someone counts: always, or only where none of the last w - 1 months did."""
    terms = Terms(WholePrice((1,)))
    counted: list[int] = []
    for here in months:
        table: Table = (Row("ann"),) if here else ()
        # The life of a window: what is used comes back when it is w months old.
        used = sum(counted[-(_WINDOW - 1) :]) if rolling else 0
        known = tuple((entry, used) for entry, _ in booked((Row("ann"),), terms, 1, (), "any", _itself)[1])
        counted.append(booked(table, terms, 1, known, "any", _itself)[0][0])
    return tuple(counted)


def _itself(entry: tuple[int, int]) -> tuple[int, int]:
    return entry


def _rolling_life() -> Mutant:
    """A life of one month in any two, priced for a window of two; the sound one counts all, and pays for two cells."""
    scale = _MU / math.sqrt(_WINDOW)

    def release(rolling: bool) -> Callable[..., Series]:
        def noisy(months: Present, *, entropy: Entropy) -> Series:
            drawn = entropy.gaussian((1 + 1e-9) / scale / _STEP, _LONG) * _STEP
            return tuple((np.array(roll(months, rolling)) + drawn).tolist())

        return noisy

    always = (True,) * _LONG
    without = (False, *always[1:])
    unit = Window(_WINDOW)
    return _noise_mutant(
        "a life that comes back month by month, priced for a window",
        unit,
        math.sqrt(_WINDOW),
        release(rolling=False),
        release(rolling=True),
        (always, without),
    )


ENTRIES = (
    Entry("lives of shares, every outcome of a few issues", (reference_book,),
          "shares and prices in whole numbers, rounded up; walked in exact fractions", _walked),
    Entry("lives of shares under Gaussian noise", (WholePrice,),
          "shares and prices in whole numbers, rounded up; noise rounded to whole steps", _gaussian_lives),
    Entry("lifetime series", (Lifetime,),
          "whole numbers on a grid; noise of exactly the stated law; shares in whole numbers, rounded up", _series),
)  # fmt: skip


MUTANTS: tuple[Mutant, ...] = (*_mutants(), _less_noise_later(), _rolling_life())
