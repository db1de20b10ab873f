"""A share as Spark's state store keeps it: sealed, so that a checkpoint tells nothing to whoever can read it.

Before it is sealed, all numbers with their least byte first; open windows one after another:

    8 bytes     number of the window
    8 bytes     n, the size of what came for it
    n bytes     what came, as its tally stores it

and apart from them people who have counted, 16 bytes of hash and 8 of how often. Sealed bytes are those of a ledger's
keys: a nonce, the encrypted content and its tag.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from chronodp.live.structured_streaming.shares import Share, Tick

__all__ = ["STORED", "Stored", "load", "store"]

STORED = "due BIGINT, doubted BIGINT, held BINARY, used BINARY"
"""The columns of the state."""

Stored = tuple[int, int, bytes, bytes]

_NONCE, _HASH = 12, 16
_HEAD = struct.Struct("<qq")
_USED = struct.Struct(f"<{_HASH}sq")


def store(share: Share, *, key: bytes, number: int) -> Stored:
    """Return the cells of a share's state."""
    held = b"".join(_HEAD.pack(window, len(content)) + content for window, content in sorted(share.held.items()))
    used = b"".join(_USED.pack(person, count) for person, count in sorted(share.used.items()))
    seal = AESGCM(_sealing(key))

    def sealed(content: bytes, what: str) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + seal.encrypt(nonce, content, f"{what} of share {number}".encode())

    return share.tick.due, share.tick.doubted, sealed(held, "held"), sealed(used, "used")


def load(stored: Stored, *, key: bytes, number: int) -> Share:
    """Return the share that `store` wrote."""
    due, doubted, *sealed = stored
    seal = AESGCM(_sealing(key))
    held, used = (
        seal.decrypt(content[:_NONCE], content[_NONCE:], f"{what} of share {number}".encode())
        for content, what in zip(map(bytes, sealed), ("held", "used"), strict=True)
    )
    return Share(Tick(int(due), int(doubted)), dict(_windows(held)), dict(_USED.iter_unpack(used)))


def _windows(held: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(held):
        window, size = _HEAD.unpack_from(held, at)
        at += _HEAD.size
        yield window, held[at : at + size]
        at += size


def _sealing(key: bytes) -> bytes:
    """Return a key of its own for the seal."""
    return hashlib.blake2b(key=key, digest_size=32, person=b"spark state".ljust(16)).digest()
