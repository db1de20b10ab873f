"""The Threshold mechanism's first steps as Algorithm 1 prints them: every slot is empty at first.

While more than c₀ of the k slots in view are empty, a value goes to any of them, all alike, the present one too. If
that leaves the present slot empty it expires so, and one slot fewer is empty from then on. At c₀ the steady rule takes
over. So k - c₀ slots expire empty in all, no value is lost, and how long that takes is chance.

"The printed start" of ``docs/explanation/proofs/temporal.md``.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from chronodp.privacy import check_whole
from chronodp.randomness import Entropy
from chronodp.temporal.published.juggling import juggle

__all__ = ["expected_warm_up", "juggle_from_empty"]

_WIDEST = 12  # a window of so many slots has 2^12 sets of empty ones


def juggle_from_empty(length: int, window: int, threshold: int, entropy: Entropy) -> tuple[NDArray[np.int64], int]:
    """Return how long each value of a series waits if no slot is taken before, and how many steps warmed it up."""
    free = list(range(window))  # empty slots in view, in order
    waits: list[int] = []
    while len(free) > threshold and len(waits) < length:
        now = len(waits)
        waits.append(free.pop(int(entropy.integers(len(free), 1)[0])) - now)
        if free[0] == now:
            del free[0]
        free.append(now + window)
    empty = np.zeros(window, dtype=np.bool_)
    empty[np.array(free) - len(waits)] = True
    later = juggle(length - len(waits), empty, entropy)
    return np.concatenate([np.array(waits, dtype=np.int64), later]), len(waits)


def expected_warm_up(window: int, threshold: int) -> float:
    """Return how many steps pass on average until ``threshold`` slots of the window are empty, from all of them.

    Solved over every set of empty slots, so for windows of at most 12. Small thresholds take long: with a window of 50
    and a threshold of 6, thousands of steps.

    >>> [round(expected_warm_up(window, threshold), 4) for window, threshold in ((3, 2), (4, 2), (10, 9))]
    [1.5, 3.7619, 1.1111]
    """
    check_whole("window", window, least=3, most=_WIDEST)
    check_whole("threshold", threshold, least=2, most=window - 1)
    steps = dict.fromkeys(itertools.combinations(range(window), threshold), 0.0)
    for count in range(threshold + 1, window + 1):
        sets = list(itertools.combinations(range(window), count))
        number = {slots: place for place, slots in enumerate(sets)}
        stays, constant = np.zeros((len(sets), len(sets))), np.ones(len(sets))
        for slots, place in number.items():
            for taken in slots:
                after = (*(slot - 1 for slot in slots if slot not in (taken, 0)), window - 1)
                if len(after) == count:
                    stays[place, number[after]] += 1 / count
                else:
                    constant[place] += steps[after] / count
        steps = dict(zip(sets, np.linalg.solve(np.eye(len(sets)) - stays, constant).tolist(), strict=True))
    return float(steps[tuple(range(window))])
