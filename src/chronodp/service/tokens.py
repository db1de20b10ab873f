"""Tokens of the service, in the ledger's database: whose each is, what it may, and until when.

Section 7 of ``docs/explanation/proofs/curator.md``, "Who may".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from chronodp.errors import InvalidArgument, NotFound, NotSignedIn
from chronodp.ledger import Row, Store, check_name, now
from chronodp.privacy import check_positive
from chronodp.tokens import expiry, has_expired, id_of, issue, matches

__all__ = ["Role", "Token", "add_token", "check_token", "find_token", "list_tokens", "revoke_token"]

Role: TypeAlias = Literal["owner", "analyst", "auditor"]

_COLUMNS = "id, name, role, made, expires, revoked"


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
        return self.revoked is None and not has_expired(self.expires)


def add_token(store: Store, name: str, role: Role, *, days: float = 90.0) -> str:
    """Make a token and return it, this once."""
    check_name("name", name)
    # A request is NAME/ID in the ledger, and owner:NAME/ID of an owner: no analyst may be called like that.
    if set("/:") & set(name):
        raise InvalidArgument("name", name, "a name without slashes and colons")
    if role not in get_args(Role):
        raise InvalidArgument("role", role, "owner, analyst or auditor")
    made, issued = now(), issue()
    expires = expiry(check_positive("days", days), since=made)
    with store.transaction() as transaction:
        transaction.run(
            "INSERT INTO service_tokens (id, digest, name, role, made, expires) VALUES (?, ?, ?, ?, ?, ?)",
            (issued.id, issued.digest, name, role, made, expires),
        )
    return issued.token


def check_token(store: Store, token: str) -> Token:
    """Return what a token stands for, or raise; the same words whatever is wrong with it."""
    with store.snapshot() as transaction:
        rows = transaction.run(
            f"SELECT digest, {_COLUMNS} FROM service_tokens WHERE id = ?", (id_of(token).replace("\x00", ""),)
        )
    same = matches(token, rows[0][0] if rows else None)
    if not same or not (found := _token(rows[0][1:])).valid:
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


def _token(row: Row) -> Token:
    return Token(row[0], row[1], row[2], int(row[3]), int(row[4]), None if row[5] is None else int(row[5]))
