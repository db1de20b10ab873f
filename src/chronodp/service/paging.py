"""Lists by pages: where the next one begins stands in a header, and means nothing to whoever sends it back."""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query, Response

from chronodp.errors import InvalidArgument

__all__ = ["NEXT", "PAGED", "Cursor", "LongPage", "Page", "ShortPage", "cut", "pages", "read_cursor", "write_cursor"]

NEXT = "X-Next"
"""The header of a page that has a next one: the ``before``, or ``after``, of the call that gets it."""

PAGED: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            NEXT: {
                "description": "Where the next page begins, to be sent as `before` (of datasets, links and streams, as "
                "`after`); not sent with the last page.",
                "schema": {"type": "string"},
            }
        }
    }
}

Cursor = Annotated[str | None, Query(max_length=1000, description=f"The header {NEXT} of the page before.")]

Line = TypeVar("Line")


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a list that is asked for, newest lines first.

    Attributes:
        response: whose header says where the next one begins.
        limit: how many lines it has at most.
        before: the header of the page before; None for the first.
    """

    response: Response
    limit: int
    before: str | None

    @property
    def looked_for(self) -> int:
        """How many lines to look for: one more than it has says that there is a next page."""
        return self.limit + 1

    def place(self, *kinds: type) -> tuple[Any, ...] | None:
        """Return where it begins, as parts of these kinds; None at the top of the list."""
        return read_cursor(self.before, *kinds)

    def cut(self, found: Sequence[Line], place: Callable[[Line], tuple[str | int, ...]]) -> Sequence[Line]:
        """Return its lines of those that were looked for; ``place`` is where one stands, in parts."""
        return cut(self.response, found, self.limit, lambda line: write_cursor(*place(line)))


def pages(usual: int, most: int) -> Callable[..., Awaitable[Page]]:
    """Return what reads a page out of a call: of so many lines unless it says otherwise, and of so many at most."""

    async def page(response: Response, limit: int = Query(usual, ge=1, le=most), before: Cursor = None) -> Page:
        return Page(response, limit, before)

    return page


ShortPage = Annotated[Page, Depends(pages(50, 200))]
LongPage = Annotated[Page, Depends(pages(200, 1000))]


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
