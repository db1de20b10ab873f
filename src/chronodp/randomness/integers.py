"""Uniform integers and permutations, exactly uniform because whatever would bias them is drawn again.

*Integers* and *permutations* of ``docs/explanation/proofs/noise.md``, under "The bounds": both are uniform by symmetry.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.randomness.keystream import Keystream

__all__ = ["uniform_below", "uniform_below_one", "uniform_permutations"]


def uniform_below(keystream: Keystream, below: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one uniform integer from 0 to each bound minus one.

    A word is cut to the bits of its bound; a result at or above the bound, less than half of them, is redrawn.
    """
    if below.size and below.min() < 1:
        raise InvalidArgument("below", "a bound under 1", "whole numbers of at least 1")
    # Every bit below the highest of below - 1 is set: the least 2^b - 1 not under it. So more than half of all words
    # pass, and the loop ends.
    mask = below - 1
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> shift
    result = keystream.words(len(below)) & mask
    open_ = np.flatnonzero(result >= below)
    while len(open_):
        result[open_] = keystream.words(len(open_)) & mask[open_]
        open_ = open_[result[open_] >= below[open_]]
    return result


def uniform_below_one(keystream: Keystream, below: int, count: int) -> NDArray[np.int64]:
    """Return ``count`` uniform integers below one bound: the same as `uniform_below`, from the same words, faster."""
    if below < 1:
        raise InvalidArgument("below", "a bound under 1", "whole numbers of at least 1")
    # of below - 1, not of below: a bound of 2^b takes b bits and no word is redrawn.
    mask = np.int64((1 << (below - 1).bit_length()) - 1)
    result = keystream.words(count) & mask
    if mask == below - 1:
        return result
    open_ = np.flatnonzero(result >= below)
    while len(open_):
        again = keystream.words(len(open_)) & mask
        result[open_] = again
        open_ = open_[again >= below]
    return result


def uniform_permutations(keystream: Keystream, rows: int, count: int) -> NDArray[np.int64]:
    """Return ``rows`` uniform permutations of 0 to ``count`` - 1.

    The order of independent words is a uniform permutation once no two are equal; rows with a tie are redrawn.
    """
    result = np.empty((rows, count), dtype=np.int64)
    open_ = np.arange(rows)
    while len(open_):
        words = keystream.words(len(open_) * count).reshape(len(open_), count)
        order = np.argsort(words, axis=1)
        result[open_] = order
        ordered = np.take_along_axis(words, order, axis=1)
        # A tie would be settled by the sort, not by chance: the whole row goes back, not the tied words alone, since
        # which places are tied depends on the words that would stay.
        open_ = open_[np.any(ordered[:, 1:] == ordered[:, :-1], axis=1)]
    return result
