"""Sessions of the page: a cookie that scripts cannot read, and a second secret that every change must carry.

The second secret is derived from the first with the owner's key, so nothing more is stored. A site elsewhere can make
a browser send the cookie at most on its own terms (SameSite=Strict forbids it), and can never read the second.
"""

from __future__ import annotations

import hmac

from chronodp.errors import NotAllowed, NotSignedIn
from chronodp.ledger import Keys, Store, now
from chronodp.service.tokens import Token, find_token
from chronodp.tokens import digest_of, has_expired, new_secret

__all__ = ["COOKIE", "CSRF_HEADER", "check_csrf", "csrf_of", "end_session", "read_session", "start_session"]

COOKIE = "chronodp_session"
CSRF_HEADER = "X-CSRF-Token"


def start_session(store: Store, token: Token, *, seconds: float) -> str:
    """Open a session for a token and return its secret; it ends with the token at the latest."""
    secret = new_secret()
    moment = now()
    with store.transaction() as transaction:
        transaction.run("DELETE FROM service_sessions WHERE expires < ?", (moment,))
        transaction.run(
            "INSERT INTO service_sessions (digest, token, expires) VALUES (?, ?, ?)",
            (digest_of(secret), token.id, min(token.expires, moment + int(seconds * 1e6))),
        )
    return secret


def read_session(store: Store, secret: str) -> Token:
    """Return whose session it is, or raise."""
    with store.snapshot() as transaction:
        rows = transaction.run("SELECT token, expires FROM service_sessions WHERE digest = ?", (digest_of(secret),))
    token = find_token(store, rows[0][0]) if rows and not has_expired(int(rows[0][1])) else None
    if token is None or not token.valid:
        raise NotSignedIn("the session has ended", mend="sign in again with your token")
    return token


def end_session(store: Store, secret: str) -> None:
    """Close a session."""
    with store.transaction() as transaction:
        transaction.run("DELETE FROM service_sessions WHERE digest = ?", (digest_of(secret),))


def csrf_of(keys: Keys, secret: str) -> str:
    """Return the second secret of a session."""
    return keys.derive("csrf", digest_of(secret)).hex()


def check_csrf(keys: Keys, secret: str, given: str | None) -> None:
    """Raise unless the second secret came with the request."""
    if given is None or not hmac.compare_digest(csrf_of(keys, secret).encode(), given.encode("utf-8", "replace")):
        raise NotAllowed(
            "the request does not prove that it comes from the page",
            argument=CSRF_HEADER,
            mend=f"send {CSRF_HEADER} as GET /api/v1/session gives it, or use a token in place of the cookie",
        )
