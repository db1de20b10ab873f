"""Releases under a request id: debit, then noise, then store; never a second draw.

The order of events is that of "Crashes" in ``docs/explanation/proofs/ledger.md``: each gap of its table is a gap
between two calls here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from chronodp.errors import LedgerSetBack, LedgerUnavailable, RequestConflict
from chronodp.ledger.budget import Dates
from chronodp.ledger.certificates import digest
from chronodp.ledger.choices import Produce, Staged, kept_choices, make_choices
from chronodp.ledger.debits import Spend, debit, read_terms
from chronodp.ledger.numbers import Written
from chronodp.ledger.opening import Opened
from chronodp.ledger.releases import Fulfilled, check_certified, find_release, hand_out, take_request, write_release
from chronodp.ledger.store import Transaction
from chronodp.ledger.streams import Opening, write_stream
from chronodp.ledger.watch import charge_counters
from chronodp.privacy import Cost, check_text, dump

__all__ = ["fulfil", "is_made", "unreleased"]


def fulfil(
    opened: Opened,
    spend: Spend,
    *,
    request: str,
    plan: str,
    source: str,
    produce: Produce | Staged,
    openings: tuple[Opening, ...],
    formerly: Cost | None = None,
) -> Fulfilled:
    """Return the release of a request, made now or stored before.

    The debit is committed before ``produce`` is called. A process that dies after it leaves a request that is spent and
    never released: it is listed, and its id cannot be used again, since noise may have been drawn and seen. One with
    choices before its release goes on with those it has, unless it died while it drew. Streams that it opened are paid
    for by then, and can be resumed.
    """
    check_text("plan", plan, private=True)
    check_text("source", source, private=True)
    _ = opened.own_keys  # without which nothing is spent that could not be signed
    store, watch, reached = opened.store, opened.watch, opened.reached
    fingerprint = _fingerprint(plan, source, spend, dump(spend.unit), _moments(spend.dates))
    # A request that 0.1.0 fulfilled did not say what its unit means, gave days on the data's own clocks, and may have
    # been charged by another cost.
    charged_as = spend if formerly is None else replace(spend, cost=formerly)
    before = _fingerprint(plan, source, charged_as, dump(spend.unit.unsaid()), str(_days(spend.dates)))
    charged: Mapping[str, int] = {}
    with store.transaction() as transaction:
        stored = _stored(transaction, spend.dataset, request, (fingerprint, before), isinstance(produce, Staged))
        if stored is None:
            charged = watch.check_ahead(_take(opened, transaction, spend, request, fingerprint, openings))
            reached("debit written")
    if isinstance(stored, Fulfilled):
        return hand_out(opened, spend.dataset, request, stored)
    if stored is None:
        reached("debit committed")
        watch.saw(charged)
        reached("debit marked")
    if isinstance(produce, Staged):
        produce = make_choices(opened, spend.dataset, request, produce, stored or ())
    made, certificate = produce()
    written = Written.of(made)
    check_certified(written, certificate, spend.cost, spend.unit, paid="debited")
    reached("noise drawn")
    with _telling_what_is_lost(request), store.transaction() as transaction:
        refresh = _renewal(opened, transaction, spend)
        signed, numbered = write_release(
            opened, transaction, spend.dataset, request, written, certificate, refresh=refresh
        )
        reached("release written")
    reached("release committed")
    watch.saw(numbered, sync=True)  # with the charge's mark, which is in the same file
    reached("release marked")
    return Fulfilled(written.text, signed, repeated=False, parts=written.parts)


def _fingerprint(plan: str, source: str, spend: Spend, unit: str, dates: str) -> str:
    """Return what identifies a request. Fields cannot run into each other: each is digested alone first."""
    parts = (plan, source, dump(spend.cost), unit, spend.analyst, dates)
    return digest("".join(digest(part) for part in parts))


def _moments(dates: Dates | None) -> str:
    return str(None if dates is None else tuple(moment.isoformat() for moment in dates))


def _days(dates: Dates | None) -> Dates | None:
    """Return the days on their own clocks of data that lie between two moments."""
    if dates is None or not isinstance(dates[0], dt.datetime) or not isinstance(dates[1], dt.datetime):
        return dates
    last = (dates[1].astimezone(dt.UTC) - dt.timedelta(microseconds=1)).astimezone(dates[1].tzinfo)
    return dates[0].date(), last.date() + dt.timedelta(days=1)


def _take(
    opened: Opened,
    transaction: Transaction,
    spend: Spend,
    request: str,
    fingerprint: str,
    openings: tuple[Opening, ...],
) -> dict[str, int]:
    """Write a request, its debit and the streams it opens; return the counters that the debit raised."""
    take_request(transaction, spend.dataset, request, fingerprint)
    charged = charge_counters(debit(transaction, spend, opened.terms))
    for opening in openings:
        write_stream(transaction, opened.own_keys, spend.dataset, opening)
    return charged


def _renewal(opened: Opened, transaction: Transaction, spend: Spend) -> str:
    """Return when the budget that paid renews; it may have been closed since."""
    known = opened.terms.get((spend.dataset, spend.analyst))
    if known is not None:
        return known.opened.renews or "never"
    # Paid by a process that died: nothing of the budget was read here.
    ((terms,),) = transaction.run(
        "SELECT terms FROM budgets WHERE dataset = ? AND analyst = ?", (spend.dataset, spend.analyst)
    )
    return read_terms(terms).renews or "never"


@contextmanager
def _telling_what_is_lost(request: str) -> Iterator[None]:
    """Say that the debit stands where the release cannot be stored: of a transaction by itself, nothing would be."""
    try:
        yield
    except LedgerSetBack:
        raise
    except LedgerUnavailable as error:
        reason, _, known = str(error).rpartition("; ")
        if known != "nothing was spent":  # such as a lost connection, after which nobody knows
            raise
        raise LedgerUnavailable(
            f"{reason}. Request {request!r} was debited before, and its release could not be stored: it is lost, and a "
            "new request id debits again"
        ) from None


def is_made(transaction: Transaction, dataset: str, request: str) -> bool:
    """Return whether a request was debited before."""
    parameters = (dataset, request)
    return bool(transaction.run("SELECT 1 FROM requests WHERE dataset = ? AND request = ?", parameters))


def unreleased(transaction: Transaction, dataset: str) -> tuple[str, ...]:
    """Return the requests that were debited and have no release: under way, or lost."""
    rows = transaction.run(
        "SELECT request FROM requests WHERE dataset = ? AND link IS NULL ORDER BY made, request", (dataset,)
    )
    return tuple(row[0] for row in rows)


def _stored(
    transaction: Transaction, dataset: str, request: str, fingerprints: tuple[str, ...], staged: bool
) -> Fulfilled | tuple[str, ...] | None:
    """Return what was stored under a request: its release, or the choices it made so far; None if it is new."""
    found = find_release(transaction, dataset, request)
    if found is None:
        return None
    if found.fingerprint not in fingerprints:
        raise RequestConflict(
            f"request {request!r} was made before for another plan, source or cost: choose another request id"
        )
    if found.made is None:
        kept = kept_choices(transaction, dataset, request) if staged else None
        if kept is not None:
            return kept
        raise RequestConflict(
            f"request {request!r} was debited and never released: it is under way, or was lost in a crash. Its noise "
            "is never drawn again; a new request id debits again"
        )
    return found.made
