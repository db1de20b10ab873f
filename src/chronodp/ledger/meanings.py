"""What a budget's unit means on a clock: said when it opens, or by the first charge that shows it, and kept.

Terms may say `Window(24)` or `UserPeriod("1D")` and leave open how long the periods are, or in which zone a day is one.
The first charge for such a unit settles it for the whole dataset, in the transaction of its debit: a row that is there
once cannot be written again, so of two first charges at once the second finds what the first one meant. A charge that
says no length settles that too: the periods are those of streams whose length nobody stated, and no timed ones are
added to them.

*What periods mean* under "Deciding" of ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from chronodp.ledger.budget import Budget
from chronodp.ledger.store import Transaction
from chronodp.privacy import Unit, dump, load

__all__ = ["Known", "read_meaning", "read_meanings", "settle", "with_meaning", "write_meaning"]


@dataclass(frozen=True, slots=True)
class Known:
    """A budget's terms as they were opened, and as they are meant.

    Attributes:
        opened: the terms on disk.
        meant: the same with what charges so far have shown.
        settled: whether no later charge can show more.
    """

    opened: Budget
    meant: Budget
    settled: bool


def with_meaning(budget: Budget, unit: Unit | None) -> Known:
    """Return a budget with what is known of its unit."""
    if unit is None or budget.unit.said:
        return Known(budget, budget, budget.unit.said)
    return Known(budget, replace(budget, unit=unit), settled=True)


def read_meaning(transaction: Transaction, dataset: str) -> Unit | None:
    """Return the unit of a dataset as its charges have it; None while nothing was said."""
    rows = transaction.run("SELECT unit FROM meanings WHERE dataset = ?", (dataset,))
    return _unit(rows[0][0]) if rows else None


def read_meanings(transaction: Transaction) -> dict[str, Unit]:
    """Return the same of every dataset of which something was said."""
    return {row[0]: _unit(row[1]) for row in transaction.run("SELECT dataset, unit FROM meanings")}


def settle(transaction: Transaction, dataset: str, known: Known, charged: Unit) -> Known:
    """Return a budget as a charge makes it: the first one that shows what its unit means writes that down."""
    if known.settled:
        return known
    shown = known.opened.unit.meant_by(charged)
    if shown is None:
        return known
    write_meaning(transaction, dataset, shown)
    return with_meaning(known.opened, read_meaning(transaction, dataset))


def write_meaning(transaction: Transaction, dataset: str, unit: Unit) -> None:
    """Write what a dataset's charges mean, unless it stands there."""
    transaction.run("INSERT INTO meanings (dataset, unit) VALUES (?, ?) ON CONFLICT DO NOTHING", (dataset, dump(unit)))


@lru_cache(maxsize=1024)
def _unit(text: str) -> Unit:
    unit: Unit = load(text, Unit)
    return unit
