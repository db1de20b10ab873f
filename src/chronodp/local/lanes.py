"""Many equal coins at once, packed eight to a byte.

The packed coins of "Finite precision" in ``docs/explanation/proofs/local.md``. A word has 62 uniform bits, of which 56
are used, one a coin:

    bit of the word       63 … 56   55 … 48   …   15 … 8   7 … 0
    byte of the answer      –          6      …      1       0        coin j is bit j mod 8 of byte j // 8

The i-th word of a round gives the i-th highest binary digit of 56 numbers U at once; each coin is 1 if its U is below
the numerator.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.local.probabilities import WHOLE
from chronodp.randomness import Entropy

__all__ = ["packed_coins"]

_FEW = 4096  # so many coins are tossed one by one, which an auditor can follow
_WORDS = 2**15
_BITS = WHOLE.bit_length() - 1
_LEVELS = 11
_LANES = 2**56 - 1  # of the 62 bits of a word, seven bytes are used


def packed_coins(entropy: Entropy, numerator: int, rows: int, columns: int) -> NDArray[np.uint8]:
    """Return coins that fall 1 with probability numerator / 2^62, a row of bits each; bits that fill a byte are 0.

    A coin is a uniform number U < 2^62 compared with the numerator, digit by digit from the highest: 56 coins share a
    machine word. After 11 digits one coin in 2,048 is undecided; its lower digits are drawn on their own.
    """
    if rows * columns <= _FEW:
        return np.packbits(entropy.coins(numerator, WHOLE, (rows, columns)), axis=1, bitorder="little")
    wide = -(-columns // 8)
    packed = np.empty(rows * wide, dtype=np.uint8)
    for first in range(0, len(packed), 7 * _WORDS):
        part = packed[first : first + 7 * _WORDS]
        lanes = _compare(entropy, numerator, -(-len(part) // 7))
        part[:] = lanes.astype("<i8").view(np.uint8).reshape(-1, 8)[:, :7].reshape(-1)[: len(part)]
    made = packed.reshape(rows, wide)
    if columns % 8:
        made[:, -1] &= np.uint8((1 << columns % 8) - 1)
    return made


def _compare(entropy: Entropy, numerator: int, words: int) -> NDArray[np.int64]:
    below = np.zeros(words, dtype=np.int64)
    undecided = np.full(words, _LANES, dtype=np.int64)
    for level in range(_BITS - 1, _BITS - 1 - _LEVELS, -1):
        drawn = entropy.integers(WHOLE, words)
        # Where digits first differ the comparison is decided: U has 0 and the numerator 1, below; the other way, above.
        if numerator >> level & 1:
            drawn &= undecided
            undecided ^= drawn
            below |= undecided
            undecided = drawn
        else:
            np.bitwise_and(undecided, drawn, out=drawn)
            undecided ^= drawn
    open_ = np.flatnonzero(undecided)
    places = np.unpackbits(undecided[open_].astype("<i8").view(np.uint8), bitorder="little")
    # Equal so far: what is left of U, a uniform number of 51 digits, against what is left of the numerator.
    rest = 2 ** (_BITS - _LEVELS)
    places[places == 1] = entropy.coins(numerator % rest, rest, int(places.sum()))
    below[open_] |= np.packbits(places, bitorder="little").view("<i8").astype(np.int64)
    return below
