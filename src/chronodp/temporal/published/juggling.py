"""The chain of empty slots behind the Threshold mechanism, in constant time a step.

Of the k slots from now on, c₀ are empty. If the present slot is empty the value goes there, else to one of the empty
ones, all alike; then the slot k ahead comes into view, empty. The empty slots stand in an array, and a ring tells which
entry of the array a slot is: a slot taken is replaced, in its entry, by the slot that comes into view.

*Steady state* under "Dispatch of the Threshold mechanism" in ``docs/explanation/proofs/temporal.md``.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chronodp.randomness import Entropy
from chronodp.temporal.published.stirling import stirling_ratios

__all__ = ["juggle", "juggle_many", "steady_slots"]

_EXACT = 2**53  # probabilities of the start are floats, which are whole multiples of 2^-53 to within that
_TOGETHER = 2**18


def steady_slots(rows: int, window: int, threshold: int, entropy: Entropy) -> NDArray[np.bool_]:
    """Return which slots of the window are empty at the start, in the steady state: rows by slots.

    Along the window, with K slots and c of them empty still to come, the next is taken with probability
    c / (c + ρ(K-1, c)). A cold start would waste hundreds to thousands of steps before it gets here.
    """
    empty = np.zeros((rows, window), dtype=np.bool_)
    left = np.full(rows, threshold)
    for place, chances in enumerate(_taken(window, threshold)):
        empty[:, place] = ~entropy.coins(chances[left], _EXACT)
        left -= empty[:, place]
    return empty


@lru_cache(maxsize=64)
def _taken(window: int, threshold: int) -> NDArray[np.int64]:
    """Return how likely each slot of the window is taken, by how many empty ones are still to come."""
    ratios = stirling_ratios(window)
    groups = np.arange(1, threshold + 1)
    chances = np.empty((window, threshold + 1), dtype=np.int64)
    for place in range(window):
        rest = window - place
        with np.errstate(invalid="ignore"):
            taken = np.concatenate([[1.0], groups / (groups + ratios[rest - 1, 1 : threshold + 1])])
        taken[rest:] = 0.0  # as many empty as there are slots: none is taken
        chances[place] = np.floor(taken * _EXACT)
    chances.setflags(write=False)
    return chances


def juggle(length: int, empty: NDArray[np.bool_], entropy: Entropy) -> NDArray[np.int64]:
    """Return how long each value of one series waits, and with that where it goes."""
    window = len(empty)
    free = [int(place) for place in np.flatnonzero(empty)]
    entry = [-1] * window
    for index, place in enumerate(free):
        entry[place] = index
    went: list[int] = []
    put = went.append
    for start in range(0, length, _TOGETHER - _TOGETHER % window):
        count = min(_TOGETHER - _TOGETHER % window, length - start)
        picks = iter(entropy.integers(len(free), count).tolist())
        for lap in range(0, count, window):
            for now in range(min(window, count - lap)):
                pick = next(picks)
                index = entry[now]
                if index < 0:
                    place = free[pick]
                    entry[place] = -1
                    free[pick] = now
                    entry[now] = pick
                    put(place)
                else:
                    put(now)
    ring = np.array(went, dtype=np.int64)
    return (ring - np.arange(length)) % window


def juggle_many(length: int, empty: NDArray[np.bool_], entropy: Entropy) -> NDArray[np.int64]:
    """Return how long each value of many series waits: as `juggle`, all series a step at a time."""
    rows, window = empty.shape
    size = int(empty[0].sum())
    cells = np.arange(rows)
    homes = np.arange(window)[:, None] * rows + cells  # where a slot stands in the flat ring, for each series
    free = homes[np.nonzero(empty)[1].reshape(rows, size).T, cells].reshape(-1)
    ring = np.full(window * rows, -1, dtype=np.int64)
    ring[free] = np.arange(size * rows)
    went = np.empty((length, rows), dtype=np.int64)
    many = max(1, _TOGETHER // rows)
    for start in range(0, length, many):
        picks = entropy.integers(size, (min(many, length - start), rows)) * rows + cells
        for step, pick in enumerate(picks, start):
            home = homes[step % window]
            present = ring[home[0] : home[0] + rows]
            entry = np.where(present < 0, pick, present)
            place = free.take(entry, out=went[step])
            ring[place] = -1
            free[entry] = home
            present[:] = entry
    went //= rows
    went -= (np.arange(length) % window)[:, None]
    went += window * (went < 0)
    return went.T
