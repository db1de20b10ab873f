"""Releases under a request id: debit, then noise, then store; never a second draw.

The order of events is that of "Crashes" in ``docs/explanation/proofs/ledger.md``: each gap of its table is a gap
between two calls here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from chronodp.errors import InvalidArgument, LedgerSetBack, LedgerUnavailable, RequestConflict
from chronodp.ledger.budget import Dates
from chronodp.ledger.certificates import BEGINNING, Link, RestoredLink, SignedLink, digest, sign
from chronodp.ledger.choices import Produce, Staged, kept_choices, make_choices
from chronodp.ledger.debits import Spend, debit, now, read_terms
from chronodp.ledger.keys import Keys
from chronodp.ledger.numbers import Written, check_parts
from chronodp.ledger.opening import Opened
from chronodp.ledger.store import Transaction
from chronodp.ledger.streams import Opening, write_stream
from chronodp.ledger.watch import charge_counters, release_counter
from chronodp.privacy import Certificate, Cost, check_text, dump

__all__ = ["Fulfilled", "fulfil", "is_made", "read_chain", "read_parts", "unreleased"]


@dataclass(frozen=True, slots=True)
class Fulfilled:
    """A stored release with its signed link in the dataset's chain."""

    release: str
    signed: SignedLink
    repeated: bool
    parts: tuple[bytes, ...] = field(default=(), repr=False)
    """Of numbers that are too many for its text, packed."""

    @property
    def written(self) -> Written:
        """The release with all of its numbers."""
        return Written(self.release, self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return what `chronodp verify` reads: the release and its signed link, without numbers beside its text."""
        return {"release": self.release, "link": self.signed.to_dict()}


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
    store, keys, watch, reached = opened.store, opened.own_keys, opened.watch, opened.reached
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
    if isinstance(stored, Fulfilled):  # who stored it may have died before it was marked
        watch.saw({release_counter(spend.dataset): stored.signed.link.number}, sync=True)
        with store.snapshot() as transaction:  # by itself: to read much is no reason to keep writers waiting
            return replace(stored, parts=read_parts(transaction, spend.dataset, request))
    if stored is None:
        reached("debit committed")
        watch.saw(charged)
        reached("debit marked")
    if isinstance(produce, Staged):
        produce = make_choices(opened, spend.dataset, request, produce, stored or ())
    made, certificate = produce()
    written = Written.of(made)
    release = written.text
    _check_matches(spend, written, certificate)
    reached("noise drawn")
    with _telling_what_is_lost(request), store.transaction() as transaction:
        refresh = _renewal(opened, transaction, spend)
        link = _next_link(transaction, spend.dataset, request, digest(release), refresh, certificate, opened.restored)
        numbered = watch.check_ahead({release_counter(spend.dataset): link.number})
        signed = _append(transaction, keys, link)
        kept = transaction.run(
            "UPDATE requests SET release = ?, link = ? WHERE dataset = ? AND request = ? RETURNING request",
            (release, link.number, spend.dataset, request),
        )
        if not kept:
            raise LedgerSetBack(f"the ledger was set back while {request!r} was under way: its debit is gone")
        for number, content in enumerate(written.parts):
            _write_part(transaction, spend.dataset, request, number, content)
            reached("part written")
        reached("release written")
    reached("release committed")
    watch.saw(numbered, sync=True)  # with the charge's mark, which is in the same file
    reached("release marked")
    return Fulfilled(release, signed, repeated=False, parts=written.parts)


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
    taken = transaction.run(
        "INSERT INTO requests (dataset, request, fingerprint, made) VALUES (?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING RETURNING request",
        (spend.dataset, request, fingerprint, now()),
    )
    if not taken:
        raise RequestConflict(f"request {request!r} is under way elsewhere")
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


def _check_matches(spend: Spend, written: Written, certificate: object) -> None:
    """Raise unless the certificate states what was debited: nothing else is ever signed."""
    check_text("release", written.text, private=True)
    check_parts(written.text, written.parts)
    if not isinstance(certificate, Certificate):
        raise InvalidArgument("certificate", certificate, "a Certificate")
    if certificate.claim.cost != spend.cost or certificate.claim.unit != spend.unit:
        raise InvalidArgument(
            "certificate", str(certificate.claim.cost), f"for the debited cost and unit, {spend.cost}"
        )


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


def _write_part(transaction: Transaction, dataset: str, request: str, number: int, content: bytes) -> None:
    # Asked for an answer, so that a pipeline sends one part before it takes the next.
    transaction.run(
        "INSERT INTO parts (dataset, request, number, content) VALUES (?, ?, ?, ?) RETURNING number",
        (dataset, request, number, content),
    )


def read_parts(transaction: Transaction, dataset: str, request: str) -> tuple[bytes, ...]:
    """Return the packed parts of a release's numbers; none if its text lists them."""
    rows = transaction.run(
        "SELECT content FROM parts WHERE dataset = ? AND request = ? ORDER BY number", (dataset, request)
    )
    return tuple(row[0] for row in rows)


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


def read_chain(transaction: Transaction, dataset: str) -> list[SignedLink]:
    """Return the signed links of all releases of a dataset, oldest first."""
    rows = transaction.run("SELECT body, signature FROM links WHERE dataset = ? ORDER BY number", (dataset,))
    return [SignedLink(*row) for row in rows]


def _stored(
    transaction: Transaction, dataset: str, request: str, fingerprints: tuple[str, ...], staged: bool
) -> Fulfilled | tuple[str, ...] | None:
    """Return what was stored under a request: its release, or the choices it made so far; None if it is new."""
    rows = transaction.run(
        "SELECT r.fingerprint, r.release, l.body, l.signature FROM requests r "
        "LEFT JOIN links l ON l.dataset = r.dataset AND l.number = r.link WHERE r.dataset = ? AND r.request = ?",
        (dataset, request),
    )
    if not rows:
        return None
    known, release, body, signature = rows[0]
    if known not in fingerprints:
        raise RequestConflict(
            f"request {request!r} was made before for another plan, source or cost: choose another request id"
        )
    if release is None:
        kept = kept_choices(transaction, dataset, request) if staged else None
        if kept is not None:
            return kept
        raise RequestConflict(
            f"request {request!r} was debited and never released: it is under way, or was lost in a crash. Its noise "
            "is never drawn again; a new request id debits again"
        )
    return Fulfilled(release, SignedLink(body, signature), repeated=True)


def _next_link(
    transaction: Transaction,
    dataset: str,
    request: str,
    release: str,
    refresh: str,
    certificate: Certificate,
    restored: str,
) -> Link:
    transaction.run(
        "INSERT INTO chains (dataset, number, digest) VALUES (?, 0, ?) ON CONFLICT DO NOTHING", (dataset, BEGINNING)
    )
    # The update holds the chain's row until the commit: links are made one after another.
    ((number, previous),) = transaction.run(
        "UPDATE chains SET number = number + 1 WHERE dataset = ? RETURNING number, digest", (dataset,)
    )
    parts = (dataset, int(number), previous, request, now(), release, refresh, certificate)
    return RestoredLink(*parts, restored) if restored else Link(*parts)


def _append(transaction: Transaction, keys: Keys, link: Link) -> SignedLink:
    signed = sign(link, keys)
    transaction.run(
        "INSERT INTO links (dataset, number, body, signature, digest) VALUES (?, ?, ?, ?, ?)",
        (link.dataset, link.number, signed.body, signed.signature, signed.digest),
    )
    transaction.run("UPDATE chains SET digest = ? WHERE dataset = ?", (signed.digest, link.dataset))
    return signed
