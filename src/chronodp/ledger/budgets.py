"""Budgets on disk: opened once, listed and closed; what was charged to them, and how they stand."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from chronodp.errors import BudgetConflict, InvalidArgument
from chronodp.ledger.budget import Budget
from chronodp.ledger.debits import find_budget, newest_period, now, read_terms, spent_in
from chronodp.ledger.names import check_name
from chronodp.ledger.requests import unreleased
from chronodp.ledger.status import Status, make_status
from chronodp.ledger.store import Transaction
from chronodp.privacy import Cost, Unit, dump, load
from chronodp.privacy.documents import to_document

__all__ = ["Entry", "check_known", "close_budget", "list_budgets", "list_charges", "open_budget", "read_status"]


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
    """Write a budget's terms, unless they stand there; refuse others under the same name."""
    check_name("dataset", dataset)
    transaction.run(
        "INSERT INTO budgets (dataset, analyst, terms, opened) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (dataset, analyst, dump(budget), now()),
    )
    known = find_budget(transaction, dataset, analyst)
    if known != budget:
        raise BudgetConflict(
            f"{dataset!r} is open with other terms: {known}, not {budget}. Terms never change: choose another name"
        )
    if budget.renews is None:
        transaction.run(
            "INSERT INTO accounts (dataset, analyst, period) VALUES (?, ?, '') ON CONFLICT DO NOTHING",
            (dataset, analyst),
        )


def close_budget(transaction: Transaction, dataset: str, analyst: str) -> None:
    """Write that a budget is closed."""
    find_budget(transaction, dataset, analyst)
    transaction.run(
        "UPDATE budgets SET closed = ? WHERE dataset = ? AND analyst = ? AND closed IS NULL",
        (now(), dataset, analyst),
    )


def list_budgets(transaction: Transaction, *, closed: bool) -> list[tuple[str, str, Budget]]:
    """Return (dataset, analyst, terms) of every budget, or of every open one."""
    rows = transaction.run("SELECT dataset, analyst, terms, closed FROM budgets ORDER BY dataset, analyst")
    return [(row[0], row[1], read_terms(row[2])) for row in rows if closed or row[3] is None]


def list_charges(transaction: Transaction, dataset: str, *, limit: int) -> list[Entry]:
    """Return the newest charges of a dataset, newest first."""
    check_known(transaction, dataset)
    rows = transaction.run(
        "SELECT analyst, period, number, made, purpose, unit, cost FROM charges WHERE dataset = ? "
        "ORDER BY made DESC, number DESC LIMIT ?",
        (dataset, limit),
    )
    return [
        Entry(
            analyst=row[0],
            period=row[1],
            number=int(row[2]),
            made=dt.datetime.fromtimestamp(int(row[3]) / 1e6, dt.UTC),
            purpose=row[4],
            unit=load(row[5], Unit),
            cost=load(row[6], Cost),
        )
        for row in rows
    ]


def read_status(transaction: Transaction, dataset: str, analyst: str, period: str) -> Status:
    """Return what is spent of a budget and what still fits; of one that renews, in a period or the newest."""
    budget = find_budget(transaction, dataset, analyst)
    if period and budget.renews is None:
        raise InvalidArgument("period", period, "left out: this budget does not renew")
    if budget.renews is not None:
        period = period or newest_period(transaction, dataset, analyst)
    spent, charges = spent_in(transaction, budget, dataset, analyst, period)
    waiting = unreleased(transaction, dataset)
    return make_status(budget, spent, charges, dataset=dataset, analyst=analyst, period=period, unreleased=waiting)


def check_known(transaction: Transaction, dataset: str) -> None:
    """Refuse a dataset that has no budget, open or closed."""
    check_name("dataset", dataset)
    if not transaction.run("SELECT 1 FROM budgets WHERE dataset = ? LIMIT 1", (dataset,)):
        find_budget(transaction, dataset, "")  # raises, and lists the known ones
