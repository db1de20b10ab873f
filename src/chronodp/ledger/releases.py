"""What a release becomes in the ledger: a request's row, the parts beside its text, and a signed link of the chain.

"Crashes" and "Certificates" of ``docs/explanation/proofs/ledger.md``: all of it in the transaction of whoever releases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from chronodp.errors import InvalidArgument, LedgerSetBack, RequestConflict
from chronodp.ledger.accounts import now
from chronodp.ledger.certificates import BEGINNING, Link, RestoredLink, SignedLink, digest, sign
from chronodp.ledger.claims import count_claim
from chronodp.ledger.names import check_name
from chronodp.ledger.numbers import Written, check_parts
from chronodp.ledger.opening import Opened
from chronodp.ledger.store import Store, Transaction
from chronodp.ledger.watch import Watch, account_counters, release_counter
from chronodp.privacy import Certificate, Cost, Unit, check_text, text_kind

__all__ = [
    "Fulfilled",
    "StoredRequest",
    "check_certified",
    "find_release",
    "hand_out",
    "mark_stored",
    "read_chain",
    "read_head",
    "read_parts",
    "take_request",
    "write_release",
]


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


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """What stands under a request id: what identifies the request, and its release if there is one."""

    fingerprint: str
    made: Fulfilled | None
    debit: str | None
    """What its debit is known again by."""


def check_certified(written: Written, certificate: object, cost: Cost, unit: Unit, *, paid: str) -> None:
    """Raise unless the certificate states what was paid: nothing else is ever signed."""
    check_text("release", written.text, private=True)
    check_parts(written.text, written.parts)
    if not isinstance(certificate, Certificate):
        raise InvalidArgument("certificate", certificate, "a Certificate")
    if certificate.claim.cost != cost or certificate.claim.unit != unit:
        raise InvalidArgument("certificate", str(certificate.claim.cost), f"for the {paid} cost and unit, {cost}")


def take_request(
    transaction: Transaction, dataset: str, request: str, fingerprint: str, *, debit: str | None = None
) -> None:
    """Write a request that is new, without a release."""
    check_name("request", request)
    taken = transaction.run(
        "INSERT INTO requests (dataset, request, fingerprint, made, debit) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING RETURNING request",
        (dataset, request, fingerprint, now(), debit),
    )
    if not taken:
        raise RequestConflict(f"request {request!r} is under way elsewhere")


def write_release(
    opened: Opened,
    transaction: Transaction,
    dataset: str,
    request: str,
    written: Written,
    certificate: Certificate,
    *,
    refresh: str,
) -> tuple[SignedLink, Mapping[str, int]]:
    """Write the release of a request that was taken, with its parts and the next link of the dataset's chain.

    Returns that link, and the counter that is to be marked once it is committed.
    """
    link = _next_link(transaction, dataset, request, digest(written.text), refresh, certificate, opened.restored)
    numbered = opened.watch.check_ahead({release_counter(dataset): link.number})
    signed = sign(link, opened.own_keys)
    transaction.run(
        "INSERT INTO links (dataset, number, body, signature, digest) VALUES (?, ?, ?, ?, ?)",
        (dataset, link.number, signed.body, signed.signature, signed.digest),
    )
    transaction.run("UPDATE chains SET digest = ? WHERE dataset = ?", (signed.digest, dataset))
    kept = transaction.run(
        "UPDATE requests SET release = ?, kind = ?, link = ? WHERE dataset = ? AND request = ? RETURNING request",
        (written.text, text_kind(written.text), link.number, dataset, request),
    )
    count_claim(transaction, dataset, request, certificate)
    if not kept:
        raise LedgerSetBack(f"the ledger was set back while {request!r} was under way: its debit is gone")
    for number, content in enumerate(written.parts):
        # Asked for an answer, so that a pipeline sends one part before it takes the next.
        transaction.run(
            "INSERT INTO parts (dataset, request, number, content) VALUES (?, ?, ?, ?) RETURNING number",
            (dataset, request, number, content),
        )
        opened.reached("part written")
    return signed, numbered


def find_release(transaction: Transaction, dataset: str, request: str) -> StoredRequest | None:
    """Return what stands under a request, without the parts beside its text; None if it is new."""
    rows = transaction.run(
        "SELECT r.fingerprint, r.release, l.body, l.signature, r.debit FROM requests r "
        "LEFT JOIN links l ON l.dataset = r.dataset AND l.number = r.link WHERE r.dataset = ? AND r.request = ?",
        (dataset, request),
    )
    if not rows:
        return None
    fingerprint, release, body, signature, debit = rows[0]
    made = None if release is None else Fulfilled(release, SignedLink(body, signature), repeated=True)
    return StoredRequest(fingerprint, made, debit)


def hand_out(opened: Opened, dataset: str, request: str, stored: Fulfilled) -> Fulfilled:
    """Return a release that was stored before with its parts, marked."""
    mark_stored(opened.store, opened.watch, {dataset: stored.signed.link.number})
    with opened.store.snapshot() as transaction:  # by itself: to read much is no reason to keep writers waiting
        return replace(stored, parts=read_parts(transaction, dataset, request))


def mark_stored(store: Store, watch: Watch, newest: Mapping[str, int]) -> None:
    """Mark releases before they are handed out, by dataset the newest, with what was charged.

    Who stored them may have died, or failed, before.
    """
    unseen = {name: number for name, number in newest.items() if not watch.has_seen(release_counter(name), number)}
    if not unseen:
        return
    with store.snapshot() as transaction:
        charged = account_counters(transaction, *unseen)
    watch.saw({**charged, **{release_counter(name): number for name, number in unseen.items()}}, sync=True)


def read_parts(transaction: Transaction, dataset: str, request: str) -> tuple[bytes, ...]:
    """Return the packed parts of a release's numbers; none if its text lists them."""
    rows = transaction.run(
        "SELECT content FROM parts WHERE dataset = ? AND request = ? ORDER BY number", (dataset, request)
    )
    return tuple(row[0] for row in rows)


def read_chain(transaction: Transaction, dataset: str, *, after: int = 0, limit: int | None = None) -> list[SignedLink]:
    """Return the signed links of a dataset's releases, oldest first: all, or so many after a number."""
    rows = transaction.run(
        "SELECT body, signature FROM links WHERE dataset = ? AND number > ? ORDER BY number LIMIT ?",
        (dataset, after, 2**62 if limit is None else limit),
    )
    return [SignedLink(*row) for row in rows]


def read_head(transaction: Transaction, dataset: str) -> tuple[int, str]:
    """Return how many links a dataset's chain has, and the digest of the newest."""
    rows = transaction.run("SELECT number, digest FROM chains WHERE dataset = ?", (dataset,))
    return (int(rows[0][0]), rows[0][1]) if rows else (0, BEGINNING)


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
