"""How long the keys of a release may be when they are written out: a ledger must be able to store its text.

SQLite takes no text above 10^9 bytes. A release's text has its keys once, and lists of numbers far shorter than what is
left; so what no ledger could store is refused by a public bound before anything is paid.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from chronodp.errors import InvalidArgument

__all__ = ["MOST_KEY_TEXT", "check_key_text", "check_plan_text", "keys_with_room"]

MOST_KEY_TEXT = 9 * 10**8
"""Bytes that all keys of a release may take in its text."""

_ESCAPED = 6  # bytes of one character or byte in JSON at most
_AROUND = 3  # quotes and a comma


def check_key_text(lists: Iterable[tuple[str, ...]]) -> None:
    """Refuse lists of public keys that are too long together."""
    size = 0
    for keys in lists:
        most = _ESCAPED * sum(map(len, keys)) + _AROUND * len(keys)  # their exact length takes longer to tell
        size += most if most <= MOST_KEY_TEXT // 2 else len(json.dumps(keys, ensure_ascii=False).encode())
    if size > MOST_KEY_TEXT:
        allowed = (
            f"at most {MOST_KEY_TEXT:,} bytes when they are written out: fewer or shorter ones, or several releases"
        )
        raise InvalidArgument("by", f"keys of up to {size:,} bytes", allowed)


def check_plan_text(text: str) -> None:
    """Refuse a plan whose release, which has the plan's text in it, no ledger could store."""
    if 4 * len(text) > MOST_KEY_TEXT and len(text.encode()) > MOST_KEY_TEXT:
        allowed = f"at most {MOST_KEY_TEXT:,} bytes of text: fewer or shorter keys, or several releases"
        raise InvalidArgument("plan", f"{len(text):,} characters", allowed)


def keys_with_room(longest: int) -> int:
    """Return how many keys of so many bytes have room in a release, whatever they are.

    >>> keys_with_room(256)
    584795
    """
    return MOST_KEY_TEXT // (_ESCAPED * longest + _AROUND)
