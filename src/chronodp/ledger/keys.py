"""The owner's keys: one to sign certificates, one to seal what a stream must remember."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from chronodp.errors import CertificateInvalid, InvalidArgument, LedgerUnavailable
from chronodp.ledger.names import check_name
from chronodp.reading import parse_json

__all__ = ["Keys", "check_signature"]

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
    def at(cls, path: Path) -> Keys:
        """Return the keys in a file, made if there is none; of two processes that make it, one wins for both."""
        if not path.exists():
            _write(path, cls.create())
        try:
            stored = parse_json(path.read_bytes())
            keys = cls(signing=_bytes(stored["signing"]), sealing=_bytes(stored["sealing"]))
        except (ValueError, KeyError, TypeError):
            keys = None
        if keys is None or not len(keys.signing) == len(keys.sealing) == _KEY:
            raise LedgerUnavailable(f"{path.name} does not hold a ledger's keys")
        return keys

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


def _write(path: Path, keys: Keys) -> None:
    fresh = path.with_name(f"{path.name}.{os.urandom(6).hex()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        json.dump({"signing": _text(keys.signing), "sealing": _text(keys.sealing)}, file)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(fresh, path)  # unlike a rename it never replaces keys that another process has made and used
    except FileExistsError:
        pass
    finally:
        fresh.unlink()


def check_signature(public: str, signature: str, message: bytes) -> None:
    """Raise unless the message was signed with the private half of ``public``."""
    try:
        key = Ed25519PublicKey.from_public_bytes(_bytes(public))
    except ValueError:
        raise InvalidArgument("public_key", public, "an Ed25519 public key of 32 bytes in base64") from None
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
