"""Lists of byte strings as one, and back: nothing else is parsed from what others send."""

from __future__ import annotations

from collections.abc import Iterable

from chronodp.errors import MessageRefused

__all__ = ["pack", "pack_pairs", "unpack", "unpack_pairs"]


def pack(parts: Iterable[bytes]) -> bytes:
    """Return parts, each behind its length.

    >>> unpack(pack([b"a", b""]))
    [b'a', b'']
    """
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def unpack(text: bytes) -> list[bytes]:
    """Return the parts of a packed text; anything else is refused."""
    parts, at = [], 0
    while at < len(text):
        start = at + 4
        end = start + int.from_bytes(text[at:start], "big")
        if start > len(text) or end > len(text):
            raise MessageRefused("a message is cut short or damaged")
        parts.append(text[start:end])
        at = end
    return parts


def pack_pairs(pairs: dict[str, bytes]) -> bytes:
    """Return names with what belongs to them, in order of the names."""
    return pack(part for name in sorted(pairs) for part in (name.encode(), pairs[name]))


def unpack_pairs(text: bytes) -> dict[str, bytes]:
    """Return names with what belongs to them; refused unless in order and each once."""
    parts = unpack(text)
    try:
        names = [name.decode("ascii") for name in parts[::2]]
    except UnicodeDecodeError:
        raise MessageRefused("a message holds an invalid name") from None
    if len(parts) % 2 or names != sorted(set(names)):
        raise MessageRefused("a message holds a list that is out of order or damaged")
    return dict(zip(names, parts[1::2], strict=True))
