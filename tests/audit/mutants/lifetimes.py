"""Mistakes about lives: in what is capped, in what is kept between issues, and in what an owner tells or does.

Losses are in units of ln 2 and exact. Each mutant says what is promised; ``tests/audit/test_lifetimes.py`` says what is
truly lost.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from dataclasses import replace

from chronodp.audit.steps import StepEnumerator
from chronodp.audit.walked import Known
from chronodp.engines import WholePrice, entry_of
from chronodp.randomness import Entropy
from tests.audit.cases.lifetimes import GAUSSIAN, Pairs, claimed, one_a_month, squares, with_others
from tests.audit.issues import (
    SALT,
    Entry,
    Forget,
    History,
    Issues,
    Kept,
    Row,
    Spent,
    Table,
    Terms,
    booked,
    told_of,
)
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_MONTHS = 4
_ANN: Table = (Row("ann"),)
_NOBODY: History = ((),) * _MONTHS
_ALWAYS: Pairs = (((_ANN,) * _MONTHS, _NOBODY),)
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


def _one_for_all(entry: Entry) -> Entry:  # noqa: ARG001 (of Issues)
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


def _delete(spent: Spent, entry: Entry, life: int) -> Spent:  # noqa: ARG001 (of Issues)
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
        name=name,
        claim=claimed(promised),
        sound=sound.walk(),
        broken=broken.walk() if isinstance(broken, Issues) else broken,
        neighbours=pairs,
        checks=(Known(),),
    )


def _kept_on_average() -> Mutant:
    """Spend little at first, and where the answer tells, more than a life: seldom enough that the mean is within it."""
    life = GAUSSIAN

    def asks(kept: Kept) -> int:
        return _RARELY if life.asks(kept) == life.second else life.asks(kept)

    return Mutant(
        name="a life that is kept in expectation",
        claim=life.claim,
        epsilon=life.epsilon,
        delta=life.delta,
        sound=Issues(life.life, squares(life.asks, life.sigma)).walk(),
        broken=Issues(1 + _RARELY**2, squares(asks, life.sigma)).walk(),
        neighbours=(life.pair,),
        checks=(Known(),),
    )


def _mutants() -> tuple[Mutant, ...]:
    both: Table = (Row("ann"), Row("ann", 1))
    bo: Table = (Row("bo", 1),)
    some = tuple(itertools.product(((), _ANN), repeat=3))
    others = tuple(itertools.product(((), bo), repeat=3))
    days: Table = (Row("ann", day=0), Row("ann", day=1))
    read_twice = Issues(2, _of_two_days)
    erased: Pairs = (((_ANN, Forget("ann"), _ANN), ((), Forget("ann"), ())),)
    return (
        _mutant("a life for each group of a person", 2, _TWO, replace(_TWO, presenting=_by_group),
                with_others(((both,) * _MONTHS,), _NOBODY)),
        _mutant("a quota of people a month, in which one pushes another out", 1, _ONE,
                replace(_ONE, presenting=_first_by_name), with_others(((_ANN,) * 3,), (bo,) * 3)),
        _mutant("two people on one entry", 2, _TWO, replace(_TWO, entry=_one_for_all), with_others(some, *others)),
        _mutant("a life a year, told as a person's", 1, _ONE, replace(_ONE, remembering=_new_every_year), _ALWAYS),
        _mutant("a budget that renews as payer of a new series", 1, _ONE, replace(_ONE, remembering=_new_every_month),
                _ALWAYS),
        _mutant("months of a person chosen anew among all so far", 1, Issues(1, _one_number), _chosen_anew(), _ALWAYS),
        _mutant("an erasure that deletes the entry", 1, _ONE, replace(_ONE, erasing=_delete), erased),
        _mutant("shares written after the release", 1, _ONE, replace(_ONE, remembering=_lost_at_first), _ALWAYS),
        _mutant("shares in a number that wraps", 2, _TWO, replace(_TWO, remembering=_in_one_bit), _ALWAYS),
        _mutant("totals of one reading, shares of another", 2, read_twice,
                replace(read_twice, booked_from=_before_the_last_row), (((days, _ANN), ((), ())),)),
        _mutant("people picked by the true series", 2, _TWO, replace(_TWO, presenting=_where_many_are),
                with_others(((_ANN,) * _MONTHS,), (bo,) * _MONTHS)),
        _mutant("people who are used up, counted every month and paid once", 2, _ONE,
                replace(_ONE, beside=_noisy_used_up), _ALWAYS),
        _mutant("how many people still count, told exactly", 2, _TWO, replace(_TWO, beside=_still_counting), _ALWAYS),
        _mutant("a series that stops when everyone is used up", 1, _ONE, replace(_ONE, ends=_nobody_left), _ALWAYS),
        _kept_on_average(),
    )  # fmt: skip


def _one_number(kept: Kept) -> Terms:  # noqa: ARG001 (of Issues)
    return _NUMBER


MUTANTS: tuple[Mutant, ...] = _mutants()
