"""What every request passes before any route sees it, and what every answer carries.

Bodies are limited in size and depth and must be JSON; answers forbid scripts of others, frames and guesses at types.

What leaves when something fails is a number for the owner's log, as section 2 of ``docs/explanation/proofs/curator.md``
says of jobs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from anyio import to_thread

from chronodp.service.failures import note_failure
from chronodp.service.refusals import STATUSES

__all__ = ["DEEPEST", "LARGEST", "Guard", "check_body", "refusal"]

LARGEST = 1 << 20
_LARGEST_VERIFIED = 32 << 20  # a whole release may be checked, by whoever is known here
DEEPEST = 32

_Scope = MutableMapping[str, Any]
_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]

# A text is taken as one mark, closed or not, and never looked at twice: the time stays linear in the length.
_MARKS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """The outermost layer of the service."""

    def __init__(
        self, app: _App, *, tls: bool, counted: Callable[[str, int], None], known: Callable[[_Scope], bool]
    ) -> None:
        self._app, self._counted, self._known = app, counted, known
        headers = _HEADERS | ({"strict-transport-security": "max-age=31536000"} if tls else {})
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Check what comes, hand it on, and dress the answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def dressed(message: _Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                self._counted(scope["method"], message["status"])
                known = {name.lower() for name, _ in message.get("headers", [])}
                extra = [pair for pair in self._headers if pair[0] not in known]
                if b"cache-control" not in known:
                    extra.append((b"cache-control", b"no-store"))
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        try:
            await self._pass(scope, receive, dressed)
        except Exception as error:  # handed on, it would be logged with whatever it quotes
            number = note_failure(error)
            if not begun:
                message = f"something unexpected happened; the owner's log has it under number {number}"
                await _answer(dressed, *refusal("internal", message, "tell the owner that number"))

    async def _pass(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        if scope["method"] not in ("POST", "PUT", "PATCH", "DELETE"):
            await self._app(scope, receive, send)
            return
        large = scope["path"].endswith("/verify") and await to_thread.run_sync(self._known, scope)
        most = _LARGEST_VERIFIED if large else LARGEST
        body = await _read(receive, most)
        kind = dict(scope["headers"]).get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
        wrong = await to_thread.run_sync(_problem, body, kind, most)
        if wrong is not None:
            await _answer(send, *wrong)
            return
        sent = False

        async def again() -> _Message:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, again, send)


def refusal(kind: str, message: str, mend: str, argument: str | None = None) -> tuple[int, dict[str, Any]]:
    """Return a refusal that no error of the library stands behind, in the one shape."""
    return STATUSES[kind], {"error": {"kind": kind, "message": message, "argument": argument, "mend": mend}}


def check_body(body: bytes) -> str | None:
    """Return what is wrong with a body as JSON; None if nothing is.

    >>> check_body(b'{"a": [1, 2]}'), check_body(b"[" * 40)
    (None, 'it is nested more than 32 deep')
    """
    depth = 0
    for mark in _MARKS.finditer(body):
        if mark[0] in (b"[", b"{"):
            depth += 1
            if depth > DEEPEST:
                return f"it is nested more than {DEEPEST} deep"
        elif mark[0] in (b"]", b"}"):
            depth -= 1
    try:
        content = json.loads(body, parse_constant=_refuse_constant)
        _check_texts(content)
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except _BadText as error:
        return str(error)
    except ValueError:
        return "it is not JSON"
    return None


class _BadText(ValueError):
    """A text that no database can hold."""


def _check_texts(content: object) -> None:
    if isinstance(content, str):
        if "\x00" in content or any("\ud800" <= letter <= "\udfff" for letter in content):
            raise _BadText("a text in it has a character that is none")
    elif isinstance(content, dict):
        for key, value in content.items():
            _check_texts(key)
            _check_texts(value)
    elif isinstance(content, list):
        for value in content:
            _check_texts(value)


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


def _problem(body: bytes | None, kind: str, most: int) -> tuple[int, dict[str, Any]] | None:
    if body is None:
        return refusal("too_large", "the body is too large", f"send at most {most:,} bytes")
    if not body:
        return None
    if kind != "application/json":
        return refusal("wrong_type", "the body must be JSON", "send Content-Type: application/json", "Content-Type")
    if found := check_body(body):
        return refusal("malformed", f"the body cannot be read: {found}", "send a JSON document in UTF-8")
    return None


async def _read(receive: _Receive, most: int) -> bytes | None:
    """Return the whole body, or None once it is too large; the rest is taken and thrown away."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            return b""
        size += len(message.get("body", b""))
        if size <= most:
            parts.append(message.get("body", b""))
        elif size > 4 * most:
            return None
        more = message.get("more_body", False)
    return b"".join(parts) if size <= most else None


async def _answer(send: _Send, status: int, content: dict[str, Any]) -> None:
    body = json.dumps(content).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == STATUSES["too_large"]:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
