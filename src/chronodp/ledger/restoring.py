"""Going on from a backup: what nobody can know any more counts as spent, and later certificates say so.

What was charged after the backup was made is counted by the marks in the keys file, and what it cost stands nowhere.
Marks do not prove that there was nothing else: a keys file may come from a backup too. So by default every budget is
booked as spent to its limit. Only if the owner declares that the marks are all there is, budgets of which they count no
more than the backup holds are left as they are. The argument stands in ``docs/explanation/proofs/ledger.md``,
*Restoring a backup*.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chronodp.errors import KeysMismatch
from chronodp.ledger.accounts import now, read_terms
from chronodp.ledger.booking import book_periods, fill_account
from chronodp.ledger.budget import Budget
from chronodp.ledger.identity import adopt
from chronodp.ledger.opening import open_unchecked
from chronodp.ledger.restoration import describe_restoration
from chronodp.ledger.store import Transaction
from chronodp.ledger.watch import Reached, charge_counter, stream_counter, unheard
from chronodp.ledger.witness import Witness
from chronodp.privacy import ApproximateCost, Cost, PureCost, check_flag, check_positive, dump

__all__ = ["Restored", "restore"]

_UNKNOWN = "restored from a backup: what was spent since is not known"


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restoration did.

    Attributes:
        words: what every later certificate says.
        booked: budgets, as (dataset, analyst), whose present periods count as spent to their limit.
        stopped: streams that cannot go on, since steps may have been announced that the backup does not know.
    """

    words: str
    booked: tuple[tuple[str, str], ...]
    stopped: tuple[str, ...]


def restore(
    address: str | Path,
    *,
    keys: str | Path | None = None,
    witness: Witness | None = None,
    complete: bool = False,
    timeout: float = 10.0,
    reached: Reached = unheard,
) -> Restored:
    """Make a backup the ledger from now on. Stop everything that uses the ledger before.

    Guarantee: nothing that was charged before can be charged again, if the declaration, where one is made, is true.

    Args:
        address: of the database that was put back.
        keys: the owner's keys; by default beside a SQLite file.
        witness: kept elsewhere, if the ledger has one; one without marks is new, and kept from now on.
        complete: the owner declares that nothing was charged but what the backup and the keys' marks know. Budgets
            that have all their charges stay as they are. Without, every budget counts as spent to its limit.
        timeout: seconds to wait for other writers.
        reached: called with the name of each gap that a crash could fall into; for tests of crashes.
    """
    check_flag("complete", complete)
    wait = check_positive("timeout", timeout)
    opened = open_unchecked(address, keys=keys, witness=witness, timeout=wait, identify=adopt, reached=reached)
    try:
        if opened.identity is None or opened.keys is None:
            raise KeysMismatch("a ledger is restored with its keys: give keys= their file")
        newest = opened.watch.newest_generation()  # the backup may be from before another restoration
        seen = opened.watch.at(newest).seen()
        with opened.store.transaction() as transaction:
            transaction.alone()
            done = _restore(transaction, newest + 1, seen, complete=complete)
            reached("restoration written")
        reached("restoration committed")
        # A crash here leaves a restored ledger whose marks are behind: the next to open it makes up for that. Only a
        # witness without marks is refused again, and restoring again takes it.
        opened.watch.at(newest + 1).check(opened.store)
    finally:
        opened.store.close()
    return done


def _restore(transaction: Transaction, generation: int, seen: Mapping[str, int], *, complete: bool) -> Restored:
    moment, known_until = now(), _known_until(transaction)
    booked = []
    for dataset, analyst, terms in transaction.run("SELECT dataset, analyst, terms FROM budgets ORDER BY 1, 2"):
        if _book(transaction, (dataset, analyst), read_terms(terms), seen, everything=not complete, moment=moment):
            booked.append((dataset, analyst))
    stopped = _stop_streams(transaction, seen, complete=complete)
    transaction.run("UPDATE identity SET generation = ?", (generation,))
    transaction.run(
        "INSERT INTO restorations (generation, made, known_until, complete) VALUES (?, ?, ?, ?)",
        (generation, moment, known_until, int(complete and not booked)),
    )
    words = describe_restoration(moment, known_until, complete=complete and not booked)
    return Restored(words, tuple(booked), stopped)


def _known_until(transaction: Transaction) -> int:
    """Return the newest moment that a ledger tells of, in microseconds since 1970."""
    moments = [
        *transaction.run("SELECT MAX(clock) FROM accounts"),
        *transaction.run("SELECT MAX(opened) FROM budgets"),
        *transaction.run("SELECT MAX(made) FROM requests"),
        *transaction.run("SELECT MAX(made) FROM identity"),
    ]
    return max(int(row[0] or 0) for row in moments)


def _book(
    transaction: Transaction,
    of: tuple[str, str],
    budget: Budget,
    seen: Mapping[str, int],
    *,
    everything: bool,
    moment: int,
) -> bool:
    """Book a budget's accounts as full: all of them, or those with fewer charges than were seen."""
    rows = transaction.run("SELECT period, charges FROM accounts WHERE dataset = ? AND analyst = ?", of)
    held = {str(row[0]): int(row[1]) for row in rows}
    marked = {period: seen.get(charge_counter(*of, period), 0) for period in {*held, *_periods(seen, of)}}
    full = [period for period in sorted(marked) if everything or marked[period] > held.get(period, 0)]
    for period in full:
        number = max(held.get(period, 0), marked[period]) + 1
        added = fill_account(transaction, (*of, period), budget, number=number)
        transaction.run(
            "INSERT INTO charges (dataset, analyst, period, number, cost, unit, amounts, purpose, made) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*of, period, number, dump(_all_of(budget)), dump(budget.unit), json.dumps(added), _UNKNOWN, moment),
        )
    if everything and budget.renews is not None:
        today = dt.datetime.fromtimestamp(moment / 1e6, dt.UTC).date()
        # Somewhere on earth it is tomorrow already.
        *_, until = budget.periods((today, today + dt.timedelta(days=2)))
        book_periods(transaction, *of, budget, until)
    return bool(full) or (everything and budget.renews is not None)


def _periods(seen: Mapping[str, int], of: tuple[str, str]) -> list[str]:
    """Return the periods of a budget that charges were seen in."""
    names = [json.loads(name) for name in seen if name.startswith('["charges", ')]
    return [name[3] for name in names if (name[1], name[2]) == of]


def _all_of(budget: Budget) -> Cost:
    return ApproximateCost(budget.epsilon, budget.delta) if budget.delta else PureCost(budget.epsilon)


def _stop_streams(transaction: Transaction, seen: Mapping[str, int], *, complete: bool) -> tuple[str, ...]:
    """End streams that may have announced steps which the backup does not know."""
    rows = transaction.run("SELECT name, step FROM streams WHERE finished = 0 ORDER BY name")
    behind = [row[0] for row in rows if not complete or seen.get(stream_counter(row[0]), 0) > int(row[1])]
    for name in behind:
        transaction.run("UPDATE streams SET finished = 1 WHERE name = ?", (name,))
    return tuple(behind)
