"""What a budget's unit means on a clock: said when it opens, or by the first charge that shows it, and kept.

Terms may say `Window(24)` or `UserPeriod("1D")` and leave open how long the periods are, or in which zone a day is one.
The first charge for such a unit settles it for the whole dataset, in the transaction of its debit: a row that is there
once cannot be written again, so of two first charges at once the second finds what the first one meant. A charge that
says no length settles that too: the periods are those of streams whose length nobody stated, and no timed ones are
added to them.

*What periods mean* under "Deciding" of ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import lru_cache

from chronodp.ledger.budget import Budget
from chronodp.ledger.store import Transaction
from chronodp.privacy import Unit, dump, load

__all__ = ["UNREAD", "Known", "Meaning", "read_meaning", "read_meanings", "settle", "with_meaning", "write_meaning"]

UNREAD = 0
"""When a dataset's meaning was written that is still to be read from what older versions charged."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the charges of a dataset turned out to mean.

    Attributes:
        unit: the budget's unit with its meaning; as it was opened if charges say none.
        timezone: whose clocks renewals follow; empty for the terms' own.
        note: what the owner should know; empty if nothing.
    """

    unit: Unit
    timezone: str = ""
    note: str = ""


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


def with_meaning(budget: Budget, meaning: Meaning | None) -> Known:
    """Return a budget with what is known of its meaning."""
    if meaning is None:
        return Known(budget, budget, budget.unit.said)
    zone = meaning.timezone or budget.timezone
    unit = budget.unit if budget.unit.said else meaning.unit
    return Known(budget, replace(budget, unit=unit, timezone=zone), settled=True)


def read_meaning(transaction: Transaction, dataset: str) -> Meaning | None:
    """Return what the charges of a dataset turned out to mean; None while nothing was said."""
    rows = transaction.run(
        "SELECT unit, timezone, note FROM meanings WHERE dataset = ? AND made > ?", (dataset, UNREAD)
    )
    return Meaning(_unit(rows[0][0]), rows[0][1], rows[0][2]) if rows else None


def read_meanings(transaction: Transaction) -> dict[str, Meaning]:
    """Return the same of every dataset of which something was said."""
    rows = transaction.run("SELECT dataset, unit, timezone, note FROM meanings WHERE made > ?", (UNREAD,))
    return {row[0]: Meaning(_unit(row[1]), row[2], row[3]) for row in rows}


def settle(transaction: Transaction, dataset: str, known: Known, charged: Unit) -> Known:
    """Return a budget as a charge makes it: the first one that shows what its unit means writes that down."""
    if known.settled:
        return known
    shown = known.opened.unit.meant_by(charged)
    if shown is None:
        return known
    write_meaning(transaction, dataset, Meaning(shown))
    return with_meaning(known.opened, read_meaning(transaction, dataset))


def write_meaning(transaction: Transaction, dataset: str, meaning: Meaning) -> None:
    """Write what a dataset's charges mean, unless it stands there."""
    transaction.run(
        "INSERT INTO meanings (dataset, unit, timezone, note, made) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (dataset, dump(meaning.unit), meaning.timezone, meaning.note, time.time_ns() // 1000),
    )


@lru_cache(maxsize=1024)
def _unit(text: str) -> Unit:
    unit: Unit = load(text, Unit)
    return unit
