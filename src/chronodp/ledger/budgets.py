"""Budgets on disk: opened once, listed and closed; what was charged to them, and how they stand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from chronodp.errors import BudgetConflict, InvalidArgument
from chronodp.ledger.accounts import (
    day_of,
    find_budget,
    find_known,
    first_day,
    newest_period,
    now,
    read_terms,
    spent_in,
)
from chronodp.ledger.askers import asked_by
from chronodp.ledger.budget import Budget, Part
from chronodp.ledger.meanings import Known, read_meanings, with_meaning, write_meaning
from chronodp.ledger.names import check_account, check_name
from chronodp.ledger.requests import unreleased
from chronodp.ledger.status import Status, make_status, share_of
from chronodp.ledger.store import Transaction
from chronodp.ledger.tables import SPENT
from chronodp.privacy import Cost, Unit, dump, load, microseconds_of, to_document
from chronodp.privacy.units import uncalled

__all__ = [
    "Entry",
    "EntryPlace",
    "check_known",
    "close_budget",
    "list_budgets",
    "list_charges",
    "open_budget",
    "open_part",
    "place_after",
    "read_shares",
    "read_status",
]


EntryPlace: TypeAlias = tuple[int, int, int]
"""Where an answer ended: when its last entry was made, in microseconds since 1970, its number, and how many entries of
that moment and number were returned. It holds nothing that an entry's reader may not know."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a budget's history.

    Attributes:
        analyst: whose part was charged; "" for the whole.
        period: of a budget that renews; "" otherwise.
        number: counts the charges of the whole or of a part, from 1.
        made: when, in UTC.
        purpose: the request, stream or name that was given.
        unit: whom the price is for.
        cost: what was charged.
    """

    analyst: str
    period: str
    number: int
    made: dt.datetime
    purpose: str
    unit: Unit
    cost: Cost

    def to_dict(self) -> dict[str, object]:
        """Return plain data for JSON."""
        return {
            "analyst": self.analyst,
            "period": self.period,
            "number": self.number,
            "made": self.made.isoformat(),
            "purpose": self.purpose,
            "unit": to_document(self.unit),
            "cost": to_document(self.cost),
        }


def open_budget(transaction: Transaction, dataset: str, analyst: str, budget: Budget) -> None:
    """Write a budget's terms, unless they stand there; refuse others under the same name.

    A unit that leaves its meaning open fits whatever that turned out to be. One that says what the terms left open, and
    no charge has said otherwise, is the owner's word for all that was charged so far.
    """
    check_account(dataset, analyst)
    transaction.run(
        "INSERT INTO budgets (dataset, analyst, terms, opened) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (dataset, analyst, _written(budget), now()),
    )
    known = find_known(transaction, dataset, analyst)
    if known.meant != budget:
        _check_terms(transaction, dataset, known, budget)
    if budget.renews is None:
        transaction.run(
            "INSERT INTO accounts (dataset, analyst, period) VALUES (?, ?, '') ON CONFLICT DO NOTHING",
            (dataset, analyst),
        )


_written = lru_cache(maxsize=1024)(dump)  # thousands of datasets are opened under some few terms


def open_part(transaction: Transaction, dataset: str, analyst: str, part: Part) -> None:
    """Write the terms of a part of an open budget, unless they stand there; refuse others."""
    open_budget(transaction, dataset, analyst, part.of(find_budget(transaction, dataset, "")))


def _check_terms(transaction: Transaction, dataset: str, known: Known, budget: Budget) -> None:
    """Refuse terms that are not those of an open budget; what they say of its unit's meaning is written down."""
    if not known.meant.unit.said and _same_but_meaning(known, budget) and budget.unit.said:
        known = _say(transaction, dataset, budget)
    units = [uncalled(unit) for unit in (known.opened.unit.unsaid(), known.opened.unit, known.meant.unit)]
    if not _same_but_meaning(known, budget) or uncalled(budget.unit) not in units:
        raise BudgetConflict(
            f"{dataset!r} is open with other terms: {known.meant}, not {budget}. Terms never change: choose another "
            "name"
        )


def _same_but_meaning(known: Known, budget: Budget) -> bool:
    """Whether terms agree in all but what the unit means and whom it names; a zone not said is the one on disk."""
    unit, zone = uncalled(known.opened.unit.unsaid()), known.meant.timezone
    told = replace(budget, unit=uncalled(budget.unit.unsaid()), timezone=budget.timezone or zone)
    return told == replace(known.meant, unit=unit)


def _say(transaction: Transaction, dataset: str, budget: Budget) -> Known:
    """Write the owner's word for what a dataset's unit means into its terms, and into those of its parts."""
    write_meaning(transaction, dataset, budget.unit)  # waits for a first charge that is under way
    known = find_known(transaction, dataset, "")
    if known.meant.unit.said and uncalled(known.meant.unit) != uncalled(budget.unit):
        return known
    transaction.run("UPDATE meanings SET unit = ? WHERE dataset = ?", (dump(budget.unit), dataset))
    for analyst, terms in transaction.run("SELECT analyst, terms FROM budgets WHERE dataset = ?", (dataset,)):
        # Whoever remembers the terms as they were is refused from here on, and reads them anew.
        said = dump(replace(read_terms(terms), unit=budget.unit))
        transaction.run("UPDATE budgets SET terms = ? WHERE dataset = ? AND analyst = ?", (said, dataset, analyst))
    return find_known(transaction, dataset, "")


