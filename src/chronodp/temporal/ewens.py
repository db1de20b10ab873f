"""Random permutations that favour staying in place: Ewens' law, drawn with whole numbers only.

*Sampler* under "Block shuffle" in ``docs/explanation/proofs/temporal.md``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.randomness import Entropy
from chronodp.temporal.probabilities import Odds

__all__ = ["ewens_permutations"]

_TOGETHER = 2**16  # blocks at a time: enough for a call to cost little beside its draws, and small in memory


def ewens_permutations(rows: int, size: int, odds: Odds, entropy: Entropy) -> NDArray[np.int64]:
    """Return ``rows`` permutations of 0 to ``size`` - 1, each with probability proportional to θ^cycles.

    Where θ = P / Q are the ``odds`` of staying, as whole numbers, and cycles counts the cycles of the permutation.

    Place i = 1, 2, ... opens a cycle of its own with probability P / (P + Q i), otherwise it is exchanged with one of
    the i places before it, all alike. Each permutation is reached along one path, and each cycle multiplies its
    probability by θ: exact, because both draws are of whole numbers.

    >>> from chronodp.randomness import seeded
    >>> ewens_permutations(2, 5, (10**15, 1), seeded(1)).tolist()
    [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]
    """
    orders = np.empty((rows, size), dtype=np.int64)
    orders[:] = np.arange(size)
    for start in range(0, rows, _TOGETHER):
        _mix(orders[start : start + _TOGETHER], odds, entropy)
    return orders


def _mix(orders: NDArray[np.int64], odds: Odds, entropy: Entropy) -> None:
    stay, move = odds
    rows, size = orders.shape
    flat = orders.reshape(-1)
    for place in range(1, size):
        # Opens a cycle with P / (P + Q i). Else it is exchanged with one of i places, and joins that one's cycle.
        stays = entropy.coins(stay, stay + move * place, rows)
        moved = np.flatnonzero(~stays)
        if not len(moved):
            continue
        starts = moved * size
        others = starts + entropy.integers(place, len(moved))
        flat[starts + place] = flat[others]
        flat[others] = place
