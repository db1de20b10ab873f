"""Holds: while one covers a dataset no job of it is begun; what waits stays on disk until the owner lifts it.

Owners place them, and the curator itself after a loss: section 4 of ``docs/explanation/proofs/curator.md``.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from chronodp.errors import InvalidArgument, NotFound, RequestConflict
from chronodp.ledger import Row, Store, Transaction, check_name, now

__all__ = ["COVERED", "Hold", "hold_job", "is_held", "lift_hold", "list_holds", "place_hold", "resume_job"]

COVERED = "EXISTS (SELECT 1 FROM service_holds h WHERE h.dataset = '' OR h.dataset = service_jobs.dataset)"
"""Of a row of jobs: whether a hold covers it."""

_LONGEST = 500  # letters of why
_COLUMNS = "id, dataset, why, by_whom, made"
_OWN = "curator"  # the id of the curator's own: one stands for all that it found


@dataclass(frozen=True, slots=True)
class Hold:
    """A hold on a dataset, or on all.

    Attributes:
        id: to lift it by.
        dataset: whose jobs are not begun; empty for all.
        why: in words of whoever placed it.
        by_whom: the name of an owner; empty for the curator itself.
        made: when, in microseconds since 1970.
    """

    id: str
    dataset: str
    why: str
    by_whom: str
    made: int


def place_hold(store: Store, *, dataset: str, why: str, by_whom: str) -> Hold:
    """Begin no job of a dataset, or none at all, until the hold is lifted; the curator's own is placed once."""
    if dataset:
        check_name("dataset", dataset)
    if not isinstance(why, str) or not 0 < len(why) <= _LONGEST or not why.isprintable():
        raise InvalidArgument("why", "a text of another kind", f"a line of 1 to {_LONGEST} letters")
    hold = Hold(secrets.token_hex(6) if by_whom else _OWN, dataset, why, by_whom, now())
    with store.transaction() as transaction:
        if dataset and not transaction.run("SELECT 1 FROM budgets WHERE dataset = ? AND analyst = ''", (dataset,)):
            raise NotFound(f"there is no dataset {dataset!r}", argument="dataset", mend="leave it out to hold all")
        transaction.run(
            f"INSERT INTO service_holds ({_COLUMNS}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
            (hold.id, hold.dataset, hold.why, hold.by_whom, hold.made),
        )
        (row,) = transaction.run(f"SELECT {_COLUMNS} FROM service_holds WHERE id = ?", (hold.id,))
    return _hold(row)


def lift_hold(store: Store, identity: str) -> None:
    """Lift a hold: jobs that it kept are taken again, oldest first."""
    with store.transaction() as transaction:
        lifted = transaction.run("DELETE FROM service_holds WHERE id = ? RETURNING id", (identity,))
    if not lifted:
        raise NotFound(
            f"there is no hold {identity!r}", argument="id", mend="chronodp curator check with --ledger lists them"
        )


def list_holds(store: Store) -> list[Hold]:
    """Return every hold, oldest first."""
    with store.snapshot() as transaction:
        rows = transaction.run(f"SELECT {_COLUMNS} FROM service_holds ORDER BY made, id")
    return [_hold(row) for row in rows]


def is_held(transaction: Transaction, dataset: str) -> bool:
    """Return whether a hold covers a dataset."""
    return bool(transaction.run("SELECT 1 FROM service_holds WHERE dataset = '' OR dataset = ? LIMIT 1", (dataset,)))


def hold_job(store: Store, identity: str) -> None:
    """Hold one job that waits."""
    _move(store, identity, "waiting", "held")


def resume_job(store: Store, identity: str) -> None:
    """Let a job that is held wait again."""
    _move(store, identity, "held", "waiting")


def _move(store: Store, identity: str, before: str, after: str) -> None:
    with store.transaction() as transaction:
        moved = transaction.run(
            "UPDATE service_jobs SET state = ? WHERE id = ? AND state = ? RETURNING id", (after, identity, before)
        )
    if not moved:
        raise RequestConflict(f"only a job that is {before} itself can become {after}")


def _hold(row: Row) -> Hold:
    return Hold(row[0], row[1], row[2], row[3], int(row[4]))
