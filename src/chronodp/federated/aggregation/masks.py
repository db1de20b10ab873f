"""Sums of vectors and masks in a ring of machine numbers.

G of "The protocol" in ``docs/explanation/proofs/secure-aggregation.md``. Unsigned numbers of the machine wrap around at
2^bits, which is addition in the ring. A mask that one adds and another takes away leaves nothing:

    u < v         u sends  x_u + G(k)        v sends  x_v - G(k)        sum  x_u + x_v   mod 2^bits
"""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from chronodp.federated.aggregation.terms import RINGS

__all__ = ["RingSum", "RingVector"]

RingVector = NDArray[np.unsignedinteger]

_CHUNK = 2**18  # bytes of keystream at a time: what stays in the processor's cache until it is added
_ZEROS = bytes(_CHUNK)


class RingSum:
    """A sum modulo 2^bits to which vectors and masks are added.

    A mask is the keystream of AES-256 in counter mode: given the key, always the same; without it, uniform in the ring.

    >>> total = RingSum(3, 16)
    >>> total.add(np.array([65535, 1, 2], dtype="<u2"))
    >>> total.add_mask(bytes(32)); total.subtract_mask(bytes(32))
    >>> total.add(np.array([1, 1, 1], dtype="<u2")); total.value.tolist()
    [0, 2, 3]
    """

    def __init__(self, size: int, bits: int) -> None:
        self.value: RingVector = np.zeros(size, dtype=RINGS[bits])
        self._spare = bytearray(_CHUNK + 15)  # the cipher asks for room to end a block
        self._words: RingVector = np.frombuffer(self._spare, dtype=RINGS[bits], count=_CHUNK // (bits // 8))

    def add(self, vector: RingVector) -> None:
        """Add a vector of the ring."""
        np.add(self.value, vector, out=self.value)

    def add_mask(self, key: bytes) -> None:
        """Add the mask of a key."""
        self._apply(np.add, key)

    def subtract_mask(self, key: bytes) -> None:
        """Take the mask of a key away."""
        self._apply(np.subtract, key)

    def _apply(self, operation: np.ufunc, key: bytes) -> None:
        # The key serves this one mask, so the counter may start at zero.
        cipher = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        width = self.value.itemsize
        for start in range(0, self.value.size, _CHUNK // width):
            part = self.value[start : start + _CHUNK // width]
            cipher.update_into(memoryview(_ZEROS)[: part.size * width], self._spare)
            operation(part, self._words[: part.size], out=part)
