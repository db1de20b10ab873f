"""Certificates that anyone can verify offline: signed, and chained so that none can be dropped or moved.

A link holds a certificate, the digest of what was released, its number in the dataset's chain and the digest of the
link before it. Its canonical JSON is what is signed and what is digested.

"Certificates" of ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from chronodp.errors import CertificateInvalid, UnknownDocument
from chronodp.ledger.keys import Keys, check_signature
from chronodp.privacy import Certificate, Unit, document, dump, load
from chronodp.reading import parse_json

__all__ = [
    "BEGINNING",
    "Link",
    "RestoredLink",
    "SignedLink",
    "check_labels",
    "check_signed",
    "digest",
    "sign",
    "verify",
    "verify_chain",
]

BEGINNING = "0" * 64


@document("link")
@dataclass(frozen=True, slots=True)
class Link:
    """One release in the chain of a dataset; ``issued`` in microseconds since 1970, UTC."""

    dataset: str
    number: int
    previous: str
    request: str
    issued: int
    release: str
    refresh: str
    certificate: Certificate

    @property
    def restored(self) -> str:
        """What to know of the ledger that issued it, if that was restored from a backup; else empty."""
        return ""


@document("restored_link")
@dataclass(frozen=True, slots=True)
class RestoredLink(Link):
    """A link of a ledger that was restored from a backup, and says so: ``note`` tells when, and what is not known."""

    note: str

    @property
    def restored(self) -> str:
        """When the ledger was restored, and what it does not know."""
        return self.note


@dataclass(frozen=True, slots=True)
class Outline:
    """What lists show of a link: when it was issued, and what its certificate claims and guarantees."""

    issued: int
    mechanism: str
    unit: str
    theorem: str
    precision: str
    argument: str
    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class SignedLink:
    """A link as it is stored and handed out: its canonical text and the signature of that text."""

    body: str
    signature: str

    @property
    def digest(self) -> str:
        """What the next link refers to."""
        return digest(self.body)

    @property
    def link(self) -> Link:
        """The link itself; whether it is genuine is for `verify` to say."""
        try:
            link = load(self.body, Link)
        except (UnknownDocument, ValueError, TypeError) as error:
            raise CertificateInvalid(f"not a certificate: {error}") from None
        if not isinstance(link, Link) or dump(link) != self.body:
            raise CertificateInvalid("the certificate is not in its canonical form")
        return link

    @property
    def outline(self) -> Outline:
        """What lists show of the link, for which its canonical form is not looked at."""
        try:
            content = parse_json(self.body)
            certificate = content["certificate"]
            claim, guarantee = certificate["claim"], certificate["guarantee"]
            return Outline(
                issued=int(content["issued"]),
                mechanism=str(certificate["mechanism"]),
                unit=_unit_words(json.dumps(claim["unit"])),
                theorem=str(certificate["theorem"]),
                precision=str(certificate["precision"]),
                argument=str(claim["argument"]),
                epsilon=float(guarantee["epsilon"]),
                delta=float(guarantee["delta"]),
            )
        except (UnknownDocument, KeyError, ValueError, TypeError) as error:
            raise CertificateInvalid(f"not a certificate: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; the body stays text, since that is what was signed."""
        return {"body": self.body, "signature": self.signature}


@lru_cache(maxsize=1024)
def _unit_words(document: str) -> str:
    unit: Unit = load(document, Unit)
    return str(unit)


def digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(_encoded(text)).hexdigest()


def sign(link: Link, keys: Keys) -> SignedLink:
    """Return the link with the owner's signature."""
    body = dump(link)
    return SignedLink(body, keys.sign(body.encode()))


def verify(signed: SignedLink, public_key: str, *, release: str | None = None) -> Link:
    """Return the link if it was signed with this key, and for this release if one is given."""
    check_signature(public_key, signed.signature, _encoded(signed.body))
    link = signed.link
    if release is not None and digest(release) != link.release:
        raise CertificateInvalid("the certificate is genuine but belongs to another release")
    return link


def verify_chain(
    chain: Sequence[SignedLink], public_key: str, *, head: str | None = None, first: int = 1
) -> list[Link]:
    """Return all links if each is genuine and none was removed, added or moved.

    Links missing at the end are noticed only by ``head``, the digest of the newest link, obtained elsewhere. With
    ``first``, the number of the first link, a long chain is checked by stretches: each begins with the last link of the
    one before, which was checked there.
    """
    links: list[Link] = []
    previous = BEGINNING
    for place, signed in enumerate(chain, start=first):
        try:
            link = verify(signed, public_key)
        except CertificateInvalid as error:
            raise CertificateInvalid(f"link {place}: {error}") from None
        if links and link.dataset != links[0].dataset:
            raise CertificateInvalid(f"link {place} is of another dataset's chain: it was added")
        if link.number != place:
            what = "before it is missing" if link.number > place else "is repeated or out of order"
            raise CertificateInvalid(f"link {place} is numbered {link.number}: a link {what}")
        if link.previous != previous and (links or first == 1):
            raise CertificateInvalid(f"link {place} does not follow link {place - 1}: one of them was exchanged")
        links.append(link)
        previous = signed.digest
    if head is not None and previous != head:
        raise CertificateInvalid(
            f"the chain of {len(links)} links does not end at the given head: newer links are missing"
        )
    return links


def check_labels(links: Sequence[Link], key: str, *, dataset: object = None, public_key: object = None) -> None:
    """Raise unless a chain has links, and is what the file around it calls it, as far as that says anything.

    What stands around links is not signed. ``key`` is the one with which they were verified.
    """
    if not links:
        raise CertificateInvalid("the chain holds no link: there is nothing to verify")
    if dataset is not None and dataset != links[0].dataset:
        raise CertificateInvalid("the chain is called by another dataset's name than the one that its links are of")
    if public_key is not None and public_key != key:
        raise CertificateInvalid("the chain names another public key than the one that it was verified with")


def check_signed(link: Link, text: str, *, whole: str | None = None) -> None:
    """Raise unless a link was made for a text, or for a whole that the text is a part of."""
    signed = text if whole is None else whole
    if text not in signed or link.release != digest(signed):
        raise CertificateInvalid("the certificate belongs to another release")


def export_chain(dataset: str, chain: list[SignedLink], public_key: str, *, head: str) -> dict[str, Any]:
    """Return a chain with what is needed to verify it."""
    return {"dataset": dataset, "public_key": public_key, "head": head, "links": [signed.to_dict() for signed in chain]}


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise CertificateInvalid("a text with halves of letters was never signed") from None
