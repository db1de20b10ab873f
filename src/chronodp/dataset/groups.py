"""Public keys that split a table, as people write them."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sized
from itertools import islice
from typing import Any

from chronodp.engines.reading import read_name
from chronodp.errors import InvalidArgument
from chronodp.ledger import MOST_CELLS
from chronodp.privacy import check_column

__all__ = ["check_keys", "listed"]


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


def check_keys(column: str, keys: object) -> tuple[str, ...]:
    """Return public keys as texts, if they are: at least one, none repeated."""
    allowed = (
        "a list of at least one public key: texts that are not empty, whole numbers or booleans; "
        "or Discover(), which finds keys that nobody declared"
    )
    check_column("by", column)
    texts = []
    for key in listed(column, keys, allowed):
        name = read_name(key)  # as a cell that holds it is read
        if name is None:
            raise InvalidArgument(column, key, allowed)
        texts.append(name)
    if not texts:
        raise InvalidArgument(column, "no keys", allowed)
    repeated = next((text for text, times in Counter(texts).items() if times > 1), None)
    if repeated is not None:
        raise InvalidArgument(column, repeated, "a list in which no key is repeated")
    return tuple(texts)
