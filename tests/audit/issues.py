"""A series of issues as the exact auditor walks it: who counts and what each pays is the shipped rule, noise is small.

The tally is in memory, tables are a few rows, and a number is published with noise of few outcomes, so that every
outcome of a whole history can be walked through. An owner may choose the next terms by what was told. Where a habit of
the owner's is on trial, it is one of the steps around the rule, and a mutant has another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.steps import StepEnumerator
from chronodp.engines import Grouping, LifeQuestion, Question, Record, WholePrice, entry_of, reference_book
from chronodp.privacy import Calendar, Grid
from chronodp.randomness import Entropy

SALT = "00" * 16
"""Of the entries of these series."""
_LAST_DAY = 8

Payer: TypeAlias = tuple[int, int]
Spent: TypeAlias = tuple[tuple[Payer, int], ...]
"""Entries, ascending, each with shares."""


class Row(NamedTuple):
    """A row of a table: who, in which group, how much, on which day of the issue."""

    person: str
    group: int = 0
    value: int = 1
    day: int = 0


Table: TypeAlias = tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Forget:
    """In place of a table: a person is to be forgotten."""

    person: str


History: TypeAlias = tuple[Table | Forget, ...]


@dataclass(frozen=True, slots=True)
class Terms:
    """What an issue asks, at which noise and price.

    Attributes:
        price: of what counts of a person.
        rate: of the noise: a number one farther off is 2^rate times less likely. Not used where there is a sigma.
        most: the clip, from 0.
        groups: how many there are.
        max_places: in how many of them a person counts on a day.
        days: of the issue.
        sigma: of Gaussian noise, in steps.
    """

    price: WholePrice
    rate: int = 1
    most: int = 1
    groups: int = 1
    max_places: int | None = None
    days: int = 1
    sigma: float | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """What an owner keeps between issues.

    Attributes:
        issue: how many there were.
        tally: what each entry has used.
        before: the tally as the last issue read it.
        last: the numbers that were told last.
    """

    issue: int = 0
    tally: Spent = ()
    before: Spent = ()
    last: tuple[int, ...] = ()


Booking: TypeAlias = Callable[..., tuple[tuple[int, ...], Spent]]
"""Called as `booked` is."""
Presenting: TypeAlias = Callable[[Kept, Table], Table]
Remembering: TypeAlias = Callable[[Kept, int], Spent]
Beside: TypeAlias = Callable[[Kept, int, Entropy], tuple[int, ...]]


def _as_it_is(kept: Kept, table: Table) -> Table:  # noqa: ARG001 (of Presenting)
    return table


def _all_of_it(kept: Kept, life: int) -> Spent:  # noqa: ARG001 (of Remembering)
    return kept.tally


def _nothing(kept: Kept, life: int, entropy: Entropy) -> tuple[int, ...]:  # noqa: ARG001 (of Beside)
    return ()


def _used_up(spent: Spent, entry: Payer, life: int) -> Spent:
    return tuple(sorted({**dict(spent), entry: life}.items()))


@dataclass(frozen=True, slots=True)
class Issues:
    """A lifetime series: the shipped rule, and around it what an owner does; a mechanism whose input is a history.

    Attributes:
        life: of each person, in shares.
        terms: of the next issue, from what is kept; an honest owner looks at what was told last, and at nothing else.
        presenting: which rows of a table are presented.
        remembering: the tally as it stands after an issue.
        beside: what is told beside an issue's numbers.
        erasing: what is left of an entry that is to be forgotten.
        seen: which tally an issue reads.
        entry: under which entry shares are kept.
        booked_from: which rows a second reading sees, from which shares are taken; None where they are of the first.
        ends: whether no further issue is made.
        key: of the order of a person's days.
    """

    life: int
    terms: Callable[[Kept], Terms]
    presenting: Presenting = _as_it_is
    remembering: Remembering = _all_of_it
    beside: Beside = _nothing
    erasing: Callable[[Spent, Payer, int], Spent] = _used_up
    seen: Callable[[Kept], Spent] = field(default=lambda kept: kept.tally)
    entry: Callable[[Payer], Payer] = field(default=lambda entry: entry)
    booked_from: Callable[[Table], Table] | None = None
    ends: Callable[[Kept, int], bool] = field(default=lambda kept, life: False)  # noqa: ARG005 (nothing ends)
    key: str = "any"

    def walk(self) -> StepEnumerator[Kept]:
        """Return the series as the exact auditor walks it."""
        step = partial(self._step, lru_cache(maxsize=10_000)(booked))  # a walk asks for the same many times
        return StepEnumerator(start=lambda entropy: Kept(), step=step, key=lambda kept: kept)  # noqa: ARG005 (draws nothing)

    def _step(self, book: Booking, kept: Kept, given: Table | Forget, entropy: Entropy) -> tuple[Kept, Hashable]:
        if isinstance(given, Forget):
            burnt = self.erasing(kept.tally, self.entry(entry_of(SALT, given.person)), self.life)
            return replace(kept, tally=burnt), None
        if self.ends(kept, self.life):
            return kept, None
        terms = self.terms(kept)
        rows = self.presenting(kept, given)
        seen = self.seen(kept)
        sums, spent = book(rows, terms, self.life, seen, self.key, self.entry)
        if self.booked_from is not None:
            _, spent = book(self.booked_from(rows), terms, self.life, seen, self.key, self.entry)
        after = dict(seen)
        for entry, shares in spent:
            after[entry] = min(self.life, after.get(entry, 0) + shares)
        told = tuple(told_of(number, terms, entropy) for number in sums)
        now = replace(kept, tally=tuple(sorted(after.items())), before=kept.tally, last=told)
        beside = self.beside(now, self.life, entropy)
        return replace(now, issue=kept.issue + 1, tally=self.remembering(now, self.life)), (*told, *beside)


def told_of(number: int, terms: Terms, entropy: Entropy) -> int:
    """Return a number with noise: Gaussian; or geometric and then limited to 0 and 1, which tells as much of a move."""
    if terms.sigma is not None:
        return number + int(entropy.gaussian(terms.sigma, 1)[0])
    # P(noise >= 1 - number) for noise k of a chance in proportion to 2^(-rate |k|).
    ratio, least = Fraction(1, 2**terms.rate), 1 - number
    one = ratio**least / (1 + ratio) if least >= 0 else 1 - ratio ** (1 - least) / (1 + ratio)
    return int(entropy.coins(one.numerator, one.denominator))


class _Memory:
    """A tally in memory."""

    def __init__(self, spent: Spent, entry: Callable[[Payer], Payer]) -> None:
        self._spent, self._entry = dict(spent), entry

    def used(self, high: NDArray[np.uint64], low: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return what each entry has used."""
        entries = zip(high.tolist(), low.tolist(), strict=True)
        return np.array([self._spent.get(self._entry(one), 0) for one in entries], np.int64)


