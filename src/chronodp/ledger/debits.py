"""The debit: the one place where something is spent.

A charge is converted to the budget's unit and rule, rounded up, and added to the native sums by one conditional
statement that fails if no sum stays within its limit. Nothing is read first and written later: writers cannot race.

It carries "A crowd" of ``docs/explanation/proofs/ledger.md``, and *Other units* and *What periods mean* under
"Deciding".
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TypeAlias

from chronodp.accounting import enlarge, gather
from chronodp.errors import BudgetConflict, BudgetExhausted, UnitMismatch
from chronodp.ledger.accounts import account_name, find_budget, find_known, now, spent_in
from chronodp.ledger.booking import start_account
from chronodp.ledger.budget import Budget, Dates, check_dates
from chronodp.ledger.filters import CAP, Amounts, Filter
from chronodp.ledger.in_epsilon import Told, apart, in_epsilon, open_sums, tell
from chronodp.ledger.meanings import Known, settle
from chronodp.ledger.names import check_account
from chronodp.ledger.store import Transaction
from chronodp.ledger.tables import SPENT
from chronodp.privacy import FIRST, LAST, Cost, Unit, check_cost, check_text, dump, price
from chronodp.privacy.units import StretchUnit, check_unit

__all__ = ["Charge", "Spend", "Terms", "check_fits", "debit"]

Terms: TypeAlias = dict[tuple[str, str], Known]
"""Budgets by dataset and analyst."""


@dataclass(frozen=True, slots=True)
class Spend:
    """What someone asks to spend: a cost for a unit, on a dataset, perhaps as an analyst, on data of certain days."""

    dataset: str
    cost: Cost
    unit: Unit
    analyst: str = ""
    dates: Dates | None = None
    purpose: str = ""

    def __post_init__(self) -> None:
        check_cost("cost", self.cost)
        check_unit("unit", self.unit)
        check_account(self.dataset, self.analyst)
        check_text("purpose", self.purpose, private=True)
        if self.dates is not None:
            check_dates(self.dates)

    @property
    def years(self) -> tuple[int, int] | None:
        """The years that the data lie in, if they are known."""
        return None if self.dates is None else (self.dates[0].year, self.dates[1].year)


@dataclass(frozen=True, slots=True)
class Charge:
    """A granted debit, one for every period and budget that it touched.

    Attributes:
        dataset: whose privacy was spent.
        analyst: whose part of it; empty for the whole.
        period: of a budget that renews; empty otherwise.
        number: counts the charges of this account from 1.
        amounts: what was added to the native sums, in quanta, the reserve last.
    """

    dataset: str
    analyst: str
    period: str
    number: int
    amounts: Amounts


def debit(transaction: Transaction, spend: Spend, terms: Terms) -> tuple[Charge, ...]:
    """Add a charge to every account it concerns, or raise and leave all of them as they were.

    ``terms`` remembers the budgets seen before; that a budget is still open, and under these terms, is checked by the
    statement that debits it.
    """
    charges = []
    for analyst, found in _concerned(transaction, spend, terms):
        known = settle(transaction, spend.dataset, found, spend.unit)
        try:
            charges += [_charge(transaction, known, spend, analyst, one) for one in known.meant.periods(spend.dates)]
        except BudgetConflict:
            terms.clear()  # what was remembered is not what is on disk
            raise
    return tuple(charges)


def check_fits(transaction: Transaction, spend: Spend) -> dict[str, float]:
    """Raise what a debit would raise now, and spend nothing; by the time of the debit others may have spent.

    Returns how much of every budget concerned would be used after it, from 0 to 1, by analyst, the whole's empty.
    """
    after: dict[str, float] = {}
    for analyst, found in _concerned(transaction, spend, {}):
        shown = None if found.settled else found.opened.unit.meant_by(spend.unit)
        known = found if shown is None else replace(found, meant=replace(found.meant, unit=shown))
        priced = _price(known, spend.cost, spend.unit, spend.years)
        for period in known.meant.periods(spend.dates):
            key = (spend.dataset, analyst, period)
            spent, _ = spent_in(transaction, known.meant, *key)
            if not known.meant.filter.admits(spent, priced.amounts):
                raise _exhausted(spent, known.meant, key, priced)
            after[analyst] = max(after.get(analyst, 0.0), _used(spent, priced))
    return after


def _used(spent: Amounts, priced: _Price) -> float:
    """Return how much of a budget is used after a price that fits, by the sum that has most left: as `Status.share`."""
    native = zip(spent[:-1], priced.amounts[:-1], priced.ceilings[:-1], strict=True)
    return min((before + more) / most for before, more, most in native if most > 0)


def _concerned(transaction: Transaction, spend: Spend, terms: Terms) -> list[tuple[str, Known]]:
    """Return the analysts (the whole's is empty) and terms of every budget that a spend is charged to."""
    whole = _terms(transaction, spend.dataset, "", terms)
    if not spend.analyst:
        return [("", whole)]
    part = _terms(transaction, spend.dataset, spend.analyst, terms)
    # Without collusion each analyst's view stands alone and the whole is not what anyone sees.
    return [(spend.analyst, part)] if part.opened.collusion == "excluded" else [("", whole), (spend.analyst, part)]


def _terms(transaction: Transaction, dataset: str, analyst: str, terms: Terms) -> Known:
    key = (dataset, analyst)
    known = terms.get(key)
    if known is None or not known.settled:
        # Remembered as it stood when this transaction began: what it writes itself may yet be rolled back.
        known = terms[key] = find_known(transaction, dataset, analyst)
    return known


@dataclass(frozen=True, slots=True)
class _Price:
    """A cost as one budget reads it."""

    cost: Cost
    amounts: Amounts
    ceilings: Amounts
    documents: tuple[str, str, str]
    terms: str


@lru_cache(maxsize=4096)
def _price(known: Known, cost: Cost, unit: Unit, years: tuple[int, int] | None) -> _Price:
    """Return the cost for the budget's own unit, in its native amounts; the same for every such charge."""
    budget = known.meant
    refused = [part.name for part in gather(cost).assumptions if part.name not in budget.accepts]
    if refused:
        raise UnitMismatch(
            f"the cost assumes {', '.join(refused)}, which this budget does not accept: open one with accepts="
        )
    steps = price(unit, budget.unit)
    if steps is None:
        raise UnitMismatch(
            f"a cost for {unit} says nothing about this budget's unit, {budget.unit}{_mend(unit, budget.unit)}"
        )
    if years is not None and not FIRST <= years[0] <= years[1] <= LAST and _on_clocks(unit, budget.unit):
        raise UnitMismatch(
            f"a cost for {unit} is compared with this budget's unit, {budget.unit}, on the clocks of {FIRST} to {LAST} "
            "only: open another budget for data of other years"
        )
    converted = cost if steps == 1 else enlarge(cost, steps)
    rule = budget.filter
    amounts = rule.amounts(converted)
    documents = (dump(cost), _dumped(unit), json.dumps(amounts))
    return _Price(converted, amounts, rule.ceilings, documents, _dumped(known.opened))


_dumped = lru_cache(maxsize=1024)(dump)  # of units and terms, which are few beside costs


def _on_clocks(held: Unit, wanted: Unit) -> bool:
    """Whether a price rests on clocks: both speak of stretches of time, and not of the same grid."""
    one, other = held.stretches, wanted.stretches
    return one is not None and other is not None and one.grid != other.grid


def _mend(held: Unit, wanted: Unit) -> str:
    """What to do where two units cannot be compared since one of them leaves its meaning open."""
    if not isinstance(held, StretchUnit) or not isinstance(wanted, StretchUnit):
        return ""
    if not held.said:
        return (
            ": the charge does not say how long its periods are, or in which zone. Say it in the unit, every='1h' or "
            "timezone='UTC', or open another budget"
        )
    if not wanted.said:
        return (
            ": the budget does not say how long its periods are, or in which zone. If all that was charged to it meant "
            "the same, open it again with a unit that says so, every= or timezone=; else open another"
        )
    return ""


def _charge(transaction: Transaction, known: Known, spend: Spend, analyst: str, period: str) -> Charge:
    key = (spend.dataset, analyst, period)
    budget = known.meant
    priced = _price(known, spend.cost, spend.unit, spend.years)
    amounts, ceilings, moment = priced.amounts, priced.ceilings, now()
    if period:
        start_account(transaction, *key)
    parameters: list[str | int | None] = []
    for amount in amounts[:-1]:
        parameters += [amount, CAP, CAP, amount]
    parameters += [amounts[-1], moment, moment, *key, amounts[-1], ceilings[-1]]
    for amount, most in zip(amounts[:-1], ceilings[:-1], strict=True):
        parameters += [amount, most]
    rows = transaction.run(_conditional_update(len(amounts) - 1), [*parameters, spend.dataset, analyst, priced.terms])
    if not rows:
        if find_budget(transaction, spend.dataset, analyst) != known.opened:  # raises if it was closed or is not there
            raise BudgetConflict(f"the ledger of {account_name(spend.dataset, analyst)} was replaced: open it again")
        raise _exhausted(spent_in(transaction, budget, *key)[0], budget, key, priced)
    number, made = (int(part) for part in rows[0])
    transaction.run(
        "INSERT INTO charges (dataset, analyst, period, number, cost, unit, amounts, purpose, made) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*key, number, *priced.documents, spend.purpose, made),
    )
    return Charge(*key, number, amounts)


@cache
def _conditional_update(components: int) -> str:
    """Return the statement that adds amounts if one component and the reserve stay within their limits."""
    # Sums saturate at the cap: it lies above every limit, so a sum that reached it admits nothing any more, and no
    # addition of two leaves 64 bits.
    adds = ", ".join(
        f"{column} = CASE WHEN {column} + ? > ? THEN ? ELSE {column} + ? END" for column in SPENT[:components]
    )
    within = " OR ".join(f"{column} + ? <= ?" for column in SPENT[:components])
    return (
        f"UPDATE accounts SET {adds}, reserved = reserved + ?, charges = charges + 1, "
        # A clock that went backwards does not take the history with it.
        "clock = CASE WHEN clock > ? THEN clock ELSE ? END "
        "WHERE dataset = ? AND analyst = ? AND period = ? AND reserved + ? <= ? "
        f"AND ({within}) "
        "AND EXISTS (SELECT 1 FROM budgets WHERE dataset = ? AND analyst = ? AND terms = ? AND closed IS NULL) "
        "RETURNING charges, clock"
    )


def _exhausted(spent: Amounts, budget: Budget, key: tuple[str, str, str], priced: _Price) -> BudgetExhausted:
    amounts = priced.amounts
    rule = budget.filter
    parts = (*rule.components, rule.reserved)

    def fullness(index: int) -> float:
        most = rule.ceilings[index]
        closed = most <= 0 or spent[index] >= CAP  # what ran over once has nothing to tell
        return math.inf if closed else (spent[index] + amounts[index]) / most

    shown = min(range(len(parts) - 1), key=fullness)  # the sum nearest to fitting is the one to tell about
    if spent[-1] + amounts[-1] > rule.ceilings[-1]:
        shown = len(parts) - 1
    whose = account_name(key[0], key[1]) + (f" in {key[2]}" if key[2] else "")
    told, wanted = _told(rule, spent, amounts, shown)
    asked, left = apart(wanted, told.left)
    more = "more than " if amounts[shown] == CAP else ""
    name, _, at = told.name.partition(" at ")
    return BudgetExhausted(
        f"the budget for {whose} cannot pay this: {name} {told.spent:.6g} of {told.limit:.6g} spent"
        f"{f' at {at}' if at else ''}; this needs {more}{asked}, and at most {left} fits; `status` shows what would",
        measure=told.name,
        asked=wanted,
        spent=told.spent,
        limit=told.limit,
        left=told.left,
    )


def _told(rule: Filter, spent: Amounts, amounts: Amounts, place: int) -> tuple[Told, float]:
    """Return how a sum stands and what is asked of it, in what people ask in."""
    if place < len(rule.components):
        told = replace(tell(rule, spent, (place,)), spent=tell(rule, spent, open_sums(rule, spent)).spent)
        return told, in_epsilon(rule, place, amounts[place])
    part, most = rule.reserved, rule.ceilings[-1]
    used, limit, left = (part.value(quanta) for quanta in (spent[-1], most, max(0, most - spent[-1])))
    return Told(part.name, used, limit, left, adds=True), part.value(amounts[-1])
