"""Which statuses a route may answer with, told in the description of the API."""

from __future__ import annotations

from typing import Any

from chronodp.service.refusals import STATUSES
from chronodp.service.shapes import Refusal

__all__ = ["refusals_for"]

_WORDS = {
    400: "The body is not JSON, not UTF-8, or nested too deep.",
    401: "No token or session, or one that is unknown, expired or revoked.",
    403: "The role or the owner's policy forbids it, or the proof that it comes from the page is missing.",
    404: "Nothing of that name is there for this caller.",
    405: "The route does not know this method.",
    408: "The body came too slowly, or stopped.",
    409: "The budget cannot pay it (asked, spent and left are told), or the request id stands for something else.",
    413: "The body is too large.",
    415: "The body is of another type than JSON.",
    422: "An argument is outside what is allowed; it is named with the mend.",
    429: "Too many calls; wait a second.",
    500: "Something unexpected; the owner's log has its number.",
    503: "The ledger cannot be used now; what is public can still be read.",
}
_ALWAYS = (401, 403, 405, 422, 429, 500, 503)


def refusals_for(*more: int, open_to_all: bool = False) -> dict[int | str, dict[str, Any]]:
    """Return the description of every refusal a route may answer with."""
    statuses = (405, 422, 429, 500, 503, *more) if open_to_all else (*_ALWAYS, *more)
    if 413 in statuses:
        statuses = (*statuses, 408)
    if not set(statuses) <= set(STATUSES.values()):
        raise AssertionError("a status that no refusal has")
    headers = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}
    return {
        status: {"model": Refusal, "description": _WORDS[status]} | ({"headers": headers} if status == 429 else {})
        for status in sorted(set(statuses))
    }
