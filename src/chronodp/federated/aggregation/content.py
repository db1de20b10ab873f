"""What the messages of each phase hold, and the digest of a client's view that all must share.

The commitments of *Bad shares*, and the view that consents sign, under "Why it holds" in
``docs/explanation/proofs/secure-aggregation.md``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Self

import numpy as np

from chronodp.errors import MessageRefused
from chronodp.federated.aggregation.masks import RingVector
from chronodp.federated.aggregation.shamir import PRIME, SHARE_BYTES
from chronodp.federated.aggregation.terms import RINGS, Terms
from chronodp.federated.aggregation.wire import pack, unpack_pairs

__all__ = [
    "MASK_KEY",
    "OWN_SEED",
    "Advertisement",
    "SharePair",
    "commitment_to",
    "read_names",
    "read_reveals",
    "read_vector",
    "view_digest",
]

_BYTES = 32
MASK_KEY, OWN_SEED = b"k", b"s"  # which of a holder's two secrets a revealed share is of


@dataclass(frozen=True, slots=True)
class Advertisement:
    """A holder's keys for one attempt.

    Attributes:
        letters: public key for letters between holders.
        masks: public key for pairwise masks.
        commitment: to the seed of the holder's own mask, so that a wrong one is noticed.
    """

    letters: bytes
    masks: bytes
    commitment: bytes

    def to_bytes(self) -> bytes:
        """Return the content of a message."""
        return self.letters + self.masks + self.commitment

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Return what a message advertises."""
        if len(content) != 3 * _BYTES:
            raise MessageRefused("an advertisement has the wrong length")
        return cls(content[:_BYTES], content[_BYTES : 2 * _BYTES], content[2 * _BYTES :])


@dataclass(frozen=True, slots=True, repr=False)
class SharePair:
    """One holder's shares of another's two secrets, of which it may reveal one."""

    mask_key: int
    own_seed: int

    BYTES = 2 * SHARE_BYTES

    def to_bytes(self) -> bytes:
        """Return the content of a letter."""
        return self.mask_key.to_bytes(SHARE_BYTES, "big") + self.own_seed.to_bytes(SHARE_BYTES, "big")

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Return the shares in a letter."""
        if len(content) != cls.BYTES:
            raise MessageRefused("a letter has the wrong length")
        return cls(_read_share(content[:SHARE_BYTES]), _read_share(content[SHARE_BYTES:]))


def read_reveals(content: bytes) -> dict[str, tuple[bytes, int]]:
    """Return, for each holder, of which secret a share is revealed, and the share."""
    return {name: (text[:1], _read_share(text[1:])) for name, text in unpack_pairs(content).items()}


def read_names(parts: list[bytes]) -> tuple[str, ...]:
    """Return a list of holders; refused unless in order and each once."""
    names = tuple(part.decode("ascii", "replace") for part in parts)
    if list(names) != sorted(set(names)):
        raise MessageRefused("a list of holders is out of order or damaged")
    return names


def read_vector(content: bytes, terms: Terms) -> RingVector:
    """Return the masked numbers of a message."""
    vector = np.frombuffer(content, dtype=RINGS[terms.bits]) if len(content) % (terms.bits // 8) == 0 else None
    if vector is None or vector.size != terms.size:
        raise MessageRefused(f"a masked update has the wrong length: it must hold {terms.size:,} numbers")
    return vector


def commitment_to(seed: bytes) -> bytes:
    """Return what binds a holder to its seed and reveals nothing of it: the seed has 256 random bits."""
    return hashlib.sha256(b"chronodp own seed" + seed).digest()


def view_digest(advertised: bytes, sharing: tuple[str, ...], survivors: tuple[str, ...]) -> bytes:
    """Return the digest of everything that holders must have been told alike."""
    lists = [pack(name.encode() for name in names) for names in (sharing, survivors)]
    return hashlib.sha256(pack([b"chronodp view", advertised, *lists])).digest()


def _read_share(text: bytes) -> int:
    share = int.from_bytes(text, "big")
    if len(text) != SHARE_BYTES or share >= PRIME:
        raise MessageRefused("a share is not a number of the field")
    return share
