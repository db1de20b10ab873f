"""What is certified of each release's file, as an in-toto statement in a DSSE envelope.

The key is the ledger's own, with which certificates are signed. What it signs here begins with the envelope's own words
and the length of what follows, so that no signature of one kind can pass for one of the other.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from chronodp.dossier.facts import Facts
from chronodp.dossier.published import Published
from chronodp.errors import LedgerUnavailable
from chronodp.ledger import Keys, release_pieces
from chronodp.privacy import to_document

__all__ = ["PAYLOAD", "PREDICATE", "key_id", "statement"]

PAYLOAD = "application/vnd.in-toto+json"
PREDICATE = "urn:chronodp:certificates:1"

_STATEMENT = "https://in-toto.io/Statement/v1"
_UNSIGNED = "This statement is not signed: the ledger's key was not at hand. The certificates in it are."


def statement(facts: Facts) -> list[str] | None:
    """Return the envelope; None where nothing was released, since a statement must be about something.

    Without the ledger's key at hand the envelope holds no signature, and the statement says so.
    """
    if not facts.published:
        return None
    keys = _keys(facts)
    payload = json.dumps(_content(facts, note="" if keys else _UNSIGNED), ensure_ascii=False, sort_keys=True).encode()
    signatures = [{"keyid": key_id(keys.public), "sig": keys.sign(_encoded(payload))}] if keys else []
    envelope = {"payload": base64.b64encode(payload).decode(), "payloadType": PAYLOAD, "signatures": signatures}
    return [json.dumps(envelope, indent=1)]


def key_id(public_key: str) -> str:
    """Return what the envelope calls a key: the SHA-256 of its 32 bytes."""
    return hashlib.sha256(base64.b64decode(public_key)).hexdigest()


def _encoded(payload: bytes) -> bytes:
    """Return what is signed: DSSE's pre-authentication encoding."""
    kind = PAYLOAD.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _content(facts: Facts, *, note: str) -> dict[str, Any]:
    lost = facts.lost
    predicate = {
        "dataset": facts.dataset,
        "public_key": facts.public_key,
        "head": facts.head,
        "whole": facts.whole,
        "made": facts.made.isoformat(),
        "writer": f"chronodp {facts.version}",
        "budget": to_document(facts.status.budget),
        "lost": {"epsilon": _finite(lost.epsilon), "delta": lost.delta, "theorem": lost.theorem, "note": lost.note},
        "releases": [_release(one) for one in facts.published],
        "notes": [*facts.notes, *([note] if note else [])],
    }
    subjects = [{"name": one.file, "digest": {"sha256": _digest(one)}} for one in facts.published]
    return {"_type": _STATEMENT, "subject": subjects, "predicateType": PREDICATE, "predicate": predicate}


def _digest(one: Published) -> str:
    """Return the SHA-256 of a release's file."""
    found = hashlib.sha256()
    for piece in release_pieces(one.written, one.signed):
        found.update(piece)
    return found.hexdigest()


def _release(one: Published) -> dict[str, Any]:
    return {
        "file": one.file,
        "number": one.number,
        "request": one.link.request,
        "issued": one.issued.isoformat(),
        "link": one.signed.digest,
        "release": one.link.release,
        "certificate": to_document(one.certificate),
    }


def _finite(epsilon: float) -> float | None:
    return epsilon if epsilon < float("inf") else None


def _keys(facts: Facts) -> Keys | None:
    try:
        return facts.ledger.keys
    except LedgerUnavailable:
        return None
