"""Budgets whose spending is not known: booked as spent to their limit, in every period up to a day.

*Restoring a backup* of ``docs/explanation/proofs/ledger.md``: what is booked to its limit grants nothing more, so the
limit holds with all that was granted before.
"""

from __future__ import annotations

from chronodp.ledger.budget import Budget
from chronodp.ledger.filters import Amounts
from chronodp.ledger.store import Transaction
from chronodp.ledger.tables import SPENT

__all__ = ["book_periods", "fill_account", "start_account"]

_COLUMNS = (*SPENT, "reserved")


def start_account(transaction: Transaction, dataset: str, analyst: str, period: str) -> None:
    """Write an account for a period unless there is one: empty, or full if the period was booked as unknown."""
    # Without a row in `booked` the largest of none is NULL: an account that starts at nothing.
    sums = ", ".join(f"COALESCE(MAX({column}), 0)" for column in _COLUMNS)
    transaction.run(
        f"INSERT INTO accounts (dataset, analyst, period, {', '.join(_COLUMNS)}) SELECT ?, ?, ?, {sums} FROM booked "
        "WHERE dataset = ? AND analyst = ? AND until >= ? ON CONFLICT DO NOTHING",
        (dataset, analyst, period, dataset, analyst, period),
    )


def book_periods(transaction: Transaction, dataset: str, analyst: str, budget: Budget, until: str) -> None:
    """Book every period up to one, that one too, as spent to the limit, whether it has an account yet or not."""
    marks = ", ".join("?" * (3 + len(_COLUMNS)))
    transaction.run(
        f"INSERT INTO booked (dataset, analyst, until, {', '.join(_COLUMNS)}) VALUES ({marks}) ON CONFLICT DO NOTHING",
        (dataset, analyst, until, *_limits(budget)),
    )


def fill_account(transaction: Transaction, key: tuple[str, str, str], budget: Budget, *, number: int) -> Amounts:
    """Raise an account's sums to their limits and its charges to a number; return what was added, the reserve last."""
    start_account(transaction, *key)
    of = "WHERE dataset = ? AND analyst = ? AND period = ?"
    (before,) = transaction.run(f"SELECT {', '.join(_COLUMNS)} FROM accounts {of}", key)
    after = [max(int(spent), limit) for spent, limit in zip(before, _limits(budget), strict=True)]
    settings = ", ".join(f"{column} = ?" for column in _COLUMNS)
    transaction.run(f"UPDATE accounts SET {settings}, charges = ? {of}", (*after, number, *key))
    added = [limit - int(spent) for limit, spent in zip(after, before, strict=True)]
    return (*added[: len(budget.filter.components)], added[-1])


def _limits(budget: Budget) -> tuple[int, ...]:
    """Return the limits of all sums in quanta, those that the rule does not use 0, the reserve last."""
    *native, reserve = (max(0, ceiling) for ceiling in budget.filter.ceilings)
    return (*native, *[0] * (len(SPENT) - len(native)), reserve)
