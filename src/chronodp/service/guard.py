"""What every request passes before any route sees it, and what every answer carries.

Who asks, and how often, is looked at while only the head is read. Then bodies are limited in time, size and depth and
must be JSON. Answers forbid scripts of others, frames and guesses at types. Section 9 of
``docs/explanation/proofs/curator.md``, "The edge".

What leaves when something fails is a number for the owner's log, as section 2 says of jobs.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any, TypeAlias

from anyio import to_thread

from chronodp.errors import ChronodpError, LedgerUnavailable, NotSignedIn, TooManyCalls
from chronodp.service.access import Doorkeeper, credentials, no_credentials
from chronodp.service.bodies import BodyRefused, Held, check_json, length_of, read_body, swallow
from chronodp.service.edge import Proxies, Strangers, origin_of
from chronodp.service.failures import note_failure
from chronodp.service.refusals import HEADERS, describe, refusal
from chronodp.service.tokens import Token

__all__ = ["LARGEST", "Guard"]

LARGEST = 1 << 20
_LARGEST_VERIFIED = 32 << 20  # a whole release may be checked, by whoever is known here
_LARGEST_TOKEN = 1 << 10  # what a stranger may send, and only to sign in
_SWALLOWED = 1 << 16  # of a stranger's body that is refused
_PIECE = 1 << 16  # of an answer, so that a slow reader holds no more of it in memory
_STRANGERS_AT_ONCE = 2  # in routes, which have threads and connections to the database

_SIGN_IN = ("POST", "/session")
_OPEN = {_SIGN_IN, ("GET", "/health"), ("GET", "/openapi.json")}

_Scope: TypeAlias = MutableMapping[str, Any]
_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]
_App: TypeAlias = Callable[[_Scope, _Receive, _Send], Awaitable[None]]

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_BARE = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
_OVER_TLS = (b"strict-transport-security", b"max-age=31536000")


class Guard:
    """The outermost layer of the service.

    Args:
        app: what stands behind it.
        prefix: below which everything but a few routes needs a token.
        tls: whether it is served under TLS.
        counted: is told the method and the status of every answer.
        doorkeeper: knows who asks.
        strangers: counts who is not known.
        proxies: whose word is taken for where a call comes from.
        patience: seconds for a body.
    """

    def __init__(
        self,
        app: _App,
        *,
        prefix: str,
        tls: bool,
        counted: Callable[[str, int], None],
        doorkeeper: Doorkeeper,
        strangers: Strangers,
        proxies: Proxies,
        patience: float,
    ) -> None:
        self._app, self._prefix, self._tls, self._counted = app, prefix, tls, counted
        self._doorkeeper, self._strangers, self._proxies, self._patience = doorkeeper, strangers, proxies, patience
        self._held, self._room = Held(), asyncio.Semaphore(_STRANGERS_AT_ONCE)

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Check what comes, hand it on, and dress the answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        self._proxies.resolve(scope)
        dressed = _Dressed(send, scope, self._counted, tls=self._tls or scope["scheme"] == "https")
        try:
            with self._held.counting() as count:
                await self._pass(scope, receive, dressed, count)
        except Exception as error:  # handed on, it would be logged with whatever it quotes
            number = note_failure(error)
            if not dressed.begun:
                message = f"something unexpected happened; the owner's log has it under number {number}"
                await _answer(dressed, *refusal("internal", message, "tell the owner that number"))

    async def _pass(self, scope: _Scope, receive: _Receive, send: _Dressed, count: Callable[[str, int], None]) -> None:
        known: Token | None = None
        try:
            known = await self._identify(scope)
            source = await self._read(scope, receive, known, count)
        except ChronodpError as error:
            unread = length_of(scope["headers"]) != 0
            await _refuse(receive, send, *describe(error), unread=unread, known=known is not None)
        except BodyRefused as error:
            await _refuse(receive, send, error.status, error.content, unread=error.unread, known=known is not None)
        else:
            if source is not None:  # who hung up gets no answer
                await self._hand_on(scope, source, send, known)

    async def _identify(self, scope: _Scope) -> Token | None:
        """Return whose token or session came with a head, None if it needs neither; or raise."""
        origin, connection, given = _origin(scope), _connection(scope), credentials(scope)
        api = scope["path"].startswith(f"{self._prefix}/")
        known = self._doorkeeper.recall(*given)
        problem: ChronodpError = no_credentials()
        if known is None:
            if api:
                self._strangers.count_call(origin)
            else:
                await asyncio.sleep(self._strangers.wait_for_file(origin))
            if given != (None, None):
                try:
                    async with self._room:
                        known = await to_thread.run_sync(self._doorkeeper.identify, *given)
                except (NotSignedIn, LedgerUnavailable) as error:
                    problem = error
        held = connection is None or connection.belongs_to(None if known is None else known.id)
        if known is None:
            if api and self._route(scope) not in _OPEN:
                raise problem
            return None
        self._strangers.vouch(origin)
        if not held:
            raise TooManyCalls("more connections at once than one token may have", mend="use fewer, and each again")
        if api:
            self._doorkeeper.count(known)
        return known

    async def _read(
        self, scope: _Scope, receive: _Receive, known: Token | None, count: Callable[[str, int], None]
    ) -> _Receive | None:
        """Return where routes get the body from, read and looked at if there is one; None if the caller hung up."""
        length = length_of(scope["headers"])
        if known is None:
            if length != 0 and self._route(scope) != _SIGN_IN:
                raise no_credentials()
            most = _LARGEST_TOKEN
        else:
            most = _LARGEST_VERIFIED if scope["path"].endswith("/verify") else LARGEST
        if length == 0 or scope["method"] not in ("POST", "PUT", "PATCH", "DELETE"):
            return receive
        caller = "" if known is None else known.id
        body = await read_body(
            receive, length=length, most=most, patience=self._patience, count=lambda size: count(caller, size)
        )
        if body is None:
            return None
        kind = dict(scope["headers"]).get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
        if len(body) <= _LARGEST_TOKEN:  # a stranger's is no longer: looked at before another thread would wake up
            check_json(body, kind)
        else:
            await to_thread.run_sync(check_json, body, kind)
        return _given(body, receive)

    async def _hand_on(self, scope: _Scope, receive: _Receive, send: _Dressed, known: Token | None) -> None:
        if known is not None:
            await self._app(scope, receive, send)
            return
        send.pace = partial(self._strangers.wait_for_piece, _origin(scope))
        await self._room.acquire()
        send.at_start = self._room.release  # what it takes to send the answer is the reader's time, not ours
        try:
            await self._app(scope, receive, send)
        finally:
            send.start()

    def _route(self, scope: _Scope) -> tuple[str, str]:
        return scope["method"], scope["path"].removeprefix(self._prefix)


class _Dressed:
    """What an answer is sent through: it is counted, gets its headers and leaves in pieces."""

    def __init__(self, send: _Send, scope: _Scope, counted: Callable[[str, int], None], *, tls: bool) -> None:
        self._send, self._scope, self._counted = send, scope, counted
        self._headers = _BARE if not tls else [*_BARE, _OVER_TLS]
        self._connection, self._pieces = _connection(scope), 0
        self.begun = False
        self.pace: Callable[[], float] | None = None  # tells for how long the next piece has to wait
        self.at_start: Callable[[], None] | None = None

    def start(self) -> None:
        """Do what is to be done when the answer begins, once."""
        if self.at_start is not None:
            self.at_start()
            self.at_start = None

    async def __call__(self, message: _Message) -> None:
        """Send the next part."""
        if message["type"] == "http.response.start":
            self.begun = True
            self.start()
            self._counted(self._scope["method"], message["status"])
            known = {name.lower() for name, _ in message.get("headers", [])}
            extra = [pair for pair in self._headers if pair[0] not in known]
            await self._send({**message, "headers": [*message.get("headers", []), *extra]})
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        for begin in range(0, max(1, len(body)), _PIECE):
            end = begin + _PIECE
            if self.pace is not None and self._pieces:
                await asyncio.sleep(self.pace())
            if self._pieces and self._connection is not None and self._connection.gone:
                return  # nobody takes the rest
            self._pieces += 1
            await self._send({**message, "body": body[begin:end], "more_body": more or end < len(body)})


def _origin(scope: _Scope) -> str:
    return origin_of(scope["client"][0] if scope.get("client") else "")


def _connection(scope: _Scope) -> Any:
    """Return the connection that a request came on, where our own server tells it."""
    return scope.get("state", {}).get("connection")


def _given(body: bytes, receive: _Receive) -> _Receive:
    """Return what hands a body on that was read already."""
    parts = [body]

    async def again() -> _Message:
        if not parts:
            return await receive()
        return {"type": "http.request", "body": parts.pop(), "more_body": False}

    return again


async def _refuse(
    receive: _Receive, send: _Dressed, status: int, content: dict[str, Any], *, unread: bool, known: bool
) -> None:
    """Answer; strangers, and whoever has not sent all of a body, have to connect again."""
    await _answer(send, status, content, close=unread or not known, last=not unread)
    if unread:
        await swallow(receive, most=4 * LARGEST if known else _SWALLOWED)
        await send({"type": "http.response.body", "body": b""})


async def _answer(
    send: _Dressed, status: int, content: dict[str, Any], *, close: bool = False, last: bool = True
) -> None:
    body = json.dumps(content).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))} | HEADERS.get(status, {})
    if close:
        headers["Connection"] = "close"
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body, "more_body": not last})
