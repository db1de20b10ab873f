"""Who is asking, and whether their role may: checked for every route before it does anything."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from starlette.types import Scope

from chronodp.errors import LedgerUnavailable, NotAllowed, NotSignedIn
from chronodp.service.curator import Caller, Curator
from chronodp.service.limits import Limits
from chronodp.service.sessions import COOKIE, CSRF_HEADER, check_csrf, read_session
from chronodp.service.tokens import Role, Token, check_token
from chronodp.tokens import digest_of

__all__ = ["Anyone", "Asker", "Doorkeeper", "Inspector", "Owner", "curator_of", "doorkeeper_of"]

_BEARER = HTTPBearer(auto_error=False, description="A token of `chronodp token add`.")
_COOKIE = APIKeyCookie(name=COOKIE, auto_error=False, description="The page's session; changes need X-CSRF-Token too.")
_REMEMBERED = 300.0  # seconds for which a token is believed while the database is away
_KEPT = 1000


class Doorkeeper:
    """Checks tokens and sessions, and remembers who was let in lately in case the database is lost.

    Whoever is let in from memory can read what needs no database and spend nothing: every debit needs the ledger.
    """

    def __init__(self, curator: Curator, *, share: int = 1) -> None:
        self._curator = curator
        self._limits = Limits(curator.policy.running.rate / share)
        self._lately: OrderedDict[str, tuple[Token, float]] = OrderedDict()
        self._lock = threading.Lock()

    def admit(self, request: Request, token: str | None, session: str | None, roles: tuple[Role, ...]) -> Caller:
        """Return who asks, or raise."""
        try:
            known = self._identify(token, session)
        except NotSignedIn:
            self.count_stranger(request)
            raise
        if token is None and session is not None and request.method not in ("GET", "HEAD", "OPTIONS"):
            check_csrf(self._curator.ledger.keys, session, request.headers.get(CSRF_HEADER))
        self._limits.take(known.id)
        if known.role not in roles:
            raise NotAllowed(f"a token of role {known.role} may not do this", mend=f"it takes {' or '.join(roles)}")
        return Caller(known.name, known.role, known.id)

    def knows(self, scope: Scope) -> bool:
        """Whether a request, of which only the head is read so far, comes with a token or session that holds."""
        request = Request(scope)
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        try:
            self._identify(token if kind.lower() == "bearer" else None, request.cookies.get(COOKIE))
        except (NotSignedIn, LedgerUnavailable):
            return False
        return True

    def count_stranger(self, request: Request) -> None:
        """Count a call of someone unknown, by where it comes from."""
        self._limits.take(f"from {request.client.host if request.client else 'nowhere'}")

    def _identify(self, token: str | None, session: str | None) -> Token:
        store = self._curator.store
        if token is not None:
            return self._remembering(f"token {digest_of(token)}", lambda: check_token(store, token))
        if session is not None:
            return self._remembering(f"session {digest_of(session)}", lambda: read_session(store, session))
        raise NotSignedIn(
            "this needs a token or a session", mend="send Authorization: Bearer TOKEN, or sign in on the page"
        )

    def _remembering(self, key: str, check: Callable[[], Token]) -> Token:
        try:
            token = check()
        except LedgerUnavailable:
            with self._lock:
                known, since = self._lately.get(key, (None, 0.0))
            if known is None or not known.valid or time.monotonic() - since > _REMEMBERED:
                raise
            return known
        except NotSignedIn:
            with self._lock:
                self._lately.pop(key, None)
            raise
        with self._lock:
            self._lately[key] = (token, time.monotonic())
            self._lately.move_to_end(key)
            if len(self._lately) > _KEPT:
                self._lately.popitem(last=False)
        return token


def curator_of(request: Request) -> Curator:
    """Return the curator of this application."""
    curator: Curator = request.app.state.curator
    return curator


def doorkeeper_of(request: Request) -> Doorkeeper:
    """Return the doorkeeper of this application."""
    doorkeeper: Doorkeeper = request.app.state.doorkeeper
    return doorkeeper


def _allow(*roles: Role) -> Callable[..., Caller]:
    def check(
        request: Request,
        bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
        session: Annotated[str | None, Security(_COOKIE)],
    ) -> Caller:
        return doorkeeper_of(request).admit(request, None if bearer is None else bearer.credentials, session, roles)

    return check


Anyone = Annotated[Caller, Depends(_allow("owner", "analyst", "auditor"))]
Asker = Annotated[Caller, Depends(_allow("owner", "analyst"))]
Inspector = Annotated[Caller, Depends(_allow("owner", "auditor"))]
Owner = Annotated[Caller, Depends(_allow("owner"))]
