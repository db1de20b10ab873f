"""The long-term key by which a holder is known to the others, so that no server can speak for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from chronodp.errors import InvalidArgument

__all__ = ["Identity", "check_public", "signed_by"]

_BYTES = 32


class Identity:
    """A holder's Ed25519 key. Its public half is given to all others before the run, on paper or by hand.

    >>> me = Identity.create()
    >>> signed_by(me.public, me.sign(b"text"), b"text"), signed_by(me.public, me.sign(b"text"), b"other")
    (True, False)
    """

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @classmethod
    def create(cls) -> Self:
        """Return a new identity, keyed by the operating system."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the identity in a file."""
        try:
            key = load_pem_private_key(Path(path).read_bytes(), password=None)
        except OSError:
            raise InvalidArgument("identity", str(path), "a file that can be read") from None
        except (ValueError, TypeError, UnsupportedAlgorithm):
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            raise InvalidArgument("identity", str(path), "a file with an Ed25519 key, as `save` writes it")
        return cls(key)

    def save(self, path: str | Path) -> None:
        """Write the key to a new file that only its owner can read."""
        text = self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(text)
        except FileExistsError:
            raise InvalidArgument("identity", str(path), "a new file: an identity is never overwritten") from None
        except OSError:
            raise InvalidArgument("identity", str(path), "a place that can be written") from None

    @property
    def public(self) -> bytes:
        """What others know it by."""
        return self._key.public_key().public_bytes_raw()

    def sign(self, text: bytes) -> bytes:
        """Return a signature of 64 bytes."""
        return self._key.sign(text)

    def __repr__(self) -> str:
        return f"Identity({self.public.hex()[:8]}…)"


def check_public(key: object) -> bytes:
    """Return a public identity if it can be one."""
    if not isinstance(key, bytes) or len(key) != _BYTES:
        raise InvalidArgument("identity", key, f"a public key of {_BYTES} bytes", private=True)
    return key


def signed_by(public: bytes, signature: bytes, text: bytes) -> bool:
    """Return whether a signature is genuine."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text)
    except InvalidSignature:
        return False
    return True
