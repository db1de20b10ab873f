"""The owner's keys: one to sign certificates, one to seal what a stream must remember.

The seal is that of "Certificates" in ``docs/explanation/proofs/ledger.md``: AES-256-GCM, bound to its context, for a
stream its name and step. Sealed bytes, before they become text:

    0 … 11     nonce, drawn anew
    12 …       the encrypted content, as long as the content
    last 16    the tag that authenticates both and the context
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from chronodp.errors import CertificateInvalid, InvalidArgument, LedgerUnavailable
from chronodp.ledger.names import check_name

__all__ = ["Keys", "check_public_key", "check_signature", "row_context", "state_context"]

_KEY = 32  # bytes of each key


@dataclass(frozen=True, slots=True, repr=False)
class Keys:
    """A signing key and a sealing key, kept in a file that only its owner may read."""

    signing: bytes
    sealing: bytes

    @classmethod
    def create(cls) -> Keys:
        """Return fresh keys from the operating system's randomness."""
        return cls(signing=Ed25519PrivateKey.generate().private_bytes_raw(), sealing=os.urandom(_KEY))

    @classmethod
    def from_dict(cls, stored: Any) -> Keys:
        """Return the keys that `to_dict` wrote; anything else is a ValueError, which says nothing of it."""
        try:
            keys = cls(signing=_bytes(stored["signing"]), sealing=_bytes(stored["sealing"]))
        except (ValueError, KeyError, TypeError):
            raise ValueError("these are no keys") from None
        if not len(keys.signing) == len(keys.sealing) == _KEY:
            raise ValueError("these are no keys")
        return keys

    def to_dict(self) -> dict[str, str]:
        """Return both keys as texts, for the file that only their owner may read."""
        return {"signing": _text(self.signing), "sealing": _text(self.sealing)}

    @property
    def public(self) -> str:
        """The public key that certificates are verified with, as text."""
        return _text(Ed25519PrivateKey.from_private_bytes(self.signing).public_key().public_bytes_raw())

    def sign(self, message: bytes) -> str:
        """Return the signature of a message."""
        return _text(Ed25519PrivateKey.from_private_bytes(self.signing).sign(message))

    def seal(self, secret: bytes, context: str) -> str:
        """Encrypt what must not be read by whoever can read the ledger; bound to its context."""
        nonce = os.urandom(12)
        return _text(nonce + AESGCM(self.sealing).encrypt(nonce, secret, context.encode()))

    def unseal(self, sealed: str, context: str) -> bytes:
        """Decrypt what was sealed in the same context."""
        try:
            content = _bytes(sealed)
            return AESGCM(self.sealing).decrypt(content[:12], content[12:], context.encode())
        except (InvalidTag, ValueError):  # a value: too short, or no base64
            raise LedgerUnavailable(f"the sealed state of {context} was changed, or sealed with other keys") from None

    def derive(self, *purpose: str) -> bytes:
        """Return a secret of 32 bytes for one purpose: the same for the same words, telling nothing of any other."""
        for word in purpose:
            check_name("dataset or request", word)
        # The length before each word keeps ("ab", "c") apart from ("a", "bc").
        message = "".join(f"{len(word)}:{word}" for word in purpose)
        return hmac.digest(self.sealing, message.encode(), "sha256")

    def fingerprint(self, *content: bytes, of: tuple[str, ...]) -> str:
        """Return what identifies private content; keyed by its purpose, so that small numbers cannot be guessed."""
        joined = hashlib.sha256()
        for part in content:
            joined.update(part)
        return hmac.digest(self.derive(*of), joined.digest(), "sha256").hex()

    def __repr__(self) -> str:
        return f"Keys(public={self.public!r})"


def check_public_key(public: object) -> str:
    """Return a public key's text; what is none is not repeated, since it may be a private one."""
    try:
        if isinstance(public, str) and len(_bytes(public)) == _KEY:
            return public
    except ValueError:
        pass
    allowed = "an Ed25519 public key of 32 bytes in base64, as `chronodp key` shows it"
    raise InvalidArgument("public_key", public, allowed, private=True)


def check_signature(public: str, signature: str, message: bytes) -> None:
    """Raise unless the message was signed with the private half of ``public``."""
    check_public_key(public)
    key = Ed25519PublicKey.from_public_bytes(_bytes(public))
    try:
        key.verify(_bytes(signature), message)
    except (InvalidSignature, ValueError):
        raise CertificateInvalid(
            "the signature does not match: the content was changed, or signed with another key"
        ) from None


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _bytes(text: str) -> bytes:
    content = base64.b64decode(text, validate=True)
    if _text(content) != text:  # the last digit has bits to spare: one text for one content
        raise ValueError("not in canonical base64")
    return content


def state_context(name: str, step: int) -> str:
    """Return what a stream's state is bound to when it is sealed."""
    return f"stream {name} at step {step}"


def row_context(name: str, step: int, number: int) -> str:
    """Return what a row that a stream keeps beside its state is bound to when it is sealed."""
    return f"row {number} of stream {name} at step {step}"
