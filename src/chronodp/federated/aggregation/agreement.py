"""Keys that two holders agree on, and the two ways they are used: masks, and letters no server can read.

k_uv and letters of "The protocol" in ``docs/explanation/proofs/secure-aggregation.md``; every key is bound to run,
round, attempt and parameters.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from chronodp.errors import MessageRefused
from chronodp.federated.aggregation.terms import Context
from chronodp.federated.aggregation.wire import pack

__all__ = ["LETTER_BYTES", "exchange", "mask_key", "own_mask_key", "read_letter", "write_letter"]

LETTER_BYTES = 16  # what a letter adds to its content
_NONCE = bytes(12)  # each key writes one letter


def exchange(private: X25519PrivateKey, public: bytes) -> bytes:
    """Return the secret that two key pairs share; a public key that forces a known secret is refused."""
    try:
        return private.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise MessageRefused("a holder advertised a key that is none") from None


def mask_key(shared: bytes, context: Context, one: str, other: str) -> bytes:
    """Return the key of the mask between two holders in one attempt at one round."""
    first, second = sorted((one, other))
    return _derive(shared, [b"pairwise mask", context.to_bytes(), first.encode(), second.encode()])


def own_mask_key(seed: bytes, context: Context, name: str) -> bytes:
    """Return the key of the mask that a holder puts on its own input."""
    return _derive(seed, [b"own mask", context.to_bytes(), name.encode()])


def write_letter(shared: bytes, context: Context, sender: str, receiver: str, content: bytes) -> bytes:
    """Return content that only the receiver can read, and that only the sender can have written."""
    bound = _direction(context, sender, receiver)
    return ChaCha20Poly1305(_derive(shared, bound)).encrypt(_NONCE, content, pack(bound))


def read_letter(shared: bytes, context: Context, sender: str, receiver: str, letter: bytes) -> bytes:
    """Return what a letter says; refused unless the sender wrote it to this receiver in this attempt."""
    bound = _direction(context, sender, receiver)
    try:
        return ChaCha20Poly1305(_derive(shared, bound)).decrypt(_NONCE, letter, pack(bound))
    except InvalidTag:
        raise MessageRefused(f"a letter of {sender} to {receiver} was forged or changed on its way") from None


def _direction(context: Context, sender: str, receiver: str) -> list[bytes]:
    return [b"letter", context.to_bytes(), sender.encode(), receiver.encode()]


def _derive(secret: bytes, bound: list[bytes]) -> bytes:
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=pack([b"chronodp aggregation", *bound])).derive(secret)
