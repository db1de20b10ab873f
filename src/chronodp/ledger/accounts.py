"""Budgets and their accounts as they stand on disk: terms, what they turned out to mean, and what is spent."""

from __future__ import annotations

import datetime as dt
import time
from functools import lru_cache

from chronodp.errors import BudgetConflict, UnknownBudget
from chronodp.ledger.budget import Budget
from chronodp.ledger.filters import Amounts
from chronodp.ledger.meanings import Known, read_meaning, with_meaning
from chronodp.ledger.names import check_account
from chronodp.ledger.store import Transaction
from chronodp.ledger.tables import SPENT
from chronodp.privacy import load

__all__ = [
    "account_name",
    "day_of",
    "find_budget",
    "find_known",
    "first_day",
    "newest_period",
    "now",
    "read_terms",
    "spent_in",
]


def find_budget(transaction: Transaction, dataset: str, analyst: str) -> Budget:
    """Return the terms of an open budget."""
    check_account(dataset, analyst)
    rows = transaction.run("SELECT terms, closed FROM budgets WHERE dataset = ? AND analyst = ?", (dataset, analyst))
    if not rows:
        known = transaction.run("SELECT dataset, analyst FROM budgets ORDER BY dataset, analyst LIMIT 50")
        names = ", ".join(name + (f" for {who}" if who else "") for name, who in known) or "none yet"
        raise UnknownBudget(f"no budget is open for {account_name(dataset, analyst)}; known: {names}")
    if rows[0][1] is not None:
        raise BudgetConflict(f"the budget for {account_name(dataset, analyst)} is closed")
    return read_terms(rows[0][0])


def find_known(transaction: Transaction, dataset: str, analyst: str) -> Known:
    """Return the terms of an open budget with what its charges turned out to mean."""
    return with_meaning(find_budget(transaction, dataset, analyst), read_meaning(transaction, dataset))


@lru_cache(maxsize=16_384)  # of a curator's every dataset and part
def read_terms(terms: str) -> Budget:
    """Return the budget that its stored terms describe."""
    budget: Budget = load(terms, Budget)
    return budget


def spent_in(transaction: Transaction, budget: Budget, dataset: str, analyst: str, period: str) -> tuple[Amounts, int]:
    """Return the native sums of an account, in quanta and the reserve last, and how many charges made them."""
    count = len(budget.filter.components)
    rows = transaction.run(
        f"SELECT {', '.join(SPENT[:count])}, reserved, charges FROM accounts "
        "WHERE dataset = ? AND analyst = ? AND period = ?",
        (dataset, analyst, period),
    )
    if not rows:
        return (0,) * (count + 1), 0
    return tuple(int(part) for part in rows[0][:-1]), int(rows[0][-1])


def newest_period(transaction: Transaction, dataset: str, analyst: str) -> str:
    """Return the newest period of a budget that renews, empty if nothing was charged yet."""
    rows = transaction.run("SELECT MAX(period) FROM accounts WHERE dataset = ? AND analyst = ?", (dataset, analyst))
    return rows[0][0] or ""


def first_day(transaction: Transaction, dataset: str, analyst: str) -> dt.date | None:
    """Return the day of the first charge of an account that does not renew, in UTC; None if there is none."""
    rows = transaction.run(
        "SELECT made FROM charges WHERE dataset = ? AND analyst = ? ORDER BY made, number LIMIT 1", (dataset, analyst)
    )
    return day_of(int(rows[0][0])) if rows else None


def day_of(microseconds: int) -> dt.date:
    """Return the day of a moment since 1970, in UTC."""
    return dt.date(1970, 1, 1) + dt.timedelta(microseconds=microseconds)


def now() -> int:
    """Return the time in microseconds since 1970, UTC."""
    return time.time_ns() // 1000


def account_name(dataset: str, analyst: str) -> str:
    """Return whose budget it is, in words."""
    return f"{dataset!r}" + (f" and analyst {analyst!r}" if analyst else "")
