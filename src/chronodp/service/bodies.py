"""Bodies of requests: read within a time and a size, and looked at before anything is made of them."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, TypeAlias

import anyio

from chronodp.errors import TooManyCalls
from chronodp.service.refusals import refusal

__all__ = ["DEEPEST", "BodyRefused", "Held", "check_body", "check_json", "length_of", "read_body", "swallow"]

DEEPEST = 32
_SLOWEST = 16 << 10  # bytes a second
_LINGER = 2.0  # seconds
_HELD = 64 << 20  # bytes of bodies that one caller may have in this worker at a time

_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]

# A text is taken as one mark, closed or not, and never looked at twice: the time stays linear in the length.
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)


class BodyRefused(Exception):
    """A body that nothing is made of.

    Attributes:
        status: of the answer.
        content: of the answer.
        unread: whether some of it may still come.
    """

    def __init__(self, status: int, content: dict[str, Any], *, unread: bool) -> None:
        self.status, self.content, self.unread = status, content, unread
        super().__init__(status)


class Held:
    """How many bytes of bodies each caller has in memory: many large ones at once would be too much."""

    def __init__(self) -> None:
        self._bytes: Counter[str] = Counter()

    @contextmanager
    def counting(self) -> Iterator[Callable[[str, int], None]]:
        """Count what the function given is told of, until the end of the block; used in the event loop only."""
        mine: Counter[str] = Counter()

        def count(caller: str, size: int) -> None:
            mine[caller] += size
            self._bytes[caller] += size
            if self._bytes[caller] > _HELD:
                raise TooManyCalls("too many large bodies at once", mend="send one after another")

        try:
            yield count
        finally:
            self._bytes -= mine  # those that come to nothing are forgotten


def length_of(headers: list[tuple[bytes, bytes]]) -> int | None:
    """Return how long a request's head says that its body is; None where it does not say.

    >>> length_of([(b"content-length", b"12")]), length_of([]), length_of([(b"transfer-encoding", b"chunked")])
    (12, 0, None)
    """
    found = dict(headers)
    if b"transfer-encoding" in found:
        return None
    return int(found.get(b"content-length", b"0"))  # the parser of HTTP lets numbers through only


async def read_body(
    receive: _Receive, *, length: int | None, most: int, patience: float, count: Callable[[int], None]
) -> bytes | None:
    """Return the whole body; None if the caller hung up.

    Args:
        receive: gives the next part.
        length: as the head says.
        most: bytes; more are refused, unread if the head says so.
        patience: seconds, beside what the bytes that came take at the slowest speed that is waited for.
        count: is told of each part that is kept.
    """
    words = refusal("too_large", "the body is too large", f"send at most {most:,} bytes")
    too_large = BodyRefused(*words, unread=True)
    if length is not None and length > most:
        raise too_large
    parts: list[bytes] = []
    size, more, began = 0, True, time.monotonic()
    while more:
        with anyio.move_on_after(began + patience + size / _SLOWEST - time.monotonic()) as limit:
            message = await receive()
        if limit.cancelled_caught:
            words = refusal("too_slow", "the body came too slowly", "send it faster, or less at a time")
            raise BodyRefused(*words, unread=True)
        if message["type"] != "http.request":
            return None
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise too_large
        count(len(part))
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)


async def swallow(receive: _Receive, *, most: int) -> None:
    """Throw away what still comes of a refused body, for a moment, so that its sender looks at the answer."""
    with anyio.move_on_after(_LINGER):
        while most > 0:
            message = await receive()
            most -= len(message.get("body", b""))
            if not message.get("more_body", False):
                return


def check_body(body: bytes) -> str | None:
    """Return what is wrong with a body as JSON; None if nothing is.

    >>> check_body(b'{"a": [1, 2]}'), check_body(b"[" * 40)
    (None, 'it is nested more than 32 deep')
    """
    try:
        text = body.decode("utf-8")  # once: Python's reader of bytes would guess UTF-16 and UTF-32 as well
    except UnicodeDecodeError:
        return "it is not UTF-8"
    depth = 0
    for mark in _MARKS.finditer(text):
        if mark[0] in ("[", "{"):
            depth += 1
            if depth > DEEPEST:
                return f"it is nested more than {DEEPEST} deep"
        elif mark[0] in ("]", "}"):
            depth -= 1
    try:
        _check_texts(json.loads(text, parse_constant=_refuse_constant))
    except _BadText as error:
        return str(error)
    except ValueError:
        return "it is not JSON"
    return None


def check_json(body: bytes, kind: str) -> None:
    """Raise if a body of that type is there and no JSON document that can be used."""
    if not body:
        return
    if kind != "application/json":
        words = refusal("wrong_type", "the body must be JSON", "send Content-Type: application/json", "Content-Type")
        raise BodyRefused(*words, unread=False)
    if found := check_body(body):
        words = refusal("malformed", f"the body cannot be read: {found}", "send a JSON document in UTF-8")
        raise BodyRefused(*words, unread=False)


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
