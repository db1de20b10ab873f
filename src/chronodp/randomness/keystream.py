"""Uniform 64-bit words from AES-256 in counter mode.

The first assumption of ``docs/explanation/proofs/noise.md``: words are uniform and independent. A word is eight bytes
of the cipher's output in order, so one block of AES is two words:

    block of the counter       0                     1
    byte                 0 … 7 | 8 … 15       0 … 7 | 8 … 15
    word                   0   |   1            2   |   3

A word is read with its least byte first, as a signed number from -2^63 to 2^63 - 1.
"""

from __future__ import annotations

import hashlib
import os
import threading
from os import urandom
from typing import ClassVar, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument

__all__ = ["KeyedKeystream", "Keystream", "Lineage", "SecureKeystream", "SeededKeystream", "counter_mode", "draw_words"]


_ZEROS = memoryview(bytes(2**18))  # kept: making them anew takes about a fifteenth of a draw


class Keystream(Protocol):
    """A source of independent uniform words."""

    seeded: ClassVar[bool]

    def words(self, count: int) -> NDArray[np.int64]:
        """Return ``count`` fresh words, read-only, each uniform over all 64-bit integers."""
        ...


class Lineage:
    """How many forks lie between this process and the one that imported the library.

    A forked child inherits its parent's keys and drawn noise; comparing generations is how it notices and drops
    them. A process id would not do: ids are reused.
    """

    generation: ClassVar[int] = 0

    @classmethod
    def _forked(cls) -> None:
        cls.generation += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=Lineage._forked)


class SecureKeystream:
    """Words keyed by the operating system; the default and the only kind for real releases.

    Every thread has a key of its own, so no lock is needed and a fork can leave none behind locked. Keys are
    renewed after a gigabyte and in a forked child.
    """

    seeded: ClassVar[bool] = False
    _bytes_a_key: ClassVar[int] = 2**30

    def __init__(self) -> None:
        self._local = threading.local()

    def words(self, count: int) -> NDArray[np.int64]:
        """Return ``count`` fresh words."""
        local = self._local
        left: int = getattr(local, "left", 0)
        if left < 8 * count or getattr(local, "generation", None) != Lineage.generation:
            local.cipher = counter_mode(urandom(32))
            local.generation = Lineage.generation
            left = max(self._bytes_a_key, 8 * count)  # one large call stays under one key
        local.left = left - 8 * count
        return draw_words(local.cipher, count)

    def __repr__(self) -> str:
        return "SecureKeystream()"


class SeededKeystream:
    """Repeatable words for tests and examples; whoever knows the seed knows every draw."""

    seeded: ClassVar[bool] = True

    def __init__(self, seed: int | str) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int | str):
            raise InvalidArgument("seed", seed, "a whole number or a text")
        self._cipher = counter_mode(hashlib.sha256(f"chronodp seeded keystream {seed!r}".encode()).digest())
        self._lock = threading.Lock()

    def words(self, count: int) -> NDArray[np.int64]:
        """Return the next ``count`` words of the sequence."""
        with self._lock:
            return draw_words(self._cipher, count)

    def __repr__(self) -> str:
        return "SeededKeystream(...)"


class KeyedKeystream:
    """Words of a secret of 32 bytes: whoever holds it can draw them again, and nobody else.

    For noise that must come out the same after a crash. A secret serves one release, or one key of one stream.
    """

    seeded: ClassVar[bool] = False

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes) or len(secret) != 32:
            raise InvalidArgument("secret", secret, "32 bytes", private=True)
        self._cipher = counter_mode(secret)
        self._lock = threading.Lock()

    def words(self, count: int) -> NDArray[np.int64]:
        """Return the next ``count`` words of the sequence."""
        with self._lock:
            return draw_words(self._cipher, count)

    def __repr__(self) -> str:
        return "KeyedKeystream(...)"


def counter_mode(key: bytes, first: int = 0) -> CipherContext:
    """Return what encrypts from block ``first`` of the counter on."""
    # No two streams share a key, or else the blocks of one: no block of output comes twice.
    return Cipher(algorithms.AES(key), modes.CTR(first.to_bytes(16, "big"))).encryptor()


def draw_words(cipher: CipherContext, count: int) -> NDArray[np.int64]:
    """Return the next ``count`` words that a cipher makes."""
    # Zeros are encrypted: in counter mode the output is then the keystream itself. "<i8" fixes the order of bytes.
    zeros = _ZEROS[: 8 * count] if 8 * count <= len(_ZEROS) else bytes(8 * count)
    return np.frombuffer(cipher.update(zeros), dtype="<i8")
