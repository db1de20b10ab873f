"""Gaussian noise that belongs to names: a function of (secret, name, place), the same whenever it is asked for.

The draws of a name come from a keystream of its own, AES-256 in counter mode under HMAC-SHA256(secret, length of the
name, name). One block of the counter makes two draws, and bits beyond the first 64 of a uniform number stand far from
all blocks:

    block of the counter      first words of
    j                         V₁ and V₂ of draws 2 j and 2 j + 1
    (2 j + 1) 2^64 …          further bits of V₁
    (2 j + 2) 2^64 …          further bits of V₂

So a draw depends on nothing but its name and place: not on which others were asked for, nor how many at once.
``docs/explanation/proofs/key-streams.md`` uses it, under "Noise".
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.randomness import slow
from chronodp.randomness.entropy import Entropy
from chronodp.randomness.keystream import counter_mode, draw_words
from chronodp.randomness.logarithm import Workspace
from chronodp.randomness.pairs import PAIRS, Pairs
from chronodp.randomness.rounding import Rounding, check_scale, rounding
from chronodp.randomness.start_check import checked

__all__ = ["KeyedNoise", "draw_secret"]

_SECRET = 32  # bytes
_FAR = 2**64  # blocks between first words and further bits
_BATCH = 16384  # pairs of draws made together, about


def draw_secret(entropy: Entropy) -> bytes:
    """Return 32 fresh bytes."""
    return bytes(entropy.integers(256, _SECRET).astype(np.uint8))


class KeyedNoise:
    """Independent exact Gaussian noise for every name, from one secret.

    Guarantee: to whoever does not have the secret, draws of different names and places are independent of each other
    and of everything else, and each has exactly the law of `Entropy.gaussian`, if HMAC-SHA256 and AES-256 cannot be
    told from random functions. A secret serves one mechanism on one set of data: whoever sees one draw added to two
    different numbers learns their difference.

    >>> noise = KeyedNoise(bytes(32))
    >>> late = noise.gaussian(1000.0, ["a page"], begin=2, end=5)
    >>> (late == noise.gaussian(1000.0, ["another", "a page"], begin=0, end=6)[2:5, 1:]).all()
    np.True_
    """

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes) or len(secret) != _SECRET:
            raise InvalidArgument("secret", None, f"{_SECRET} bytes", private=True)
        self._secret = secret
        self._made: Pairs = checked(PAIRS)

    def gaussian(self, scale: float, names: Sequence[str], *, begin: int, end: int) -> NDArray[np.int64]:
        """Return floor(scale * Z + 1/2) at places ``begin`` to ``end`` - 1 of each name, places by names."""
        number = check_scale(scale)
        first, pairs = begin // 2, (end + 1) // 2 - begin // 2
        made = np.empty((2 * pairs, len(names)), dtype=np.int64)
        if pairs <= 0 or not names:
            return made[: max(0, end - begin)]
        constants, together = rounding(number, self._made.bounds), max(1, _BATCH // pairs)
        for at in range(0, len(names), together):
            keys = [self._key(name) for name in names[at : at + together]]
            made[:, at : at + together] = self._draw(keys, number, constants, first, pairs)
        return made[begin - 2 * first : end - 2 * first]

    def __repr__(self) -> str:
        return "KeyedNoise(...)"

    def _key(self, name: str) -> bytes:
        content = name.encode("utf-8", "surrogatepass")
        return hmac.digest(self._secret, len(content).to_bytes(8, "big") + content, "sha256")

    def _draw(self, keys: list[bytes], scale: float, constants: Rounding, first: int, pairs: int) -> NDArray[np.int64]:
        """Return the draws of some pairs of each key, draws by keys."""
        words = np.empty((2, len(keys), pairs), dtype=np.int64)
        for place, key in enumerate(keys):
            words[:, place] = draw_words(counter_mode(key, first), 2 * pairs).reshape(pairs, 2).T
        flat = words.reshape(-1)
        variates, fractions, result = np.empty(len(flat)), np.empty_like(flat), np.empty_like(flat)
        self._made.transform(flat, variates, Workspace(len(flat)))
        half = len(flat) // 2
        for index in constants.round(variates, result, fractions).tolist():
            cosine, place = divmod(index, half)
            row, pair = divmod(place, pairs)
            radius, angle = (
                slow.UniformReal(int(words[which, row, pair]), _Further(keys[row], 2 * (first + pair) + 1 + which))
                for which in (0, 1)
            )
            result[index] = slow.gaussian(radius, angle, scale, cosine=bool(cosine))
        return result.reshape(2, len(keys), pairs).transpose(2, 0, 1).reshape(2 * pairs, len(keys))


class _Further:
    """Bits of one uniform number beyond its first word, from its own place in the keystream of a name."""

    seeded: ClassVar[bool] = False

    def __init__(self, key: bytes, place: int) -> None:
        self._cipher = counter_mode(key, place * _FAR)

    def words(self, count: int) -> NDArray[np.int64]:
        """Return the next words."""
        return draw_words(self._cipher, count)
