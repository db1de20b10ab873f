"""How much a person counts for each of their keys: 1/√d for d keys, so that nobody moves more than 1 in l2.

"Weights" of ``docs/explanation/proofs/keys.md``.
"""

from __future__ import annotations

import math
from functools import lru_cache

from chronodp.privacy import check_whole

__all__ = ["FINEST", "MOST_KEYS", "weights_of"]

FINEST = 16
"""Weights are whole numbers of steps of 2^-FINEST, or of a coarser grid where noise is very wide."""
MOST_KEYS = 2**20
"""Keys that one block may hold: beyond it a weight is a few steps."""


@lru_cache(maxsize=16)
def weights_of(most: int, bits: int = FINEST) -> tuple[int, ...]:
    """Return w_d = ⌊√(4^bits / d)⌋ for d = 1 … ``most``, in steps of 2^-bits.

    d · w_d² ≤ 4^bits without any rounding: a person's weights have at most 2^bits steps in l2.

    >>> weights_of(4)
    (65536, 46340, 37837, 32768)
    """
    check_whole("most", most, most=MOST_KEYS)
    # ⌊√x⌋ = ⌊√⌊x⌋⌋, so the quotient may be rounded down first.
    return tuple(math.isqrt(4**bits // keys) for keys in range(1, most + 1))
