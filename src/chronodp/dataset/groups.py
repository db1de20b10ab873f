"""Public keys that split a table, as people write them."""

from __future__ import annotations

from collections import Counter

from chronodp.engines.reading import read_name
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_column
from chronodp.series import listed

__all__ = ["check_keys"]


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
