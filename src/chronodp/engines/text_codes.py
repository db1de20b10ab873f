"""From the hash of a text to the number that stands for it, for many rows at once.

A hash may stand for a text only as long as no other text of the column has it: `TextCodes.of` looks at all of them, and
gives up if two agree. Hashes are public functions of texts that people may choose, so none may make a search long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.choice import Words

__all__ = ["NO_CODE", "Hashes", "TextCodes"]

Hashes: TypeAlias = NDArray[np.uint64]

NO_CODE = -1
"""In place of the code of a text that has none."""

_BYTES = 48  # of memory for each text, while the tables are made
_STEPS = 3  # places that are looked at one by one; what is not found there is searched by halving


@dataclass(frozen=True, slots=True, eq=False)
class TextCodes:
    """The codes of texts, by hashes that no two of the texts share.

    Attributes:
        hashes: of the texts, in ascending order.
        codes: of the texts, in that order.
        begins: by the highest bits of a hash, where the first with such bits, or with higher ones, stands.
        shift: how far these bits are from the lowest.
    """

    hashes: Hashes
    codes: Words
    begins: NDArray[np.int32] | NDArray[np.int64]
    shift: np.uint64

    @classmethod
    def of(cls, hashes: Hashes, codes: Words, *, memory: int) -> TextCodes | None:
        """Return the tables for these texts, or None if two share a hash or they would need more memory.

        >>> hashes = np.array([2**63, 7, 5], np.uint64)
        >>> TextCodes.of(hashes, np.array([0, 1, 2]), memory=2**20).find(np.array([5, 6, 2**63], np.uint64)).tolist()
        [2, -1, 0]
        >>> TextCodes.of(np.array([7, 7], np.uint64), np.array([0, 1]), memory=2**20) is None
        True
        """
        if len(hashes) * _BYTES > memory:
            return None
        order = np.argsort(hashes)
        hashes = hashes[order]
        if (hashes[1:] == hashes[:-1]).any():
            return None
        bits = max(1, len(hashes).bit_length())  # one to two places for each text: nearly all stand where they begin
        shift = np.uint64(64 - bits)
        begins = np.searchsorted(hashes >> shift, np.arange(2**bits, dtype=np.uint64))
        return cls(hashes, codes[order], begins if len(hashes) >= 2**31 else begins.astype(np.int32), shift)

    def find(self, hashes: Hashes) -> Words:
        """Return the code of each text by its hash; `NO_CODE` for those that are not there."""
        if not len(self.hashes):
            return np.full(len(hashes), NO_CODE, np.int64)
        last = len(self.hashes) - 1
        places = np.minimum(self.begins[hashes >> self.shift], last).astype(np.int64)
        behind = np.flatnonzero(self.hashes[places] < hashes)
        for _ in range(_STEPS):
            if not len(behind):
                break
            places[behind] = further = np.minimum(places[behind] + 1, last)
            # Beyond the last place nothing comes: what is behind there is not to be found.
            behind = behind[(self.hashes[further] < hashes[behind]) & (further < last)]
        if len(behind):
            places[behind] = np.minimum(np.searchsorted(self.hashes, hashes[behind]), last)
        found: Words = np.where(self.hashes[places] == hashes, self.codes[places], NO_CODE)
        return found
