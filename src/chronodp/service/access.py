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

__all__ = ["Anyone", "Asker", "Doorkeeper", "Inspector", "Owner", "credentials", "curator_of", "no_credentials"]

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
        known = self.identify(token, session)
        if token is None and session is not None and request.method not in ("GET", "HEAD", "OPTIONS"):
            check_csrf(self._curator.ledger.keys, session, request.headers.get(CSRF_HEADER))
        if known.role not in roles:
            raise NotAllowed(f"a token of role {known.role} may not do this", mend=f"it takes {' or '.join(roles)}")
        return Caller(known.name, known.role, known.id)

    def recall(self, token: str | None, session: str | None) -> Token | None:
        """Return who was let in lately with the same, without asking the database; for what opens nothing by itself."""
        key = _key(token, session)
        if key is None:
            return None
        with self._lock:
            known, since = self._lately.get(key, (None, 0.0))
        return known if known is not None and known.valid and time.monotonic() - since <= _REMEMBERED else None

    def count(self, known: Token) -> None:
        """Count a call of someone known, or raise if there were too many."""
        self._limits.take(known.id)

    def identify(self, token: str | None, session: str | None) -> Token:
        """Return who comes with a token or session, or raise."""
        store = self._curator.store
        if token is not None:
            return self._remembering(token, session, lambda: check_token(store, token))
        if session is not None:
            return self._remembering(token, session, lambda: read_session(store, session))
        raise no_credentials()

    def _remembering(self, token: str | None, session: str | None, check: Callable[[], Token]) -> Token:
        key = _key(token, session) or ""
        try:
            found = check()
        except LedgerUnavailable:
            known = self.recall(token, session)
            if known is None:
                raise
            return known
        except NotSignedIn:
            with self._lock:
                self._lately.pop(key, None)
            raise
        with self._lock:
            self._lately[key] = (found, time.monotonic())
            self._lately.move_to_end(key)
            if len(self._lately) > _KEPT:
                self._lately.popitem(last=False)
        return found


def credentials(scope: Scope) -> tuple[str | None, str | None]:
    """Return the token and the session in a request of which only the head is read so far."""
    request = Request(scope)
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token if kind.lower() == "bearer" and token else None, request.cookies.get(COOKIE)


def no_credentials() -> NotSignedIn:
    """Return the refusal of a call that comes with neither."""
    return NotSignedIn(
        "this needs a token or a session", mend="send Authorization: Bearer TOKEN, or sign in on the page"
    )


def _key(token: str | None, session: str | None) -> str | None:
    if token is not None:
        return f"token {digest_of(token)}"
    return None if session is None else f"session {digest_of(session)}"


def curator_of(request: Request) -> Curator:
    """Return the curator of this application."""
    curator: Curator = request.app.state.curator
    return curator


def _allow(*roles: Role) -> Callable[..., Caller]:
    def check(
        request: Request,
        bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
        session: Annotated[str | None, Security(_COOKIE)],
    ) -> Caller:
        doorkeeper: Doorkeeper = request.app.state.doorkeeper
        return doorkeeper.admit(request, None if bearer is None else bearer.credentials, session, roles)

    return check


Anyone = Annotated[Caller, Depends(_allow("owner", "analyst", "auditor"))]
Asker = Annotated[Caller, Depends(_allow("owner", "analyst"))]
Inspector = Annotated[Caller, Depends(_allow("owner", "auditor"))]
Owner = Annotated[Caller, Depends(_allow("owner"))]
