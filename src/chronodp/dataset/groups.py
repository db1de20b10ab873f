"""Public keys that split a table, as people write them."""

from __future__ import annotations

from typing import Any

from chronodp.engines.reading import read_name
from chronodp.errors import InvalidArgument

__all__ = ["check_keys", "listed"]


def listed(name: str, given: object, allowed: str) -> list[Any]:
    """Return what was given as a list, if it is one."""
    try:
        return [] if isinstance(given, str | bytes) else list(given)  # type: ignore[call-overload]  # refused if it is none
    except TypeError:
        raise InvalidArgument(name, given, allowed) from None


def check_keys(column: str, keys: object) -> tuple[str, ...]:
    """Return public keys as texts, if they are: at least one, none repeated."""
    allowed = (
        "a list of at least one public key: texts that are not empty, whole numbers or booleans; "
        "or Discover(), which finds keys that nobody declared"
    )
    texts = []
    for key in listed(column, keys, allowed):
        name = read_name(key)  # as a cell that holds it is read
        if name is None:
            raise InvalidArgument(column, key, allowed)
        texts.append(name)
    if not texts:
        raise InvalidArgument(column, "no keys", allowed)
    if len(set(texts)) < len(texts):
        repeated = next(text for index, text in enumerate(texts) if text in texts[:index])
        raise InvalidArgument(column, repeated, "a list in which no key is repeated")
    return tuple(texts)
