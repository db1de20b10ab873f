"""Bearer tokens of the curator service and of holders: how they are made, kept, compared and expire.

A token is ``cdp_``, an id and 256 random bits. It is shown once; what is kept is a digest. A plain SHA-256 is right
here: it is slow hashes that passwords need, because people choose them, and nobody guesses 256 random bits. The id is
no secret: it finds the digest to compare with where many are kept.

Section 7 of ``docs/explanation/proofs/curator.md``, "Who may".
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass, field

__all__ = ["Issued", "digest_of", "expiry", "has_expired", "id_of", "issue", "matches", "new_secret"]

_MARK = "cdp"
_DAY = 86_400_000_000  # microseconds
_NOBODYS = "0" * 64  # no token has it as its digest


@dataclass(frozen=True, slots=True)
class Issued:
    """A new token, with what is kept of it."""

    token: str = field(repr=False)
    id: str
    digest: str


def issue() -> Issued:
    """Make a token."""
    identity = secrets.token_hex(6)
    token = f"{_MARK}_{identity}_{new_secret()}"
    return Issued(token, identity, digest_of(token))


def new_secret() -> str:
    """Return 256 random bits as a text."""
    return secrets.token_urlsafe(32)


def digest_of(secret: str) -> str:
    """Return what is kept of a secret of high entropy."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def id_of(token: str) -> str:
    """Return the id in a token; an empty one if it has none.

    >>> id_of("cdp_0011223344ff_secret_part"), id_of("of another form")
    ('0011223344ff', '')
    """
    return token.split("_")[1] if token.startswith(f"{_MARK}_") and token.count("_") >= 2 else ""


def matches(token: str, digest: str | None) -> bool:
    """Return whether a digest is the token's, in a time that tells neither; None, for an unknown id, takes as long."""
    known = _NOBODYS if digest is None else digest
    return hmac.compare_digest(known.encode("utf-8", "surrogatepass"), digest_of(token).encode()) and digest is not None


def expiry(days: float, *, since: int | None = None) -> int:
    """Return when a token that is made now, or was made then, ends: microseconds since 1970, UTC."""
    return (_now() if since is None else since) + int(days * _DAY)


def has_expired(expires: int, *, now: int | None = None) -> bool:
    """Return whether a token that ends then has ended."""
    return expires <= (_now() if now is None else now)


def _now() -> int:
    return time.time_ns() // 1000
