"""Tokens: 256 random bits that are shown once; what is kept is a digest.

A plain SHA-256 is right here: it is slow hashes that passwords need, because people choose them, and nobody guesses 256
random bits. The first part of a token names its row, so that one digest is compared, in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from chronodp.errors import InvalidArgument, NotFound, NotSignedIn
from chronodp.ledger.debits import now
from chronodp.ledger.names import check_name
from chronodp.ledger.store import Row, Store
from chronodp.privacy.parameters import check_positive

__all__ = ["Role", "Token", "add_token", "check_token", "digest_of", "find_token", "list_tokens", "revoke_token"]

Role: TypeAlias = Literal["owner", "analyst", "auditor"]

_COLUMNS = "id, name, role, made, expires, revoked"
_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token: everything but the token. Times in microseconds since 1970, UTC."""

    id: str
    name: str
    role: Role
    made: int
    expires: int
    revoked: int | None

    @property
    def valid(self) -> bool:
        """Whether it opens anything now."""
        return self.revoked is None and now() < self.expires


def add_token(store: Store, name: str, role: Role, *, days: float = 90.0) -> str:
    """Make a token and return it, this once."""
    check_name("name", name)
    if "/" in name or any(ord(letter) < 32 for letter in name):
        raise InvalidArgument("name", name, "a name without slashes and control characters")
    if role not in get_args(Role):
        raise InvalidArgument("role", role, "owner, analyst or auditor")
    made = now()
    expires = made + int(check_positive("days", days) * _DAY)
    identity, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    token = f"cdp_{identity}_{secret}"
    with store.transaction() as transaction:
        transaction.run(
            "INSERT INTO service_tokens (id, digest, name, role, made, expires) VALUES (?, ?, ?, ?, ?, ?)",
            (identity, digest_of(token), name, role, made, expires),
        )
    return token


def check_token(store: Store, token: str) -> Token:
    """Return what a token stands for, or raise; the same words whatever is wrong with it."""
    identity = token.split("_")[1] if token.startswith("cdp_") and token.count("_") >= 2 else ""
    with store.snapshot() as transaction:
        rows = transaction.run(
            f"SELECT digest, {_COLUMNS} FROM service_tokens WHERE id = ?", (identity.replace("\x00", ""),)
        )
    # An unknown token is compared as well, with what no token has as its digest.
    known = rows[0][0] if rows else "0" * 64
    same = hmac.compare_digest(known, digest_of(token))
    if not rows or not same or not (found := _token(rows[0][1:])).valid:
        raise NotSignedIn(
            "the token is missing, unknown, expired or revoked",
            mend="ask the owner for a token: chronodp token add NAME --role ROLE",
        )
    return found


def find_token(store: Store, identity: str) -> Token | None:
    """Return what is known of a token by its id."""
    with store.snapshot() as transaction:
        rows = transaction.run(f"SELECT {_COLUMNS} FROM service_tokens WHERE id = ?", (identity,))
    return _token(rows[0]) if rows else None


def list_tokens(store: Store) -> list[Token]:
    """Return every token that was made, oldest first."""
    with store.snapshot() as transaction:
        rows = transaction.run(f"SELECT {_COLUMNS} FROM service_tokens ORDER BY made, id")
    return [_token(row) for row in rows]


def revoke_token(store: Store, identity: str) -> None:
    """Close a token, and every session that it opened, for good."""
    with store.transaction() as transaction:
        closed = transaction.run(
            "UPDATE service_tokens SET revoked = COALESCE(revoked, ?) WHERE id = ? RETURNING id", (now(), identity)
        )
        transaction.run("DELETE FROM service_sessions WHERE token = ?", (identity,))
    if not closed:
        raise NotFound(f"there is no token {identity!r}", argument="id", mend="chronodp token list shows them")


def digest_of(secret: str) -> str:
    """Return what is kept of a secret of high entropy."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _token(row: Row) -> Token:
    return Token(row[0], row[1], row[2], int(row[3]), int(row[4]), None if row[5] is None else int(row[5]))
