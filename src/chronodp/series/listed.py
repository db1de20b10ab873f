"""Lists as people write them, if they fit a release."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sized
from itertools import islice
from typing import Any

from chronodp.errors import InvalidArgument
from chronodp.ledger import MOST_CELLS

__all__ = ["listed"]


def listed(name: str, given: object, allowed: str) -> list[Any]:
    """Return what was given as a list, if it is one and fits a release."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise InvalidArgument(name, given, allowed)
    try:
        found = list(islice(given, MOST_CELLS + 1)) if _size(given) <= MOST_CELLS else None
    except TypeError:  # such as an array of no dimension
        raise InvalidArgument(name, given, allowed) from None
    if found is None or len(found) > MOST_CELLS:
        raise InvalidArgument(name, f"a longer {type(given).__name__}", f"{allowed}; at most {MOST_CELLS:,}")
    return found


def _size(given: object) -> int:
    """Return how many there are where that is known before they are written out; else 0."""
    try:
        return len(given) if isinstance(given, Sized) else 0
    except OverflowError:  # a range that no list can hold
        return sys.maxsize