def booked(
    rows: Table, terms: Terms, life: int, spent: Spent, key: str, entry: Callable[[Payer], Payer]
) -> tuple[tuple[int, ...], Spent]:
    """Return totals and who paid what, by the rule that every engine follows."""
    question = _question(terms)
    records = [
        Record(row.person, int(question.calendar.edges[row.day]), float(row.value), (str(row.group),)) for row in rows
    ]
    made = reference_book(records, LifeQuestion(question, life, terms.price, SALT), _Memory(spent, entry), key=key)
    paid: dict[Payer, int] = {}
    for high, low, shares in zip(made.high.tolist(), made.low.tolist(), made.spent.tolist(), strict=True):
        known = entry((high, low))
        paid[known] = paid.get(known, 0) + shares
    return tuple(made.totals.sums.tolist()), tuple(sorted(paid.items()))


@lru_cache(maxsize=1000)
def _question(terms: Terms) -> Question:
    if terms.days > _LAST_DAY:
        raise AssertionError("histories are of few days")
    return Question(
        Calendar("1D", "2026-01-01", f"2026-01-{terms.days + 1:02}"),
        "day",
        "who",
        "value",
        Grid(1.0),
        (0, terms.most),
        groupings=(Grouping("group", tuple(map(str, range(terms.groups)))),),
        max_places=terms.max_places,
    )