def close_budget(transaction: Transaction, dataset: str, analyst: str) -> None:
    """Write that a budget is closed."""
    find_budget(transaction, dataset, analyst)
    transaction.run(
        "UPDATE budgets SET closed = ? WHERE dataset = ? AND analyst = ? AND closed IS NULL", (now(), dataset, analyst)
    )


def list_budgets(transaction: Transaction, *, closed: bool) -> list[tuple[str, str, Budget]]:
    """Return (dataset, analyst, terms) of every budget, or of every open one, as their charges give them meaning."""
    rows = transaction.run("SELECT dataset, analyst, terms, closed FROM budgets ORDER BY dataset, analyst")
    known = read_meanings(transaction)
    return [
        (row[0], row[1], with_meaning(read_terms(row[2]), known.get(row[0])).meant)
        for row in rows
        if closed or row[3] is None
    ]


def list_charges(
    transaction: Transaction,
    dataset: str,
    *,
    limit: int,
    before: EntryPlace | None = None,
    whole: bool = False,
    by: str | None = None,
) -> list[Entry]:
    """Return the newest charges of a dataset, newest first.

    Args:
        transaction: in which they are read.
        dataset: whose charges.
        limit: how many at most.
        before: where an earlier answer ended; what follows is returned.
        whole: leave out what is charged to a part as well.
        by: of one asker, such as ``ana/``; charges to the whole alone.
    """
    check_known(transaction, dataset)
    wanted, parameters = ["dataset = ?"], list[str | int]([dataset])
    if whole or by is not None:
        wanted.append("analyst = ''")
    whose, given = asked_by("purpose", by)
    wanted.append(whose)
    parameters += given
    *since, passed = before or (0,)
    if since:
        wanted.append("(made, number) <= (?, ?)")
        parameters += since
    rows = transaction.run(
        f"SELECT analyst, period, number, made, purpose, unit, cost FROM charges WHERE {' AND '.join(wanted)} "
        "ORDER BY made DESC, number DESC, analyst DESC, period DESC LIMIT ? OFFSET ?",
        (*parameters, limit, passed),
    )
    return [
        Entry(
            analyst=row[0],
            period=row[1],
            number=int(row[2]),
            made=dt.datetime.fromtimestamp(int(row[3]) / 1e6, dt.UTC),
            purpose=row[4],
            unit=_unit(row[5]),
            cost=_cost(row[6]),
        )
        for row in rows
    ]


def place_after(entries: Sequence[Entry], before: EntryPlace | None) -> EntryPlace:
    """Return where an answer ended that is not empty and followed ``before``."""
    when = [(microseconds_of(entry.made), entry.number) for entry in entries]
    *since, passed = before or (0,)
    return *when[-1], when.count(when[-1]) + (passed if tuple(since) == when[-1] else 0)


def read_shares(transaction: Transaction, datasets: Sequence[str]) -> dict[str, float]:
    """Return how much of each open budget is used, 0 to 1; of those that renew, in the newest period with a charge."""
    among = f" AND b.dataset IN ({', '.join('?' * len(datasets))})" if datasets else ""
    rows = transaction.run(
        f"SELECT b.dataset, b.terms, a.reserved, {', '.join(f'a.{column}' for column in SPENT)} FROM budgets b "
        "LEFT JOIN accounts a ON a.dataset = b.dataset AND a.analyst = '' AND a.period = "
        "(SELECT MAX(period) FROM accounts WHERE dataset = b.dataset AND analyst = '') "
        f"WHERE b.analyst = '' AND b.closed IS NULL{among}",
        tuple(datasets),
    )
    shares = {}
    for dataset, terms, reserved, *sums in rows:
        rule = read_terms(terms).filter
        spent = tuple(int(part or 0) for part in sums[: len(rule.components)])
        shares[dataset] = share_of(rule, (*spent, int(reserved or 0)))
    return shares


def read_status(transaction: Transaction, dataset: str, analyst: str, period: str) -> Status:
    """Return what is spent of a budget and what still fits; of one that renews, in a period or the newest."""
    budget = find_known(transaction, dataset, analyst).meant
    if period and budget.renews is None:
        raise InvalidArgument("period", period, "left out: this budget does not renew")
    if budget.renews is not None:
        period = period or newest_period(transaction, dataset, analyst)
    spent, charges = spent_in(transaction, budget, dataset, analyst, period)
    return make_status(
        budget,
        spent,
        charges,
        dataset=dataset,
        analyst=analyst,
        period=period,
        unreleased=unreleased(transaction, dataset),
        since=first_day(transaction, dataset, analyst) if budget.renews is None else None,
        today=day_of(now()),
    )


def check_known(transaction: Transaction, dataset: str) -> None:
    """Refuse a dataset that has no budget, open or closed."""
    check_name("dataset", dataset)
    if not transaction.run("SELECT 1 FROM budgets WHERE dataset = ? LIMIT 1", (dataset,)):
        find_budget(transaction, dataset, "")  # raises, and lists the known ones


@lru_cache(maxsize=1024)
def _unit(text: str) -> Unit:
    unit: Unit = load(text, Unit)
    return unit


@lru_cache(maxsize=1024)
def _cost(text: str) -> Cost:
    cost: Cost = load(text, Cost)
    return cost
