"""Lists by pages: where the next one begins stands in a header, and means nothing to whoever sends it back."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Query, Response

from chronodp.errors import InvalidArgument

__all__ = ["NEXT", "PAGED", "Cursor", "cut", "read_cursor", "write_cursor"]

NEXT = "X-Next"
"""The header of a page that has a next one: the ``before``, or ``after``, of the call that gets it."""

PAGED: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            NEXT: {
                "description": "Where the next page begins, to be sent as `before` (of links and streams, as `after`); "
                "not sent with the last page.",
                "schema": {"type": "string"},
            }
        }
    }
}

Cursor = Annotated[str | None, Query(max_length=1000, description=f"The header {NEXT} of the page before.")]

Line = TypeVar("Line")


def cut(response: Response, found: Sequence[Line], limit: int, place: Callable[[Line], str]) -> Sequence[Line]:
    """Return the lines of a page; of more than its limit, say in the header where the next one begins.

    Args:
        response: whose header it is.
        found: the lines of the page, and one more if there is one.
        limit: how many a page has.
        place: where a line stands, so that the next page begins after it.
    """
    page = found[:limit]
    if len(found) > limit:
        response.headers[NEXT] = place(page[-1])
    return page


def write_cursor(*parts: str | int) -> str:
    """Return a place in a list as one word."""
    return base64.urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode().rstrip("=")


def read_cursor(given: str | None, *kinds: type, argument: str = "before") -> tuple[Any, ...] | None:
    """Return the place that a word stands for, None for none; refuse one that `write_cursor` has not made."""
    if given is None:
        return None
    try:
        parts = json.loads(base64.b64decode(given + "=" * (-len(given) % 4), altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        parts = None
    if not isinstance(parts, list) or [type(part) for part in parts] != list(kinds) or not all(map(_storable, parts)):
        raise InvalidArgument(argument, given, f"the header {NEXT} of an earlier answer")
    return tuple(parts)


def _storable(part: str | int) -> bool:
    """Return whether a database can compare with it."""
    if isinstance(part, int):
        return 0 <= part < 2**63
    return "\x00" not in part and not any("\ud800" <= letter <= "\udfff" for letter in part)
